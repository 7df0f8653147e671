//! Counts of requests and records by outcome.

use std::borrow::Cow;

/// The outcome of a request or record that is counted, or the bytes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A request that was acknowledged.
    Accepted,
    /// A request that was refused.
    Rejected,
    /// Bytes of bodies that were acknowledged, inflated.
    Bytes,
    /// A record that is stored.
    Kept,
    /// A record that is not stored.
    Dropped,
    /// A record that is stored incomplete or under another name; it is counted as kept too.
    Trimmed,
    /// A record that is stored, by the process that sent it: the reason is an encoded [`crate::columns::Sender`]. It is
    /// counted as kept too.
    Sent,
}

impl Outcome {
    /// The value of the column `outcome`.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Accepted => "accepted",
            Outcome::Rejected => "rejected",
            Outcome::Bytes => "bytes",
            Outcome::Kept => "kept",
            Outcome::Dropped => "dropped",
            Outcome::Trimmed => "trimmed",
            Outcome::Sent => "sent",
        }
    }
}

/// The number of requests, records or bytes with one outcome, over all projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeCount {
    /// `traces`, `metrics` or `logs`.
    pub signal: Cow<'static, str>,
    /// [`Outcome::as_str`]
    pub outcome: Cow<'static, str>,
    /// Reason of a rejected request, or a dropped or trimmed record; the sender of [`Outcome::Sent`]; else empty.
    pub reason: Cow<'static, str>,
    /// Requests, records or bytes.
    pub count: u64,
}
