//! Sends messages to channels: HTTP through the guarded client, mail through the mailer.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use serde_json::Value;
use tidewatch_accounts::mail::{ImmediateMail, Mailer, SendError};
use tidewatch_domain::units::SECOND_NS;
use tidewatch_limits as limits;
use tidewatch_limits::admission::TooMany;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::outbound::guarded::{CallError, GuardedClient, OutboundRequest, OutboundResponse};
use tokio::sync::Semaphore;

use super::delivery::message::Message;
use super::delivery::{self, Courier, Failed, TwilioAccount};
use crate::outbound::OutboundPolicy;

/// Sends messages, and limits the tests of channels.
pub struct Notifier {
    client: GuardedClient,
    clock: Clock,
    twilio: Option<TwilioAccount>,
    /// Public base URL, if it is set.
    pub base_url: Option<String>,
    /// Permits to test a channel.
    pub tests: Semaphore,
    /// Times of the latest tests by channel, nanoseconds since the epoch.
    tested: Mutex<HashMap<i64, VecDeque<i64>>>,
}

impl Notifier {
    /// Prepares the HTTP client. `twilio`: the account that sends SMS. `base_url`: see [`Notifier::base_url`].
    pub fn new(
        policy: OutboundPolicy,
        clock: Clock,
        twilio: Option<TwilioAccount>,
        base_url: Option<String>,
    ) -> Notifier {
        let (call_max, bytes_max) = (limits::NOTIFICATION_CALL_MAX, limits::NOTIFICATION_ANSWER_BYTES_MAX);
        Notifier {
            client: GuardedClient::new(policy, call_max, bytes_max),
            clock,
            twilio,
            base_url,
            tests: Semaphore::new(limits::CHANNEL_TESTS_MAX),
            tested: Mutex::default(),
        }
    }

    /// Whether an account that sends SMS is set up.
    pub fn sends_sms(&self) -> bool {
        self.twilio.is_some()
    }

    /// Sends a message to a target. Returns what some of the recipients failed with. Blocks.
    pub fn send(
        &self,
        mailer: &Mailer,
        target: (&str, &Value),
        message: &Message,
        delivered: &[String],
    ) -> Result<String, Failed> {
        let (channel_type, config) = target;
        let mut sender = Sender { notifier: self, mailer };
        delivery::send(channel_type, config, message, delivered, &mut sender)
    }

    /// Counts a test of a channel: as many are possible as messages to it.
    pub fn count_test(&self, channel: i64) -> Result<(), TooMany> {
        let (now_ns, window_ns) = (self.clock.now_ns(), limits::CHANNEL_WINDOW.as_nanos() as i64);
        let is_recent = |at_ns: &i64| (now_ns - window_ns..=now_ns).contains(at_ns);
        let mut tested = self.tested.lock();
        tested.retain(|_, times| times.iter().any(is_recent));
        let times = tested.entry(channel).or_default();
        times.retain(is_recent);
        if times.len() as i64 >= limits::CHANNEL_MESSAGES_MAX {
            let wait_ns = times.front().map_or(0, |first| first + window_ns - now_ns);
            return Err(TooMany(1 + wait_ns.unsigned_abs() / SECOND_NS as u64));
        }
        times.push_back(now_ns);
        Ok(())
    }
}

struct Sender<'a> {
    notifier: &'a Notifier,
    mailer: &'a Mailer,
}

impl Courier for Sender<'_> {
    fn request(&mut self, request: &OutboundRequest) -> Result<OutboundResponse, CallError> {
        self.notifier.client.send(request)
    }

    fn mail(&mut self, mail: &ImmediateMail) -> Result<(), SendError> {
        self.mailer.send_now(mail)
    }

    fn twilio(&self) -> Option<&TwilioAccount> {
        self.notifier.twilio.as_ref()
    }

    fn now_seconds(&self) -> i64 {
        self.notifier.clock.now_ns() / SECOND_NS
    }
}
