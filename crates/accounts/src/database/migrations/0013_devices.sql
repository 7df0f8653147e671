-- Browsers that people have signed in from. Each holds a cookie, whose value is replaced at every sign-in; people who share
-- a browser share the value.
CREATE TABLE devices (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    device_hash TEXT    NOT NULL,
    seen_ns     INTEGER NOT NULL, -- the last sign-in
    UNIQUE (user_id, device_hash)
) STRICT;
CREATE INDEX devices_by_hash ON devices (device_hash);
-- A provider's sign-in that waits for a proof of the account it will be linked to; and the code mailed for it.
ALTER TABLE challenges ADD COLUMN link_sealed TEXT;
ALTER TABLE challenges ADD COLUMN mail_code_hash TEXT;
