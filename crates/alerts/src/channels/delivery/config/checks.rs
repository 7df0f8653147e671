//! Errors of a configuration.

use serde_json::Value;
use tidewatch_limits as limits;
use url::Url;

use super::fields::PUSHOVER_EMERGENCY;
use super::{
    BASE64_SECRET, Config, Discord, Email, Escalation, Github, Opsgenie, Pushover, Slack, Teams, Telegram, Webhook,
};
use crate::fields::{ConfigField, FieldKind};

impl Config {
    /// Checks what the bounds of the fields do not say. An error is one sentence for the user.
    pub(super) fn check(&self, fields: &[ConfigField], value: &Value) -> Result<(), String> {
        for field in fields {
            if let Some(value) = value[&field.key].as_str() {
                line(&field.key, value)?;
                if field.kind == FieldKind::Url {
                    address(&field.key, value)?;
                }
            }
        }
        match self {
            Config::Email(config) => check_email(config),
            Config::Webhook(config) => check_webhook(config),
            Config::Slack(Slack { webhook_url, .. })
            | Config::Teams(Teams { webhook_url })
            | Config::Discord(Discord { webhook_url, .. }) => address("webhookUrl", webhook_url),
            Config::Telegram(Telegram { bot_token, .. }) => {
                // It becomes a part of the address.
                let is_token = |c: char| c.is_ascii_alphanumeric() || ":_-".contains(c);
                match bot_token.chars().all(is_token) {
                    true => Ok(()),
                    false => Err("botToken is no token of a bot: 123456:ABC".to_owned()),
                }
            }
            Config::Github(config) => check_github(config),
            Config::Pushover(config) => check_pushover(config),
            Config::Pagerduty(_) => Ok(()),
            Config::Opsgenie(Opsgenie { api_key, .. }) => header_value("apiKey", api_key),
            Config::Escalation(Escalation { policy_id }) => match policy_id {
                Some(1..) => Ok(()),
                _ => Err("policyId is the id of no escalation policy".to_owned()),
            },
        }
    }
}

fn check_email(Email { recipients }: &Email) -> Result<(), String> {
    for recipient in recipients {
        let is_address = recipient.split_once('@').is_some_and(|(name, domain)| !name.is_empty() && !domain.is_empty());
        let is_plain = recipient.chars().all(|c| !c.is_whitespace() && !c.is_control() && !"<>,;\"".contains(c));
        if !is_address || !is_plain || recipient.len() > limits::EMAIL_BYTES_MAX {
            return Err(format!("{recipient:?} is not an email address"));
        }
    }
    Ok(())
}

fn check_webhook(config: &Webhook) -> Result<(), String> {
    let Webhook { headers, secret, .. } = config;
    for (name, value) in headers {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || name.len() > limits::CHANNEL_NAME_CHARS_MAX || !name.bytes().all(is_token) {
            return Err(format!("{name:?} is no name of a header"));
        }
        let lower = name.to_ascii_lowercase();
        let is_ours = lower.starts_with("webhook-") || RESERVED_HEADERS.contains(&lower.as_str());
        if is_ours {
            return Err(format!("the header {name} is set by the server"));
        }
        header_value(&format!("the header {name}"), value)?;
    }
    if secret.starts_with(BASE64_SECRET) && config.signing_key().is_none() {
        return Err(format!("secret begins with {BASE64_SECRET}, and the rest is not base64"));
    }
    Ok(())
}

/// Headers of the connection, of the body and of the signature.
const RESERVED_HEADERS: &[&str] = &[
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-traceway-signature",
];

fn check_github(Github { token, owner, repo, labels, .. }: &Github) -> Result<(), String> {
    header_value("token", token)?;
    // Both become parts of the address.
    for (key, value) in [("owner", owner), ("repo", repo)] {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if value.is_empty()
            || value.chars().all(|c| c == '.')
            || !value.chars().all(is_name)
            || value.len() > limits::CHANNEL_NAME_CHARS_MAX
        {
            return Err(format!("{key} is no name on GitHub"));
        }
    }
    for label in labels {
        line("a label", label)?;
        if label.is_empty() || label.contains(',') || label.chars().count() > limits::CHANNEL_NAME_CHARS_MAX {
            return Err(format!("a label has 1 to {} characters and no comma", limits::CHANNEL_NAME_CHARS_MAX));
        }
    }
    Ok(())
}

fn check_pushover(config: &Pushover) -> Result<(), String> {
    if config.priority == Some(PUSHOVER_EMERGENCY) && config.expire < config.retry {
        return Err("expire is at least retry".to_owned());
    }
    if config.ttl.is_some_and(|ttl| ttl <= 0) {
        return Err("ttl is a positive number of seconds".to_owned());
    }
    Ok(())
}

/// A value of one line, bounded; may be empty.
fn line(key: &str, value: &str) -> Result<(), String> {
    let most = limits::CHANNEL_VALUE_BYTES_MAX;
    if value.len() > most {
        return Err(format!("{key} has more than {most} bytes"));
    }
    if value.chars().any(char::is_control) { Err(format!("{key} contains control characters")) } else { Ok(()) }
}

fn header_value(key: &str, value: &str) -> Result<(), String> {
    line(key, value)?;
    if value.is_ascii() { Ok(()) } else { Err(format!("{key} contains characters that no header can have")) }
}

/// An address, or nothing.
fn address(key: &str, value: &str) -> Result<(), String> {
    if value.is_empty() {
        return Ok(());
    }
    let url = Url::parse(value).map_err(|_| format!("{key} is not an address: https://…"))?;
    if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none_or(str::is_empty) {
        return Err(format!("{key} is not an http or https address"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(format!("{key} contains a user name or password: use a header"));
    }
    // What the client would send differs from what is shown.
    if url.fragment().is_some() || value.contains('\\') || value.contains(char::is_whitespace) {
        return Err(format!("{key} contains a character that no address can have"));
    }
    Ok(())
}
