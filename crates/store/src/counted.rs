//! What engines count of requests and records, beside the records themselves.

use std::borrow::Cow;

/// What is counted: requests, their bytes, and records.
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
    /// A record that is not.
    Dropped,
    /// A record that is stored, but not whole or under another name; it counts as kept too.
    Trimmed,
    /// A record that is stored, by the process that sent it: the reason is a [`crate::columns::Sender`]. It counts as kept too.
    Sent,
}

impl Outcome {
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

/// How many requests or records had this outcome, all projects together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    pub signal: Cow<'static, str>,
    /// [`Outcome::as_str`]
    pub outcome: Cow<'static, str>,
    pub reason: Cow<'static, str>,
    pub count: u64,
}
