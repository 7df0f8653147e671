//! Configurations of channels (wire, 7), and what is wrong with one.

mod checks;
mod fields;

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeOwned, Deserializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::channels::ESCALATION;
use crate::fields::{self as described, ConfigField, FieldKind, json};
pub use fields::{CHANNEL_TYPES, ChannelWords};

/// Begins a secret whose key is the rest, in base64. Standard Webhooks.
const BASE64_SECRET: &str = "whsec_";

/// The configuration of one type.
#[derive(Debug, Clone, PartialEq)]
pub enum Config {
    /// Mail.
    Email(Email),
    /// A request of our own form.
    Webhook(Webhook),
    /// An incoming webhook of Slack.
    Slack(Slack),
    /// A workflow of Microsoft Teams.
    Teams(Teams),
    /// A webhook of Discord.
    Discord(Discord),
    /// A bot of Telegram.
    Telegram(Telegram),
    /// Issues of a GitHub repository.
    Github(Github),
    /// Pushover.
    Pushover(Pushover),
    /// A service of PagerDuty, Events API v2.
    Pagerduty(Pagerduty),
    /// Opsgenie.
    Opsgenie(Opsgenie),
    /// An escalation policy.
    Escalation(Escalation),
}

/// `email`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Email {
    /// Addresses.
    pub recipients: Vec<String>,
}

/// `webhook`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Webhook {
    /// The address.
    pub url: String,
    /// `POST` (also if empty) or `PUT`.
    pub method: String,
    /// Own headers.
    pub headers: BTreeMap<String, String>,
    /// The key of the signatures; empty: none.
    pub secret: String,
}

impl Webhook {
    /// The key of Standard Webhooks in a secret that begins with `whsec_`. `None`: it does not, or is not base64.
    pub fn signing_key(&self) -> Option<Vec<u8>> {
        STANDARD.decode(self.secret.strip_prefix(BASE64_SECRET)?).ok()
    }
}

/// `slack`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Slack {
    /// The address, a secret.
    pub webhook_url: String,
    /// Another channel than that of the webhook; empty: none.
    pub channel: String,
    /// Name of the sender; empty: that of the webhook.
    pub username: String,
}

/// `teams`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Teams {
    /// The address of the workflow, a secret.
    pub webhook_url: String,
}

/// `discord`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Discord {
    /// The address, a secret.
    pub webhook_url: String,
    /// Name of the sender; empty: that of the webhook.
    pub username: String,
}

/// `telegram`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Telegram {
    /// The token of the bot, a secret.
    pub bot_token: String,
    /// A chat, by id or `@name`.
    #[serde(deserialize_with = "string_or_number")]
    pub chat_id: String,
    /// Another server of the Bot API; empty: Telegram's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_url: String,
}

/// `github`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Github {
    /// A token that may write issues, a secret.
    pub token: String,
    /// Owner of the repository.
    pub owner: String,
    /// Name of the repository.
    pub repo: String,
    /// Labels of new issues.
    pub labels: Vec<String>,
    /// The API of a GitHub Enterprise Server; empty: github.com's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_url: String,
}

/// `pushover`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pushover {
    /// Key of the user or group, a secret.
    pub user_key: String,
    /// Token of the application, a secret.
    pub app_token: String,
    /// One device; empty: all.
    pub device: String,
    /// 0, 1 (past quiet hours) or 2 (repeated until acknowledged).
    #[serde(deserialize_with = "number_or_string", skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Of priority 2: seconds between two repetitions.
    #[serde(deserialize_with = "number_or_string", skip_serializing_if = "Option::is_none")]
    pub retry: Option<i64>,
    /// Of priority 2: seconds after which it is no longer repeated.
    #[serde(deserialize_with = "number_or_string", skip_serializing_if = "Option::is_none")]
    pub expire: Option<i64>,
    /// Of priority 2: an address that Pushover notifies of the acknowledgement; empty: none.
    pub callback: String,
    /// Name of a sound; empty: the user's.
    pub sound: String,
    /// Whether the body is sent as HTML.
    #[serde(deserialize_with = "boolean_or_number")]
    pub html: bool,
    /// Seconds after which the message is deleted.
    #[serde(deserialize_with = "number_or_string", skip_serializing_if = "Option::is_none")]
    pub ttl: Option<i64>,
    /// Another server of the API; empty: Pushover's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_url: String,
}

