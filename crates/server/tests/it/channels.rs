//! Channels of notifications: `/api/notification-channels`, and delivery to fake receivers that are written from the
//! public documentation of each service. WIRE 7.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde_json::{Value, json};
use tidewatch_alerts::channels::{AlertStatus, Notification, SeriesPoint, Severity, Target};
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_server::config::Config;

use crate::client::Answer;
use crate::engines::On;
use crate::harness::{Harness, Project, text};
use crate::mailbox::{Mailbox, member, organization, send_to};
use crate::receiver::Receiver;
use crate::requests::at;

const CHANNELS: &str = "/api/notification-channels";
const SENTINEL: &str = "********";
const NOW: i64 = 1_767_323_045_000_000_000;

fn allowed(config: &mut Config) {
    config.allow_private_notification_targets = true;
    config.outbox_poll_seconds = 1;
    config.base_url = Some("https://tide.example.com/".to_owned());
}

async fn started(database: &On) -> (Harness, Project) {
    let mut harness = Harness::on_with(database, allowed).await;
    let project = harness.register().await;
    (harness, project)
}

async fn call(harness: &Harness, project: &Project, method: &str, path: &str, body: &Value) -> Answer {
    harness.api(method, &at(&format!("{CHANNELS}{path}"), project), body).await
}

async fn create(harness: &Harness, project: &Project, channel_type: &str, config: &Value) -> i64 {
    let body = json!({ "name": format!("a {channel_type}"), "channelType": channel_type, "config": config });
    call(harness, project, "POST", "", &body).await.expect(201).json()["id"].as_i64().expect("an id")
}

async fn first(harness: &Harness, project: &Project) -> Value {
    call(harness, project, "GET", "", &Value::Null).await.expect(200).json()["channels"][0].clone()
}

fn notification(harness: &Harness, subject: &str, status: AlertStatus) -> Notification {
    let project = harness.app().accounts.control.projects.all_projects().remove(0);
    let at_ns = harness.app().process.clock.now_ns();
    let point = |minute: i64| SeriesPoint { at_ns: at_ns + minute * MINUTE_NS, value: minute as f64 };
    Notification {
        organization: project.organization_id,
        project: Some(project.number),
        alert_key: format!("rule:1:{subject}"),
        status,
        severity: Severity::Critical,
        rule_type: "endpoint_error_rate".to_owned(),
        rule_name: "Cart".to_owned(),
        subject: subject.to_owned(),
        body: "7 % of requests fail.".to_owned(),
        path: "/endpoints/x".to_owned(),
        series: (0..10).map(point).collect(),
        at_ns,
    }
}

async fn notify(harness: &Harness, subject: &str, status: AlertStatus, channel: i64) {
    let notification = notification(harness, subject, status);
    harness.app().alerting.rooms.channels.notify(&notification, &[Target::Channel(channel)]).await.expect("queued");
}

fn mac(key: &[u8], message: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message).as_ref().to_vec()
}

/// The state of the first channel once it is `state`.
async fn in_state(harness: &Harness, project: &Project, state: &str) -> Value {
    loop {
        let channel = first(harness, project).await;
        if channel["state"] == state {
            return channel;
        }
        tokio::task::yield_now().await;
    }
}

