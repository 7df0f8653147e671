-- What happened to one person's account.
CREATE INDEX audit_log_by_user ON audit_log (user_id, id);
CREATE INDEX audit_log_by_subject ON audit_log (subject, id);
-- Whether the provider said, at the last sign-in, that it had asked for several factors.
ALTER TABLE identities ADD COLUMN is_multi_factor INTEGER NOT NULL DEFAULT 0;
