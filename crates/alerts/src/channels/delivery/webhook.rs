//! Webhooks: the payload of WIRE 7 with its signature, and the headers of Standard Webhooks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde_json::json;
use tidewatch_runtime::outbound::guarded::OutboundRequest;

use super::Courier;
use super::config::Webhook;
use super::message::Message;
use super::reply::{Failure, accepted};

pub fn send(config: &Webhook, message: &Message, courier: &mut dyn Courier) -> Result<(), Failure> {
    let request = request(config, message, courier.now_seconds());
    accepted("the webhook", courier.request(&request)?).map(drop)
}

fn request(config: &Webhook, message: &Message, now_seconds: i64) -> OutboundRequest {
    let body = json!({
        "subject": message.subject,
        "body": message.body,
        "severity": message.severity.name(),
        "status": message.status.name(),
        "ruleType": message.rule_type,
        "ruleName": message.rule_name,
        "alertKey": message.alert_key,
        "url": message.url.as_ref().unwrap_or(&message.path),
        "timestamp": message.timestamp(),
    });
    let body = body.to_string().into_bytes();
    let mut headers: Vec<(String, String)> =
        config.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
    add("Content-Type", "application/json".to_owned());
    add("webhook-id", message.id.clone());
    add("webhook-timestamp", now_seconds.to_string());
    if !config.secret.is_empty() {
        add("X-Traceway-Signature", format!("sha256={}", hex(&mac(config.secret.as_bytes(), &[&body]))));
        let key = config.signing_key().unwrap_or_else(|| config.secret.clone().into_bytes());
        let head = format!("{}.{now_seconds}.", message.id);
        add("webhook-signature", format!("v1,{}", STANDARD.encode(mac(&key, &[head.as_bytes(), &body]))));
    }
    let method = if config.method == "PUT" { "PUT" } else { "POST" };
    OutboundRequest { method, url: config.url.clone(), headers, body }
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    parts.iter().for_each(|part| context.update(part));
    context.sign().as_ref().to_vec()
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use crate::channels::{AlertStatus, Severity};

    use super::super::recorder::{Recorder, header, message};
    use super::*;

    /// WIRE 7: payload and signature.
    #[test]
    fn the_payload_has_the_fields_of_the_wire() {
        let config = Webhook { url: "https://a.b/c".to_owned(), secret: "s3cret".to_owned(), ..Webhook::default() };
        let message = message(AlertStatus::Firing, Severity::Warning);
        let request = request(&config, &message, 1_767_323_045);
        let body: serde_json::Value = serde_json::from_slice(&request.body).expect("JSON");
        assert_eq!(
            body,
            json!({
                "subject": "GET /cart fails", "body": "7 % of requests fail since 03:00, normally 0.1 %.",
                "severity": "warning", "status": "firing", "ruleType": "endpoint_error_rate", "ruleName": "Cart",
                "alertKey": "rule:12:GET /cart",
                "url": "https://tide.example.com/p/7f/endpoints/GET%20%2Fcart?from=now-1h",
                "timestamp": "2026-01-02T03:04:05Z",
            })
        );
        assert_eq!((request.method, request.url.as_str()), ("POST", "https://a.b/c"));
        let expected = format!("sha256={}", hex(&mac(b"s3cret", &[&request.body])));
        assert_eq!(header(&request, "X-Traceway-Signature"), Some(expected.as_str()));
        assert_eq!(header(&request, "webhook-id"), Some("ntf_1_a"));
        assert_eq!(header(&request, "webhook-timestamp"), Some("1767323045"));
        let without_base = Message { url: None, ..message };
        let request = super::request(&Webhook::default(), &without_base, 0);
        assert!(
            String::from_utf8_lossy(&request.body).contains("\"url\":\"/p/7f/endpoints/GET%20%2Fcart?from=now-1h\"")
        );
        assert_eq!(header(&request, "X-Traceway-Signature"), None);
    }

    /// The vector of the specification of HMAC-SHA256 (RFC 4231, 4.3), and the example of Standard Webhooks.
    #[test]
    fn signatures_equal_those_of_the_specifications() {
        assert_eq!(
            hex(&mac(b"Jefe", &[b"what do ya want ", b"for nothing?"])),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("base64");
        let signed = mac(&key, &[b"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.", b"{\"test\": 2432232314}"]);
        assert_eq!(STANDARD.encode(signed), "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn own_headers_and_put_are_sent() {
        let mut config = Webhook { url: "https://a.b/c".to_owned(), method: "PUT".to_owned(), ..Webhook::default() };
        config.headers.insert("Authorization".to_owned(), "Bearer x".to_owned());
        let mut recorder = Recorder::answering(&[(204, "")]);
        send(&config, &message(AlertStatus::Firing, Severity::Info), &mut recorder).expect("sent");
        let request = &recorder.requests[0];
        assert_eq!((request.method, header(request, "Authorization")), ("PUT", Some("Bearer x")));
        let mut recorder = Recorder::answering(&[(503, "busy")]);
        let failure = send(&config, &message(AlertStatus::Firing, Severity::Info), &mut recorder).expect_err("503");
        assert_eq!(failure.error, "the webhook answers 503: busy");
    }
}
