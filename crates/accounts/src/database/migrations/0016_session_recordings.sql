-- Whether recordings of sessions are stored.
ALTER TABLE projects ADD COLUMN session_recordings INTEGER NOT NULL DEFAULT 1;
