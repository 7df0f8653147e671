//! SMS by the REST API of Twilio, `POST /2010-04-01/Accounts/{sid}/Messages.json`. Contact methods use it; it is no type
//! of channel (wire, 7).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tidewatch_limits as limits;
use tidewatch_runtime::outbound::guarded::{OutboundRequest, OutboundResponse};
use url::form_urlencoded::Serializer;

use super::message::Message;
use super::reply::{Failure, accepted};
use super::{Courier, Failed, TwilioAccount, chat, escape};
use crate::channels::SECRET_SENTINEL;

/// The API of Twilio.
pub const API: &str = "https://api.twilio.com";
/// The type of contact methods that are reached by SMS.
pub const SMS: &str = "sms";
/// The key of the number in the configuration of such a method.
pub const PHONE_NUMBER: &str = "phoneNumber";
/// Begins the SID of a Messaging Service, which selects the sender of each message.
pub const MESSAGING_SERVICE: &str = "MG";
/// Reason for which no SMS is sent without an account.
pub const NOT_SET_UP: &str =
    "SMS is not set up on this server: it needs TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM";

/// Statuses that further attempts do not change: the request or the credentials are wrong.
const FINAL: [u16; 4] = [400, 401, 403, 404];

/// Reads a phone number: `+` and 8 to 15 digits, of which the first is not 0. ITU-T E.164. Removes spaces, dashes and
/// brackets. `None`: it is no such number.
pub fn phone_number(value: &str) -> Option<String> {
    let is_separator = |c: char| c.is_whitespace() || "-\u{2010}\u{2011}\u{2013}()[]".contains(c);
    let number: String = value.chars().filter(|c| !is_separator(*c)).collect();
    let digits = number.strip_prefix('+')?;
    let is_number = (limits::PHONE_DIGITS_MIN..=limits::PHONE_DIGITS_MAX).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0');
    is_number.then_some(number)
}

/// Sends the subject of a message and `line`, such as a link, to the number of a contact method.
pub fn send(config: &Value, message: &Message, line: &str, courier: &mut dyn Courier) -> Result<(), Failed> {
    let Some(account) = courier.twilio().cloned() else {
        return Err(Failed { error: NOT_SET_UP.to_owned(), is_final: true, ..Failed::default() });
    };
    let to = config.get(PHONE_NUMBER).and_then(Value::as_str).unwrap_or_default();
    let response = courier.request(&request(&account, to, &text(&message.title(), line))).map_err(Failure::from)?;
    let is_final = FINAL.contains(&response.status);
    let body = explained(&response.body);
    let refused = accepted("Twilio", OutboundResponse { body, ..response });
    refused.map(drop).map_err(|Failure { error, retry_after_seconds }| {
        let error = error.replace(&account.auth_token, SECRET_SENTINEL);
        Failed { error, is_final, retry_after_seconds, ..Failed::default() }
    })
}

fn request(account: &TwilioAccount, to: &str, text: &str) -> OutboundRequest {
    let TwilioAccount { sid, auth_token, from, api_url } = account;
    let sender = if from.starts_with(MESSAGING_SERVICE) { "MessagingServiceSid" } else { "From" };
    let form = Serializer::new(String::new()).extend_pairs([("To", to), (sender, from), ("Body", text)]).finish();
    let authorization = format!("Basic {}", STANDARD.encode(format!("{sid}:{auth_token}")));
    let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/x-www-form-urlencoded")];
    OutboundRequest {
        method: "POST",
        url: format!("{}/2010-04-01/Accounts/{sid}/Messages.json", chat::api(api_url, API)),
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        body: form.into_bytes(),
    }
}

/// The title and the line in at most [`limits::SMS_CHARS_MAX`] characters. The title is cut, the line never is.
fn text(title: &str, line: &str) -> String {
    let room = limits::SMS_CHARS_MAX.saturating_sub(line.chars().count() + 1);
    let title = cut(&escape::one_line(title), room);
    if title.is_empty() { line.to_owned() } else { format!("{title}\n{line}") }
}

/// At most `most` characters of a string; a cut one ends with three dots. An ellipsis is not in the alphabet of GSM:
/// with it a segment would hold 67 characters instead of 153.
fn cut(value: &str, most: usize) -> String {
    match value.char_indices().nth(most) {
        None => value.to_owned(),
        Some(_) => value.chars().take(most.saturating_sub(3)).chain(['.'; 3]).take(most).collect(),
    }
}

