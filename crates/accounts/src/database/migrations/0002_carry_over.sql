-- After 0002 on such a database. Organisations and projects come first, by the program: it seals tokens (`migrations.rs`).
INSERT INTO users (id, email, name, password_hash, created_ns)
    SELECT id, email, name, password_hash, created_ns FROM first_users;
INSERT INTO memberships (organization_id, user_id, role, created_ns)
    SELECT m.organization, m.user, m.role, u.created_ns FROM first_memberships m JOIN first_users u ON u.id = m.user;
INSERT INTO archived_exceptions (project, hash, archived_ns)
    SELECT project, hash, archived_ns FROM first_archived_exceptions;
INSERT INTO slow_endpoints (project, endpoint, offset_ms, reason)
    SELECT project, endpoint, offset_ms, reason FROM first_slow_endpoints;
DROP TABLE first_slow_endpoints;
DROP TABLE first_archived_exceptions;
DROP TABLE first_projects;
DROP TABLE first_memberships;
DROP TABLE first_users;
DROP TABLE first_organizations;
