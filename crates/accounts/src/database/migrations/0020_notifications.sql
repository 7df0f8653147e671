-- Where notifications are sent. The configuration has secrets, and is sealed.
CREATE TABLE notification_channels (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    project       INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    name          TEXT    NOT NULL,
    channel_type  TEXT    NOT NULL,
    config_sealed TEXT    NOT NULL,
    created_ns    INTEGER NOT NULL,
    updated_ns    INTEGER NOT NULL,
    sent_ns          INTEGER, -- of the latest message; null: none yet
    failing_since_ns INTEGER, -- of the first of the latest attempts, which all failed; null: it works
    error            TEXT NOT NULL DEFAULT '', -- of the latest attempt; empty: it succeeded
    reported_through INTEGER -- the channel that reported the failure of this one; null: none
) STRICT;
CREATE INDEX notification_channels_by_project ON notification_channels (project);

-- What people were notified of.
CREATE TABLE notifications (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    project         INTEGER REFERENCES projects (number) ON DELETE CASCADE, -- null: of the organization
    alert_key       TEXT    NOT NULL, -- equal for the notification that an alert fires and the one that it ended
    status          TEXT    NOT NULL CHECK (status IN ('firing', 'resolved')),
    severity        TEXT    NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    rule_type       TEXT    NOT NULL,
    rule_name       TEXT    NOT NULL,
    subject         TEXT    NOT NULL,
    body            TEXT    NOT NULL,
    path            TEXT    NOT NULL, -- of the page that shows it, with the query string
    series          TEXT    NOT NULL, -- JSON: points of the chart, may be empty
    created_ns      INTEGER NOT NULL
) STRICT;
CREATE INDEX notifications_by_project ON notifications (project, id);
CREATE INDEX notifications_by_alert ON notifications (organization_id, alert_key, id);

-- Notifications that wait to be sent to one target, and the outcome.
CREATE TABLE notification_outbox (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    notification_id  INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
    channel_id       INTEGER REFERENCES notification_channels (id) ON DELETE CASCADE, -- null: a direct target
    target_sealed    TEXT    NOT NULL, -- of a direct target: its type and configuration
    message_id       INTEGER, -- the first row of the message that this one is sent in, fixed before the first attempt
    delivered        TEXT    NOT NULL DEFAULT '[]', -- JSON: the recipients of a mail that have it
    attempted_ns     INTEGER, -- of the latest attempt
    tries            INTEGER NOT NULL DEFAULT 0,
    error            TEXT    NOT NULL DEFAULT '',
    next_try_ns      INTEGER NOT NULL,
    claimed_until_ns INTEGER NOT NULL DEFAULT 0,
    sent_ns          INTEGER, -- null: not yet
    failed_ns        INTEGER -- given up
) STRICT;
CREATE INDEX notification_outbox_waiting ON notification_outbox (sent_ns, failed_ns, next_try_ns);
CREATE INDEX notification_outbox_attempts ON notification_outbox (channel_id, attempted_ns);
CREATE INDEX notification_outbox_messages ON notification_outbox (message_id);
CREATE INDEX notification_outbox_notifications ON notification_outbox (notification_id);

-- The node that does a piece of work which one node at a time may do.
CREATE TABLE leases (
    name     TEXT    PRIMARY KEY,
    holder   TEXT    NOT NULL,
    until_ns INTEGER NOT NULL
) STRICT;

-- Who is notified of what. WIRE 7.
CREATE TABLE notification_rules (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    project          INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    channel_id       INTEGER NOT NULL REFERENCES notification_channels (id) ON DELETE CASCADE,
    name             TEXT    NOT NULL,
    rule_type        TEXT    NOT NULL,
    config           TEXT    NOT NULL, -- JSON
    cooldown_minutes INTEGER NOT NULL,
    severity         TEXT    NOT NULL, -- empty: by the rule's type and value
    enabled          INTEGER NOT NULL,
    snoozed_until_ns INTEGER NOT NULL DEFAULT 0,
    created_ns       INTEGER NOT NULL,
    updated_ns       INTEGER NOT NULL
) STRICT;
CREATE INDEX notification_rules_by_project ON notification_rules (project);
CREATE INDEX notification_rules_by_type ON notification_rules (rule_type);
