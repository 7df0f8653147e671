//! Limits of accounts: the control database, sign-in, tokens, invitations, mail.

use std::time::Duration;

use crate::units::{minutes, seconds};

/// Connections of one node to the control database.
pub const CONTROL_CONNECTIONS: u32 = 8;
/// Time that a request waits for a connection to the control database.
pub const CONTROL_WAIT_MAX: Duration = seconds(15);
/// Time after which an idle connection to PostgreSQL is closed.
pub const CONTROL_IDLE_MAX: Duration = minutes(10);
/// Maximum age of a connection to PostgreSQL.
pub const CONTROL_LIFE_MAX: Duration = minutes(30);
/// Interval at which a node checks whether another has changed users or permissions: the time within which a revoked
/// permission ends on every node.
pub const DIRECTORY_PAUSE: Duration = seconds(1);
/// Maximum cost of a bcrypt hash; hashes of a higher cost are not verified. Each step doubles the time. WIRE 5.1 has
/// 12.
pub const BCRYPT_COST_MAX: u32 = 14;
/// Lifetime of a login. WIRE 5.1.
pub const LOGIN_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Age at which the value of a session cookie is rotated.
pub const SESSION_ROTATION: Duration = minutes(15);
/// Time for which the previous cookie value is accepted after the new one was received.
pub const SESSION_COOKIE_GRACE: Duration = minutes(1);
/// Time after a sign-in for which a browser counts as a known device of the account.
pub const DEVICE_LIFE: Duration = Duration::from_secs(180 * 24 * 60 * 60);
/// Known devices of one user; beyond it, the device with the oldest sign-in is removed.
pub const DEVICES_MAX: i64 = 50;
/// Time within which a user must prove ownership of the account that a provider's sign-in will be linked to.
pub const LINK_PROOF_MAX: Duration = minutes(10);
/// Codes mailed to one account for that proof, within [`SECOND_FACTOR_WINDOW`].
pub const LINK_MAILS_MAX: i64 = 3;
/// Sessions of one user; beyond it, the least recently used one ends.
pub const SESSIONS_MAX: i64 = 200;
/// Time after a step-up within which a user may change credentials and roles and delete things.
pub const STEP_UP_LIFE: Duration = minutes(5);
/// Lifetime of an access token. WIRE 5.4.
pub const ACCESS_LIFE: Duration = minutes(15);
/// Lifetime of a refresh token from its last use. WIRE 5.4.
pub const REFRESH_LIFE: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Time within which a reused refresh token gets the same response again, and does not end the sign-in. WIRE 5.4.
pub const REFRESH_GRACE: Duration = seconds(30);
/// Lifetime of a device code. WIRE 5.4.
pub const DEVICE_CODE_LIFE: Duration = minutes(10);
/// Minimum interval between two polls of a device. WIRE 5.4.
pub const DEVICE_INTERVAL: Duration = seconds(5);
/// Lifetime of an authorization code. WIRE 5.4.
pub const OAUTH_CODE_LIFE: Duration = minutes(5);
/// Time after which a registered client without any sign-in is deleted.
pub const UNUSED_CLIENT_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// Registered clients without any sign-in; beyond it, the oldest is deleted. Anybody may register clients.
pub const UNUSED_CLIENTS_MAX: i64 = 1000;
/// Redirect URIs of a registered client.
pub const REDIRECT_URIS_MAX: usize = 3;
/// Length of a redirect URI, bytes.
pub const REDIRECT_URI_BYTES_MAX: usize = 500;
/// Characters in the name of a client or a personal access token.
pub const CREDENTIAL_NAME_CHARS_MAX: usize = 100;
/// Projects in the scope of a token.
pub const TOKEN_PROJECTS_MAX: usize = 100;
/// Personal access tokens of one user.
pub const PERSONAL_TOKENS_MAX: i64 = 100;
/// Default lifetime of a personal access token, days.
pub const PERSONAL_TOKEN_DAYS: u32 = 90;
/// Maximum lifetime of a personal access token, days.
pub const PERSONAL_TOKEN_DAYS_MAX: u32 = 3650;
/// Time between the password and the second factor of a sign-in.
pub const SECOND_FACTOR_MAX: Duration = minutes(5);
/// Wrong second factors of one account within [`SECOND_FACTOR_WINDOW`], from all clients together; more get 429.
pub const SECOND_FACTOR_TRIES_MAX: i64 = 10;
/// Window of [`SECOND_FACTOR_TRIES_MAX`] and [`LINK_MAILS_MAX`].
pub const SECOND_FACTOR_WINDOW: Duration = minutes(15);
/// Recovery codes of one user.
pub const RECOVERY_CODES: usize = 10;
/// Lifetime of a setup token.
pub const SETUP_LIFE: Duration = minutes(60);
/// Passkeys of one user.
pub const PASSKEYS_MAX: i64 = 20;
/// Time from a passkey's challenge to its response. WebAuthn, 15.1, recommends 5 to 10 minutes.
pub const PASSKEY_CEREMONY_MAX: Duration = minutes(5);
/// Characters of a User-Agent in the audit log.
pub const USER_AGENT_CHARS_MAX: usize = 300;
/// Minimum interval between two updates of a token's time of last use.
pub const LAST_USED_PAUSE: Duration = minutes(1);
/// Minimum length of a key that the operator configures for signing or sealing, bytes.
pub const LOGIN_KEY_BYTES_MIN: usize = 32;
/// Minimum length of a password, characters. WIRE 5.1.
pub const PASSWORD_CHARS_MIN: usize = 8;
/// Maximum length of a password, bytes. Longer ones are refused without hashing.
pub const PASSWORD_BYTES_MAX: usize = 1024;
/// Password hashes computed concurrently; each takes 19 MB and tens of milliseconds.
pub const PASSWORD_HASHES_MAX: usize = 2;
/// Passwords of unknown clients that wait to be hashed; more get 503.
pub const PASSWORD_HASHES_WAITING_MAX: usize = 32;
/// Passwords that may wait in addition, of users who are signed in, or sign in from an address that they used before.
pub const PASSWORD_HASHES_RESERVED: usize = 32;
/// Failed sign-ins at one account without a delay.
pub const GUESSES_FREE: u32 = 20;
/// Maximum delay after further failures: 1, 2, 4, ... seconds after the last one, up to this.
pub const GUESS_PAUSE_MAX: Duration = minutes(1);
/// Time without a failure after which the failures of an account are reset.
pub const GUESSES_RESET_AFTER: Duration = minutes(15);
/// IPv6 prefix lengths, and the failed sign-ins per minute that a network of each may have.
pub const GUESSES_PER_NETWORK: [(u32, u32); 2] = [(56, 30), (48, 100)];
/// Accounts and networks whose failed sign-ins are counted.
pub const GUESSED_MAX: usize = 65_536;
/// Oldest of these counters that are dropped when the table is full.
pub const GUESSES_DROPPED: usize = GUESSED_MAX / 2;
/// Lifetime of an invitation. WIRE 5.2.
pub const INVITATION_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Lifetime of a password reset link.
pub const RESET_LIFE: Duration = minutes(60);
/// Minimum interval between two password reset mails to the same user. WIRE 5.2.
pub const RESET_PAUSE: Duration = minutes(60);
/// Password reset requests processed concurrently in the background, after their response; more get 503.
pub const RESETS_MAX: usize = 64;
/// Organizations that one user may own.
pub const ORGANIZATIONS_OWNED_MAX: usize = 10;
/// Invitations by one user within [`INVITATIONS_WINDOW`]; each sends a mail.
pub const INVITATIONS_OF_PERSON_MAX: i64 = 50;
/// Invitations by one organization within [`INVITATIONS_WINDOW`].
pub const INVITATIONS_OF_ORGANIZATION_MAX: i64 = 100;
/// Invitations to one address within [`INVITATIONS_WINDOW`], from all organizations together.
pub const INVITATIONS_TO_ADDRESS_MAX: i64 = 5;
/// Window of the limits on invitations.
pub const INVITATIONS_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);
/// Project roles that one request may set.
pub const PROJECT_ROLES_MAX: usize = 1000;
/// Length of an e-mail address, bytes. RFC 5321: 64 + 1 + 255.
pub const EMAIL_BYTES_MAX: usize = 320;
/// Time of one request to an identity provider.
pub const SSO_CALL_MAX: Duration = seconds(10);
/// Size of the response of an identity provider, bytes.
pub const SSO_ANSWER_BYTES_MAX: u64 = 1 << 20;
/// Time for which a discovery document is cached.
pub const SSO_DISCOVERY_LIFE: Duration = minutes(60);
/// Time from the redirect to an identity provider to its callback.
pub const SSO_SIGN_IN_LIFE: Duration = minutes(10);
/// Accepted difference between the clocks of an identity provider and of this server.
pub const SSO_CLOCKS_APART: Duration = seconds(60);
/// Entries of the audit log in one response.
pub const AUDIT_ENTRIES_MAX: i64 = 200;
/// Entries of the audit log in one export; `before` continues it.
pub const AUDIT_EXPORT_ENTRIES_MAX: i64 = 100_000;
/// Interval at which the outbox is polled when no mail is added.
pub const MAIL_PAUSE: Duration = seconds(5);
/// Mails claimed and sent in one batch.
pub const MAIL_BATCH: i64 = 20;
/// Lease of a mail that a node is sending: other nodes do not send it in this time.
pub const MAIL_LEASE: Duration = minutes(15);
/// Timeout of one SMTP command.
pub const MAIL_TIMEOUT: Duration = seconds(30);
/// Delay before a mail that the mail server did not accept is retried; doubled each time.
pub const MAIL_RETRY_MIN: Duration = seconds(10);
/// Maximum delay between two attempts at a mail.
pub const MAIL_RETRY_MAX: Duration = minutes(60);
/// Age at which an unsent mail is given up; what it is about has expired by then.
pub const MAIL_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Attempts at a mail that the mail server refuses permanently.
pub const MAIL_REFUSED_TRIES: i64 = 10;