/// The message of an error of Twilio, with its code if it has one; or the body if it is none.
fn explained(body: &str) -> String {
    let error: Value = serde_json::from_str(body).unwrap_or_default();
    match (error["code"].as_i64(), error["message"].as_str()) {
        (Some(code), Some(message)) => format!("error {code}: {message}"),
        (None, Some(message)) => message.to_owned(),
        (_, None) => body.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::channels::{AlertStatus, Severity};
    use serde_json::json;

    use super::super::recorder::{Recorder, header, message};
    use super::*;

    const LINK: &str = "Acknowledge: https://tide.example.com/ack#token=twk_abc";

    fn account(from: &str) -> TwilioAccount {
        TwilioAccount {
            sid: "AC1".to_owned(),
            auth_token: "t0ken".to_owned(),
            from: from.to_owned(),
            api_url: String::new(),
        }
    }

    #[test]
    fn numbers_are_read() {
        for (value, expected) in [
            ("+12025550123", Some("+12025550123")),
            (" +1 (202) 555-0123 ", Some("+12025550123")),
            ("+[44]\u{a0}20\u{2011}7946 0000", Some("+442079460000")),
            ("+12345678", Some("+12345678")),
            ("+123456789012345", Some("+123456789012345")),
            ("+1234567", None),
            ("+1234567890123456", None),
            ("+02025550123", None),
            ("12025550123", None),
            ("0012025550123", None),
            ("++12025550123", None),
            ("+1202555012x", None),
            ("+1.202.555.0123", None),
            ("+1202555\u{0660}123", None),
            ("+12025550123,+12025550124", None),
            ("+", None),
            ("", None),
        ] {
            assert_eq!(phone_number(value).as_deref(), expected, "{value:?}");
        }
    }

    #[test]
    fn a_text_has_the_whole_line_and_what_fits_of_the_title() {
        let room = limits::SMS_CHARS_MAX - LINK.len() - 1;
        let long = "l".repeat(limits::SMS_CHARS_MAX);
        for (title, line, expected) in [
            ("Critical: a\r\nb".to_owned(), LINK, format!("Critical: a b\n{LINK}")),
            ("x".repeat(room), LINK, format!("{}\n{LINK}", "x".repeat(room))),
            ("x".repeat(room + 1), LINK, format!("{}...\n{LINK}", "x".repeat(room - 3))),
            ("\u{1f30a}".repeat(room + 1), LINK, format!("{}...\n{LINK}", "\u{1f30a}".repeat(room - 3))),
            ("xyz".to_owned(), &long[..limits::SMS_CHARS_MAX - 3], format!("..\n{}", &long[3..])),
            ("xyz".to_owned(), long.as_str(), long.clone()),
        ] {
            let text = text(&title, line);
            assert_eq!(text, expected);
            assert!(text.chars().count() <= limits::SMS_CHARS_MAX, "{text}");
        }
    }

    #[test]
    fn requests_name_a_number_or_a_messaging_service() {
        for (from, sender) in [("+12025550100", "From=%2B12025550100"), ("MG77", "MessagingServiceSid=MG77")] {
            let mut recorder = Recorder::answering(&[(201, "{\"sid\":\"SM1\",\"status\":\"queued\"}")]);
            recorder.twilio = Some(account(from));
            let sent = message(AlertStatus::Firing, Severity::Critical);
            send(&json!({ PHONE_NUMBER: "+12025550123" }), &sent, LINK, &mut recorder).expect("sent");
            let request = &recorder.requests[0];
            assert_eq!(request.url, "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages.json");
            assert_eq!(header(request, "Authorization"), Some("Basic QUMxOnQwa2Vu"));
            assert_eq!(header(request, "Content-Type"), Some("application/x-www-form-urlencoded"));
            let form = format!(
                "To=%2B12025550123&{sender}&Body=Critical%3A+GET+%2Fcart+fails%0A\
                 Acknowledge%3A+https%3A%2F%2Ftide.example.com%2Fack%23token%3Dtwk_abc"
            );
            assert_eq!(String::from_utf8_lossy(&request.body), form);
        }
    }

    #[test]
    fn outcomes_of_statuses() {
        let wrong = "{\"code\":20003,\"message\":\"Authenticate\",\"more_info\":\"https://www.twilio.com/docs/errors/20003\",\
                     \"status\":401}";
        for (status, body, expected) in [
            (200, "{}", None),
            (201, "{\"status\":\"queued\"}", None),
            (400, "{\"code\":21211,\"message\":\"Invalid 'To'\"}", Some(("400: error 21211: Invalid 'To'", true))),
            (401, wrong, Some(("401: error 20003: Authenticate", true))),
            (403, "", Some(("403", true))),
            (404, "{\"code\":20404,\"message\":\"AC1 t0ken\"}", Some(("404: error 20404: AC1 ********", true))),
            (302, "", Some(("302, a redirect, which is not followed", false))),
            (429, "{\"code\":20429,\"message\":\"Slow\"}", Some(("429: error 20429: Slow", false))),
            (500, "<b>", Some(("500: <b>", false))),
            (503, "{\"message\":\"no code\"}", Some(("503: no code", false))),
        ] {
            let mut recorder = Recorder::answering(&[(status, body)]);
            recorder.twilio = Some(account("MG77"));
            let sent = message(AlertStatus::Firing, Severity::Critical);
            let failed = send(&json!({ PHONE_NUMBER: "+12025550123" }), &sent, LINK, &mut recorder).err();
            let found = failed.as_ref().map(|failed| (failed.error.as_str(), failed.is_final));
            let expected = expected.map(|(error, is_final)| (format!("Twilio answers {error}"), is_final));
            assert_eq!(found, expected.as_ref().map(|(error, is_final)| (error.as_str(), *is_final)));
        }
        let sent = message(AlertStatus::Firing, Severity::Critical);
        let failed = send(&json!({}), &sent, LINK, &mut Recorder::default()).expect_err("no account");
        assert_eq!((failed.error.as_str(), failed.is_final), (NOT_SET_UP, true));
    }
}
