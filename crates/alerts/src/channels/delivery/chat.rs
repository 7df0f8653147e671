//! Chats: Slack, Discord, Microsoft Teams, Telegram. Names and messages of users are sent as plain strings, or escaped:
//! they can neither mention people nor hide where a link leads.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tidewatch_runtime::outbound::guarded::OutboundRequest;

use super::config::{Discord, Slack, Teams, Telegram};
use super::message::{Message, truncated};
use super::reply::{Failure, accepted};
use super::{Courier, escape, multipart};
use crate::channels::{AlertStatus, Severity};

/// Lengths that the services accept, characters.
const SLACK_HEADER_CHARS: usize = 150;
const SLACK_SECTION_CHARS: usize = 3000;
const DISCORD_TITLE_CHARS: usize = 256;
const DISCORD_DESCRIPTION_CHARS: usize = 4096;
const TEAMS_BODY_CHARS: usize = 8000;
const TELEGRAM_MESSAGE_CHARS: usize = 4096;
const TELEGRAM_CAPTION_CHARS: usize = 1024;

const TELEGRAM_API: &str = "https://api.telegram.org";
const OPEN: &str = "Open in Tidewatch";

/// A POST request with a JSON body.
pub(super) fn post_json(url: &str, body: &Value) -> OutboundRequest {
    let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    OutboundRequest { method: "POST", url: url.to_owned(), headers, body: body.to_string().into_bytes() }
}

/// The address of an API, without a slash at its end.
pub(super) fn api<'a>(configured: &'a str, default: &'a str) -> &'a str {
    if configured.is_empty() { default } else { configured.trim_end_matches('/') }
}

/// Slack: incoming webhook with blocks. It takes no pictures but those of public addresses.
pub fn slack(config: &Slack, message: &Message, courier: &mut dyn Courier) -> Result<(), Failure> {
    let plain =
        |value: &str, most: usize| json!({ "type": "plain_text", "text": truncated(value, most), "emoji": false });
    let mut blocks = vec![json!({
        "type": "header",
        "text": plain(&escape::one_line(&message.title()), SLACK_HEADER_CHARS),
    })];
    if !message.body.is_empty() {
        blocks.push(json!({ "type": "section", "text": plain(&message.body, SLACK_SECTION_CHARS) }));
    }
    if let Some(url) = &message.url {
        let link = format!("<{}|{OPEN}>", escape::slack(url).replace('|', "%7C"));
        blocks.push(json!({ "type": "section", "text": { "type": "mrkdwn", "text": link } }));
    }
    let mut body = json!({ "text": escape::slack(&message.title()), "blocks": blocks });
    for (key, value) in [("channel", &config.channel), ("username", &config.username)] {
        if !value.is_empty() {
            body[key] = json!(value);
        }
    }
    accepted("Slack", courier.request(&post_json(&config.webhook_url, &body))?).map(drop)
}

/// Discord: webhook with an embed.
pub fn discord(config: &Discord, message: &Message, courier: &mut dyn Courier) -> Result<(), Failure> {
    let mut embed = json!({
        "title": truncated(&escape::markdown(&escape::one_line(&message.title())), DISCORD_TITLE_CHARS),
        "description": truncated(&escape::markdown(&message.body), DISCORD_DESCRIPTION_CHARS),
        "color": message.color(),
        "timestamp": message.timestamp(),
    });
    if let Some(url) = &message.url {
        embed["url"] = json!(url);
    }
    let picture = message.picture();
    if picture.is_some() {
        embed["image"] = json!({ "url": "attachment://chart.png" });
    }
    let mut body = json!({ "embeds": [embed], "allowed_mentions": { "parse": [] } });
    if !config.username.is_empty() {
        body["username"] = json!(config.username);
    }
    let request = match picture {
        None => post_json(&config.webhook_url, &body),
        Some(png) => OutboundRequest {
            method: "POST",
            url: config.webhook_url.clone(),
            headers: vec![("Content-Type".to_owned(), multipart::content_type())],
            body: multipart::body(&[("payload_json", &body.to_string())], "files[0]", &png),
        },
    };
    accepted("Discord", courier.request(&request)?).map(drop)
}