on_both! {
    async fn channels_are_created_changed_and_deleted_without_showing_secrets(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, project) = mailbox.harness(&database).await;
        let (reader, _) = member(&harness, &mut mailbox, "reader", "readonly").await;
        assert_eq!(call(&harness, &project, "GET", "", &Value::Null).await.expect(200).json(), json!({ "channels": [] }));
        let config = json!({ "url": "https://a.example/hook", "secret": "s3cret-1", "headers": { "X-Key": "s3cret-2" } });
        let body = json!({ "name": " Hook ", "channelType": "webhook", "config": config });
        let created = call(&harness, &project, "POST", "", &body).await.expect(201).json();
        let id = created["id"].as_i64().expect("an id");
        assert_eq!((&created["name"], &created["state"]), (&json!("Hook"), &json!("unused")));
        let masked = json!({ "url": "https://a.example/hook", "method": "", "secret": SENTINEL, "headers": { "X-Key": SENTINEL } });
        assert_eq!(created["config"], masked);

        // The sentinel keeps the stored value; a new value replaces it.
        let mut config = masked.clone();
        config["method"] = json!("PUT");
        config["headers"]["X-Key"] = json!("s3cret-3");
        let path = format!("/{id}");
        let changed = call(&harness, &project, "PUT", &path, &json!({ "name": "Renamed", "config": config })).await;
        assert_eq!(changed.expect(200).json()["config"]["method"], "PUT");
        let number = harness.app().accounts.control.projects.all_projects()[0].number;
        let stored = harness.app().alerting.rooms.channels.channel(number, id).await.expect("a channel");
        let expected = json!({
            "url": "https://a.example/hook", "method": "PUT", "secret": "s3cret-1", "headers": { "X-Key": "s3cret-3" },
        });
        assert_eq!((stored.name.as_str(), stored.config), ("Renamed", Some(expected)));

        // A reader sees the channel, without secrets; nothing anywhere shows one.
        let path_of = |path: &str| at(&format!("{CHANNELS}{path}"), &project);
        let list = harness.api_as(&reader, "GET", &path_of(""), &Value::Null).await.expect(200);
        assert!(!String::from_utf8_lossy(&list.body).contains("s3cret"));
        for (method, path) in [("POST", ""), ("PUT", path.as_str()), ("DELETE", path.as_str())] {
            harness.api_as(&reader, method, &path_of(path), &body).await.expect(403);
        }
        harness.api_as(&reader, "POST", &path_of(&format!("{path}/test")), &Value::Null).await.expect(403);
        let audit = format!("/api/organizations/{}/audit", organization(&harness).await);
        let log = harness.api("GET", &audit, &Value::Null).await.expect(200);
        let log = String::from_utf8_lossy(&log.body).into_owned();
        assert!(log.contains("channel.create") && log.contains("channel.change") && !log.contains("s3cret"), "{log}");

        // Secrets do not follow a changed address, and other types have none of them.
        let moved = json!({ "config": { "url": "https://evil.example/", "secret": SENTINEL } });
        let refused = call(&harness, &project, "PUT", &path, &moved).await.expect(422).json();
        assert_eq!(refused["error"], "the address has changed: enter the secrets again");
        call(&harness, &project, "PUT", &path, &json!({ "channelType": "slack" })).await.expect(422);
        let other = harness.project("other").await;
        call(&harness, &other, "PUT", &path, &json!({ "name": "x" })).await.expect(404);
        call(&harness, &other, "DELETE", &path, &Value::Null).await.expect(404);
        call(&harness, &other, "POST", &format!("{path}/test"), &Value::Null).await.expect(404);

        let deleted = call(&harness, &project, "DELETE", &path, &Value::Null).await.expect(200).json();
        assert_eq!(deleted, json!({ "deleted": true }));
        call(&harness, &project, "DELETE", &path, &Value::Null).await.expect(404);
    }

    // The thin path: a notification arrives at once, signed.
    async fn webhooks_are_signed_and_have_a_stable_id(database) {
        let mut receiver = Receiver::open().await;
        let (harness, project) = started(&database).await;
        let config = json!({ "url": receiver.url("/hook"), "secret": "s3cret", "headers": { "X-Own": "mine" } });
        let id = create(&harness, &project, "webhook", &config).await;
        notify(&harness, "GET /cart fails", AlertStatus::Firing, id).await;
        let request = receiver.next().await;
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/hook"));
        assert_eq!((request.header("Content-Type"), request.header("X-Own")), ("application/json", "mine"));
        let hex: String = mac(b"s3cret", &request.body).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(request.header("X-Traceway-Signature"), format!("sha256={hex}"));
        let (message, timestamp) = (request.header("webhook-id"), request.header("webhook-timestamp"));
        let signed = [format!("{message}.{timestamp}.").as_bytes(), &request.body].concat();
        assert_eq!(request.header("webhook-signature"), format!("v1,{}", STANDARD.encode(mac(b"s3cret", &signed))));
        let body = request.json();
        for (key, value) in [
            ("subject", "GET /cart fails"),
            ("body", "7 % of requests fail."),
            ("severity", "critical"),
            ("ruleType", "endpoint_error_rate"),
            ("ruleName", "Cart"),
            ("url", "https://tide.example.com/endpoints/x"),
        ] {
            assert_eq!(body[key], value);
        }
        assert!(text(&body["timestamp"]).ends_with('Z'));
        let channel = in_state(&harness, &project, "working").await;
        assert_eq!((&channel["waiting"], &channel["lastError"]), (&json!(0), &json!("")));
        assert!(receiver.is_empty());
    }

    // A storm is one message that lists its notifications.
    async fn a_storm_is_one_message(database) {
        let mut receiver = Receiver::open().await;
        let (harness, project) = started(&database).await;
        // Nothing is sent to a policy here: all are due when the channel becomes a webhook.
        let id = create(&harness, &project, "escalation", &json!({ "policyId": 1 })).await;
        for number in 0..40 {
            notify(&harness, &format!("alert {number}"), AlertStatus::Firing, id).await;
        }
        assert_eq!(first(&harness, &project).await["waiting"], 40);
        let change = json!({ "channelType": "webhook", "config": { "url": receiver.url("/") } });
        call(&harness, &project, "PUT", &format!("/{id}"), &change).await.expect(200);
        let digest = receiver.next().await.json();
        assert_eq!((&digest["ruleType"], &digest["severity"]), (&json!("digest"), &json!("critical")));
        assert_eq!(digest["subject"], "40 notifications: 40 critical");
        let lines: Vec<String> = text(&digest["body"]).lines().map(str::to_owned).collect();
        let expected: Vec<String> = (0..40).map(|number| format!("- critical: alert {number}")).collect();
        assert_eq!(lines, expected);
        assert_eq!(in_state(&harness, &project, "working").await["waiting"], 0);
        assert!(receiver.is_empty());
    }
}

