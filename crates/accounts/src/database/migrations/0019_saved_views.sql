-- Named query strings of pages.
CREATE TABLE saved_views (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    INTEGER NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
    owner      INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    page       TEXT    NOT NULL,
    search     TEXT    NOT NULL, -- without the question mark
    shared     INTEGER NOT NULL,
    created_ns INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX saved_views_by_owner ON saved_views (project, owner);

-- The saved views that a user has starred.
CREATE TABLE saved_view_stars (
    view_id INTEGER NOT NULL REFERENCES saved_views (id) ON DELETE CASCADE,
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (view_id, user_id)
) STRICT;

-- Content flags of AI calls: languages of the word lists, and terms of the project. JSON lists of strings.
ALTER TABLE projects ADD COLUMN ai_flagged_languages TEXT NOT NULL DEFAULT '[]';
ALTER TABLE projects ADD COLUMN ai_flagged_terms TEXT NOT NULL DEFAULT '[]';