/// `pagerduty`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pagerduty {
    /// The integration key of the service, a secret.
    pub routing_key: String,
    /// The API of another region; empty: `https://events.pagerduty.com`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_url: String,
}

/// `opsgenie`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Opsgenie {
    /// The key of an API integration, a secret.
    pub api_key: String,
    /// The API of another region; empty: `https://api.opsgenie.com`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_url: String,
}

/// `escalation`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Escalation {
    /// The policy.
    #[serde(deserialize_with = "number_or_string")]
    pub policy_id: Option<i64>,
}

/// Checks a configuration with its secrets. Returns it without unknown keys; an error is one sentence for the user.
pub fn checked(channel_type: &str, config: &Value) -> Result<Value, String> {
    let parsed = Config::parse(channel_type, config)?;
    let (fields, value) = (fields::fields(channel_type), parsed.to_value());
    parsed.check(&fields, &value)?;
    described::check(&fields, &value)?;
    Ok(value)
}

/// The keys of a type whose values are secrets.
pub fn secret_keys(channel_type: &str) -> impl Iterator<Item = String> {
    let fields = fields::fields(channel_type).into_iter();
    fields.filter(|field| field.kind == FieldKind::Secret).map(|field| field.key)
}

impl Config {
    /// Reads a configuration. An error is one sentence.
    pub fn parse(channel_type: &str, config: &Value) -> Result<Config, String> {
        Ok(match channel_type {
            "email" => Config::Email(read(config)?),
            "webhook" => Config::Webhook(read(config)?),
            "slack" => Config::Slack(read(config)?),
            "teams" => Config::Teams(read(config)?),
            "discord" => Config::Discord(read(config)?),
            "telegram" => Config::Telegram(read(config)?),
            "github" => Config::Github(read(config)?),
            "pushover" => Config::Pushover(read(config)?),
            "pagerduty" => Config::Pagerduty(read(config)?),
            "opsgenie" => Config::Opsgenie(read(config)?),
            ESCALATION => Config::Escalation(read(config)?),
            _ => {
                let names = CHANNEL_TYPES.map(|words| words.name);
                return Err(format!("channelType is none of {}", names.join(", ")));
            }
        })
    }

    /// The fields of a type with their defaults.
    pub fn fields(channel_type: &str) -> Vec<ConfigField> {
        let defaults = Config::parse(channel_type, &Value::Object(serde_json::Map::new()));
        let defaults = defaults.map_or(Value::Null, |config| config.to_value());
        described::with_defaults(fields::fields(channel_type), &defaults)
    }

    fn to_value(&self) -> Value {
        match self {
            Config::Email(config) => json(config),
            Config::Webhook(config) => json(config),
            Config::Slack(config) => json(config),
            Config::Teams(config) => json(config),
            Config::Discord(config) => json(config),
            Config::Telegram(config) => json(config),
            Config::Github(config) => json(config),
            Config::Pushover(config) => json(config),
            Config::Pagerduty(config) => json(config),
            Config::Opsgenie(config) => json(config),
            Config::Escalation(config) => json(config),
        }
    }
}

fn read<T: DeserializeOwned>(config: &Value) -> Result<T, String> {
    if !config.is_object() {
        return Err("config is not an object".to_owned());
    }
    // The messages of serde contain values, of which some are secrets.
    T::deserialize(config).map_err(|error| {
        let error = error.to_string();
        let kind = error.split_once(", expected ").map_or("the right type", |(_, expected)| expected);
        format!("config has a value of a wrong type: one should be {kind}")
    })
}

