-- Before 0002 on a SQLite database of version 1: its tables make room.
ALTER TABLE slow_endpoints RENAME TO first_slow_endpoints;
ALTER TABLE archived_exceptions RENAME TO first_archived_exceptions;
ALTER TABLE projects RENAME TO first_projects;
ALTER TABLE memberships RENAME TO first_memberships;
ALTER TABLE users RENAME TO first_users;
ALTER TABLE organizations RENAME TO first_organizations;
