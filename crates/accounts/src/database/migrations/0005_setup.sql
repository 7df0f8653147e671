-- A program that sets a repository up proposes projects; the person who gave it the token says yes or no.
CREATE TABLE setup_sessions (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    token_hash      TEXT    NOT NULL UNIQUE,
    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_id         INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    status          TEXT    NOT NULL CHECK (status IN ('open', 'proposed', 'approved', 'refused')),
    plan            TEXT    NOT NULL, -- JSON array of names and frameworks
    projects        TEXT    NOT NULL, -- JSON array of numbers: what was made
    created_ns      INTEGER NOT NULL,
    expires_ns      INTEGER NOT NULL
) STRICT;
CREATE INDEX setup_sessions_by_user ON setup_sessions (user_id);
