CREATE TABLE organizations (
    id         INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    timezone   TEXT    NOT NULL,
    created_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
    id            INTEGER PRIMARY KEY,
    email         TEXT    NOT NULL UNIQUE, -- lower case
    name          TEXT    NOT NULL,
    password_hash TEXT    NOT NULL,        -- argon2id, PHC string
    created_ns    INTEGER NOT NULL
) STRICT;

CREATE TABLE memberships (
    organization INTEGER NOT NULL REFERENCES organizations (id),
    user         INTEGER NOT NULL REFERENCES users (id),
    role         TEXT    NOT NULL CHECK (role IN ('owner', 'admin', 'user', 'readonly')),
    PRIMARY KEY (organization, user)
) STRICT, WITHOUT ROWID;

-- `number` names the project in telemetry rows and is never used again; 0 is nobody's.
CREATE TABLE projects (
    number               INTEGER PRIMARY KEY AUTOINCREMENT CHECK (number BETWEEN 1 AND 4294967295),
    id                   TEXT    NOT NULL UNIQUE, -- UUID
    organization         INTEGER NOT NULL REFERENCES organizations (id),
    name                 TEXT    NOT NULL,
    framework            TEXT    NOT NULL,
    token                TEXT    NOT NULL UNIQUE, -- 32 hex; the owner can be shown it again
    upload_token         TEXT    NOT NULL UNIQUE,
    keep_unmatched_roots INTEGER NOT NULL DEFAULT 0,
    issues_from_logs     INTEGER NOT NULL DEFAULT 0,
    sample_rate          REAL    NOT NULL DEFAULT 1.0 CHECK (sample_rate BETWEEN 0 AND 1),
    error_sample_rate    REAL    NOT NULL DEFAULT 1.0 CHECK (error_sample_rate BETWEEN 0 AND 1),
    created_ns           INTEGER NOT NULL
) STRICT;

CREATE TABLE archived_exceptions (
    project     INTEGER NOT NULL REFERENCES projects (number),
    hash        TEXT    NOT NULL, -- 16 hex
    archived_ns INTEGER NOT NULL,
    PRIMARY KEY (project, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE slow_endpoints (
    project   INTEGER NOT NULL REFERENCES projects (number),
    endpoint  TEXT    NOT NULL,
    offset_ms INTEGER NOT NULL,
    reason    TEXT    NOT NULL,
    PRIMARY KEY (project, endpoint)
) STRICT, WITHOUT ROWID;
