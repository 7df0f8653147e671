//! The answer of a service.

use tidewatch_limits as limits;
use tidewatch_runtime::outbound::guarded::{CallError, OutboundResponse};
use tidewatch_runtime::redact::is_hidden;

/// Refusal of a message by a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub error: String,
    pub retry_after_seconds: Option<u64>,
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Failure {
        Failure { error: error.to_string(), retry_after_seconds: None }
    }
}

/// The response of `service`, if its status is a success.
pub fn accepted(service: &str, response: OutboundResponse) -> Result<OutboundResponse, Failure> {
    if (200..300).contains(&response.status) {
        return Ok(response);
    }
    let status = response.status;
    let error = match status {
        300..400 => format!("{service} answers {status}, a redirect, which is not followed"),
        _ => match shown(&response.body) {
            body if body.is_empty() => format!("{service} answers {status}"),
            body => format!("{service} answers {status}: {body}"),
        },
    };
    Err(Failure { error, retry_after_seconds: response.retry_after_seconds })
}

/// The beginning of a body on one line.
fn shown(body: &str) -> String {
    let words: Vec<&str> = body.split(|c: char| c.is_whitespace() || is_hidden(c)).filter(|w| !w.is_empty()).collect();
    super::message::truncated(&words.join(" "), limits::NOTIFICATION_ANSWER_CHARS_SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_described_with_the_beginning_of_the_body() {
        let response = |status, body: &str| OutboundResponse { status, body: body.to_owned(), ..Default::default() };
        for (status, body, expected) in [
            (200, "ok", None),
            (204, "", None),
            (302, "x", Some("Slack answers 302, a redirect, which is not followed")),
            (404, "no\r\nservice \u{1b}[0m", Some("Slack answers 404: no service [0m")),
            (500, "", Some("Slack answers 500")),
        ] {
            let error = accepted("Slack", response(status, body)).err().map(|failure| failure.error);
            assert_eq!(error.as_deref(), expected);
        }
        let long = accepted("X", response(400, &"y".repeat(1000))).expect_err("a failure").error;
        assert_eq!(long.chars().count(), "X answers 400: ".len() + 200);
    }
}
