-- Checks of an address, or of a job that reports, at intervals. WIRE 6. The configuration has secrets, and is sealed.
CREATE TABLE monitors (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    project           INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    name              TEXT    NOT NULL,
    check_type        TEXT    NOT NULL,
    enabled           INTEGER NOT NULL,
    interval_seconds  INTEGER NOT NULL,
    timeout_seconds   INTEGER NOT NULL,
    failure_threshold INTEGER NOT NULL,
    period_seconds    INTEGER NOT NULL, -- of heartbeats, else 0
    grace_seconds     INTEGER NOT NULL,
    config_sealed     TEXT    NOT NULL,
    token_hash        TEXT    UNIQUE, -- of heartbeats
    created_ns        INTEGER NOT NULL,
    updated_ns        INTEGER NOT NULL,
    -- What its results made of it.
    state             TEXT    NOT NULL DEFAULT 'unknown' CHECK (state IN ('up', 'down', 'unknown')),
    failures          INTEGER NOT NULL DEFAULT 0, -- consecutive
    since_ns          INTEGER NOT NULL, -- the state
    slot_ns           INTEGER, -- the time of the schedule that was done last
    ping_ns           INTEGER  -- of heartbeats: the latest
) STRICT;
CREATE INDEX monitors_by_project ON monitors (project);

CREATE TABLE monitor_results (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    monitor_id     INTEGER NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
    at_ns          INTEGER NOT NULL,
    outcome        TEXT    NOT NULL CHECK (outcome IN ('up', 'down', 'missed')),
    reason         TEXT    NOT NULL, -- empty if up
    status_code    INTEGER,
    trace_id       TEXT    NOT NULL, -- hexadecimal, may be empty
    dns_ns         INTEGER,
    connect_ns     INTEGER,
    tls_ns         INTEGER,
    wait_ns        INTEGER, -- from the request to the first byte
    total_ns       INTEGER,
    tls_expires_ns INTEGER
) STRICT;
CREATE INDEX monitor_results_by_monitor ON monitor_results (monitor_id, at_ns);

-- Sums of results, by hour and by day (UTC).
CREATE TABLE monitor_hours (
    monitor_id INTEGER NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
    hour_ns    INTEGER NOT NULL,
    total      INTEGER NOT NULL,
    up         INTEGER NOT NULL,
    missed     INTEGER NOT NULL,
    timed      INTEGER NOT NULL, -- results with a duration
    dns_ns     INTEGER NOT NULL,
    connect_ns INTEGER NOT NULL,
    tls_ns     INTEGER NOT NULL,
    wait_ns    INTEGER NOT NULL,
    total_ns   INTEGER NOT NULL,
    max_ns     INTEGER NOT NULL,
    PRIMARY KEY (monitor_id, hour_ns)
) STRICT;
CREATE TABLE monitor_days (
    monitor_id INTEGER NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
    day_ns     INTEGER NOT NULL,
    total      INTEGER NOT NULL,
    up         INTEGER NOT NULL,
    missed     INTEGER NOT NULL,
    PRIMARY KEY (monitor_id, day_ns)
) STRICT;

-- Changes of the states of monitors.
CREATE TABLE monitor_transitions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    monitor_id INTEGER NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
    at_ns      INTEGER NOT NULL,
    from_state TEXT    NOT NULL,
    to_state   TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    trace_id   TEXT    NOT NULL
) STRICT;
CREATE INDEX monitor_transitions_by_monitor ON monitor_transitions (monitor_id, at_ns);
