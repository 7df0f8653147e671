//! The outbox of notifications: at least once always, at most once for receivers that honour the id. WIRE 7: five
//! attempts (1, 5, 15, 60 min).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use tidewatch_accounts::secrets::seal::Sealer;
use tidewatch_accounts::{Actor, Control, NewAccount, Project};
use tidewatch_alerts::channels::{
    AlertStatus, Channels, ClaimedMessage, FailedAttempt, Notification, Severity, Target,
};
use tidewatch_domain::units::MINUTE_NS;

use crate::engines::On;

const NOW: i64 = 1_767_323_045_000_000_000;

struct Outbox {
    channels: Channels,
    project: Arc<Project>,
}

impl Outbox {
    async fn open(database: &On) -> Outbox {
        let control = Control::open(&database.location(), Sealer::new(&[1; 32])).await.expect("a database");
        let account = NewAccount {
            email: "owner@example.com".to_owned(),
            name: "Owner".to_owned(),
            password_hash: "none".to_owned(),
            organization_name: "Example".to_owned(),
            timezone: "UTC".to_owned(),
            project_name: "first".to_owned(),
            framework: "opentelemetry".to_owned(),
        };
        control.people.register(&actor(), &account).await.expect("an account");
        let project = control.projects.all_projects().remove(0);
        Outbox { channels: Channels::new(control.database()), project }
    }

    async fn channel(&self, name: &str, channel_type: &str) -> i64 {
        let config = json!({ "url": "https://example.com/", "secret": "s3cret" });
        self.channels.create_channel(&actor(), &self.project, name, channel_type, &config).await.expect("a channel")
    }

    async fn queue(&self, subject: &str, targets: &[Target]) {
        let notification = Notification {
            organization: self.project.organization_id,
            project: Some(self.project.number),
            alert_key: "rule:1".to_owned(),
            status: AlertStatus::Firing,
            severity: Severity::Warning,
            rule_type: "new_error".to_owned(),
            rule_name: "rule".to_owned(),
            subject: subject.to_owned(),
            body: "body".to_owned(),
            path: "/issues".to_owned(),
            series: Vec::new(),
            at_ns: NOW,
        };
        self.channels.notify(&notification, targets).await.expect("queued");
    }

    async fn claim(&self, now_ns: i64) -> Vec<ClaimedMessage> {
        self.channels.claim_notifications(now_ns, &BTreeSet::new(), 100).await.expect("a claim")
    }

    async fn one(&self, now_ns: i64) -> ClaimedMessage {
        let mut claimed = self.claim(now_ns).await;
        assert_eq!(claimed.len(), 1, "{claimed:?}");
        claimed.remove(0)
    }

    async fn fail(&self, message: &ClaimedMessage, now_ns: i64) -> bool {
        let failed = FailedAttempt { error: "it is down", delivered: &[], is_final: false, retry_after_seconds: None };
        self.channels.defer_notification(message, &failed, now_ns).await.expect("deferred")
    }
}

fn actor() -> Actor {
    let (address, user_agent) = (String::new(), String::new());
    Actor { user_id: None, name: "test".to_owned(), address, user_agent, at_ns: NOW }
}

fn subjects(message: &ClaimedMessage) -> Vec<&str> {
    message.notifications.iter().map(|one| one.subject.as_str()).collect()
}

