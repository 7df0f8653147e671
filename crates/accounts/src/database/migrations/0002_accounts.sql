-- The whole schema, as SQLite reads it; `migrations.rs` says what PostgreSQL reads instead of INTEGER, REAL, STRICT and
-- the keys that count up. Truth is 0 or 1. Times end in `_ns`: nanoseconds since the epoch. `_hash` is SHA-256 in hex of
-- a token that only its holder has; `_sealed` is encrypted with the server's key (`secrets/seal.rs`).

-- Grows with each change to what nodes hold in memory (`directory.rs`).
CREATE TABLE directory_version (
    one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL
) STRICT;
INSERT INTO directory_version (one, version) VALUES (1, 1);

-- Facts about this database, such as a text sealed with the key it belongs to.
CREATE TABLE facts (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE organizations (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    timezone   TEXT    NOT NULL,
    settings   TEXT    NOT NULL DEFAULT '{}', -- JSON object
    created_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    email             TEXT    NOT NULL UNIQUE, -- lower case
    name              TEXT    NOT NULL,
    password_hash     TEXT,                    -- argon2id as PHC, or bcrypt until the next login; none: signs in elsewhere
    email_verified_ns INTEGER,
    session_epoch     INTEGER NOT NULL DEFAULT 0, -- sessions of an older epoch are over
    timezone          TEXT,
    disabled_ns       INTEGER,
    last_login_ns     INTEGER,
    created_ns        INTEGER NOT NULL
) STRICT;

CREATE TABLE memberships (
    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_id         INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role            TEXT    NOT NULL CHECK (role IN ('owner', 'admin', 'user', 'readonly')),
    created_ns      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, user_id)
) STRICT;
CREATE INDEX memberships_by_user ON memberships (user_id);

-- `number` names the project in telemetry rows and is never used again; 0 is nobody's.
CREATE TABLE projects (
    number                    INTEGER PRIMARY KEY AUTOINCREMENT CHECK (number BETWEEN 1 AND 4294967295),
    id                        TEXT    NOT NULL UNIQUE, -- UUID
    organization_id           INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name                      TEXT    NOT NULL,
    framework                 TEXT    NOT NULL,
    token_hash                TEXT    NOT NULL UNIQUE,
    token_sealed              TEXT    NOT NULL,
    upload_token_hash         TEXT    NOT NULL UNIQUE,
    upload_token_sealed       TEXT    NOT NULL,
    keep_unmatched_roots      INTEGER NOT NULL DEFAULT 0,
    issues_from_logs          INTEGER NOT NULL DEFAULT 0,
    sample_rate               REAL    NOT NULL DEFAULT 1.0 CHECK (sample_rate BETWEEN 0 AND 1),
    error_sample_rate         REAL    NOT NULL DEFAULT 1.0 CHECK (error_sample_rate BETWEEN 0 AND 1),
    drop_healthy_healthchecks INTEGER NOT NULL DEFAULT 0,
    healthcheck_paths         TEXT    NOT NULL DEFAULT '[]', -- JSON array of texts
    profile_label_allowlist   TEXT    NOT NULL DEFAULT '[]', -- JSON array of texts
    retention_days            INTEGER,                       -- none: as the server has it
    created_ns                INTEGER NOT NULL
) STRICT;

-- What a member may do in one project instead of in its organisation. Not for owners and admins.
CREATE TABLE project_roles (
    project INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role    TEXT    NOT NULL CHECK (role IN ('user', 'readonly')),
    PRIMARY KEY (project, user_id)
) STRICT;

