//! GitHub issues: an alert that fires creates one, or comments on its open one; its end comments and closes it.
//!
//! The body of an issue has two hidden markers: of its alert and of its message. They are how an issue is found again,
//! and how a repeated attempt finds that it is already there.

use ring::digest;
use serde_json::{Value, json};
use tidewatch_runtime::outbound::guarded::{OutboundRequest, OutboundResponse};
use url::form_urlencoded;

use super::config::Github;
use super::message::{Message, truncated};
use super::reply::{Failure, accepted};
use super::webhook::hex;
use super::{Courier, chat, escape};
use crate::channels::AlertStatus;

const API: &str = "https://api.github.com";
const TITLE_CHARS: usize = 256;
const BODY_CHARS: usize = 30_000;
/// Open issues, newest first, among which that of an alert is looked for.
const ISSUES_LOOKED_AT: usize = 20;
/// Bytes of the hash in names.
const DIGEST_BYTES: usize = 12;

/// A name for a string of any length and characters.
pub fn digest_of(value: &str) -> String {
    hex(&digest::digest(&digest::SHA256, value.as_bytes()).as_ref()[..DIGEST_BYTES])
}

pub fn send(config: &Github, message: &Message, courier: &mut dyn Courier) -> Result<(), Failure> {
    let issues = format!("{}/repos/{}/{}/issues", chat::api(&config.api_url, API), config.owner, config.repo);
    let alert = format!("tidewatch-alert-{}", digest_of(&message.alert_key));
    let marker = format!("tidewatch-message-{}", message.id);
    let mut call = |method, url: &str, body: Option<Value>| -> Result<OutboundResponse, Failure> {
        accepted("GitHub", courier.request(&request(config, method, url, body))?)
    };
    let list = format!("{issues}?state=open&sort=created&direction=desc&per_page={ISSUES_LOOKED_AT}");
    let listed = call("GET", &list, None)?;
    let listed: Vec<Value> = serde_json::from_str(&listed.body).map_err(|_| Failure {
        error: "GitHub answers with no list of issues".to_owned(),
        retry_after_seconds: None,
    })?;
    let found = listed.iter().find(|issue| is_of(issue, &alert));
    let mut number = found.and_then(|issue| issue["number"].as_u64());
    if number.is_none() && message.status == AlertStatus::Resolved {
        // An older one. A search knows issues some time after they were created.
        let query = format!("\"{alert}\" repo:{}/{} is:issue is:open in:body", config.owner, config.repo);
        let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
        let url = format!("{}/search/issues?q={query}&per_page=1", chat::api(&config.api_url, API));
        let searched: Value = serde_json::from_str(&call("GET", &url, None)?.body).unwrap_or_default();
        number =
            Some(&searched["items"][0]).filter(|issue| is_of(issue, &alert)).and_then(|issue| issue["number"].as_u64());
    }
    let content = content(message, &alert, &marker);
    match (message.status, number) {
        (AlertStatus::Firing, Some(_)) if found.is_some_and(|issue| is_of(issue, &marker)) => Ok(()),
        (AlertStatus::Firing, Some(number)) => {
            call("POST", &format!("{issues}/{number}/comments"), Some(json!({ "body": content }))).map(drop)
        }
        (AlertStatus::Firing, None) => {
            let title = truncated(&escape::one_line(&message.title()), TITLE_CHARS);
            let mut issue = json!({ "title": title, "body": content });
            if !config.labels.is_empty() {
                issue["labels"] = json!(config.labels);
            }
            call("POST", &issues, Some(issue)).map(drop)
        }
        (AlertStatus::Resolved, Some(number)) => {
            call("POST", &format!("{issues}/{number}/comments"), Some(json!({ "body": content })))?;
            call("PATCH", &format!("{issues}/{number}"), Some(json!({ "state": "closed" }))).map(drop)
        }
        (AlertStatus::Resolved, None) => Ok(()),
    }
}

fn is_of(issue: &Value, marker: &str) -> bool {
    issue["body"].as_str().is_some_and(|body| body.contains(marker))
}

/// Content of an issue. Names by users are in a code block, so that they mention nobody.
fn content(message: &Message, alert: &str, marker: &str) -> String {
    let block = escape::code_block(&truncated(&format!("{}\n\n{}", message.title(), message.body), BODY_CHARS));
    let link = message.url.as_deref().map_or_else(String::new, |url| format!("\n\n[Open in Tidewatch](<{url}>)"));
    format!("{block}{link}\n\n<!-- {alert} {marker} -->")
}