/// Microsoft Teams: the webhook of a workflow with an Adaptive Card. Its runs of text are plain.
pub fn teams(config: &Teams, message: &Message, courier: &mut dyn Courier) -> Result<(), Failure> {
    let run = |value: &str| json!({ "type": "TextRun", "text": value });
    let color = match (message.status, message.severity) {
        (AlertStatus::Resolved, _) => "good",
        (AlertStatus::Firing, Severity::Critical) => "attention",
        (AlertStatus::Firing, Severity::Warning) => "warning",
        (AlertStatus::Firing, Severity::Info) => "accent",
    };
    let mut title = run(&escape::one_line(&message.title()));
    title["weight"] = json!("bolder");
    title["size"] = json!("medium");
    title["color"] = json!(color);
    let mut content = vec![json!({ "type": "RichTextBlock", "inlines": [title] })];
    for line in truncated(&message.body, TEAMS_BODY_CHARS).lines() {
        content.push(json!({ "type": "RichTextBlock", "inlines": [run(line)] }));
    }
    if let Some(png) = message.picture() {
        let url = format!("data:image/png;base64,{}", STANDARD.encode(png));
        content.push(json!({ "type": "Image", "url": url, "altText": "Chart" }));
    }
    let mut card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": content,
    });
    if let Some(url) = &message.url {
        card["actions"] = json!([{ "type": "Action.OpenUrl", "title": OPEN, "url": url }]);
    }
    let attachment =
        json!({ "contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": null, "content": card });
    let body = json!({ "type": "message", "attachments": [attachment] });
    accepted("Teams", courier.request(&post_json(&config.webhook_url, &body))?).map(drop)
}

