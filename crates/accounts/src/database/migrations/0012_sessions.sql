-- Sign-ins of people. A page holds its session as a cookie, whose value is replaced as it is used; the value before is
-- taken until the new one was seen.
CREATE TABLE sessions (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id       INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    session_epoch INTEGER NOT NULL,
    cookie_hash   TEXT    NOT NULL UNIQUE,
    cookie_sealed TEXT    NOT NULL, -- given again to who still shows the value before
    previous_hash TEXT    UNIQUE,
    rotated_ns    INTEGER NOT NULL,
    confirmed_ns  INTEGER,          -- first use of the newest value; none: not seen yet
    user_agent    TEXT    NOT NULL,
    address       TEXT    NOT NULL, -- of the last use
    proved_ns     INTEGER NOT NULL, -- when the person last showed a password, a second factor or a passkey
    created_ns    INTEGER NOT NULL,
    last_seen_ns  INTEGER NOT NULL,
    expires_ns    INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_user ON sessions (user_id);