/// Kill at any moment between firing and delivery: at least once, with the same id.
#[tokio::test]
async fn a_killed_server_delivers_with_the_same_id() {
    let mut receiver = Receiver::open().await;
    let clock = Arc::new(AtomicI64::new(NOW));
    let (mut harness, project) = Harness::registered_at(&On::sqlite(), &clock, allowed).await;
    receiver.answer(&[(500, "down")]);
    let id = create(&harness, &project, "webhook", &json!({ "url": receiver.url("/") })).await;
    notify(&harness, "x", AlertStatus::Firing, id).await;
    let first_attempt = receiver.next().await;
    let failing = in_state(&harness, &project, "failing").await;
    assert_eq!((&failing["lastError"], &failing["waiting"]), (&json!("the webhook answers 500: down"), &json!(1)));
    assert!(failing["failingSince"].is_string());
    // Killed after the failure is recorded: the next attempt is that of the schedule.
    harness.crash().await;
    assert!(receiver.is_empty());
    // Killed with the message claimed by the process that ends: it is due when the lease has ended.
    clock.fetch_add(2 * MINUTE_NS, Ordering::SeqCst);
    let claimed = harness
        .app()
        .alerting
        .rooms
        .channels
        .claim_notifications(clock.load(Ordering::SeqCst), &Default::default(), 10)
        .await;
    harness.crash().await;
    clock.fetch_add(3 * MINUTE_NS, Ordering::SeqCst);
    let second_attempt = receiver.next().await;
    assert_eq!(second_attempt.header("webhook-id"), first_attempt.header("webhook-id"));
    assert_eq!(second_attempt.body, first_attempt.body);
    for one in claimed.expect("a claim") {
        assert_eq!(one.key, first_attempt.header("webhook-id"));
    }
    in_state(&harness, &project, "working").await;
}