/// Telegram: a message of a bot, or a photo with a caption. Without a parse mode, both are plain.
pub fn telegram(config: &Telegram, message: &Message, courier: &mut dyn Courier) -> Result<(), Failure> {
    let link = message.url.as_deref().map_or_else(String::new, |url| format!("\n\n{url}"));
    let fitting = |most: usize| {
        let head = format!("{}\n\n{}", message.title(), message.body);
        format!("{}{link}", truncated(&head, most.saturating_sub(link.chars().count())))
    };
    let base = format!("{}/bot{}", api(&config.api_url, TELEGRAM_API), config.bot_token);
    let request = match message.picture() {
        // A caption is shorter than a message: a long one is sent without a picture.
        Some(png) if message.title().chars().count() + message.body.chars().count() < TELEGRAM_CAPTION_CHARS / 2 => {
            let caption = fitting(TELEGRAM_CAPTION_CHARS);
            OutboundRequest {
                method: "POST",
                url: format!("{base}/sendPhoto"),
                headers: vec![("Content-Type".to_owned(), multipart::content_type())],
                body: multipart::body(&[("chat_id", &config.chat_id), ("caption", &caption)], "photo", &png),
            }
        }
        _ => {
            let body = json!({
                "chat_id": config.chat_id,
                "text": fitting(TELEGRAM_MESSAGE_CHARS),
                "link_preview_options": { "is_disabled": true },
            });
            post_json(&format!("{base}/sendMessage"), &body)
        }
    };
    accepted("Telegram", courier.request(&request)?).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::recorder::{Recorder, message};
    use super::*;

    fn plain() -> Message {
        Message { series: Vec::new(), ..message(AlertStatus::Firing, Severity::Critical) }
    }

    fn hostile() -> Message {
        let subject = "<!channel> [x](http://evil) @everyone\r\n**b**".to_owned();
        Message { subject, body: "</a> <https://evil|ok>".to_owned(), ..plain() }
    }

    #[test]
    fn slack_gets_blocks_without_markup_of_users() {
        let config = Slack { webhook_url: "https://h/s".to_owned(), channel: "#ops".to_owned(), ..Slack::default() };
        let mut recorder = Recorder::answering(&[(200, "ok")]);
        slack(&config, &hostile(), &mut recorder).expect("sent");
        let body = recorder.json(0);
        assert_eq!((&body["channel"], body.get("username")), (&json!("#ops"), None));
        assert_eq!(body["text"], "Critical: &lt;!channel&gt; [x](http://evil) @everyone\r\n**b**");
        assert_eq!(body["blocks"][0]["text"]["type"], "plain_text");
        assert_eq!(body["blocks"][0]["text"]["text"], "Critical: <!channel> [x](http://evil) @everyone **b**");
        assert_eq!(body["blocks"][1]["text"]["type"], "plain_text");
        let link = "<https://tide.example.com/p/7f/endpoints/GET%20%2Fcart?from=now-1h|Open in Tidewatch>";
        assert_eq!(body["blocks"][2]["text"]["text"], link);
        let mut recorder = Recorder::answering(&[(404, "no_service")]);
        assert_eq!(slack(&config, &plain(), &mut recorder).expect_err("404").error, "Slack answers 404: no_service");
    }

    #[test]
    fn discord_gets_an_embed_that_mentions_nobody() {
        let config = Discord { webhook_url: "https://h/d".to_owned(), username: String::new() };
        let mut recorder = Recorder::answering(&[(204, ""), (200, "")]);
        discord(&config, &hostile(), &mut recorder).expect("sent");
        let body = recorder.json(0);
        assert_eq!(body["allowed_mentions"], json!({ "parse": [] }));
        let title = body["embeds"][0]["title"].as_str().expect("a title");
        assert_eq!(title, "Critical\\: \\<!channel\\> \\[x\\]\\(http\\://evil\\) \\@everyone \\*\\*b\\*\\*");
        discord(&config, &message(AlertStatus::Resolved, Severity::Critical), &mut recorder).expect("sent");
        let body = String::from_utf8_lossy(&recorder.requests[1].body).into_owned();
        assert!(body.contains("name=\"files[0]\"; filename=\"chart.png\"") && body.contains("PNG"));
        assert!(body.contains("attachment://chart.png") && body.contains("Resolved"));
    }

    #[test]
    fn teams_gets_an_adaptive_card_of_plain_runs() {
        let config = Teams { webhook_url: "https://h/t".to_owned() };
        let mut recorder = Recorder::answering(&[(202, "")]);
        teams(&config, &message(AlertStatus::Firing, Severity::Warning), &mut recorder).expect("sent");
        let body = recorder.json(0);
        assert_eq!(body["type"], "message");
        let attachment = &body["attachments"][0];
        assert_eq!(attachment["contentType"], "application/vnd.microsoft.card.adaptive");
        let card = &attachment["content"];
        assert_eq!((&card["type"], &card["version"]), (&json!("AdaptiveCard"), &json!("1.4")));
        assert_eq!(card["body"][0]["inlines"][0]["text"], "Warning: GET /cart fails");
        assert_eq!(card["body"][0]["inlines"][0]["color"], "warning");
        assert!(card["body"][2]["url"].as_str().is_some_and(|url| url.starts_with("data:image/png;base64,iVBOR")));
        assert_eq!(card["actions"][0]["url"], "https://tide.example.com/p/7f/endpoints/GET%20%2Fcart?from=now-1h");
        // Workflows take at most 28 KB.
        assert!(recorder.requests[0].body.len() < 28_000);
    }

    #[test]
    fn telegram_gets_a_plain_message_or_a_photo() {
        let config = Telegram { bot_token: "1:A".to_owned(), chat_id: "-5".to_owned(), api_url: String::new() };
        let mut recorder = Recorder::answering(&[(200, "{\"ok\":true}"), (200, "{\"ok\":true}"), (200, "")]);
        telegram(&config, &hostile(), &mut recorder).expect("sent");
        assert_eq!(recorder.requests[0].url, "https://api.telegram.org/bot1:A/sendMessage");
        let body = recorder.json(0);
        assert_eq!((&body["chat_id"], body.get("parse_mode")), (&json!("-5"), None));
        let sent = body["text"].as_str().expect("a message");
        assert!(sent.starts_with("Critical: <!channel>") && sent.ends_with("from=now-1h"), "{sent}");
        telegram(&config, &message(AlertStatus::Firing, Severity::Critical), &mut recorder).expect("sent");
        assert_eq!(recorder.requests[1].url, "https://api.telegram.org/bot1:A/sendPhoto");
        let long = Message { body: "x".repeat(9000), ..message(AlertStatus::Firing, Severity::Critical) };
        telegram(&config, &long, &mut recorder).expect("sent");
        let sent = recorder.json(2)["text"].as_str().expect("a message").to_owned();
        assert_eq!(sent.chars().count(), 4096);
        assert!(sent.ends_with("from=now-1h"));
    }
}
