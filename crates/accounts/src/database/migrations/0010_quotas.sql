-- What a project may send a day and a second, none: as the server has it; and from which web pages, as a JSON array.
ALTER TABLE projects ADD COLUMN bytes_a_day INTEGER;
ALTER TABLE projects ADD COLUMN records_a_day INTEGER;
ALTER TABLE projects ADD COLUMN records_a_second INTEGER;
ALTER TABLE projects ADD COLUMN allowed_origins TEXT NOT NULL DEFAULT '[]';