/// The test button sends at once and says what failed.
#[tokio::test]
async fn tests_say_what_failed_and_are_limited() {
    let mut receiver = Receiver::open().await;
    let clock = Arc::new(AtomicI64::new(NOW));
    let (harness, project) = Harness::registered_at(&On::sqlite(), &clock, allowed).await;
    let id = create(&harness, &project, "slack", &json!({ "webhookUrl": receiver.url("/services/SECRET-PATH") })).await;
    let path = format!("/{id}/test");
    let tested = call(&harness, &project, "POST", &path, &Value::Null).await.expect(200).json();
    assert_eq!(tested, json!({ "success": true }));
    let request = receiver.next().await;
    assert_eq!(request.path, "/services/SECRET-PATH");
    assert_eq!(request.json()["blocks"][0]["text"]["text"], "Info: Test of the channel a slack");
    assert_eq!(first(&harness, &project).await["state"], "working");
    // What a service answers with is shown without the secret that it may repeat.
    let echo = format!("no_service {}", receiver.url("/services/SECRET-PATH"));
    receiver.answer(&[(404, echo.as_str()), (302, "")]);
    let failed = call(&harness, &project, "POST", &path, &Value::Null).await.expect(422).json();
    assert_eq!(failed["error"], "Slack answers 404: no_service ********");
    let shown = first(&harness, &project).await;
    assert_eq!((&shown["state"], &shown["lastError"]), (&json!("failing"), &failed["error"]));
    let failed = call(&harness, &project, "POST", &path, &Value::Null).await.expect(422).json();
    assert_eq!(failed["error"], "Slack answers 302, a redirect, which is not followed");
    for _ in 0..7 {
        call(&harness, &project, "POST", &path, &Value::Null).await.expect(200);
    }
    call(&harness, &project, "POST", &path, &Value::Null).await.expect(429);
    clock.fetch_add(2 * MINUTE_NS, Ordering::SeqCst);
    call(&harness, &project, "POST", &path, &Value::Null).await.expect(200);
    let policy = create(&harness, &project, "escalation", &json!({ "policyId": 1 })).await;
    call(&harness, &project, "POST", &format!("/{policy}/test"), &Value::Null).await.expect(422);
}

/// Private targets are refused unless `ALLOW_PRIVATE_NOTIFICATION_TARGETS` is set: every form of such an address.
#[tokio::test]
async fn private_targets_are_refused_by_default() {
    let receiver = Receiver::open().await;
    let port = receiver.address.port();
    let (harness, project) = Harness::with_project().await;
    for host in [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
        "0.0.0.0",
    ] {
        let config = json!({ "url": format!("http://{host}:{port}/latest/meta-data") });
        let id = create(&harness, &project, "webhook", &config).await;
        let refused = call(&harness, &project, "POST", &format!("/{id}/test"), &Value::Null).await.expect(422).json();
        let error = text(&refused["error"]);
        assert!(error.ends_with("is an address of a private network, which this server does not contact"), "{error}");
    }
    assert!(receiver.is_empty());
}

