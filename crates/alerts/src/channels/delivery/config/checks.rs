//! Errors of a configuration.

use tidewatch_limits as limits;
use url::Url;

use super::{
    BASE64_SECRET, Config, Discord, Email, Escalation, Github, Opsgenie, Pagerduty, Pushover, Slack, Teams, Telegram,
    Webhook,
};

/// Seconds between the repetitions of an emergency message, and their end. Pushover's limits.
const PUSHOVER_RETRY_MIN: i64 = 30;
const PUSHOVER_EXPIRE_MAX: i64 = 10_800;

impl Config {
    /// An error is one sentence for the user.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Config::Email(config) => check_email(config),
            Config::Webhook(config) => check_webhook(config),
            Config::Slack(Slack { webhook_url, channel, username }) => {
                address("webhookUrl", webhook_url)?;
                [("channel", channel), ("username", username)].into_iter().try_for_each(|(key, value)| line(key, value))
            }
            Config::Teams(Teams { webhook_url }) => address("webhookUrl", webhook_url),
            Config::Discord(Discord { webhook_url, username }) => {
                address("webhookUrl", webhook_url)?;
                line("username", username)
            }
            Config::Telegram(Telegram { bot_token, chat_id, api_url }) => {
                // It becomes a part of the address.
                let is_token = |c: char| c.is_ascii_alphanumeric() || ":_-".contains(c);
                if bot_token.is_empty() || !bot_token.chars().all(is_token) {
                    return Err("botToken is no token of a bot: 123456:ABC".to_owned());
                }
                required("chatId", chat_id)?;
                optional_address("apiUrl", api_url)
            }
            Config::Github(config) => check_github(config),
            Config::Pushover(config) => check_pushover(config),
            Config::Pagerduty(Pagerduty { routing_key, api_url }) => {
                required("routingKey", routing_key)?;
                optional_address("apiUrl", api_url)
            }
            Config::Opsgenie(Opsgenie { api_key, api_url }) => {
                header_value("apiKey", api_key)?;
                required("apiKey", api_key)?;
                optional_address("apiUrl", api_url)
            }
            Config::Escalation(Escalation { policy_id }) => match policy_id {
                Some(1..) => Ok(()),
                _ => Err("policyId is the id of no escalation policy".to_owned()),
            },
        }
    }
}

fn check_email(Email { recipients }: &Email) -> Result<(), String> {
    let most = limits::CHANNEL_RECIPIENTS_MAX;
    if recipients.is_empty() || recipients.len() > most {
        return Err(format!("recipients has 1 to {most} addresses"));
    }
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
    let Webhook { url, method, headers, secret } = config;
    address("url", url)?;
    if !["", "POST", "PUT"].contains(&method.as_str()) {
        return Err("method is POST or PUT".to_owned());
    }
    let most = limits::CHANNEL_ENTRIES_MAX;
    if headers.len() > most {
        return Err(format!("there are more than {most} headers"));
    }
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
    line("secret", secret)?;
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

fn check_github(Github { token, owner, repo, labels, api_url }: &Github) -> Result<(), String> {
    required("token", token)?;
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
    if labels.len() > limits::CHANNEL_ENTRIES_MAX {
        return Err(format!("there are more than {} labels", limits::CHANNEL_ENTRIES_MAX));
    }
    for label in labels {
        line("a label", label)?;
        if label.is_empty() || label.contains(',') || label.chars().count() > limits::CHANNEL_NAME_CHARS_MAX {
            return Err(format!("a label has 1 to {} characters and no comma", limits::CHANNEL_NAME_CHARS_MAX));
        }
    }
    optional_address("apiUrl", api_url)
}

fn check_pushover(config: &Pushover) -> Result<(), String> {
    required("userKey", &config.user_key)?;
    required("appToken", &config.app_token)?;
    line("device", &config.device)?;
    line("sound", &config.sound)?;
    let priority = config.priority.unwrap_or(0);
    if !(0..=2).contains(&priority) {
        return Err("priority is 0, 1 or 2".to_owned());
    }
    if priority == 2 {
        let (retry, expire) = (config.retry.unwrap_or(0), config.expire.unwrap_or(0));
        if retry < PUSHOVER_RETRY_MIN {
            return Err(format!("priority 2 needs retry, at least {PUSHOVER_RETRY_MIN} seconds"));
        }
        if !(retry..=PUSHOVER_EXPIRE_MAX).contains(&expire) {
            return Err(format!("priority 2 needs expire, from retry to {PUSHOVER_EXPIRE_MAX} seconds"));
        }
    }
    if config.ttl.is_some_and(|ttl| ttl <= 0) {
        return Err("ttl is a positive number of seconds".to_owned());
    }
    optional_address("callback", &config.callback)?;
    optional_address("apiUrl", &config.api_url)
}

fn required(key: &str, value: &str) -> Result<(), String> {
    if value.trim().is_empty() { Err(format!("{key} is missing")) } else { line(key, value) }
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

fn address(key: &str, value: &str) -> Result<(), String> {
    required(key, value)?;
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

fn optional_address(key: &str, value: &str) -> Result<(), String> {
    if value.is_empty() { Ok(()) } else { address(key, value) }
}