fn request(config: &Github, method: &'static str, url: &str, body: Option<Value>) -> OutboundRequest {
    let headers = [
        ("Accept", "application/vnd.github+json".to_owned()),
        ("Authorization", format!("Bearer {}", config.token)),
        ("Content-Type", "application/json".to_owned()),
        ("X-GitHub-Api-Version", "2022-11-28".to_owned()),
    ];
    let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
    OutboundRequest { method, url: url.to_owned(), headers, body }
}

#[cfg(test)]
mod tests {
    use crate::channels::Severity;

    use super::super::recorder::{Recorder, header, message};
    use super::*;

    fn config() -> Github {
        Github {
            token: "t".to_owned(),
            owner: "o".to_owned(),
            repo: "r".to_owned(),
            labels: vec!["alert".to_owned()],
            api_url: String::new(),
        }
    }

    fn calls(recorder: &Recorder) -> Vec<(&'static str, String)> {
        let short = |url: &str| url.trim_start_matches("https://api.github.com/repos/o/r/").to_owned();
        recorder.requests.iter().skip(1).map(|one| (one.method, short(&one.url))).collect()
    }

    #[test]
    fn alerts_create_comment_and_close_one_issue() {
        let fires = message(AlertStatus::Firing, Severity::Critical);
        let mut recorder = Recorder::answering(&[(200, "[]"), (201, "{}")]);
        send(&config(), &fires, &mut recorder).expect("created");
        assert_eq!(calls(&recorder), [("POST", "issues".to_owned())]);
        assert_eq!(header(&recorder.requests[0], "Authorization"), Some("Bearer t"));
        let issue = recorder.json(1);
        assert_eq!((&issue["title"], &issue["labels"]), (&json!("Critical: GET /cart fails"), &json!(["alert"])));
        let open = json!([{ "number": 6, "body": null }, { "number": 7, "body": issue["body"] }]).to_string();
        let open = open.as_str();

        // The attempt is repeated after a crash: the issue is there.
        let mut recorder = Recorder::answering(&[(200, open)]);
        send(&config(), &fires, &mut recorder).expect("there");
        assert!(calls(&recorder).is_empty());

        let again = Message { id: "ntf_2_b".to_owned(), ..fires.clone() };
        let mut recorder = Recorder::answering(&[(200, open), (201, "{}")]);
        send(&config(), &again, &mut recorder).expect("commented");
        assert_eq!(calls(&recorder), [("POST", "issues/7/comments".to_owned())]);

        let resolved = message(AlertStatus::Resolved, Severity::Critical);
        let mut recorder = Recorder::answering(&[(200, open), (201, "{}"), (200, "{}")]);
        send(&config(), &resolved, &mut recorder).expect("closed");
        assert_eq!(calls(&recorder), [("POST", "issues/7/comments".to_owned()), ("PATCH", "issues/7".to_owned())]);
        assert_eq!(recorder.json(2), json!({ "state": "closed" }));

        // Beyond the newest ones it is searched for.
        let items = json!({ "items": [{ "number": 3, "body": issue["body"] }] }).to_string();
        let mut recorder = Recorder::answering(&[(200, "[]"), (200, items.as_str()), (201, "{}"), (200, "{}")]);
        send(&config(), &resolved, &mut recorder).expect("closed");
        let made = calls(&recorder);
        assert!(made[0].1.contains("/search/issues?q=%22tidewatch-alert-") && made[0].1.contains("repo%3Ao%2Fr"));
        assert_eq!(made[1..], [("POST", "issues/3/comments".to_owned()), ("PATCH", "issues/3".to_owned())]);

        let mut recorder = Recorder::answering(&[(200, "[]"), (200, "{\"items\":[]}")]);
        send(&config(), &resolved, &mut recorder).expect("nothing to close");
        assert_eq!(recorder.requests.len(), 2);
        let mut recorder = Recorder::answering(&[(401, "{\"message\":\"Bad credentials\"}")]);
        assert!(send(&config(), &fires, &mut recorder).expect_err("401").error.contains("Bad credentials"));
    }
}
