-- What a person chose to see: `system`, `light` or `dark`; none: `system`.
ALTER TABLE users ADD COLUMN theme TEXT;

-- Projects whose telemetry goes. Their numbers are never used again.
CREATE TABLE deleted_projects (
    number     INTEGER NOT NULL PRIMARY KEY,
    deleted_ns INTEGER NOT NULL
) STRICT;
