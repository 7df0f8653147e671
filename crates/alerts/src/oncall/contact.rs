//! Contact methods of people: their configuration, checked, and a form of it that others may see.

use serde_json::{Map, Value, json};
use tidewatch_limits as limits;
use url::Url;

use crate::channels::delivery::twilio::{self, PHONE_NUMBER, SMS};

/// A checked contact method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contact {
    /// The type: `email`, `slack`, `pushover`, `telegram` or `sms`.
    pub kind: String,
    /// The configuration, which has secrets.
    pub config: Value,
    /// The target without its secrets.
    pub summary: String,
}

/// The keys of the configuration of a type; the first ones are required.
fn keys(kind: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    match kind {
        "email" => Some((&[], &["address"])),
        "slack" => Some((&["webhookUrl"], &["channel", "username"])),
        "pushover" => Some((&["userKey", "appToken"], &["device"])),
        "telegram" => Some((&["botToken", "chatId"], &[])),
        SMS => Some((&[PHONE_NUMBER], &[])),
        _ => None,
    }
}

/// Checks a contact method. The error is a sentence for the user. `is_email`: whether a string is an e-mail address;
/// `own_email`: the address of the account; `sends_sms`: whether the server has a Twilio account (wire, 5.7).
pub fn check(
    kind: &str,
    config: &Value,
    is_email: impl Fn(&str) -> bool,
    own_email: &str,
    sends_sms: bool,
) -> Result<Contact, String> {
    let Some((required, optional)) = keys(kind) else {
        return Err("methodType is not one of email, slack, pushover, telegram and sms".to_owned());
    };
    if kind == SMS && !sends_sms {
        return Err(twilio::NOT_SET_UP.to_owned());
    }
    let mut kept = Map::new();
    for key in required.iter().chain(optional) {
        let value = match config.get(key) {
            None | Some(Value::Null) => "",
            Some(Value::String(value)) => value.trim(),
            Some(_) => return Err(format!("{key} is not a string")),
        };
        if value.is_empty() && required.contains(key) {
            return Err(format!("{key} is missing"));
        }
        if value.len() > limits::ONCALL_CONTACT_BYTES_MAX || value.chars().any(char::is_control) {
            return Err(format!(
                "{key} has more than {} bytes, or control characters",
                limits::ONCALL_CONTACT_BYTES_MAX
            ));
        }
        if !value.is_empty() {
            kept.insert((*key).to_owned(), json!(value));
        }
    }
    let summary = match kind {
        "email" => {
            let address = kept.get("address").and_then(Value::as_str).unwrap_or(own_email).to_lowercase();
            if !is_email(&address) {
                return Err("address is not an email address".to_owned());
            }
            let summary = if address == own_email { address.clone() } else { masked_email(&address) };
            kept.insert("address".to_owned(), json!(address));
            summary
        }
        "slack" => {
            let url = kept.get("webhookUrl").and_then(Value::as_str).and_then(|url| Url::parse(url).ok());
            let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
            let host = url.as_ref().and_then(Url::host_str).ok_or("webhookUrl is not an address of http or https")?;
            format!("Slack at {host}")
        }
        "pushover" => format!("Pushover, user key {}", end_of(&kept, "userKey", 4)),
        SMS => {
            let number = kept.get(PHONE_NUMBER).and_then(Value::as_str).and_then(twilio::phone_number);
            let number = number.ok_or_else(|| {
                let (least, most) = (limits::PHONE_DIGITS_MIN, limits::PHONE_DIGITS_MAX);
                format!("{PHONE_NUMBER} is not + with {least} to {most} digits: +12025550123")
            })?;
            kept.insert(PHONE_NUMBER.to_owned(), json!(number));
            format!("SMS to {}", end_of(&kept, PHONE_NUMBER, 2))
        }
        _ => format!("Telegram, chat {}", end_of(&kept, "chatId", 4)),
    };
    Ok(Contact { kind: kind.to_owned(), config: Value::Object(kept), summary })
}

/// The target of a delivery: a type of channel and its configuration.
pub fn delivery(kind: &str, config: &Value) -> Value {
    match kind {
        "email" => json!({ "recipients": [config.get("address").and_then(Value::as_str).unwrap_or_default()] }),
        _ => config.clone(),
    }
}

