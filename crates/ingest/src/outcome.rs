//! The outcome of every request: accepted, or rejected for a named reason. The store itself counts records.
//!
//! Spec: errors; DECISIONS 4. `POST /api/drops` shows the sums.

use tidewatch_domain::model::{RequestKind, Signal};

use super::error::ExportError;

/// Reasons for which a whole request was refused. The API returns these names; they never change meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RejectReason {
    /// No token, or one that belongs to no project; counted under project 0.
    BadToken,
    /// The body is larger than the limit.
    TooLarge,
    /// The body is no valid export.
    Malformed,
    /// The content type or the content encoding is not supported.
    UnsupportedMediaType,
    /// A gRPC call with another content type or compression, or over HTTP/1.1.
    Grpc,
    /// The body does not match its content encoding.
    BadEncoding,
    /// The body came too slowly.
    Slow,
    /// The project has used up its bytes or records of the day.
    OverQuota,
    /// The project sends more records a second than it may.
    OverRate,
    /// A browser sends from a page whose origin is not on the project's list.
    Origin,
    /// Too many requests at once, or the disk cannot keep up or is full. The client should retry later.
    Overloaded,
}

impl RejectReason {
    /// Every reason.
    pub const ALL: [RejectReason; 11] = [
        RejectReason::BadToken,
        RejectReason::TooLarge,
        RejectReason::Malformed,
        RejectReason::UnsupportedMediaType,
        RejectReason::Grpc,
        RejectReason::BadEncoding,
        RejectReason::Slow,
        RejectReason::OverQuota,
        RejectReason::OverRate,
        RejectReason::Origin,
        RejectReason::Overloaded,
    ];

    /// The name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            RejectReason::BadToken => "bad_token",
            RejectReason::TooLarge => "too_large",
            RejectReason::Malformed => "malformed",
            RejectReason::UnsupportedMediaType => "unsupported_media_type",
            RejectReason::Grpc => "grpc",
            RejectReason::BadEncoding => "bad_encoding",
            RejectReason::Slow => "slow",
            RejectReason::OverQuota => "over_quota",
            RejectReason::OverRate => "over_rate",
            RejectReason::Origin => "origin_not_allowed",
            RejectReason::Overloaded => "overloaded",
        }
    }
}

/// A refused request: the reason it is counted under, and the error for its client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The reason it is counted under.
    pub reason: RejectReason,
    /// The error for the response.
    pub error: ExportError,
}

impl Refused {
    /// A refusal with this reason and error.
    pub fn new(reason: RejectReason, error: ExportError) -> Refused {
        Refused { reason, error }
    }

    /// A refusal as [`RejectReason::Malformed`].
    pub fn malformed(message: impl Into<String>) -> Refused {
        Refused::new(RejectReason::Malformed, ExportError::malformed(message))
    }

    /// A refusal as [`RejectReason::TooLarge`]; `bytes_max` is the limit.
    pub fn too_large(bytes_max: usize) -> Refused {
        Refused::new(RejectReason::TooLarge, ExportError::TooLarge(bytes_max))
    }

    /// A refusal as [`RejectReason::Overloaded`].
    pub fn overloaded(message: &'static str) -> Refused {
        Refused::new(RejectReason::Overloaded, ExportError::Overloaded(message))
    }
}

/// Partial success of an accepted request: the number of records that are not stored for each reason, and the number
/// stored without some attributes of their resource or scope.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rejections {
    /// Reasons with their counts, in the order of first occurrence; few.
    clauses: Vec<(&'static str, u64)>,
    /// Records stored without some resource or scope attributes.
    pub trimmed: u64,
}

impl Rejections {
    /// Counts one record that is not stored, for this reason.
    pub fn add(&mut self, clause: &'static str) {
        match self.clauses.iter_mut().find(|(known, _)| *known == clause) {
            Some((_, count)) => *count += 1,
            None => self.clauses.push((clause, 1)),
        }
    }

    /// Number of records not stored.
    pub fn total(&self) -> u64 {
        self.clauses.iter().map(|(_, count)| count).sum()
    }

    /// The message for the client: `3 spans rejected: trace id is not 16 bytes (2), span id is all zero (1)`, most
    /// frequent first, and the number of trimmed records; `None` when everything is stored.
    pub fn message(&self, kind: RequestKind) -> Option<String> {
        let records = |count| records(kind, count);
        let total = self.total();
        let trimmed = (self.trimmed > 0)
            .then(|| format!("{} stored without some resource or scope attributes: too large", records(self.trimmed)));
        if total == 0 {
            return trimmed;
        }
        let mut clauses = self.clauses.clone();
        clauses.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let clauses: Vec<String> = clauses.iter().map(|(clause, count)| format!("{clause} ({count})")).collect();
        let rejected = format!("{} rejected: {}", records(total), clauses.join(", "));
        Some(trimmed.map_or(rejected.clone(), |trimmed| format!("{rejected}; {trimmed}")))
    }
}

/// `1 span`, `2 data points`.
fn records(kind: RequestKind, count: u64) -> String {
    let noun = match kind {
        RequestKind::Otlp(Signal::Traces) => "span",
        RequestKind::Otlp(Signal::Metrics) => "data point",
        RequestKind::Otlp(Signal::Logs) => "log record",
        RequestKind::Report => "item",
        RequestKind::Profile | RequestKind::OtlpProfiles => "sample",
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        let trimmed = "stored without some resource or scope attributes: too large";
        for (signal, clauses, trims, expected) in [
            (Signal::Traces, &[][..], 0, None),
            (Signal::Traces, &["a"], 0, Some("1 span rejected: a (1)".to_owned())),
            (Signal::Traces, &["b", "a", "a"], 0, Some("3 spans rejected: a (2), b (1)".to_owned())),
            (Signal::Metrics, &["a", "a"], 0, Some("2 data points rejected: a (2)".to_owned())),
            (Signal::Logs, &["a"], 0, Some("1 log record rejected: a (1)".to_owned())),
            (Signal::Logs, &[], 2, Some(format!("2 log records {trimmed}"))),
            (Signal::Logs, &["a"], 1, Some(format!("1 log record rejected: a (1); 1 log record {trimmed}"))),
        ] {
            let mut rejections = Rejections { trimmed: trims, ..Rejections::default() };
            clauses.iter().for_each(|clause| rejections.add(clause));
            assert_eq!(rejections.message(signal.into()), expected);
        }
    }
}
