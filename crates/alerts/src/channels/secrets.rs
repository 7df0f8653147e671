//! The secrets in the configurations of channels: masked in responses, and kept when a masked value is sent back.

use serde_json::{Map, Value};

use super::delivery::config::secret_keys;
use super::delivery::twilio::{PHONE_NUMBER, SMS};

/// Stands for a stored secret in responses; sent back, it keeps the stored value.
pub const SECRET_SENTINEL: &str = "********";

/// The keys of the address that secrets are sent to.
const ADDRESSES: &[&str] = &["url", "apiUrl"];
const HEADERS: &str = "headers";

/// Shorter secrets are not replaced in messages: they are parts of words.
const SECRET_BYTES_MIN: usize = 4;

/// Reasons for which a masked secret has no value. The message is for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MaskedSecretError {
    /// Nothing is stored under this key.
    #[error("{0} has no stored value: enter it")]
    Unknown(String),
    /// A user who can change a channel must not send its secrets elsewhere, which would show them.
    #[error("the address has changed: enter the secrets again")]
    OtherAddress,
}

/// Replaces the secrets of a configuration by [`SECRET_SENTINEL`].
pub fn mask_secrets(channel_type: &str, config: &Value) -> Value {
    let mut config = config.clone();
    each_secret(channel_type, &mut config, |_, value| {
        if !value.is_empty() {
            SECRET_SENTINEL.clone_into(value);
        }
    });
    config
}

/// Replaces each [`SECRET_SENTINEL`] of a configuration by the secret in `stored`, the configuration of the same type
/// that is stored.
pub fn unmask_secrets(channel_type: &str, config: &Value, stored: Option<&Value>) -> Result<Value, MaskedSecretError> {
    let mut config = config.clone();
    let address = |config: &Value| -> Vec<Option<String>> {
        ADDRESSES
            .iter()
            .map(|key| config.get(*key).and_then(Value::as_str).filter(|one| !one.is_empty()).map(origin))
            .collect()
    };
    let is_moved = stored.is_some_and(|stored| address(stored) != address(&config));
    let mut stored_secrets = Map::new();
    if let Some(mut stored) = stored.cloned() {
        each_secret(channel_type, &mut stored, |key, value| {
            stored_secrets.insert(key.to_owned(), std::mem::take(value).into());
        });
    }
    let mut fault = None;
    each_secret(channel_type, &mut config, |key, value| {
        if value != SECRET_SENTINEL {
            return;
        }
        match stored_secrets.get(key).and_then(Value::as_str) {
            Some(_) if is_moved => fault = Some(MaskedSecretError::OtherAddress),
            Some(secret) => secret.clone_into(value),
            None => fault = Some(MaskedSecretError::Unknown(key.to_owned())),
        }
    });
    fault.map_or(Ok(config), Err)
}

/// Replaces the secrets of a configuration in a message, which may repeat what a receiver has answered.
pub fn without_secrets(channel_type: &str, config: &Value, message: &str) -> String {
    let mut message = message.to_owned();
    each_secret(channel_type, &mut config.clone(), |_, value| {
        if value.len() >= SECRET_BYTES_MIN {
            message = message.replace(value.as_str(), SECRET_SENTINEL);
        }
    });
    message
}

/// Scheme, host and port of an address, or the address itself if it is none; empty: the default.
fn origin(address: &str) -> String {
    url::Url::parse(address).map_or_else(|_| address.to_owned(), |url| url.origin().ascii_serialization())
}