-- Replaced tokens, taken until they expire.
CREATE TABLE previous_tokens (
    token_hash TEXT    NOT NULL PRIMARY KEY,
    project    INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    kind       TEXT    NOT NULL CHECK (kind IN ('runtime', 'upload')),
    expires_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE archived_exceptions (
    project     INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    hash        TEXT    NOT NULL, -- 16 hex
    archived_ns INTEGER NOT NULL,
    PRIMARY KEY (project, hash)
) STRICT;

CREATE TABLE slow_endpoints (
    project   INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    endpoint  TEXT    NOT NULL,
    offset_ms INTEGER NOT NULL,
    reason    TEXT    NOT NULL,
    PRIMARY KEY (project, endpoint)
) STRICT;

CREATE TABLE invitations (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    email           TEXT    NOT NULL, -- lower case
    role            TEXT    NOT NULL CHECK (role IN ('admin', 'user', 'readonly')),
    token_hash      TEXT    NOT NULL UNIQUE,
    invited_by      INTEGER REFERENCES users (id) ON DELETE SET NULL,
    created_ns      INTEGER NOT NULL,
    expires_ns      INTEGER NOT NULL,
    accepted_ns     INTEGER,
    revoked_ns      INTEGER
) STRICT;
-- One open invitation for an address. Expired ones are revoked before the next is made.
CREATE UNIQUE INDEX invitations_open ON invitations (organization_id, email)
    WHERE accepted_ns IS NULL AND revoked_ns IS NULL;

CREATE TABLE password_resets (
    token_hash TEXT    NOT NULL PRIMARY KEY,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_ns INTEGER NOT NULL,
    expires_ns INTEGER NOT NULL,
    used_ns    INTEGER
) STRICT;
CREATE INDEX password_resets_by_user ON password_resets (user_id, created_ns);

CREATE TABLE personal_access_tokens (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id      INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name         TEXT    NOT NULL,
    prefix       TEXT    NOT NULL, -- the first characters, to tell tokens apart
    token_hash   TEXT    NOT NULL UNIQUE,
    created_ns   INTEGER NOT NULL,
    expires_ns   INTEGER,
    last_used_ns INTEGER,
    revoked_ns   INTEGER
) STRICT;
CREATE INDEX personal_access_tokens_by_user ON personal_access_tokens (user_id);

-- RFC 8628.
CREATE TABLE device_codes (
    device_code_hash TEXT    NOT NULL PRIMARY KEY,
    user_code        TEXT    NOT NULL UNIQUE,
    client_id        TEXT    NOT NULL,
    status           TEXT    NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'used')),
    user_id          INTEGER REFERENCES users (id) ON DELETE CASCADE,
    interval_seconds INTEGER NOT NULL,
    last_poll_ns     INTEGER,
    address          TEXT    NOT NULL,
    created_ns       INTEGER NOT NULL,
    expires_ns       INTEGER NOT NULL
) STRICT;

-- One sign-in of a client; its refresh tokens replace each other, and all end with it.
CREATE TABLE refresh_families (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id       INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_id     TEXT    NOT NULL,
    resource      TEXT    NOT NULL DEFAULT '',
    session_epoch INTEGER NOT NULL,
    created_ns    INTEGER NOT NULL,
    revoked_ns    INTEGER
) STRICT;
CREATE INDEX refresh_families_by_user ON refresh_families (user_id);

CREATE TABLE refresh_tokens (
    token_hash       TEXT    NOT NULL PRIMARY KEY,
    family_id        INTEGER NOT NULL REFERENCES refresh_families (id) ON DELETE CASCADE,
    created_ns       INTEGER NOT NULL,
    expires_ns       INTEGER NOT NULL,
    used_ns          INTEGER,
    successor_sealed TEXT -- what its use was answered with: said again within the grace
) STRICT;
CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family_id);

-- RFC 7591; public clients.
CREATE TABLE oauth_clients (
    id            TEXT    NOT NULL PRIMARY KEY,
    name          TEXT    NOT NULL,
    redirect_uris TEXT    NOT NULL, -- JSON array of texts
    address       TEXT    NOT NULL,
    created_ns    INTEGER NOT NULL
) STRICT;

CREATE TABLE oauth_codes (
    code_hash      TEXT    NOT NULL PRIMARY KEY,
    client_id      TEXT    NOT NULL,
    user_id        INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    redirect_uri   TEXT    NOT NULL,
    code_challenge TEXT    NOT NULL, -- PKCE, S256
    resource       TEXT    NOT NULL DEFAULT '',
    created_ns     INTEGER NOT NULL,
    expires_ns     INTEGER NOT NULL,
    used_ns        INTEGER,
    family_id      INTEGER REFERENCES refresh_families (id) ON DELETE CASCADE
) STRICT;

