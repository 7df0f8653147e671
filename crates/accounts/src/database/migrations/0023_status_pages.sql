-- Incidents: of alerts that fire together, or opened by hand.
CREATE TABLE incidents (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    project         INTEGER REFERENCES projects (number) ON DELETE CASCADE, -- null: of the organization
    title           TEXT    NOT NULL,
    severity        TEXT    NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    status          TEXT    NOT NULL CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved')),
    automatic       INTEGER NOT NULL, -- resolved after the last of its alerts
    started_ns      INTEGER NOT NULL,
    last_alert_ns   INTEGER NOT NULL, -- the latest begin or end of an alert, else started_ns
    quiet_ns        INTEGER, -- since when none of its alerts fires
    resolved_ns     INTEGER,
    updated_ns      INTEGER NOT NULL
) STRICT;
CREATE INDEX incidents_by_organization ON incidents (organization_id, id);
CREATE INDEX incidents_open ON incidents (resolved_ns, organization_id);

CREATE TABLE incident_updates (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    incident_id INTEGER NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
    status      TEXT    NOT NULL,
    message     TEXT    NOT NULL,
    author      TEXT    NOT NULL, -- e-mail address; empty: the server
    created_ns  INTEGER NOT NULL
) STRICT;
CREATE INDEX incident_updates_by_incident ON incident_updates (incident_id, id);

-- An alert that fires again after its end has another row.
CREATE TABLE incident_alerts (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    incident_id INTEGER NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
    alert_key   TEXT    NOT NULL,
    rule_type   TEXT    NOT NULL,
    severity    TEXT    NOT NULL,
    subject     TEXT    NOT NULL,
    path        TEXT    NOT NULL,
    fired_ns    INTEGER NOT NULL,
    resolved_ns INTEGER
) STRICT;
CREATE INDEX incident_alerts_by_incident ON incident_alerts (incident_id, id);
CREATE INDEX incident_alerts_firing ON incident_alerts (resolved_ns, alert_key);

-- The latest notification that was grouped into incidents: one row.
CREATE TABLE incident_cursor (
    name            TEXT    PRIMARY KEY,
    notification_id INTEGER NOT NULL
) STRICT;

-- Markdown.
CREATE TABLE post_mortems (
    incident_id INTEGER PRIMARY KEY REFERENCES incidents (id) ON DELETE CASCADE,
    body        TEXT    NOT NULL,
    published   INTEGER NOT NULL,
    author      TEXT    NOT NULL,
    updated_ns  INTEGER NOT NULL
) STRICT;

CREATE TABLE status_pages (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name            TEXT    NOT NULL,
    slug            TEXT    NOT NULL UNIQUE,
    public          INTEGER NOT NULL,
    description     TEXT    NOT NULL,
    custom_domain   TEXT    UNIQUE,
    components      TEXT    NOT NULL, -- JSON: [{"checkId":1,"group":""}]
    logo_type       TEXT    NOT NULL DEFAULT '', -- empty: none
    logo_ns         INTEGER NOT NULL DEFAULT 0,
    created_ns      INTEGER NOT NULL,
    updated_ns      INTEGER NOT NULL
) STRICT;
CREATE INDEX status_pages_by_organization ON status_pages (organization_id);

-- The status pages that show an incident.
CREATE TABLE incident_pages (
    incident_id INTEGER NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
    page_id     INTEGER NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
    PRIMARY KEY (page_id, incident_id)
) STRICT;
CREATE INDEX incident_pages_by_incident ON incident_pages (incident_id);

CREATE TABLE maintenance_windows (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id     INTEGER NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
    title       TEXT    NOT NULL,
    description TEXT    NOT NULL,
    starts_ns   INTEGER NOT NULL,
    ends_ns     INTEGER NOT NULL
) STRICT;
CREATE INDEX maintenance_windows_by_page ON maintenance_windows (page_id, starts_ns);

-- Mailboxes and webhooks that are notified of the incidents of a page.
CREATE TABLE status_subscribers (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id       INTEGER NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
    kind          TEXT    NOT NULL CHECK (kind IN ('email', 'webhook')),
    target_hash   TEXT    NOT NULL,
    target_sealed TEXT    NOT NULL,
    token_hash    TEXT    NOT NULL UNIQUE,
    token_sealed  TEXT    NOT NULL,
    requested_ns  INTEGER NOT NULL, -- when it was last asked to confirm
    confirmed_ns  INTEGER,
    UNIQUE (page_id, target_hash)
) STRICT;
