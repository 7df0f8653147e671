-- 0: no demo project; 1: demo data is being loaded, or its loading was interrupted; 2: all of it is loaded.
ALTER TABLE projects ADD COLUMN demo INTEGER NOT NULL DEFAULT 0;
-- One of them in each organization.
CREATE UNIQUE INDEX demo_projects ON projects (organization_id) WHERE demo > 0;