fn string_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(value) => Ok(value.trim().to_owned()),
        Value::Number(value) => Ok(value.to_string()),
        _ => Err(serde::de::Error::custom("a chat, expected a string or a number")),
    }
}

/// Forms send numbers as strings, and nothing as an empty one.
fn number_or_string<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let wrong = || serde::de::Error::custom("a number, expected a whole number");
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(value) if value.trim().is_empty() => Ok(None),
        Value::String(value) => value.trim().parse().map(Some).map_err(|_| wrong()),
        Value::Number(value) => value.as_i64().map(Some).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

fn boolean_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(false),
        Value::Bool(value) => Ok(value),
        Value::Number(value) => Ok(value.as_i64() == Some(1)),
        Value::String(value) => Ok(value == "1" || value == "true"),
        _ => Err(serde::de::Error::custom("a switch, expected true or false")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const HOOK: &str = "https://hooks.example.com/a?b=c";

    /// WIRE 7: the config keys of each type.
    #[test]
    fn configurations_are_checked() {
        let many: Vec<String> = (0..11).map(|number| format!("a{number}@b.c")).collect();
        let headers: Value =
            (0..21).map(|number| (format!("X-{number}"), json!("v"))).collect::<serde_json::Map<_, _>>().into();
        let pushover = |more: Value| {
            let mut config = json!({ "userKey": "u", "appToken": "a" });
            config.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            config
        };
        let github = |owner: &str| json!({ "token": "t", "owner": owner, "repo": "r", "labels": [] });
        for (channel_type, config, fault) in [
            ("email", json!({ "recipients": ["a@b.c", "d@e.f"] }), None),
            ("email", json!({ "recipients": [] }), Some("recipients has 1 to 10")),
            ("email", json!({ "recipients": many }), Some("recipients has 1 to 10")),
            ("email", json!({ "recipients": ["nobody"] }), Some("\"nobody\" is not")),
            ("email", json!({ "recipients": ["a@b.c\r\nBcc: x@y.z"] }), Some("\"a@b.c")),
            ("email", json!({ "recipients": "a@b.c" }), Some("config has a value of a wrong type")),
            ("email", json!([]), Some("config is not an object")),
            ("webhook", json!({ "url": HOOK, "method": "PUT", "headers": { "X-A": "b" }, "secret": "s" }), None),
            ("webhook", json!({ "url": "http://127.0.0.1:8080/" }), None),
            ("webhook", json!({}), Some("url is missing")),
            ("webhook", json!({ "url": "ftp://a.b/" }), Some("url is not an http")),
            ("webhook", json!({ "url": "a.b" }), Some("url is not an address")),
            ("webhook", json!({ "url": "https://u:p@a.b/" }), Some("url contains a user name")),
            ("webhook", json!({ "url": "https://a.b/#c" }), Some("url contains a character")),
            ("webhook", json!({ "url": "http:\\\\a.b\\c" }), Some("url contains a character")),
            ("webhook", json!({ "url": HOOK, "method": "DELETE" }), Some("method is POST or PUT")),
            ("webhook", json!({ "url": HOOK, "headers": { "Host": "x" } }), Some("the header Host is set")),
            ("webhook", json!({ "url": HOOK, "headers": { "Webhook-Id": "x" } }), Some("the header Webhook-Id is set")),
            ("webhook", json!({ "url": HOOK, "headers": { "a b": "x" } }), Some("\"a b\" is no name")),
            ("webhook", json!({ "url": HOOK, "headers": { "a": "x\r\ny: z" } }), Some("the header a contains control")),
            ("webhook", json!({ "url": HOOK, "headers": headers }), Some("headers has at most 20 entries")),
            ("webhook", json!({ "url": HOOK, "secret": "whsec_%%%" }), Some("secret begins with whsec_")),
            ("slack", json!({ "webhookUrl": HOOK, "channel": "#a", "username": "b" }), None),
            ("slack", json!({ "webhookUrl": "" }), Some("webhookUrl is missing")),
            ("teams", json!({ "webhookUrl": HOOK }), None),
            ("teams", json!({}), Some("webhookUrl is missing")),
            ("discord", json!({ "webhookUrl": HOOK }), None),
            ("discord", json!({ "webhookUrl": "x" }), Some("webhookUrl is not an address")),
            ("telegram", json!({ "botToken": "123:AB-c_d", "chatId": -1001 }), None),
            ("telegram", json!({ "botToken": "123:AB", "chatId": "@a" }), None),
            ("telegram", json!({ "botToken": "123/../x", "chatId": "1" }), Some("botToken is no token")),
            ("telegram", json!({ "botToken": "123:AB" }), Some("chatId is missing")),
            ("github", github("o"), None),
            ("github", github("o/../.."), Some("owner is no name")),
            ("github", github(".."), Some("owner is no name")),
            ("github", json!({ "owner": "o", "repo": "r" }), Some("token is missing")),
            (
                "github",
                json!({ "token": "t", "owner": "o", "repo": "r", "labels": ["a,b"] }),
                Some("a label has 1 to 100"),
            ),
            (
                "github",
                json!({ "token": "t", "owner": "o", "repo": "r", "apiUrl": "x" }),
                Some("apiUrl is not an address"),
            ),
            ("pushover", pushover(json!({})), None),
            ("pushover", pushover(json!({ "priority": "1", "html": 1, "ttl": "60", "sound": "bike" })), None),
            ("pushover", pushover(json!({ "priority": 2, "retry": 30, "expire": 3600, "callback": HOOK })), None),
            ("pushover", pushover(json!({ "priority": 3 })), Some("priority is 0, 1 or 2")),
            ("pushover", pushover(json!({ "priority": 2, "expire": 60 })), Some("retry is missing")),
            (
                "pushover",
                pushover(json!({ "priority": 2, "retry": 60, "expire": 20_000 })),
                Some("expire is at most 10800"),
            ),
            ("pushover", pushover(json!({ "ttl": -1 })), Some("ttl is a positive")),
            ("pushover", json!({ "appToken": "a" }), Some("userKey is missing")),
            ("pagerduty", json!({ "routingKey": "k", "apiUrl": "https://events.eu.pagerduty.com" }), None),
            ("pagerduty", json!({}), Some("routingKey is missing")),
            ("opsgenie", json!({ "apiKey": "k" }), None),
            ("opsgenie", json!({ "apiKey": "\u{e9}" }), Some("apiKey contains characters")),
            ("escalation", json!({ "policyId": 3 }), None),
            ("escalation", json!({ "policyId": 0 }), Some("policyId is the id of no")),
            ("sms", json!({}), Some("channelType is none of email, webhook")),
        ] {
            match (checked(channel_type, &config), fault) {
                (Ok(_), None) => {}
                (Err(error), Some(fault)) => assert!(error.starts_with(fault), "{channel_type} {config}: {error}"),
                (result, fault) => panic!("{channel_type} {config}: {result:?}, not {fault:?}"),
            }
        }
    }

    #[test]
    fn unknown_keys_are_left_out_and_numbers_are_read() {
        let sent = json!({ "userKey": "u", "appToken": "a", "priority": "2", "retry": "60", "expire": 120, "more": 1 });
        let stored = checked("pushover", &sent).expect("right");
        assert_eq!((&stored["priority"], &stored["retry"], stored.get("more")), (&json!(2), &json!(60), None));
        let error = checked("slack", &json!({ "webhookUrl": { "secret": "S" } })).expect_err("an object");
        assert!(!error.contains("\"S\"") && error.contains("string"), "{error}");
    }
}
