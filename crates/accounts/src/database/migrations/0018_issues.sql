-- Decisions of users about Issues. An Issue without a row is open.
CREATE TABLE issue_decisions (
    project     INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    hash        TEXT    NOT NULL, -- 16 hex
    decision    TEXT    NOT NULL
                CHECK (decision IN ('resolved', 'resolved_in_next_version', 'muted', 'archived')),
    decided_ns  INTEGER NOT NULL,
    until_ns    INTEGER, -- of mutes: the end
    until_count INTEGER, -- of mutes: the number of occurrences that ends it
    PRIMARY KEY (project, hash)
) STRICT;
INSERT INTO issue_decisions (project, hash, decision, decided_ns)
    SELECT project, hash, 'archived', archived_ns FROM archived_exceptions;
DROP TABLE archived_exceptions;

-- The user who works on an Issue.
CREATE TABLE issue_assignees (
    project INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    hash    TEXT    NOT NULL,
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (project, hash)
) STRICT;

-- Hashes whose occurrences are shown with those of another hash. A target is never merged itself.
CREATE TABLE issue_merges (
    project INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    hash    TEXT    NOT NULL,
    target  TEXT    NOT NULL,
    PRIMARY KEY (project, hash)
) STRICT;

-- What users did with an Issue, and their comments.
CREATE TABLE issue_activity (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    project   INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    hash      TEXT    NOT NULL,
    at_ns     INTEGER NOT NULL,
    user_id   INTEGER, -- null: the server
    actor     TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    details   TEXT    NOT NULL, -- JSON
    edited_ns INTEGER -- of comments: the latest change
) STRICT;
CREATE INDEX issue_activity_by_issue ON issue_activity (project, hash, id);

-- Links to the code host: the template of an address, and the folder that is cut from the paths of frames.
ALTER TABLE projects ADD COLUMN source_url TEXT NOT NULL DEFAULT '';
ALTER TABLE projects ADD COLUMN source_root TEXT NOT NULL DEFAULT '';
