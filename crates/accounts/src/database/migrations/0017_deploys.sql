-- The first sight of each version of a service in an environment.
CREATE TABLE first_versions (
    project     INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    service     TEXT    NOT NULL,
    environment TEXT    NOT NULL, -- empty: not stated
    version     TEXT    NOT NULL,
    first_ns    INTEGER NOT NULL,
    PRIMARY KEY (project, service, environment, version)
) STRICT;

-- Deploys that a build pipeline has reported.
CREATE TABLE deploys (
    project     INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    service     TEXT    NOT NULL,
    environment TEXT    NOT NULL, -- empty: not stated
    version     TEXT    NOT NULL,
    deployed_ns INTEGER NOT NULL,
    commit_id   TEXT    NOT NULL,
    author      TEXT    NOT NULL,
    url         TEXT    NOT NULL,
    PRIMARY KEY (project, service, environment, version, deployed_ns)
) STRICT;
CREATE INDEX deploys_by_time ON deploys (project, deployed_ns);
