-- 1: the link was shown to the inviter, so accepting it proves nothing about the address.
ALTER TABLE invitations ADD COLUMN link_shown INTEGER NOT NULL DEFAULT 0;