/// Calls `change` with the name and the value of each secret that is a string.
fn each_secret(channel_type: &str, config: &mut Value, mut change: impl FnMut(&str, &mut String)) {
    // A contact method only. Errors that repeat the number are shown to those who read the page.
    let of_contact = (channel_type == SMS).then(|| PHONE_NUMBER.to_owned());
    for key in secret_keys(channel_type).chain(of_contact) {
        if let Some(Value::String(value)) = config.get_mut(&key) {
            change(&key, value);
        }
    }
    // The values of all headers of a webhook are secrets too.
    if let ("webhook", Some(Value::Object(headers))) = (channel_type, config.get_mut(HEADERS)) {
        for (name, value) in headers {
            if let Value::String(value) = value {
                change(&format!("the header {name}"), value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// WIRE 7: secrets are masked by a sentinel; sending the sentinel back keeps the stored value.
    #[test]
    fn masked_secrets_keep_the_stored_values() {
        for (channel_type, stored, shown) in [
            ("email", json!({ "recipients": ["a@b.c"] }), json!({ "recipients": ["a@b.c"] })),
            (
                "webhook",
                json!({ "url": "https://a.b/c", "secret": "s1", "headers": { "Authorization": "Bearer s2" } }),
                json!({ "url": "https://a.b/c", "secret": SECRET_SENTINEL, "headers": { "Authorization": SECRET_SENTINEL } }),
            ),
            ("webhook", json!({ "url": "https://a.b", "secret": "" }), json!({ "url": "https://a.b", "secret": "" })),
            ("slack", json!({ "webhookUrl": "https://a.b/s" }), json!({ "webhookUrl": SECRET_SENTINEL })),
            ("discord", json!({ "webhookUrl": "https://a.b/s" }), json!({ "webhookUrl": SECRET_SENTINEL })),
            ("teams", json!({ "webhookUrl": "https://a.b/s" }), json!({ "webhookUrl": SECRET_SENTINEL })),
            ("github", json!({ "token": "s", "owner": "o" }), json!({ "token": SECRET_SENTINEL, "owner": "o" })),
            (
                "pushover",
                json!({ "userKey": "u", "appToken": "a", "priority": 1 }),
                json!({ "userKey": SECRET_SENTINEL, "appToken": SECRET_SENTINEL, "priority": 1 }),
            ),
            (
                "telegram",
                json!({ "botToken": "s", "chatId": "1" }),
                json!({ "botToken": SECRET_SENTINEL, "chatId": "1" }),
            ),
            ("pagerduty", json!({ "routingKey": "s" }), json!({ "routingKey": SECRET_SENTINEL })),
            ("opsgenie", json!({ "apiKey": "s" }), json!({ "apiKey": SECRET_SENTINEL })),
            ("escalation", json!({ "policyId": 1 }), json!({ "policyId": 1 })),
        ] {
            assert_eq!(mask_secrets(channel_type, &stored), shown, "{channel_type}");
            assert_eq!(unmask_secrets(channel_type, &shown, Some(&stored)), Ok(stored), "{channel_type}");
        }
    }

    #[test]
    fn new_secrets_replace_stored_ones_and_unknown_ones_are_refused() {
        let stored = json!({ "url": "https://a.b/c", "secret": "old", "headers": { "X": "1" } });
        let sent = json!({ "url": "https://a.b/d", "secret": "new", "headers": { "X": SECRET_SENTINEL, "Y": "2" } });
        let expected = json!({ "url": "https://a.b/d", "secret": "new", "headers": { "X": "1", "Y": "2" } });
        assert_eq!(unmask_secrets("webhook", &sent, Some(&stored)), Ok(expected));
        let unknown = json!({ "url": "https://a.b/c", "headers": { "Z": SECRET_SENTINEL } });
        let fault = MaskedSecretError::Unknown("the header Z".to_owned());
        assert_eq!(unmask_secrets("webhook", &unknown, Some(&stored)), Err(fault));
        assert!(unmask_secrets("telegram", &json!({ "botToken": SECRET_SENTINEL }), None).is_err());
    }

    #[test]
    fn secrets_are_removed_from_messages() {
        let config = json!({ "url": "https://a.b", "secret": "s3cret", "headers": { "X": "Bearer abc" } });
        let message = "the webhook answers 400: s3cret, Bearer abc";
        assert_eq!(without_secrets("webhook", &config, message), "the webhook answers 400: ********, ********");
        let config = json!({ "phoneNumber": "+12025550123" });
        assert_eq!(without_secrets("sms", &config, "to +12025550123: no"), "to ********: no");
    }

    #[test]
    fn secrets_do_not_follow_a_changed_address() {
        let stored = json!({ "url": "https://a.b/c", "secret": "s", "headers": { "X": "1" } });
        for (url, is_right) in [("https://a.b/other", true), ("https://evil.example/", false), ("http://a.b/c", false)]
        {
            let sent = json!({ "url": url, "secret": SECRET_SENTINEL, "headers": { "X": SECRET_SENTINEL } });
            assert_eq!(unmask_secrets("webhook", &sent, Some(&stored)).is_ok(), is_right, "{url}");
        }
        let stored = json!({ "token": "s", "owner": "o", "repo": "r" });
        let same = json!({ "token": SECRET_SENTINEL, "owner": "o", "repo": "r", "apiUrl": "" });
        assert!(unmask_secrets("github", &same, Some(&stored)).is_ok(), "the default address");
        let sent = json!({ "token": SECRET_SENTINEL, "owner": "o", "repo": "r", "apiUrl": "https://evil.example" });
        assert_eq!(unmask_secrets("github", &sent, Some(&stored)), Err(MaskedSecretError::OtherAddress));
    }
}