-- People as other sign-ins know them.
CREATE TABLE identities (
    provider      TEXT    NOT NULL, -- google, github, oidc
    subject       TEXT    NOT NULL,
    user_id       INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    email         TEXT    NOT NULL,
    last_login_ns INTEGER,
    created_ns    INTEGER NOT NULL,
    PRIMARY KEY (provider, subject)
) STRICT;
CREATE INDEX identities_by_user ON identities (user_id);

-- What has been begun and is not finished: a sign-in elsewhere, a second factor, a passkey's ceremony.
CREATE TABLE challenges (
    token_hash   TEXT    NOT NULL PRIMARY KEY,
    kind         TEXT    NOT NULL,
    user_id      INTEGER REFERENCES users (id) ON DELETE CASCADE,
    state_sealed TEXT    NOT NULL,
    tries        INTEGER NOT NULL DEFAULT 0,
    created_ns   INTEGER NOT NULL,
    expires_ns   INTEGER NOT NULL,
    used_ns      INTEGER
) STRICT;

CREATE TABLE totp (
    user_id       INTEGER NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret_sealed TEXT    NOT NULL,
    last_step     INTEGER NOT NULL DEFAULT 0, -- no code is taken twice
    confirmed_ns  INTEGER,
    created_ns    INTEGER NOT NULL
) STRICT;

CREATE TABLE recovery_codes (
    user_id   INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    code_hash TEXT    NOT NULL,
    used_ns   INTEGER,
    PRIMARY KEY (user_id, code_hash)
) STRICT;

CREATE TABLE passkeys (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id       INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    credential_id TEXT    NOT NULL UNIQUE, -- base64url
    credential    TEXT    NOT NULL,        -- JSON: public key, counter, transports
    name          TEXT    NOT NULL,
    last_used_ns  INTEGER,
    created_ns    INTEGER NOT NULL
) STRICT;
CREATE INDEX passkeys_by_user ON passkeys (user_id);

-- Who changed what, when, from where. Refers to nothing, so that it outlives what it tells about.
CREATE TABLE audit_log (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ns           INTEGER NOT NULL,
    organization_id INTEGER,       -- none: about the server or one person
    user_id         INTEGER,       -- none: nobody signed in, or the command line
    actor           TEXT    NOT NULL, -- an e-mail address, or what else acted
    address         TEXT    NOT NULL, -- where from
    action          TEXT    NOT NULL, -- such as project.rename
    subject         TEXT    NOT NULL, -- such as project:<uuid>
    details         TEXT    NOT NULL  -- JSON object; never a secret
) STRICT;
CREATE INDEX audit_log_by_organization ON audit_log (organization_id, id);

-- Links that acknowledge an alert.
CREATE TABLE ack_tokens (
    token_hash      TEXT    NOT NULL PRIMARY KEY,
    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_id         INTEGER REFERENCES users (id) ON DELETE CASCADE,
    subject         TEXT    NOT NULL,
    created_ns      INTEGER NOT NULL,
    expires_ns      INTEGER,
    acknowledged_ns INTEGER
) STRICT;

-- Mail that waits to be sent; a node that sends one holds it until `claimed_until_ns`.
CREATE TABLE mail_outbox (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    recipient        TEXT    NOT NULL,
    subject          TEXT    NOT NULL,
    body_sealed      TEXT    NOT NULL, -- text and HTML as JSON: they hold links with tokens
    tries            INTEGER NOT NULL DEFAULT 0,
    next_try_ns      INTEGER NOT NULL,
    claimed_until_ns INTEGER NOT NULL DEFAULT 0,
    error            TEXT    NOT NULL DEFAULT '',
    created_ns       INTEGER NOT NULL,
    sent_ns          INTEGER
) STRICT;
CREATE INDEX mail_outbox_waiting ON mail_outbox (next_try_ns) WHERE sent_ns IS NULL;
