//! Refused requests: the latest ones whose token belongs to no project, and the last error message for each project.
//!
//! Both are kept in memory since the start of the process, with a bound, to diagnose telemetry that does not arrive.
//! The store counts every refusal (`POST /api/drops`).

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use parking_lot::Mutex;
use tidewatch_domain::model::RequestKind;

use super::outcome::{Refused, RejectReason};
use tidewatch_limits as limits;

/// A refused request that belongs to no project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownSender {
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
    /// Address of the client.
    pub address: IpAddr,
    /// Path of the request.
    pub path: String,
    /// The first [`limits::REFUSED_TOKEN_CHARS`] characters of what was sent as a token; empty without one.
    pub token_start: String,
    /// The `User-Agent` without control characters, truncated.
    pub user_agent: String,
    /// Reason of the refusal.
    pub reason: RejectReason,
    /// Fault of the credential.
    pub message: &'static str,
}

/// The last error message of a project for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastMessage {
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
    /// The message, as it was sent in the response.
    pub message: String,
}

/// The last messages of one project, by kind of request and reason.
type Messages = HashMap<(RequestKind, RejectReason), LastMessage>;

/// Refused requests since the start of the process.
#[derive(Default)]
pub struct Refusals {
    /// Oldest first; at most [`limits::REFUSALS_KEPT_MAX`].
    unknown: Mutex<VecDeque<UnknownSender>>,
    /// By project, kind of request and reason, for at most [`limits::REFUSED_PROJECTS_MAX`] projects.
    messages: Mutex<HashMap<u32, Messages>>,
}

impl Refusals {
    /// Adds a request; the oldest one is removed when the limit is reached.
    pub fn add_unknown(&self, sender: UnknownSender) {
        let mut unknown = self.unknown.lock();
        if unknown.len() >= limits::REFUSALS_KEPT_MAX {
            unknown.pop_front();
        }
        unknown.push_back(sender);
    }

    /// The requests for which `is_shown` returns true, newest first.
    pub fn unknown(&self, is_shown: impl Fn(&UnknownSender) -> bool) -> Vec<UnknownSender> {
        self.unknown.lock().iter().rev().filter(|sender| is_shown(sender)).cloned().collect()
    }

    /// Replaces the last message of a project for this kind of request and reason. When the limit is reached, the
    /// project with the oldest messages is removed.
    pub fn add_message(&self, project: u32, kind: RequestKind, refused: &Refused, now_ns: i64) {
        let mut messages = self.messages.lock();
        if messages.len() >= limits::REFUSED_PROJECTS_MAX && !messages.contains_key(&project) {
            let oldest = |kinds: &Messages| kinds.values().map(|last| last.at_ns).max();
            let oldest = messages.iter().min_by_key(|(_, kinds)| oldest(kinds)).map(|(project, _)| *project);
            oldest.map(|project| messages.remove(&project));
        }
        let last = LastMessage { at_ns: now_ns, message: refused.error.to_string() };
        messages.entry(project).or_default().insert((kind, refused.reason), last);
    }

    /// The last message of a project. `signal` and `reason` are the API's names.
    pub fn last_message(&self, project: u32, signal: &str, reason: &str) -> Option<LastMessage> {
        let messages = self.messages.lock();
        let mut kinds = messages.get(&project)?.iter();
        kinds.find(|(kind, _)| kind.0.as_str() == signal && kind.1.as_str() == reason).map(|(_, last)| last.clone())
    }
}

/// The error message for a credential that belongs to no project, and its first characters. `is_upload_token` returns
/// whether a token is an upload token of a project.
pub fn unknown_credential(headers: &HeaderMap, is_upload_token: impl Fn(&str) -> bool) -> (&'static str, String) {
    let Some(value) = headers.get(AUTHORIZATION) else { return ("there is no Authorization header", String::new()) };
    let value = String::from_utf8_lossy(value.as_bytes());
    let (scheme, token) = value.split_once(' ').unwrap_or(("", &value));
    let token = token.trim();
    let message = match () {
        () if !scheme.eq_ignore_ascii_case("bearer") => "the Authorization header is not \"Bearer <token>\"",
        () if token.is_empty() => "the Authorization header has no token",
        () if is_upload_token(token) => "the token is a project's upload token, not its project token",
        () => "the token belongs to no project",
    };
    let start = token.chars().filter(|c| !c.is_control()).take(limits::REFUSED_TOKEN_CHARS).collect();
    (message, start)
}

#[cfg(test)]
mod tests {
    use tidewatch_domain::model::Signal;

    use super::*;
    use crate::error::ExportError;

    fn sender(at_ns: i64) -> UnknownSender {
        UnknownSender {
            at_ns,
            address: IpAddr::from([192, 0, 2, 1]),
            path: "/v1/traces".to_owned(),
            token_start: "abcd".to_owned(),
            user_agent: String::new(),
            reason: RejectReason::BadToken,
            message: "the token belongs to no project",
        }
    }

    #[test]
    fn the_latest_requests_are_kept() {
        let refusals = Refusals::default();
        let all = limits::REFUSALS_KEPT_MAX as i64 + 5;
        (0..all).for_each(|at| refusals.add_unknown(sender(at)));
        let kept: Vec<i64> = refusals.unknown(|_| true).iter().map(|sender| sender.at_ns).collect();
        assert_eq!(kept.len(), limits::REFUSALS_KEPT_MAX);
        assert_eq!((kept[0], kept[kept.len() - 1]), (all - 1, 5));
        assert!(refusals.unknown(|_| false).is_empty());
    }

    #[test]
    fn the_last_message_of_a_project_and_reason_is_kept() {
        let refusals = Refusals::default();
        let refused = |message: &str| Refused::malformed(message);
        refusals.add_message(1, Signal::Logs.into(), &refused("first"), 1);
        refusals.add_message(1, Signal::Logs.into(), &refused("second"), 2);
        refusals.add_message(2, Signal::Logs.into(), &Refused::new(RejectReason::Slow, ExportError::Slow), 3);
        let found = |project, reason| refusals.last_message(project, "logs", reason).map(|last| last.message);
        assert_eq!(found(1, "malformed"), Some("second".to_owned()));
        assert_eq!(found(1, "slow"), None);
        assert_eq!(found(2, "malformed"), None);
        // The number of projects is bounded: the one with the oldest messages is removed.
        for project in 3..3 + limits::REFUSED_PROJECTS_MAX as u32 {
            refusals.add_message(project, Signal::Logs.into(), &refused("x"), i64::from(project) + 10);
        }
        assert_eq!((found(1, "malformed"), found(2, "slow")), (None, None));
        assert!(found(3, "malformed").is_some());
    }

    #[test]
    fn credentials_table() {
        for (header, message, start) in [
            (None, "there is no Authorization header", ""),
            (Some("Basic dXNlcg=="), "the Authorization header is not \"Bearer <token>\"", "dXNl"),
            (Some("0123456789abcdef"), "the Authorization header is not \"Bearer <token>\"", "0123"),
            (Some("Bearer "), "the Authorization header has no token", ""),
            (Some("Bearer upload"), "the token is a project's upload token, not its project token", "uplo"),
            (Some("bearer 0123456789"), "the token belongs to no project", "0123"),
            (Some("Bearer 01"), "the token belongs to no project", "01"),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(header) = header {
                headers.insert(AUTHORIZATION, header.parse().unwrap());
            }
            let found = unknown_credential(&headers, |token| token == "upload");
            assert_eq!(found, (message, start.to_owned()), "{header:?}");
        }
    }
}
