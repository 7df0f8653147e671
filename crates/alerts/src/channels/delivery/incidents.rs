//! Services that follow each alert from its begin to its end: PagerDuty and Opsgenie.

use serde_json::json;

use super::config::{Opsgenie, Pagerduty};
use super::message::{Message, truncated};
use super::reply::{Failure, accepted};
use super::{Courier, chat, escape, github};
use crate::channels::{AlertStatus, Severity};

const PAGERDUTY_API: &str = "https://events.pagerduty.com";
const OPSGENIE_API: &str = "https://api.opsgenie.com";
/// Lengths that the services accept, characters.
const PAGERDUTY_SUMMARY_CHARS: usize = 1024;
const OPSGENIE_MESSAGE_CHARS: usize = 130;
const OPSGENIE_DESCRIPTION_CHARS: usize = 15_000;
const KEY_BYTES: usize = 200;

/// The key of an alert: as it is, or a hash of a long one.
fn key(message: &Message) -> String {
    let key = format!("tidewatch:{}", message.alert_key);
    let is_plain = key.len() <= KEY_BYTES && key.bytes().all(|byte| byte.is_ascii_graphic());
    if is_plain { key } else { format!("tidewatch:{}", github::digest_of(&message.alert_key)) }
}

/// PagerDuty, Events API v2: a trigger, or the resolution of the same `dedup_key`.
pub fn pagerduty(config: &Pagerduty, message: &Message, courier: &mut dyn Courier) -> Result<(), Failure> {
    let mut event = json!({
        "routing_key": config.routing_key,
        "event_action": if message.status == AlertStatus::Firing { "trigger" } else { "resolve" },
        "dedup_key": key(message),
    });
    if message.status == AlertStatus::Firing {
        event["payload"] = json!({
            "summary": truncated(&escape::one_line(&message.subject), PAGERDUTY_SUMMARY_CHARS),
            "source": "Tidewatch",
            "severity": message.severity.name(),
            "timestamp": message.timestamp(),
            "class": message.rule_type,
            "custom_details": { "description": message.body, "rule": message.rule_name },
        });
        event["client"] = json!("Tidewatch");
        if let Some(url) = &message.url {
            event["client_url"] = json!(url);
            event["links"] = json!([{ "href": url, "text": "Open in Tidewatch" }]);
        }
    }
    let url = format!("{}/v2/enqueue", chat::api(&config.api_url, PAGERDUTY_API));
    accepted("PagerDuty", courier.request(&chat::post_json(&url, &event))?).map(drop)
}

/// Opsgenie, Alert API: creates an alert, or closes that of the same alias.
pub fn opsgenie(config: &Opsgenie, message: &Message, courier: &mut dyn Courier) -> Result<(), Failure> {
    let alerts = format!("{}/v2/alerts", chat::api(&config.api_url, OPSGENIE_API));
    // An alias is a part of the address.
    let alias = github::digest_of(&message.alert_key);
    let mut request = match message.status {
        AlertStatus::Firing => {
            let priority = match message.severity {
                Severity::Critical => "P1",
                Severity::Warning => "P3",
                Severity::Info => "P5",
            };
            let link = message.url.as_deref().map_or_else(String::new, |url| format!("\n\n{url}"));
            let most = OPSGENIE_DESCRIPTION_CHARS.saturating_sub(link.chars().count());
            let description = truncated(&message.body, most);
            let body = json!({
                "message": truncated(&escape::one_line(&message.subject), OPSGENIE_MESSAGE_CHARS),
                "alias": alias,
            "description": format!("{description}{link}"),
                "priority": priority,
                "source": "Tidewatch",
                "details": { "rule": message.rule_name, "ruleType": message.rule_type },
            });
            chat::post_json(&alerts, &body)
        }
        AlertStatus::Resolved => {
            let note = truncated(&message.title(), OPSGENIE_DESCRIPTION_CHARS);
            chat::post_json(
                &format!("{alerts}/{alias}/close?identifierType=alias"),
                &json!({ "source": "Tidewatch", "note": note }),
            )
        }
    };
    request.headers.push(("Authorization".to_owned(), format!("GenieKey {}", config.api_key)));
    let response = courier.request(&request)?;
    // It was closed by hand, or never created.
    let is_unknown = message.status == AlertStatus::Resolved && response.status == 404;
    if is_unknown { Ok(()) } else { accepted("Opsgenie", response).map(drop) }
}

#[cfg(test)]
mod tests {
    use super::super::recorder::{Recorder, header, message};
    use super::*;

    #[test]
    fn pagerduty_triggers_and_resolves_with_one_key() {
        let config = Pagerduty { routing_key: "k".to_owned(), api_url: String::new() };
        let mut recorder = Recorder::answering(&[(202, ""), (202, ""), (202, "")]);
        let fires = message(AlertStatus::Firing, Severity::Critical);
        pagerduty(&config, &fires, &mut recorder).expect("sent");
        pagerduty(&config, &message(AlertStatus::Resolved, Severity::Critical), &mut recorder).expect("sent");
        let (trigger, resolve) = (recorder.json(0), recorder.json(1));
        assert_eq!(recorder.requests[0].url, "https://events.pagerduty.com/v2/enqueue");
        assert_eq!((&trigger["event_action"], &resolve["event_action"]), (&json!("trigger"), &json!("resolve")));
        assert_eq!(trigger["dedup_key"], resolve["dedup_key"]);
        assert_eq!(trigger["payload"]["severity"], "critical");
        assert_eq!(trigger["payload"]["summary"], "GET /cart fails");
        assert_eq!(resolve.get("payload"), None);
        let long = Message { alert_key: "x".repeat(1000), ..fires };
        pagerduty(&config, &long, &mut recorder).expect("sent");
        assert!(recorder.json(2)["dedup_key"].as_str().is_some_and(|key| key.len() < 255));
    }

    #[test]
    fn opsgenie_creates_and_closes_by_alias() {
        let config = Opsgenie { api_key: "k".to_owned(), api_url: "https://api.eu.opsgenie.com/".to_owned() };
        let mut recorder = Recorder::answering(&[(202, ""), (202, ""), (404, ""), (422, "bad")]);
        let resolved = message(AlertStatus::Resolved, Severity::Critical);
        opsgenie(&config, &message(AlertStatus::Firing, Severity::Warning), &mut recorder).expect("sent");
        opsgenie(&config, &resolved, &mut recorder).expect("sent");
        let alert = recorder.json(0);
        assert_eq!(recorder.requests[0].url, "https://api.eu.opsgenie.com/v2/alerts");
        assert_eq!(header(&recorder.requests[0], "Authorization"), Some("GenieKey k"));
        assert_eq!((&alert["priority"], &alert["message"]), (&json!("P3"), &json!("GET /cart fails")));
        let close = format!("/v2/alerts/{}/close?identifierType=alias", alert["alias"].as_str().expect("an alias"));
        assert!(recorder.requests[1].url.ends_with(&close), "{}", recorder.requests[1].url);
        opsgenie(&config, &resolved, &mut recorder).expect("closed already");
        let failure = opsgenie(&config, &resolved, &mut recorder).expect_err("422");
        assert_eq!(failure.error, "Opsgenie answers 422: bad");
    }
}
