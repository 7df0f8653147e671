//! Sends the notifications in the outbox.
//!
//! Each channel has one job at a time, which sends its messages one after the other; a slow receiver delays nobody else.
//! A message is claimed, sent, and marked. After a crash between two of these it is sent again with the same id, when
//! its lease ends. A stop drains nothing: what is not sent stays in the outbox.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tidewatch_accounts::ControlError;
use tidewatch_accounts::mail::Mailer;
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::watch;
use tokio::task::{Id, JoinSet};

use super::delivery::Failed;
use super::delivery::message::Message;
use super::notifier::Notifier;
use super::{Channels, ClaimedMessage, FailedAttempt};

/// The outbox, and the ways out of it.
pub struct OutboxSender {
    /// The outbox.
    pub channels: Channels,
    /// Sends requests.
    pub notifier: Arc<Notifier>,
    /// Sends mails.
    pub mailer: Arc<Mailer>,
    /// Source of the current time.
    pub clock: Clock,
    /// Time between two looks at the outbox.
    pub poll: Duration,
}

/// The jobs that send, with their channels.
#[derive(Default)]
struct Jobs {
    running: JoinSet<()>,
    channels: HashMap<Id, Option<i64>>,
}

/// Sends notifications until `stopped`.
pub async fn run(sender: Arc<OutboxSender>, running: HeartbeatGuard, mut stopped: watch::Receiver<bool>) {
    let mut jobs = Jobs::default();
    let mut tidied_ns = None;
    loop {
        running.0.beat();
        if let Err(error) = start(&sender, &mut jobs, &stopped).await {
            tracing::warn!(%error, "the outbox of notifications cannot be read: {error}");
        }
        tidy(&sender, &mut tidied_ns).await;
        running.0.idle();
        tokio::select! {
            () = sender.channels.notifications_queued() => {}
            Some(ended) = jobs.running.join_next_with_id() => {
                let id = match ended {
                    Ok((id, ())) => id,
                    Err(error) => {
                        tracing::error!(%error, "sending a notification failed; it is repeated: {error}");
                        error.id()
                    }
                };
                jobs.channels.remove(&id);
            }
            () = tokio::time::sleep(sender.poll) => {}
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
    let ending = async { while jobs.running.join_next().await.is_some() {} };
    // Messages that are not marked in time are sent again, with the same id.
    let _ = tokio::time::timeout(limits::NOTIFICATION_STOP_MAX, ending).await;
}

/// Claims what is due, as far as there are free senders, and starts a job for each channel and direct target.
async fn start(
    sender: &Arc<OutboxSender>,
    jobs: &mut Jobs,
    stopped: &watch::Receiver<bool>,
) -> Result<(), ControlError> {
    let busy: BTreeSet<i64> = jobs.channels.values().flatten().copied().collect();
    let free = limits::NOTIFICATION_SENDERS_MAX.saturating_sub(jobs.channels.len());
    let claimed = sender.channels.claim_notifications(sender.clock.now_ns(), &busy, free).await?;
    let mut of_channels: BTreeMap<i64, Vec<ClaimedMessage>> = BTreeMap::new();
    let mut alone = Vec::new();
    for message in claimed {
        match message.channel {
            Some(channel) => of_channels.entry(channel).or_default().push(message),
            None => alone.push((None, vec![message])),
        }
    }
    let of_channels = of_channels.into_iter().map(|(channel, messages)| (Some(channel), messages));
    for (channel, messages) in of_channels.chain(alone) {
        let started = jobs.running.spawn(send_all(sender.clone(), messages, stopped.clone()));
        jobs.channels.insert(started.id(), channel);
    }
    Ok(())
}

/// Sends messages one after the other.
async fn send_all(sender: Arc<OutboxSender>, messages: Vec<ClaimedMessage>, stopped: watch::Receiver<bool>) {
    for (index, message) in messages.iter().enumerate() {
        let rest = &messages[index..];
        let is_stopped = *stopped.borrow();
        let lease_ns = limits::NOTIFICATION_LEASE.as_nanos() as i64;
        let until_ns = if is_stopped { 0 } else { sender.clock.now_ns().saturating_add(lease_ns) };
        if (is_stopped || index > 0)
            && let Err(error) = sender.channels.lease_notifications(rest, until_ns).await
        {
            tracing::warn!(%error, "notifications are sent later: {error}");
            return;
        }
        if is_stopped {
            return;
        }
        if let Err(error) = send_one(&sender, message).await {
            tracing::warn!(%error, "the outbox cannot be written; a notification may be sent twice: {error}");
            return;
        }
    }
}

/// Sends one message and records the outcome.
async fn send_one(sender: &Arc<OutboxSender>, message: &ClaimedMessage) -> Result<(), ControlError> {
    let sent = match &message.target {
        Some(target) => {
            let (sender, target, delivered) = (sender.clone(), target.clone(), message.delivered.clone());
            let content = Message::of(&message.key, &message.notifications, sender.notifier.base_url.as_deref());
            let send = move || sender.notifier.send(&sender.mailer, (&target.0, &target.1), &content, &delivered);
            tokio::task::spawn_blocking(send).await.unwrap_or_else(|error| {
                Err(Failed { error: format!("the message cannot be written: {error}"), ..Failed::default() })
            })
        }
        None => {
            let error = "its configuration was encrypted with another key: enter it again".to_owned();
            Err(Failed { error, is_final: true, ..Failed::default() })
        }
    };
    let (id, channel) = (message.id, message.channel);
    match sent {
        Ok(warning) => {
            tracing::info!(id, channel, "sent a notification");
            sender.channels.mark_notification_sent(message, &warning, sender.clock.now_ns()).await
        }
        Err(failed) => {
            let error = failed.error.as_str();
            let attempt = FailedAttempt {
                error,
                delivered: &failed.delivered,
                is_final: failed.is_final,
                retry_after_seconds: failed.retry_after_seconds,
            };
            if sender.channels.defer_notification(message, &attempt, sender.clock.now_ns()).await? {
                let tries = message.tries + 1;
                tracing::error!(id, channel, "a notification is given up after {tries} attempts: {error}");
            } else {
                tracing::warn!(id, channel, "a notification is not sent yet: {error}");
            }
            Ok(())
        }
    }
}

/// Deletes old outcomes, once per [`limits::NOTIFICATION_TIDY_PAUSE`].
async fn tidy(sender: &OutboxSender, tidied_ns: &mut Option<i64>) {
    let now_ns = sender.clock.now_ns();
    let pause_ns = limits::NOTIFICATION_TIDY_PAUSE.as_nanos() as i64;
    if tidied_ns.is_some_and(|at_ns| (at_ns..at_ns.saturating_add(pause_ns)).contains(&now_ns)) {
        return;
    }
    *tidied_ns = Some(now_ns);
    let before_ns = now_ns.saturating_sub(limits::NOTIFICATION_OUTCOMES_KEPT.as_nanos() as i64);
    if let Err(error) = sender.channels.delete_old_notification_rows(before_ns).await {
        tracing::warn!(%error, "old notifications are not deleted yet: {error}");
    }
}