/// Each service gets what its documentation asks for.
#[tokio::test]
async fn every_service_is_spoken_to_as_documented() {
    let mut receiver = Receiver::open().await;
    let (harness, project) = started(&On::sqlite()).await;
    let url = |path: &str| receiver.url(path);
    let api = url("/api");
    let channels = [
        ("discord", json!({ "webhookUrl": url("/d"), "username": "tide" }), 204, ""),
        ("teams", json!({ "webhookUrl": url("/t") }), 202, ""),
        ("telegram", json!({ "botToken": "12:AB", "chatId": "-5", "apiUrl": api }), 200, "{\"ok\":true}"),
        (
            "pushover",
            json!({ "userKey": "user", "appToken": "token", "priority": 1, "apiUrl": api }),
            200,
            "{\"status\":1}",
        ),
        ("pagerduty", json!({ "routingKey": "key", "apiUrl": api }), 202, "{\"status\":\"success\"}"),
        ("opsgenie", json!({ "apiKey": "key", "apiUrl": api }), 202, "{\"result\":\"Request will be processed\"}"),
    ];
    let mut ids = std::collections::HashMap::new();
    for (channel_type, config, status, answer) in &channels {
        let id = create(&harness, &project, channel_type, config).await;
        ids.insert(*channel_type, id);
        receiver.answer(&[(*status, answer)]);
        notify(&harness, "GET /cart fails", AlertStatus::Firing, id).await;
        let request = receiver.next().await;
        let body = request.body();
        match *channel_type {
            "discord" => {
                assert_eq!(request.path, "/d");
                assert!(request.header("Content-Type").starts_with("multipart/form-data; boundary="));
                assert!(body.contains("name=\"payload_json\"") && body.contains("\"username\":\"tide\""));
                assert!(request.body.windows(4).any(|bytes| bytes == b"\x89PNG"));
            }
            "teams" => {
                let card = &request.json()["attachments"][0]["content"];
                assert_eq!(card["body"][0]["inlines"][0]["text"], "Critical: GET /cart fails");
            }
            "telegram" => {
                assert_eq!(request.path, "/api/bot12:AB/sendPhoto");
                assert!(body.contains("name=\"chat_id\"\r\n\r\n-5\r\n") && body.contains("Critical: GET /cart fails"));
            }
            "pushover" => {
                assert_eq!(request.path, "/api/1/messages.json");
                let body = request.json();
                assert_eq!(
                    (&body["user"], &body["token"], &body["priority"]),
                    (&json!("user"), &json!("token"), &json!(1))
                );
            }
            "pagerduty" => {
                assert_eq!(request.path, "/api/v2/enqueue");
                let body = request.json();
                assert_eq!((&body["routing_key"], &body["event_action"]), (&json!("key"), &json!("trigger")));
            }
            "opsgenie" => {
                assert_eq!(
                    (request.path.as_str(), request.header("Authorization")),
                    ("/api/v2/alerts", "GenieKey key")
                );
            }
            other => panic!("{other}"),
        }
    }
    // The end of the alert resolves what it began.
    notify(&harness, "GET /cart fails", AlertStatus::Resolved, ids["pagerduty"]).await;
    assert_eq!(receiver.next().await.json()["event_action"], "resolve");
    notify(&harness, "GET /cart fails", AlertStatus::Resolved, ids["opsgenie"]).await;
    assert!(receiver.next().await.path.ends_with("/close?identifierType=alias"));
}

/// An issue is created by the alert, found again by its end, commented and closed.
#[tokio::test]
async fn issues_are_created_and_closed() {
    let mut receiver = Receiver::open().await;
    let (harness, project) = started(&On::sqlite()).await;
    let config =
        json!({ "token": "t0ken", "owner": "o", "repo": "r", "labels": ["alert"], "apiUrl": receiver.url("") });
    let id = create(&harness, &project, "github", &config).await;
    receiver.answer(&[(200, "[]"), (201, "{\"number\":7}")]);
    notify(&harness, "GET /cart fails", AlertStatus::Firing, id).await;
    let list = receiver.next().await;
    assert!(list.path.starts_with("/repos/o/r/issues?state=open"), "{}", list.path);
    assert_eq!((list.method.as_str(), list.header("Authorization")), ("GET", "Bearer t0ken"));
    let issue = receiver.next().await.json();
    assert_eq!((&issue["title"], &issue["labels"]), (&json!("Critical: GET /cart fails"), &json!(["alert"])));
    let open = json!([{ "number": 7, "body": issue["body"] }]).to_string();
    receiver.answer(&[(200, open.as_str()), (201, "{}"), (200, "{}")]);
    notify(&harness, "GET /cart fails", AlertStatus::Resolved, id).await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let request = receiver.next().await;
        seen.push((request.method.clone(), request.path.split('?').next().unwrap_or_default().to_owned()));
    }
    let expected =
        [("GET", "/repos/o/r/issues"), ("POST", "/repos/o/r/issues/7/comments"), ("PATCH", "/repos/o/r/issues/7")];
    assert_eq!(seen, expected.map(|(method, path)| (method.to_owned(), path.to_owned())));
}

