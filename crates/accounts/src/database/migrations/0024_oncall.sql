-- Teams of people who own projects.
CREATE TABLE oncall_teams (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name            TEXT    NOT NULL,
    description     TEXT    NOT NULL,
    created_ns      INTEGER NOT NULL,
    updated_ns      INTEGER NOT NULL,
    UNIQUE (organization_id, name)
) STRICT;

CREATE TABLE oncall_team_members (
    team_id  INTEGER NOT NULL REFERENCES oncall_teams (id) ON DELETE CASCADE,
    user_id  INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    PRIMARY KEY (team_id, user_id)
) STRICT;

-- A project has at most one team.
CREATE TABLE oncall_team_projects (
    project INTEGER PRIMARY KEY REFERENCES projects (number) ON DELETE CASCADE,
    team_id INTEGER NOT NULL REFERENCES oncall_teams (id) ON DELETE CASCADE
) STRICT;

-- Who is on call when.
CREATE TABLE oncall_schedules (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    team_id         INTEGER NOT NULL REFERENCES oncall_teams (id),
    name            TEXT    NOT NULL,
    description     TEXT    NOT NULL,
    timezone        TEXT    NOT NULL,
    definition      TEXT    NOT NULL, -- JSON
    created_ns      INTEGER NOT NULL,
    updated_ns      INTEGER NOT NULL,
    UNIQUE (organization_id, name)
) STRICT;

CREATE TABLE oncall_overrides (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    schedule_id INTEGER NOT NULL REFERENCES oncall_schedules (id) ON DELETE CASCADE,
    user_id     INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    start_ns    INTEGER NOT NULL,
    end_ns      INTEGER NOT NULL,
    created_by  INTEGER REFERENCES users (id) ON DELETE SET NULL,
    created_ns  INTEGER NOT NULL
) STRICT;
CREATE INDEX oncall_overrides_by_schedule ON oncall_overrides (schedule_id, end_ns);

-- Whom a page reaches, step by step.
CREATE TABLE oncall_policies (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name            TEXT    NOT NULL,
    definition      TEXT    NOT NULL, -- JSON
    created_ns      INTEGER NOT NULL,
    updated_ns      INTEGER NOT NULL,
    UNIQUE (organization_id, name)
) STRICT;

-- Pages: alerts that somebody must acknowledge.
CREATE TABLE oncall_pages (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id  INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    project          INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    policy_id        INTEGER REFERENCES oncall_policies (id) ON DELETE SET NULL,
    policy_name      TEXT    NOT NULL,
    policy           TEXT    NOT NULL, -- its definition when the page was opened
    dedup_key        TEXT    NOT NULL, -- rule id, | and token
    rule_type        TEXT    NOT NULL,
    rule_name        TEXT    NOT NULL,
    severity         TEXT    NOT NULL,
    urgency          TEXT    NOT NULL CHECK (urgency IN ('high', 'low')),
    subject          TEXT    NOT NULL,
    body             TEXT    NOT NULL,
    path             TEXT    NOT NULL,
    status           TEXT    NOT NULL CHECK (status IN ('open', 'acknowledged', 'resolved')),
    event_count      INTEGER NOT NULL,
    opened_ns        INTEGER NOT NULL,
    last_event_ns    INTEGER NOT NULL,
    step             INTEGER NOT NULL, -- that runs next
    round            INTEGER NOT NULL,
    next_ns          INTEGER, -- null: no step runs
    wait_ns          INTEGER NOT NULL,
    acknowledged_by  INTEGER REFERENCES users (id) ON DELETE SET NULL,
    acknowledged_via TEXT    NOT NULL DEFAULT '',
    acknowledged_ns  INTEGER,
    resolved_by      INTEGER REFERENCES users (id) ON DELETE SET NULL,
    resolved_ns      INTEGER
) STRICT;
CREATE UNIQUE INDEX oncall_pages_unresolved ON oncall_pages (project, policy_id, dedup_key) WHERE status <> 'resolved';
CREATE INDEX oncall_pages_by_project ON oncall_pages (project, status, id);
CREATE INDEX oncall_pages_by_time ON oncall_pages (organization_id, opened_ns);
CREATE INDEX oncall_pages_waiting ON oncall_pages (next_ns) WHERE status = 'open';

-- Where an open page is in the chains of the people it has reached.
CREATE TABLE oncall_page_people (
    page_id        INTEGER NOT NULL REFERENCES oncall_pages (id) ON DELETE CASCADE,
    user_id        INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    passed_minutes INTEGER NOT NULL,
    next_ns        INTEGER NOT NULL,
    wait_ns        INTEGER NOT NULL,
    PRIMARY KEY (page_id, user_id)
) STRICT;
CREATE INDEX oncall_page_people_waiting ON oncall_page_people (next_ns);

-- What was sent for a page. The outcome is in the outbox.
CREATE TABLE oncall_deliveries (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id         INTEGER NOT NULL REFERENCES oncall_pages (id) ON DELETE CASCADE,
    step            INTEGER NOT NULL,
    round           INTEGER NOT NULL,
    user_id         INTEGER REFERENCES users (id) ON DELETE SET NULL,
    method_type     TEXT    NOT NULL,
    target          TEXT    NOT NULL, -- without secrets
    notification_id INTEGER REFERENCES notifications (id) ON DELETE SET NULL,
    cancelled_ns    INTEGER,
    created_ns      INTEGER NOT NULL
) STRICT;
CREATE INDEX oncall_deliveries_by_page ON oncall_deliveries (page_id, id);

-- How people are reached. Used for pages after verification only.
CREATE TABLE oncall_contact_methods (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    method_type     TEXT    NOT NULL,
    config_sealed   TEXT    NOT NULL,
    summary         TEXT    NOT NULL, -- without secrets
    enabled         INTEGER NOT NULL,
    verified_ns     INTEGER,
    code_hash       TEXT    NOT NULL DEFAULT '',
    code_expires_ns INTEGER NOT NULL DEFAULT 0,
    code_attempts   INTEGER NOT NULL DEFAULT 0,
    created_ns      INTEGER NOT NULL
) STRICT;
CREATE INDEX oncall_contact_methods_by_user ON oncall_contact_methods (user_id);

-- Messages that users have sent to contact methods, codes and tests, to bound their number.
CREATE TABLE oncall_contact_sends (
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    sent_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX oncall_contact_sends_by_user ON oncall_contact_sends (user_id, sent_ns);

-- The chains of people: which contact method is used after which delay.
CREATE TABLE oncall_user_rules (
    user_id           INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    urgency           TEXT    NOT NULL CHECK (urgency IN ('high', 'low')),
    position          INTEGER NOT NULL,
    delay_minutes     INTEGER NOT NULL,
    contact_method_id INTEGER NOT NULL REFERENCES oncall_contact_methods (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, urgency, position)
) STRICT;

-- Secret addresses of iCalendar feeds.
CREATE TABLE oncall_calendars (
    user_id    INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    token_hash TEXT    NOT NULL UNIQUE,
    created_ns INTEGER NOT NULL
) STRICT;
