//! Delivery of notifications: a message in the form of each type of channel, and the conversation with its service. No
//! I/O: a [`Courier`] sends requests and mails.
//!
//! - [`config`]: configurations, and what is wrong with one. [`message`]: what is sent, digests included.
//! - [`chart`]: the picture of a chart. `escape`: names of users in HTML and Markdown.
//! - `chat`, `email`, `github`, `incidents`, `pushover`, `webhook`: the services. [`twilio`]: SMS to people.
//!
//! Invariant: no response and no log line contains a secret of a channel.

pub mod chart;
mod chat;
pub mod config;
mod courier;
mod email;
mod escape;
mod github;
mod incidents;
pub mod message;
mod multipart;
mod pushover;
#[cfg(test)]
mod recorder;
mod reply;
pub mod twilio;
mod webhook;

use serde_json::Value;

use crate::channels::PRIVATE_LINE;
use config::Config;
use message::Message;

pub use courier::{Courier, Failed, TwilioAccount};

/// Sends a message to a target. Recipients in `delivered` have it from earlier attempts. Returns what some of the
/// recipients failed with; empty: nothing.
pub fn send(
    channel_type: &str,
    config: &Value,
    message: &Message,
    delivered: &[String],
    courier: &mut dyn Courier,
) -> Result<String, Failed> {
    let hide = |error: &str| crate::channels::without_secrets(channel_type, config, error);
    let hidden = |failed: Failed| Failed { error: hide(&failed.error), ..failed };
    // A line for this target alone, such as its link that acknowledges.
    let private_line = config.get(PRIVATE_LINE).and_then(Value::as_str);
    if channel_type == twilio::SMS {
        let sent = twilio::send(config, message, private_line.unwrap_or_default(), courier);
        return sent.map(|()| String::new()).map_err(hidden);
    }
    let parsed =
        Config::parse(channel_type, config).map_err(|error| Failed { error, is_final: true, ..Failed::default() })?;
    let extended = private_line.map(|line| Message { body: format!("{}\n{line}", message.body), ..message.clone() });
    let message = extended.as_ref().unwrap_or(message);
    let sent = match &parsed {
        Config::Email(config) => {
            return email::send(config, message, delivered, courier).map(|warning| hide(&warning)).map_err(hidden);
        }
        Config::Webhook(config) => webhook::send(config, message, courier),
        Config::Slack(config) => chat::slack(config, message, courier),
        Config::Discord(config) => chat::discord(config, message, courier),
        Config::Teams(config) => chat::teams(config, message, courier),
        Config::Telegram(config) => chat::telegram(config, message, courier),
        Config::Github(config) => github::send(config, message, courier),
        Config::Pushover(config) => pushover::send(config, message, courier),
        Config::Pagerduty(config) => incidents::pagerduty(config, message, courier),
        Config::Opsgenie(config) => incidents::opsgenie(config, message, courier),
        Config::Escalation(_) => {
            let error = "an escalation policy is started by its alerts, and takes no messages".to_owned();
            return Err(Failed { error, is_final: true, ..Failed::default() });
        }
    };
    sent.map(|()| String::new()).map_err(|failure| hidden(failure.into()))
}