/// Mask of a secret.
pub const MASK: &str = "********";

/// Keys of secrets.
const SECRETS: [&str; 5] = ["webhookUrl", "userKey", "appToken", "botToken", PHONE_NUMBER];

/// The configuration with its secrets masked.
pub fn masked(config: &Value) -> Value {
    let mut config = config.clone();
    for key in SECRETS {
        if let Some(value) = config.get_mut(key) {
            *value = json!(MASK);
        }
    }
    config
}

/// The configuration with the stored value of each secret that is masked.
pub fn unmasked(config: &Value, stored: &Value) -> Value {
    let mut config = config.clone();
    for key in SECRETS {
        if config.get(key).is_some_and(|value| value == MASK) {
            config[key] = stored.get(key).cloned().unwrap_or_default();
        }
    }
    config
}

fn masked_email(address: &str) -> String {
    let (name, host) = address.split_once('@').unwrap_or((address, ""));
    format!("{}\u{2026}@{host}", name.chars().next().unwrap_or('?'))
}

/// The last `count` characters of a value, at most half of it.
fn end_of(config: &Map<String, Value>, key: &str, count: usize) -> String {
    let value: Vec<char> = config.get(key).and_then(Value::as_str).unwrap_or_default().chars().collect();
    let shown = value.len().saturating_sub(count).max(value.len() / 2);
    format!("\u{2026}{}", value[shown..].iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_checked_and_masked() {
        let own = "ada@example.com";
        let is_email = |address: &str| address.contains('@') && !address.contains(' ');
        for (kind, config, expected) in [
            ("email", json!({}), Some("ada@example.com")),
            ("email", json!({ "address": "Bob@Example.org" }), Some("b\u{2026}@example.org")),
            ("email", json!({ "address": "nobody" }), None),
            ("email", json!({ "address": 7 }), None),
            (
                "slack",
                json!({ "webhookUrl": "https://hooks.example.com/T/secret" }),
                Some("Slack at hooks.example.com"),
            ),
            ("slack", json!({ "webhookUrl": "file:///etc/passwd" }), None),
            ("slack", json!({}), None),
            ("pushover", json!({ "userKey": "u123456789", "appToken": "a1" }), Some("Pushover, user key \u{2026}6789")),
            ("pushover", json!({ "userKey": "u1" }), None),
            ("telegram", json!({ "botToken": "1:x", "chatId": "42" }), Some("Telegram, chat \u{2026}2")),
            ("telegram", json!({ "botToken": "1:x\n", "chatId": "4\n2" }), None),
            ("sms", json!({ "phoneNumber": "+1 (202) 555-0123" }), Some("SMS to \u{2026}23")),
            ("sms", json!({ "phoneNumber": "2025550123" }), None),
            ("sms", json!({}), None),
            ("webhook", json!({ "url": "https://example.com" }), None),
        ] {
            let found = check(kind, &config, is_email, own, true).ok();
            assert_eq!(found.as_ref().map(|contact| contact.summary.as_str()), expected, "{kind} {config}");
        }
        let secret = json!({ "botToken": "1:x", "chatId": "42" });
        assert_eq!(masked(&secret), json!({ "botToken": MASK, "chatId": "42" }));
        assert_eq!(unmasked(&json!({ "botToken": MASK, "chatId": "43" }), &secret)["botToken"], "1:x");
        assert_eq!(unmasked(&json!({ "botToken": "2:y" }), &secret), json!({ "botToken": "2:y" }));
        let number = json!({ "phoneNumber": "+1 (202) 555-0123" });
        let refused = check("sms", &number, is_email, own, false).expect_err("no account");
        assert!(refused.contains("TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM"), "{refused}");
        let contact = check("sms", &number, is_email, own, true).expect("a number");
        assert_eq!(delivery("sms", &contact.config), json!({ "phoneNumber": "+12025550123" }));
        assert_eq!(masked(&contact.config), json!({ "phoneNumber": MASK }));
        let contact = check("email", &json!({}), is_email, own, false).expect("the own address");
        assert_eq!(delivery(&contact.kind, &contact.config), json!({ "recipients": ["ada@example.com"] }));
    }
}
