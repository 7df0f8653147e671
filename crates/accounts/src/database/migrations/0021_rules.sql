-- Where each rule stands for each subject: an Endpoint, an Issue, or the whole project (empty).
CREATE TABLE notification_rule_states (
    rule_id  INTEGER NOT NULL REFERENCES notification_rules (id) ON DELETE CASCADE,
    subject  TEXT    NOT NULL,
    state    TEXT    NOT NULL CHECK (state IN ('quiet', 'pending', 'firing')),
    since_ns INTEGER NOT NULL, -- start of the state
    fired_ns INTEGER, -- of the last notification; null: none yet
    data_ns  INTEGER NOT NULL, -- when data was last measured
    severity TEXT    NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    marker   INTEGER NOT NULL, -- what fired last, so that it fires once: a decision about an Issue
    PRIMARY KEY (rule_id, subject)
) STRICT;

-- Issues that are not new: rules have evaluated them.
CREATE TABLE notification_known_issues (
    project INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    hash    TEXT    NOT NULL,
    PRIMARY KEY (project, hash)
) STRICT;

-- Rows that rules of single rows have evaluated, so that each is evaluated once.
CREATE TABLE notification_rule_rows (
    rule_id INTEGER NOT NULL REFERENCES notification_rules (id) ON DELETE CASCADE,
    row_id  TEXT    NOT NULL,
    seen_ns INTEGER NOT NULL,
    PRIMARY KEY (rule_id, row_id)
) STRICT;
CREATE INDEX notification_rule_rows_by_time ON notification_rule_rows (seen_ns);
