//! On-call by SMS: contact methods of type `sms`, with a fake Twilio that is written from its public documentation
//! (<https://www.twilio.com/docs/messaging/api/message-resource>). WIRE 5.7 and 7.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_server::config::{Config, TwilioSettings};
use url::form_urlencoded;

use crate::engines::On;
use crate::harness::text;
use crate::on_call::{Desk, until};
use crate::receiver::Receiver;

const METHODS: &str = "/api/contact-methods";
const SID: &str = "AC0123456789abcdef0123456789abcdef";
const AUTH_TOKEN: &str = "s3cret-auth-token";

/// The answer to a message that is accepted.
const QUEUED: (u16, &str) = (
    201,
    r#"{"account_sid":"AC0123456789abcdef0123456789abcdef","api_version":"2010-04-01","direction":"outbound-api",
        "error_code":null,"error_message":null,"num_segments":"1","sid":"SM0123456789abcdef0123456789abcdef",
        "status":"queued","to":"+12025550123"}"#,
);
/// The answer to wrong credentials.
const UNAUTHENTICATED: (u16, &str) = (
    401,
    r#"{"code":20003,"message":"Authenticate","more_info":"https://www.twilio.com/docs/errors/20003","status":401}"#,
);
/// The answer to a number that takes no SMS.
const UNREACHABLE: (u16, &str) = (
    400,
    r#"{"code":21614,"message":"'To' number: +12025550123, is not a valid mobile number",
        "more_info":"https://www.twilio.com/docs/errors/21614","status":400}"#,
);
const TOO_MANY: (u16, &str) = (
    429,
    r#"{"code":20429,"message":"Too Many Requests","more_info":"https://www.twilio.com/docs/errors/20429","status":429}"#,
);

/// Settings of an account whose API is at `api_url`.
fn account(api_url: String) -> impl Fn(&mut Config) + Send + Sync + 'static {
    move |config| {
        config.allow_private_notification_targets = true;
        config.outbox_poll_seconds = 1;
        config.twilio = TwilioSettings {
            twilio_account_sid: Some(SID.to_owned()),
            twilio_auth_token: Some(AUTH_TOKEN.to_owned()),
            twilio_from: Some("+12025550100".to_owned()),
            twilio_api_url: api_url.clone(),
            ..TwilioSettings::default()
        };
    }
}

