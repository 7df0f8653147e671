-- The Issue that a hash belongs to. A hash without a row is an Issue of its own. Pointers form chains without cycles:
-- the last hash names the Issue, so that a merge takes along what points at the merged Issue, and an unmerge gives it
-- back.
ALTER TABLE issue_merges RENAME TO issue_hashes;
ALTER TABLE issue_hashes RENAME COLUMN target TO issue;
-- 'merge': a user merged it. 'rule': the grouping rule of version rule_version made it of the exceptions of the Issue.
-- 'own': a user made it an Issue of its own, which no rule joins again; issue is the hash.
ALTER TABLE issue_hashes ADD COLUMN cause TEXT NOT NULL DEFAULT 'merge';
ALTER TABLE issue_hashes ADD COLUMN rule_version INTEGER NOT NULL DEFAULT 1;

-- Grouping rules of the project, as JSON: the number of the latest rule, and the rules in order.
ALTER TABLE projects ADD COLUMN grouping_rules TEXT NOT NULL DEFAULT '';
-- Projects whose stored exceptions are to be grouped again by these rules.
CREATE TABLE issue_regroupings (
    project      INTEGER NOT NULL PRIMARY KEY REFERENCES projects (number) ON DELETE CASCADE,
    requested_ns INTEGER NOT NULL
) STRICT;
-- Hashes of rows before and after that, until hashes without rows lead on.
CREATE TABLE issue_moves (
    project INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    hash    TEXT    NOT NULL,
    moved   TEXT    NOT NULL,
    PRIMARY KEY (project, hash, moved)
) STRICT;
