//! The types of channels in words, and the fields of their configurations. WIRE 7.

use tidewatch_limits as limits;

use crate::channels::ESCALATION;
use crate::fields::{ConfigField, FieldKind, options, options_of};

/// Seconds between the repetitions of an emergency message, and their end. Pushover's limits.
const PUSHOVER_RETRY_MIN: i64 = 30;
const PUSHOVER_EXPIRE_MAX: i64 = 10_800;
/// Priority of an emergency message of Pushover, which is repeated until it is acknowledged.
pub(super) const PUSHOVER_EMERGENCY: i64 = 2;
const ADDRESS: &str = "https://…";

/// A type of channel in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelWords {
    /// Name in requests.
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Set-up of the type.
    pub about: &'static str,
}

const fn of(name: &'static str, label: &'static str, about: &'static str) -> ChannelWords {
    ChannelWords { name, label, about }
}

/// The types of channels, in the order of forms.
pub const CHANNEL_TYPES: [ChannelWords; 11] = [
    of("email", "E-mail", "Each recipient gets a mail with a chart. The server needs a mail server (SMTP_HOST)."),
    of(
        "webhook",
        "Webhook",
        "A JSON body is sent to your address. With a secret it is signed: X-Traceway-Signature and webhook-signature.",
    ),
    of(
        "slack",
        "Slack",
        "Add the app Incoming Webhooks to your workspace, choose a channel, and copy the webhook URL.",
    ),
    of(
        "teams",
        "Microsoft Teams",
        "In the channel, open Workflows, choose “Send webhook alerts to a channel”, and copy the URL.",
    ),
    of("discord", "Discord", "In the settings of the channel, open Integrations, create a webhook, and copy its URL."),
    of("telegram", "Telegram", "Create a bot with @BotFather, add it to the chat, and copy its token."),
    of("github", "GitHub issue", "An alert creates an issue. When it ends, the issue gets a comment and is closed."),
    of("pushover", "Pushover", "Create an application on pushover.net, and copy its token and your user or group key."),
    of(
        "pagerduty",
        "PagerDuty",
        "Add the integration Events API V2 to a service. An alert triggers an incident, and its end resolves it.",
    ),
    of("opsgenie", "Opsgenie", "Add an API integration to a team. An alert is created, and closed when it ends."),
    of(ESCALATION, "Escalation policy", "Each alert starts the policy, which pages the people on call."),
];

fn string(key: &str, label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::String, label).at(key)
}

fn secret(key: &str, label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::Secret, label).at(key)
}

fn url(key: &str, label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::Url, label).at(key)
}

fn seconds(key: &str, label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::Integer, label).unit("seconds").at(key)
}

/// The fields of a type, without defaults, in the order of forms; none for an unknown type.
pub(super) fn fields(channel_type: &str) -> Vec<ConfigField> {
    match channel_type {
        "email" => {
            let most = limits::CHANNEL_RECIPIENTS_MAX;
            let recipients = ConfigField::new(FieldKind::Strings, "Recipients").at("recipients").required();
            vec![recipients.max_items(most).hint(format!("One address a line, at most {most}."))]
        }
        "webhook" => vec![
            url("url", "Address").placeholder(ADDRESS).required(),
            ConfigField::choice("Method", options_of(&["POST", "PUT"])).at("method"),
            secret("secret", "Secret").hint("Signs each body (HMAC-SHA256). Empty: no signature."),
            ConfigField::new(FieldKind::Map, "Own headers")
                .at("headers")
                .max_items(limits::CHANNEL_ENTRIES_MAX)
                .hint("One a line: Authorization: Bearer …"),
        ],
        "slack" => vec![
            secret("webhookUrl", "Webhook URL").required(),
            string("channel", "Another channel").hint("Only webhooks of older workspaces follow it: #ops."),
            string("username", "Name of the sender").hint("Only webhooks of older workspaces follow it."),
        ],
        "teams" => vec![secret("webhookUrl", "Workflow URL").required()],
        "discord" => {
            vec![secret("webhookUrl", "Webhook URL").required(), string("username", "Name of the sender")]
        }
        "telegram" => vec![
            secret("botToken", "Token of the bot").required(),
            string("chatId", "Chat").hint("Its id, such as -1001234567890, or @channel.").required(),
            url("apiUrl", "Own Bot API server").hint("Empty: https://api.telegram.org."),
        ],
        "github" => vec![
            secret("token", "Token")
                .hint("A fine-grained token with write access to the repository’s issues.")
                .required(),
            string("owner", "Owner").placeholder("acme").required(),
            string("repo", "Repository").placeholder("shop").required(),
            ConfigField::new(FieldKind::Strings, "Labels")
                .at("labels")
                .max_items(limits::CHANNEL_ENTRIES_MAX)
                .max_length(limits::CHANNEL_NAME_CHARS_MAX)
                .hint("One a line."),
            url("apiUrl", "GitHub Enterprise Server").hint("Address of its API. Empty: https://api.github.com."),
        ],
        "pushover" => pushover(),
        "pagerduty" => vec![
            secret("routingKey", "Integration key").required(),
            url("apiUrl", "Another region").hint("Such as https://events.eu.pagerduty.com."),
        ],
        "opsgenie" => vec![
            secret("apiKey", "API key").required(),
            url("apiUrl", "Another region").hint("Such as https://api.eu.opsgenie.com."),
        ],
        ESCALATION => {
            vec![ConfigField::new(FieldKind::Policy, "Policy").at("policyId").required().at_least(1.0)]
        }
        _ => Vec::new(),
    }
}

fn pushover() -> Vec<ConfigField> {
    let of_emergency = |field: ConfigField| field.when("priority", &[PUSHOVER_EMERGENCY]);
    let priorities =
        options(&[(0, "Normal"), (1, "High: past quiet hours"), (PUSHOVER_EMERGENCY, "Emergency: until acknowledged")]);
    vec![
        secret("userKey", "User or group key").required(),
        secret("appToken", "Token of the application").required(),
        ConfigField::choice("Priority", priorities).at("priority"),
        of_emergency(seconds("retry", "Repeat every"))
            .required()
            .at_least(PUSHOVER_RETRY_MIN as f64)
            .hint(format!("At least {PUSHOVER_RETRY_MIN}.")),
        of_emergency(seconds("expire", "Stop after"))
            .required()
            .at_most(PUSHOVER_EXPIRE_MAX as f64)
            .hint(format!("At most {PUSHOVER_EXPIRE_MAX}.")),
        of_emergency(url("callback", "Callback")).hint("An address that is called when it is acknowledged."),
        string("device", "Device").hint("Empty: all."),
        string("sound", "Sound").hint("Empty: as the user has set."),
        seconds("ttl", "Delete after").when("priority", &[None, Some(0), Some(1)]).at_least(1.0).hint("Empty: never."),
        ConfigField::new(FieldKind::Boolean, "Send as HTML").at("html"),
        url("apiUrl", "Another server").hidden(),
    ]
}
