-- What tokens may do: read, write (and read) or admin (and both), and in which projects (JSON array of ids; none: in
-- all). Those from before had no scope and stay as clients know them: they read and write.
ALTER TABLE personal_access_tokens ADD COLUMN scope TEXT NOT NULL DEFAULT 'write';
ALTER TABLE personal_access_tokens ADD COLUMN projects TEXT;
ALTER TABLE refresh_families ADD COLUMN scope TEXT NOT NULL DEFAULT 'write';
ALTER TABLE refresh_families ADD COLUMN projects TEXT;
ALTER TABLE oauth_codes ADD COLUMN scope TEXT NOT NULL DEFAULT 'write';
ALTER TABLE oauth_codes ADD COLUMN projects TEXT;
ALTER TABLE device_codes ADD COLUMN scope TEXT NOT NULL DEFAULT 'write';
ALTER TABLE device_codes ADD COLUMN projects TEXT;
