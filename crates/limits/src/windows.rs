//! Limits on the requests per minute of one client address.

use std::time::Duration;

use crate::units::minutes;

/// Length of a per-IP window. Spec: "Per-IP fixed-window limits".
pub const WINDOW: Duration = minutes(1);
/// Rows of the count-min sketch of the per-IP windows. An address is counted in one cell of each row, and its count is
/// the smallest of them: with four million addresses a minute collisions are rare.
pub const WINDOW_ROWS: usize = 4;
/// Binary logarithm of the number of one-byte cells in a row of the sketch.
pub const WINDOW_CELL_BITS: u32 = 20;
/// Length of the prefix by which IPv6 addresses are counted: one subscriber has the rest.
pub const IPV6_PREFIX_BITS: u32 = 64;
/// Minimum interval between two log lines about one untrusted proxy.
pub const PROXY_LOG_PAUSE: Duration = minutes(1);
/// Untrusted proxies that are logged within [`PROXY_LOG_PAUSE`].
pub const PROXY_LOG_ADDRESSES_MAX: usize = 1000;

/// Defines the per-IP windows, and a type of the same name for each: an extractor `_: PerIp<Login>` limits a route.
macro_rules! windows {
    ($($(#[$doc:meta])* $word:ident: $most:literal a minute, $what:literal, $source:literal;)*) => {
        /// A limit on the requests per minute of one client address. Each window is counted separately.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Window { $($(#[$doc])* $word),* }

        impl Window {
            /// Every window, in the order of declaration.
            pub const ALL: &[Window] = &[$(Window::$word),*];

            /// Maximum number of requests per minute.
            pub const fn requests_max(self) -> u8 {
                match self { $(Window::$word => $most),* }
            }

            /// What is limited, and its source in the specification.
            pub const fn about(self) -> (&'static str, &'static str) {
                match self { $(Window::$word => ($what, $source)),* }
            }
        }

        /// One type for each window.
        pub mod per_ip {
            /// Maps a type to its window.
            pub trait Named {
                /// The window that the type stands for.
                const WINDOW: super::Window;
            }
            $($(#[$doc])* pub struct $word; impl Named for $word { const WINDOW: super::Window = super::Window::$word; })*
        }
    };
}

windows! {
    /// `/login`.
    Login: 10 a minute, "/login", "\"Per-IP\"";
    /// `/register`.
    Register: 10 a minute, "/register", "\"Per-IP\"";
    /// SSO start.
    SsoStart: 20 a minute, "SSO start", "\"Per-IP\"";
    /// SSO callback.
    SsoCallback: 20 a minute, "SSO callback", "\"Per-IP\"";
    /// `/auth/token` and `/auth/device/token` together. A device-code poll gets `slow_down` instead of 429:
    /// `ApiError::for_grant`.
    Token: 60 a minute, "/auth/token and /auth/device/token together", "\"Per-IP\"";
    /// `/auth/logout`.
    Logout: 20 a minute, "/auth/logout", "\"Per-IP\"";
    /// `/forgot-password`.
    ForgotPassword: 5 a minute, "/forgot-password", "\"Per-IP\"";
    /// Password-reset validation.
    ResetValidation: 30 a minute, "password-reset validation", "\"Per-IP\"";
    /// Password-reset consumption.
    ResetConsumption: 10 a minute, "password-reset consumption", "\"Per-IP\"";
    /// Invitation lookup.
    InvitationLookup: 30 a minute, "invitation lookup", "\"Per-IP\"";
    /// Invitation acceptance.
    InvitationAcceptance: 10 a minute, "invitation acceptance", "\"Per-IP\"";
    /// Starting a device login.
    DeviceAuthorize: 10 a minute, "device login, start", "wire, appendix A";
    /// Second step of a login.
    SecondFactor: 10 a minute, "/login/mfa", "our own";
    /// Turning a second factor on or off, and its recovery codes.
    SecondFactorChange: 10 a minute, "second factor, changes", "our own";
    /// Change of one's own password.
    PasswordChange: 10 a minute, "/me/password", "our own";
    /// Step-up: a signed-in user proves their identity again.
    StepUp: 10 a minute, "/me/step-up", "our own";
    /// Challenges for passkeys.
    Passkey: 20 a minute, "passkey, challenges", "our own";
    /// Sign-in with a passkey.
    PasskeyLogin: 10 a minute, "passkey, sign-in", "our own";
    /// Adding and removing passkeys.
    PasskeyChange: 20 a minute, "passkey, changes", "our own";
    /// Creating the first organization after a sign-in with a provider.
    FinishSetup: 10 a minute, "/auth/finish-setup", "our own";
    /// Requests with a setup token.
    Setup: 60 a minute, "setup tokens", "our own";
    /// Registration of an OAuth client.
    OauthRegister: 10 a minute, "OAuth client registration", "wire, appendix A";
    /// Public status pages: page, JSON, feed and badge together.
    StatusPage: 30 a minute, "public status pages", "\"Per-IP\"";
    /// Logos of public status pages.
    StatusLogo: 60 a minute, "logos of public status pages", "wire, 6";
    /// Look-up of the status page of a custom domain.
    StatusDomain: 60 a minute, "status page of a domain, look-up", "wire, 6";
    /// Subscribing to a status page, confirming and unsubscribing.
    StatusSubscription: 10 a minute, "subscriptions to status pages", "our own";
    /// Lookup of an acknowledge link.
    AckLookup: 30 a minute, "acknowledge link, look-up", "wire, appendix A";
    /// Reports of heartbeats.
    Heartbeat: 240 a minute, "heartbeat reports", "our own";
    /// Acknowledging with such a link.
    Ack: 10 a minute, "acknowledge link", "wire, appendix A";
    /// iCalendar feeds of shifts.
    OncallFeed: 30 a minute, "iCalendar feed of on-call shifts", "our own";
}
