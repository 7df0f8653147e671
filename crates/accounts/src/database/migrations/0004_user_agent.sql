-- What a change was made with: the start of the request's User-Agent.
ALTER TABLE audit_log ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
