//! The sender of requests and mails for a delivery, and the outcome of an attempt that failed.

use tidewatch_accounts::mail::{ImmediateMail, SendError};
use tidewatch_runtime::outbound::guarded::{CallError, OutboundRequest, OutboundResponse};

use super::reply::Failure;

/// The Twilio account of the server.
#[derive(Clone, PartialEq, Eq)]
pub struct TwilioAccount {
    /// The SID of the account: `AC` and letters and digits.
    pub sid: String,
    /// The password of the requests, a secret.
    pub auth_token: String,
    /// The sender: a number as in E.164, or the SID of a Messaging Service.
    pub from: String,
    /// The base URL of the API.
    pub api_url: String,
}

/// Sends what a channel needs to be sent.
pub trait Courier {
    /// Sends an HTTP request.
    fn request(&mut self, request: &OutboundRequest) -> Result<OutboundResponse, CallError>;

    /// Sends a mail.
    fn mail(&mut self, mail: &ImmediateMail) -> Result<(), SendError>;

    /// The account that sends SMS. `None`: it is not set up.
    fn twilio(&self) -> Option<&TwilioAccount>;

    /// The time of the attempt, seconds since the epoch.
    fn now_seconds(&self) -> i64;
}

/// The outcome of an attempt that failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failed {
    /// Error of the delivery, a sentence without a full stop and without secrets.
    pub error: String,
    /// Whether further attempts are pointless.
    pub is_final: bool,
    /// Seconds for which the receiver takes nothing.
    pub retry_after_seconds: Option<u64>,
    /// The recipients of a mail that have it.
    pub delivered: Vec<String>,
}

impl From<Failure> for Failed {
    fn from(Failure { error, retry_after_seconds }: Failure) -> Failed {
        Failed { error, retry_after_seconds, ..Failed::default() }
    }
}
