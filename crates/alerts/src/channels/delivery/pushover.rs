//! Pushover: a message with all of its options, and the picture.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::html;
use serde_json::json;

use tidewatch_domain::units::SECOND_NS;

use super::config::Pushover;
use super::message::{Message, truncated};
use super::reply::{Failure, accepted};
use super::{Courier, chat, escape};
use crate::channels::AlertStatus;

const API: &str = "https://api.pushover.net";
/// Lengths that the service accepts, characters.
const TITLE_CHARS: usize = 250;
const MESSAGE_CHARS: usize = 1024;
const URL_CHARS: usize = 512;
/// The priority of a message that is repeated until somebody acknowledges it.
const EMERGENCY: i64 = 2;

pub fn send(config: &Pushover, message: &Message, courier: &mut dyn Courier) -> Result<(), Failure> {
    let content = if message.body.is_empty() { &message.subject } else { &message.body };
    let content = match config.html {
        // Escaping makes it longer.
        true => truncated_html(content),
        false => truncated(content, MESSAGE_CHARS),
    };
    // The end of an alert wakes nobody.
    let priority = match message.status {
        AlertStatus::Firing => config.priority.unwrap_or(0),
        AlertStatus::Resolved => 0,
    };
    let mut body = json!({
        "token": config.app_token,
        "user": config.user_key,
        "title": truncated(&escape::one_line(&message.title()), TITLE_CHARS),
        "message": content,
        "priority": priority,
        "timestamp": message.at_ns / SECOND_NS,
    });
    let mut set = |key: &str, value: serde_json::Value| body[key] = value;
    if priority == EMERGENCY {
        set("retry", json!(config.retry));
        set("expire", json!(config.expire));
        if !config.callback.is_empty() {
            set("callback", json!(config.callback));
        }
    } else if let Some(ttl) = config.ttl {
        set("ttl", json!(ttl));
    }
    for (key, value) in [("device", &config.device), ("sound", &config.sound)] {
        if !value.is_empty() {
            set(key, json!(value));
        }
    }
    if config.html {
        set("html", json!(1));
    }
    if let Some(url) = message.url.as_ref().filter(|url| url.chars().count() <= URL_CHARS) {
        set("url", json!(url));
        set("url_title", json!("Open in Tidewatch"));
    }
    if let Some(png) = message.picture() {
        set("attachment_base64", json!(STANDARD.encode(png)));
        set("attachment_type", json!("image/png"));
    }
    let url = format!("{}/1/messages.json", chat::api(&config.api_url, API));
    accepted("Pushover", courier.request(&chat::post_json(&url, &body))?).map(drop)
}

/// The longest beginning whose escaped form fits.
fn truncated_html(content: &str) -> String {
    let mut most = MESSAGE_CHARS;
    loop {
        let escaped = html! { (truncated(content, most)) }.into_string();
        let excess = escaped.chars().count().saturating_sub(MESSAGE_CHARS);
        if excess == 0 || most == 0 {
            return escaped;
        }
        // One character becomes six at most.
        most = most.saturating_sub((excess / 6).max(1));
    }
}

#[cfg(test)]
mod tests {
    use crate::channels::Severity;

    use super::super::recorder::{Recorder, message};
    use super::*;

    /// WIRE 7: the keys of Pushover.
    #[test]
    fn every_option_is_sent() {
        let config = Pushover {
            user_key: "u".to_owned(),
            app_token: "a".to_owned(),
            device: "phone".to_owned(),
            priority: Some(2),
            retry: Some(60),
            expire: Some(600),
            callback: "https://a.b/c".to_owned(),
            sound: "siren".to_owned(),
            html: true,
            ttl: Some(30),
            api_url: String::new(),
        };
        let mut recorder = Recorder::answering(&[
            (200, "{\"status\":1}"),
            (200, ""),
            (400, "{\"errors\":[\"user identifier is invalid\"]}"),
        ]);
        let hostile = Message { body: "<b>7 %</b>".to_owned(), ..message(AlertStatus::Firing, Severity::Critical) };
        send(&config, &hostile, &mut recorder).expect("sent");
        assert_eq!(recorder.requests[0].url, "https://api.pushover.net/1/messages.json");
        let body = recorder.json(0);
        for (key, value) in [
            ("token", json!("a")),
            ("user", json!("u")),
            ("title", json!("Critical: GET /cart fails")),
            ("message", json!("&lt;b&gt;7 %&lt;/b&gt;")),
            ("priority", json!(2)),
            ("retry", json!(60)),
            ("expire", json!(600)),
            ("callback", json!("https://a.b/c")),
            ("device", json!("phone")),
            ("sound", json!("siren")),
            ("html", json!(1)),
            ("url", json!("https://tide.example.com/p/7f/endpoints/GET%20%2Fcart?from=now-1h")),
            ("timestamp", json!(1_767_323_045)),
            ("attachment_type", json!("image/png")),
        ] {
            assert_eq!(body[key], value, "{key}");
        }
        send(&config, &message(AlertStatus::Resolved, Severity::Critical), &mut recorder).expect("sent");
        let body = recorder.json(1);
        assert_eq!((&body["priority"], body.get("retry"), &body["ttl"]), (&json!(0), None, &json!(30)));
        let failure = send(&config, &hostile, &mut recorder).expect_err("400");
        assert!(failure.error.contains("user identifier is invalid"), "{}", failure.error);
    }

    #[test]
    fn escaped_messages_fit() {
        for content in ["<".repeat(5000), "a".repeat(5000), "<a".repeat(700)] {
            let escaped = truncated_html(&content);
            assert!((900..=MESSAGE_CHARS).contains(&escaped.chars().count()), "{}", escaped.chars().count());
        }
    }
}