on_both! {
    // Kill between every step delivers at least once, with the same id.
    async fn a_message_keeps_its_id_from_claim_to_mark(database) {
        let outbox = Outbox::open(&database).await;
        let channel = outbox.channel("a", "webhook").await;
        outbox.queue("first", &[Target::Channel(channel)]).await;
        let claimed = outbox.one(NOW).await;
        assert_eq!((claimed.channel, claimed.tries, subjects(&claimed)), (Some(channel), 0, vec!["first"]));
        let (channel_type, config) = claimed.target.clone().expect("a target");
        assert_eq!((channel_type.as_str(), &config["secret"]), ("webhook", &json!("s3cret")));
        // Other nodes leave it alone while the lease lasts, which can be extended.
        assert_eq!(outbox.claim(NOW + MINUTE_NS).await, []);
        outbox.channels.lease_notifications(std::slice::from_ref(&claimed), NOW + 4 * MINUTE_NS).await.expect("a lease");
        assert_eq!(outbox.claim(NOW + 3 * MINUTE_NS).await, []);
        // Killed before or after sending: the same id after the lease, also when others have arrived.
        for _ in 0..50 {
            outbox.queue("later", &[Target::Channel(channel)]).await;
        }
        let again = outbox.claim(NOW + 5 * MINUTE_NS).await;
        assert_eq!((again[0].key.as_str(), subjects(&again[0])), (claimed.key.as_str(), vec!["first"]));
        // A message that a stop gives back is due at once.
        outbox.channels.lease_notifications(&again, 0).await.expect("a lease");
        let again = outbox.claim(NOW + 5 * MINUTE_NS).await;
        assert_eq!(again[0].key, claimed.key);
        // Sent and marked: never again.
        for message in &again {
            outbox.channels.mark_notification_sent(message, "", NOW + 5 * MINUTE_NS).await.expect("marked");
        }
        assert_eq!(outbox.claim(NOW + 500 * MINUTE_NS).await, []);
        let channel = outbox.channels.channel(outbox.project.number, channel).await.expect("a channel");
        assert_eq!((channel.sent_ns, channel.failing_since_ns, channel.waiting), (Some(NOW + 5 * MINUTE_NS), None, 0));
    }

    async fn five_attempts_then_another_channel_is_notified(database) {
        let outbox = Outbox::open(&database).await;
        let broken = outbox.channel("broken", "webhook").await;
        let works = outbox.channel("works", "slack").await;
        outbox.queue("lost", &[Target::Channel(broken)]).await;
        let mut at_ns = NOW;
        for (attempt, delay) in [1, 5, 15, 60].into_iter().enumerate() {
            let message = outbox.one(at_ns).await;
            assert_eq!(message.tries, attempt as i64);
            assert!(!outbox.fail(&message, at_ns).await);
            assert_eq!(outbox.claim(at_ns + delay * MINUTE_NS - 1).await, []);
            at_ns += delay * MINUTE_NS;
        }
        let state = outbox.channels.channel(outbox.project.number, broken).await.expect("a channel");
        assert_eq!((state.failing_since_ns, state.error.as_str(), state.waiting), (Some(NOW), "it is down", 1));
        let last = outbox.one(at_ns).await;
        assert!(outbox.fail(&last, at_ns).await, "the fifth attempt is the last");
        let report = outbox.one(at_ns).await;
        assert_eq!(report.channel, Some(works));
        assert_eq!(subjects(&report), ["Notifications do not reach the channel broken"]);
        assert!(report.notifications[0].body.ends_with("The latest one failed: it is down."));
        outbox.channels.mark_notification_sent(&report, "", at_ns).await.expect("marked");
        // Once for each time that it fails.
        outbox.queue("lost too", &[Target::Channel(broken)]).await;
        let failed = FailedAttempt { error: "x", delivered: &[], is_final: true, retry_after_seconds: None };
        let message = outbox.one(at_ns).await;
        assert!(outbox.channels.defer_notification(&message, &failed, at_ns).await.expect("given up"));
        assert_eq!(outbox.claim(at_ns).await, []);
        // And when it works again.
        outbox.channels.record_channel_test(broken, "", at_ns).await.expect("recorded");
        let report = outbox.one(at_ns).await;
        assert_eq!((report.channel, report.notifications[0].status), (Some(works), AlertStatus::Resolved));
        assert_eq!(report.notifications[0].alert_key, format!("channel:{broken}"));
    }

    async fn a_storm_becomes_digests_whose_content_is_fixed(database) {
        let outbox = Outbox::open(&database).await;
        let channel = outbox.channel("a", "webhook").await;
        for number in 0..10 {
            outbox.queue(&format!("{number}"), &[Target::Channel(channel)]).await;
        }
        let claimed = outbox.claim(NOW).await;
        assert_eq!(claimed.len(), 10, "ten in a minute are messages of their own");
        for message in &claimed {
            outbox.channels.mark_notification_sent(message, "", NOW).await.expect("marked");
        }
        for number in 10..40 {
            outbox.queue(&format!("{number}"), &[Target::Channel(channel)]).await;
        }
        assert_eq!(outbox.claim(NOW + MINUTE_NS / 2).await, [], "the rate of the channel");
        let digest = outbox.one(NOW + MINUTE_NS).await;
        assert_eq!(digest.notifications.len(), 30);
        assert!(!outbox.fail(&digest, NOW + MINUTE_NS).await);
        outbox.queue("40", &[Target::Channel(channel)]).await;
        let claimed = outbox.claim(NOW + 3 * MINUTE_NS).await;
        assert_eq!(claimed.len(), 2, "{claimed:?}");
        assert_eq!((&claimed[0].key, &claimed[0].notifications), (&digest.key, &digest.notifications));
        assert_eq!(subjects(&claimed[1]), ["40"]);
        // Receivers that follow alerts get each of them.
        let pager = outbox.channel("pager", "pagerduty").await;
        for number in 0..30 {
            outbox.queue(&format!("{number}"), &[Target::Channel(pager)]).await;
        }
        let mut seen = Vec::new();
        for _ in 0..3 {
            let claimed = outbox.claim(NOW + 3 * MINUTE_NS).await;
            seen.extend(claimed.into_iter().flat_map(|message| message.notifications));
        }
        let seen: Vec<String> = seen.into_iter().map(|one| one.subject).collect();
        assert_eq!(seen, (0..30).map(|number| number.to_string()).collect::<Vec<_>>());
    }

    async fn targets_are_independent_and_escalations_are_left_alone(database) {
        let outbox = Outbox::open(&database).await;
        let channel = outbox.channel("a", "webhook").await;
        let policy = outbox.channel("policy", "escalation").await;
        let config = json!({ "recipients": ["a@b.c"] });
        let direct = Target::Direct { channel_type: "email".to_owned(), config: config.clone() };
        outbox.queue("all", &[Target::Channel(policy), Target::Channel(channel), direct]).await;
        let claimed = outbox.claim(NOW).await;
        let mut targets: Vec<_> = claimed.iter().map(|one| (one.channel, one.target.clone())).collect();
        targets.sort_by_key(|(channel, _)| channel.is_none());
        assert_eq!(targets.len(), 2);
        assert_eq!(targets[0].0, Some(channel));
        assert_eq!(targets[1], (None, Some(("email".to_owned(), config))));
        assert_ne!(claimed[0].key, claimed[1].key);
        // A channel with a job is not claimed; a free one is.
        let other = outbox.channel("b", "webhook").await;
        for one in [channel, other] {
            outbox.queue("more", &[Target::Channel(one)]).await;
        }
        let busy = BTreeSet::from([channel]);
        let claimed = outbox.channels.claim_notifications(NOW, &busy, 100).await.expect("a claim");
        assert_eq!(claimed.iter().map(|one| one.channel).collect::<Vec<_>>(), [Some(other)]);
    }

    // The recipients of a mail that have it, and the time that a receiver asks for, survive.
    async fn failed_attempts_remember_who_has_it(database) {
        let outbox = Outbox::open(&database).await;
        let channel = outbox.channel("a", "email").await;
        outbox.queue("x", &[Target::Channel(channel)]).await;
        let message = outbox.one(NOW).await;
        let delivered = ["a@b.c".to_owned()];
        let failed =
            FailedAttempt { error: "busy", delivered: &delivered, is_final: false, retry_after_seconds: Some(600) };
        outbox.channels.defer_notification(&message, &failed, NOW).await.expect("deferred");
        assert_eq!(outbox.claim(NOW + 9 * MINUTE_NS).await, []);
        assert_eq!(outbox.one(NOW + 10 * MINUTE_NS).await.delivered, delivered);
        // The result of a node whose lease had ended counts once.
        assert_eq!(outbox.claim(NOW + 11 * MINUTE_NS).await, []);
        outbox.channels.defer_notification(&message, &failed, NOW + 11 * MINUTE_NS).await.expect("nothing");
        assert_eq!(outbox.one(NOW + 13 * MINUTE_NS).await.tries, 1);
    }

    // The clock jumps an hour either way without a storm, and nothing waits for the old clock.
    async fn jumps_of_the_clock_delay_and_repeat_nothing(database) {
        let outbox = Outbox::open(&database).await;
        let channel = outbox.channel("a", "webhook").await;
        outbox.queue("x", &[Target::Channel(channel)]).await;
        let hour = 60 * MINUTE_NS;
        let claimed = outbox.one(NOW - hour).await;
        outbox.channels.mark_notification_sent(&claimed, "", NOW - hour).await.expect("marked");
        assert_eq!(outbox.claim(NOW + hour).await, []);
        outbox.queue("y", &[Target::Channel(channel)]).await;
        let message = outbox.one(NOW).await;
        // The lease was set by the clock before the jump.
        assert_eq!(outbox.one(NOW - hour).await.key, message.key);
        assert!(!outbox.fail(&message, NOW - hour).await);
        assert_eq!(outbox.one(NOW + hour).await.tries, 1, "one attempt, not four");
    }
}
