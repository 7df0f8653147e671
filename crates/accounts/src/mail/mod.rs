//! Mail to users. No request waits for it: mails are stored in the outbox (`outbox.rs`), and one thread sends and
//! retries them.
//!
//! - `outbox`: mails that wait to be sent.
//! - [`settings`]: the mail server, or a folder.
//! - [`templates`]: the content of the mails.
//! - [`transport`]: delivery of one mail.
//! - this module: the thread.
//!
//! A mail stays in the database until the mail server has accepted it.

mod immediate_mail;
mod outbox;
pub mod settings;
pub mod templates;
mod transport;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anyhow::Context;
use tidewatch_journal::heartbeat::Heartbeat;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::{ControlError, Database};
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::background::{Background, HeartbeatGuard};
use transport::Transport;

pub use immediate_mail::ImmediateMail;
pub use outbox::{ClaimedMail, Outbox};
pub use transport::SendError;

/// A handle of the thread that sends mails.
pub struct Mailer {
    wake: Sender<()>,
    transport: Option<Arc<Transport>>,
    /// A mail server or a folder is configured.
    pub is_set_up: bool,
    /// Permits of password resets that are processed after their response.
    pub reset_permits: Arc<Semaphore>,
}

/// The thread that sends mails, before its start.
pub struct MailSender {
    transport: Option<Arc<Transport>>,
    woken: Receiver<()>,
}

impl Mailer {
    /// Checks the settings. Nothing is sent before [`MailSender::start`].
    pub fn new(settings: &settings::MailSettings) -> anyhow::Result<(Mailer, MailSender)> {
        let transport = Transport::new(settings)?.map(Arc::new);
        let (wake, woken) = channel();
        let reset_permits = Arc::new(Semaphore::new(limits::RESETS_MAX));
        let mailer = Mailer { wake, transport: transport.clone(), is_set_up: transport.is_some(), reset_permits };
        Ok((mailer, MailSender { transport, woken }))
    }

    /// Delivers a mail without the outbox. Blocks.
    pub fn send_now(&self, mail: &ImmediateMail) -> Result<(), SendError> {
        match &self.transport {
            Some(transport) => transport.send_now(mail),
            None => Err(SendError::Later("this server has no mail server (docs/operate/accounts.md, Mail)".to_owned())),
        }
    }

    /// Wakes the thread after a mail was put into the outbox.
    pub fn wake(&self) {
        // Without a thread the mail stays in the outbox.
        let _ = self.wake.send(());
    }
}

impl MailSender {
    /// Starts the thread, which runs until the last [`Database`] is dropped. Without a transport none is started.
    ///
    /// A thread measures the time and each round runs as blocking work, because tests pause the timers of the runtime.
    pub fn start(self, database: &Database, clock: Clock, background: &Background) -> anyhow::Result<()> {
        let MailSender { transport: Some(transport), woken } = self else { return Ok(()) };
        let (database, runtime) = (database.downgrade(), Handle::current());
        let running = HeartbeatGuard(Heartbeat::new("mail"));
        background.add(&running.0);
        let spawned = std::thread::Builder::new().name("mail".to_owned()).spawn(move || {
            let heartbeat = &running.0;
            loop {
                let Some(outbox) = database.upgrade().map(Outbox::new) else { return };
                let (inside, transport, clock, (done, wait)) =
                    (runtime.clone(), transport.clone(), clock.clone(), channel());
                let beating = heartbeat.clone();
                beating.beat();
                runtime.spawn_blocking(move || {
                    // The panic of a round is reported by the panic hook; its claimed mails are due again after their
                    // lease.
                    let round = AssertUnwindSafe(|| inside.block_on(round(&outbox, &clock, &transport, &beating)));
                    let _ = done.send(catch_unwind(round).unwrap_or(false));
                });
                // The runtime shut down before it ran the round.
                let Ok(has_more) = wait.recv() else { return };
                heartbeat.idle();
                let pause = if has_more { Duration::ZERO } else { limits::MAIL_PAUSE };
                match woken.recv_timeout(pause) {
                    Err(RecvTimeoutError::Disconnected) => return,
                    Ok(()) | Err(RecvTimeoutError::Timeout) => while woken.try_recv().is_ok() {},
                }
            }
        });
        spawned.context("cannot start a thread")?;
        Ok(())
    }
}

/// Sends the mails that are due. Returns true when there may be more.
async fn round(outbox: &Outbox, clock: &Clock, transport: &Transport, heartbeat: &Heartbeat) -> bool {
    let lease_ns = limits::MAIL_LEASE.as_nanos() as i64;
    let claimed = match outbox.claim_mail(clock.now_ns(), lease_ns, limits::MAIL_BATCH).await {
        Ok(claimed) => claimed,
        Err(error) => {
            tracing::warn!(%error, "the outbox cannot be read: {error}");
            return false;
        }
    };
    let has_more = claimed.len() as i64 == limits::MAIL_BATCH;
    for one in claimed {
        heartbeat.beat();
        if let Err(error) = deliver(outbox, clock, transport, one).await {
            tracing::warn!(%error, "the outbox cannot be written; a mail may be sent twice: {error}");
            return false;
        }
    }
    has_more
}

async fn deliver(outbox: &Outbox, clock: &Clock, transport: &Transport, one: ClaimedMail) -> Result<(), ControlError> {
    let ClaimedMail { id, tries, created_ns, mail, unsubscribe } = one;
    let Some(mail) = mail else {
        tracing::error!(id, "a mail is sealed with another key and will never be sent");
        return outbox.delete_mail(id).await;
    };
    // Blocks, on a thread for blocking work.
    let Err(error) = transport.send(id, &mail, &unsubscribe) else {
        tracing::info!(id, "sent a mail");
        return outbox.delete_mail(id).await;
    };
    let now_ns = clock.now_ns();
    let is_given_up = match &error {
        SendError::Unusable(_) => true,
        SendError::Refused(_) => tries + 1 >= limits::MAIL_REFUSED_TRIES,
        SendError::Later(_) => now_ns - created_ns >= limits::MAIL_LIFE.as_nanos() as i64,
    };
    if is_given_up {
        tracing::error!(id, %error, "a mail is given up after {} tries: {error}", tries + 1);
        return outbox.delete_mail(id).await;
    }
    tracing::warn!(id, %error, "a mail is not sent yet: {error}");
    outbox.defer_mail(id, &error.to_string(), now_ns.saturating_add(pause_ns(tries))).await
}

/// Delay from a failure to the next attempt.
fn pause_ns(tries: i64) -> i64 {
    let doublings = u32::try_from(tries).unwrap_or(u32::MAX).min(16);
    let pause = limits::MAIL_RETRY_MIN.saturating_mul(1 << doublings);
    pause.min(limits::MAIL_RETRY_MAX).as_nanos() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour() {
        let seconds: Vec<i64> = (0..11).map(|tries| pause_ns(tries) / 1_000_000_000).collect();
        assert_eq!(seconds, [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
        assert_eq!(pause_ns(i64::MAX), pause_ns(20));
    }
}
