-- The session epoch of the person who approved, so that an approval ends with the sessions. Approvals from before this
-- version have none and are refused.
ALTER TABLE oauth_codes ADD COLUMN session_epoch INTEGER;
ALTER TABLE device_codes ADD COLUMN session_epoch INTEGER;