/// The text of the next SMS.
async fn sms(twilio: &mut Receiver) -> String {
    let request = twilio.next().await;
    let path = format!("/2010-04-01/Accounts/{SID}/Messages.json");
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", path.as_str()));
    let authorization = format!("Basic {}", STANDARD.encode(format!("{SID}:{AUTH_TOKEN}")));
    assert_eq!(request.header("Authorization"), authorization);
    assert_eq!(request.header("Content-Type"), "application/x-www-form-urlencoded");
    let mut form: BTreeMap<String, String> = form_urlencoded::parse(&request.body).into_owned().collect();
    let text = form.remove("Body").expect("a text");
    let rest = [("From", "+12025550100"), ("To", "+12025550123")];
    assert_eq!(form, rest.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
    assert!(text.chars().count() <= 320, "{text}");
    text
}

/// A contact method that is verified by the code of an SMS. Returns its path.
async fn verified(desk: &Desk, twilio: &mut Receiver) -> String {
    twilio.answer(&[QUEUED]);
    let body = json!({ "methodType": "sms", "config": { "phoneNumber": "+1 (202) 555-0123" } });
    let made = desk.as_grace("POST", METHODS, &body).await.expect(201).json();
    let shown = json!([made["verified"], made["config"], made["summary"]]);
    assert_eq!(shown, json!([false, { "phoneNumber": "********" }, "SMS to \u{2026}23"]));
    let sent = sms(twilio).await;
    let line = sent.strip_prefix("Info: A code for a contact method\nYour code is ").expect("a code");
    let code = line.strip_suffix(". Nobody else needs it.").expect("a code");
    let path = format!("{METHODS}/{}", made["id"]);
    desk.as_grace("POST", &format!("{path}/verify"), &json!({ "code": code })).await.expect(200);
    path
}

/// The first delivery of a page once its status is `status`: target and error.
async fn delivery(desk: &Desk, page: i64, status: &str) -> Value {
    until(async || {
        let page = desk.pages("GET", &format!("/{page}"), &Value::Null).await.expect(200).json();
        let one = &page["notifications"][0];
        (one["status"] == status).then(|| json!([one["methodType"], one["targetDesc"], one["errorMsg"]]))
    })
    .await
}

on_both! {
    async fn the_link_of_an_sms_acknowledges(database) {
        let mut twilio = Receiver::open().await;
        let desk = Desk::open_with(&database, account(twilio.url("/"))).await;
        for number in ["12025550123", "+1202555", "+1202555012301234", "+1202555012x", ""] {
            let body = json!({ "methodType": "sms", "config": { "phoneNumber": number } });
            desk.as_grace("POST", METHODS, &body).await.expect(422);
        }
        let path = verified(&desk, &mut twilio).await;
        let same = json!({ "methodType": "sms", "config": { "phoneNumber": "+12025550123" } });
        let known = desk.as_grace("POST", METHODS, &same).await.expect(422).json();
        assert!(text(&known["error"]).contains("you have this contact method already"), "{known}");
        let list = desk.as_grace("GET", METHODS, &Value::Null).await.expect(200).json();
        assert_eq!(list["smsEnabled"], true);
        assert!(!list.to_string().contains("2025550123"), "{list}");
        // The masked number keeps the stored one.
        let masked = json!({ "config": { "phoneNumber": "********" } });
        assert_eq!(desk.as_grace("PUT", &path, &masked).await.expect(200).json()["verified"], true);
        twilio.answer(&[QUEUED]);
        desk.as_grace("POST", &format!("{path}/test"), &Value::Null).await.expect(200);
        assert_eq!(sms(&mut twilio).await, "Info: A test of a contact method\nPages will reach you here.");

        twilio.answer(&[QUEUED]);
        let page = desk.open_page().await;
        desk.deliveries(page, 1).await;
        let sent = sms(&mut twilio).await;
        let begin = "Critical: Checkout fails\nAcknowledge: https://tide.example.com/ack#token=";
        let token = sent.strip_prefix(begin).unwrap_or_else(|| panic!("no link in {sent}"));
        assert_eq!(delivery(&desk, page, "sent").await, json!(["sms", "SMS to \u{2026}23", ""]));
        let done = desk.harness.api_as("", "POST", &format!("/api/ack/{token}"), &Value::Null).await.expect(200).json();
        assert_eq!((&done["status"], &done["acknowledgedByName"]), (&json!("acknowledged"), &json!("grace")));
        assert!(twilio.is_empty());
    }
}

#[tokio::test]
async fn failures_are_shown_without_the_number() {
    let mut twilio = Receiver::open().await;
    let desk = Desk::open_with(&On::sqlite(), account(twilio.url(""))).await;
    verified(&desk, &mut twilio).await;
    for (answer, error) in [
        (UNAUTHENTICATED, "Twilio answers 401: error 20003: Authenticate"),
        (UNREACHABLE, "Twilio answers 400: error 21614: 'To' number: ********, is not a valid mobile number"),
    ] {
        twilio.answer(&[answer]);
        let page = desk.open_page().await;
        desk.deliveries(page, 1).await;
        sms(&mut twilio).await;
        assert_eq!(delivery(&desk, page, "failed").await, json!(["sms", "SMS to \u{2026}23", error]));
    }
    // What may pass is tried again.
    twilio.answer(&[TOO_MANY, QUEUED]);
    let page = desk.open_page().await;
    desk.deliveries(page, 1).await;
    let first = sms(&mut twilio).await;
    until(async || {
        let late = delivery(&desk, page, "pending").await;
        (late[2] == "Twilio answers 429: error 20429: Too Many Requests").then_some(())
    })
    .await;
    desk.clock.fetch_add(MINUTE_NS, Ordering::SeqCst);
    assert_eq!(sms(&mut twilio).await, first);
    delivery(&desk, page, "sent").await;
}

/// WIRE 7: SMS needs an account of the operator.
#[tokio::test]
async fn without_an_account_the_type_is_refused() {
    let desk = Desk::open(&On::sqlite()).await;
    let body = json!({ "methodType": "sms", "config": { "phoneNumber": "+12025550123" } });
    let refused = desk.as_grace("POST", METHODS, &body).await.expect(422).json();
    let error = text(&refused["error"]);
    assert!(error.contains("TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM"), "{error}");
    let list = desk.as_grace("GET", METHODS, &Value::Null).await.expect(200).json();
    assert_eq!(list, json!({ "methods": [], "smsEnabled": false }));
}