/// Mail over a real SMTP conversation: both bodies, the picture, one recipient each; a retry goes to the others.
#[tokio::test]
async fn mails_have_the_picture_and_go_to_each_recipient_once() {
    let mut mailbox = Mailbox::open().await;
    let address = mailbox.address;
    let clock = Arc::new(AtomicI64::new(NOW));
    let set = move |config: &mut Config| {
        allowed(config);
        send_to(config, address);
    };
    let (harness, project) = Harness::registered_at(&On::sqlite(), &clock, set).await;
    let id =
        create(&harness, &project, "email", &json!({ "recipients": ["ada@example.com", "bob@example.com"] })).await;
    notify(&harness, "GET <cart> fails", AlertStatus::Firing, id).await;
    let (ada, bob) = (mailbox.next().await, mailbox.next().await);
    assert_eq!((&ada.to, &bob.to), (&vec!["ada@example.com".to_owned()], &vec!["bob@example.com".to_owned()]));
    let head = ada.head();
    assert!(head.contains(&"Subject: Critical: GET <cart> fails".to_owned()), "{head:?}");
    let id_of = |head: &[String]| head.iter().find(|line| line.starts_with("Message-ID: <ntf_")).cloned();
    assert_eq!((id_of(&head).is_some(), id_of(&head)), (true, id_of(&bob.head())));
    let content = ada.text();
    assert!(content.contains("https://tide.example.com/endpoints/x") && content.contains("GET &lt;cart&gt; fails"));
    assert!(content.contains("Content-Type: image/png") && content.contains("cid:chart"));
    in_state(&harness, &project, "working").await;
    // The first recipient of this mail is refused for now.
    mailbox.be_busy(1);
    notify(&harness, "again", AlertStatus::Firing, id).await;
    let failing = in_state(&harness, &project, "failing").await;
    assert!(text(&failing["lastError"]).contains("451"), "{failing}");
    clock.fetch_add(2 * MINUTE_NS, Ordering::SeqCst);
    let (ada, bob) = (mailbox.next().await, mailbox.next().await);
    assert_eq!((ada.to, bob.to), (vec!["ada@example.com".to_owned()], vec!["bob@example.com".to_owned()]));
    in_state(&harness, &project, "working").await;
    assert!(mailbox.is_empty());
}

#[tokio::test]
async fn wrong_channels_are_refused() {
    let (harness, project) = Harness::with_project().await;
    let hook = json!({ "url": "https://a.example/" });
    for (body, status) in [
        (json!({ "name": "a" }), 400),
        (json!({ "name": "a", "channelType": "sms", "config": {} }), 422),
        (json!({ "name": " ", "channelType": "webhook", "config": hook }), 422),
        (json!({ "name": "x".repeat(101), "channelType": "webhook", "config": hook }), 422),
        (json!({ "name": "a", "channelType": "webhook", "config": { "url": "ftp://a" } }), 422),
        (json!({ "name": "a", "channelType": "webhook", "config": { "url": "https://a.b", "secret": SENTINEL } }), 422),
        (json!({ "name": "a", "channelType": "webhook", "config": [] }), 422),
    ] {
        let refused = call(&harness, &project, "POST", "", &body).await.expect(status);
        assert!(!text(&refused.json()["error"]).is_empty());
    }
    for path in ["/no-number", "/999", "/0", "/-1"] {
        call(&harness, &project, "PUT", path, &json!({})).await.expect(404);
    }
    for number in 0..100 {
        let body = json!({ "name": format!("channel {number}"), "channelType": "webhook", "config": hook });
        call(&harness, &project, "POST", "", &body).await.expect(201);
    }
    call(&harness, &project, "POST", "", &json!({ "name": "a", "channelType": "webhook", "config": hook }))
        .await
        .expect(422);
}
