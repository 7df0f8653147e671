-- Which project it was: its uploads lie under this. None: deleted before this was written down.
ALTER TABLE deleted_projects ADD COLUMN id TEXT;
