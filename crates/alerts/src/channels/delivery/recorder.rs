//! A courier of tests, which records what it is to send.

use std::collections::VecDeque;

use serde_json::Value;
use tidewatch_accounts::mail::{ImmediateMail, SendError};
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_runtime::outbound::guarded::{CallError, OutboundRequest, OutboundResponse};

use super::message::Message;
use super::{Courier, TwilioAccount};
use crate::channels::{AlertStatus, Notification, SeriesPoint, Severity};

#[derive(Default)]
pub struct Recorder {
    pub requests: Vec<OutboundRequest>,
    pub mails: Vec<ImmediateMail>,
    pub answers: VecDeque<(u16, String)>,
    pub mail_answers: VecDeque<Result<(), SendError>>,
    pub twilio: Option<TwilioAccount>,
}

impl Recorder {
    pub fn answering(answers: &[(u16, &str)]) -> Recorder {
        let answers = answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        Recorder { answers, ..Recorder::default() }
    }

    /// The JSON body of a request.
    pub fn json(&self, index: usize) -> Value {
        serde_json::from_slice(&self.requests[index].body).expect("JSON")
    }
}

impl Courier for Recorder {
    fn request(&mut self, request: &OutboundRequest) -> Result<OutboundResponse, CallError> {
        self.requests.push(request.clone());
        let (status, body) = self.answers.pop_front().expect("a request that is expected");
        Ok(OutboundResponse { status, body, retry_after_seconds: None })
    }

    fn mail(&mut self, mail: &ImmediateMail) -> Result<(), SendError> {
        self.mails.push(mail.clone());
        self.mail_answers.pop_front().unwrap_or(Ok(()))
    }

    fn twilio(&self) -> Option<&TwilioAccount> {
        self.twilio.as_ref()
    }

    fn now_seconds(&self) -> i64 {
        1_767_323_045
    }
}

/// The value of a header.
pub fn header<'a>(request: &'a OutboundRequest, name: &str) -> Option<&'a str> {
    request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

pub fn notification(status: AlertStatus, severity: Severity) -> Notification {
    let at_ns = 1_767_323_045_000_000_000;
    let point = |minute: i64| SeriesPoint { at_ns: at_ns + minute * MINUTE_NS, value: minute as f64 };
    Notification {
        organization: 1,
        project: Some(1),
        alert_key: "rule:12:GET /cart".to_owned(),
        status,
        severity,
        rule_type: "endpoint_error_rate".to_owned(),
        rule_name: "Cart".to_owned(),
        subject: "GET /cart fails".to_owned(),
        body: "7 % of requests fail since 03:00, normally 0.1 %.".to_owned(),
        path: "/p/7f/endpoints/GET%20%2Fcart?from=now-1h".to_owned(),
        series: (0..30).map(point).collect(),
        at_ns,
    }
}

pub fn message(status: AlertStatus, severity: Severity) -> Message {
    Message::of("ntf_1_a", &[notification(status, severity)], Some("https://tide.example.com"))
}
