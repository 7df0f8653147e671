//! Mail to people. No request waits for it: what is to be sent lies in the outbox (`control/outbox.rs`), and one thread
//! sends it and tries again.
//!
//! - [`settings`]: the mail server, or a folder.
//! - [`letters`]: what the mails say.
//! - [`transport`]: one mail out.
//! - here: the thread.

pub mod letters;
pub mod settings;
mod transport;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::Context;
use tidewatch_journal::heartbeat::Heartbeat;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::{Claimed, Control, ControlError};
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::background::{Background, Running};
use transport::{SendError, Transport};

/// The way to the thread that sends.
pub struct Mailer {
    wake: Sender<()>,
    /// Something takes the mails.
    pub is_set_up: bool,
    /// Answers that go out before their work is done.
    pub behind: Arc<Semaphore>,
}

/// What the thread needs.
pub struct Post {
    transport: Option<Transport>,
    woken: Receiver<()>,
}

impl Mailer {
    /// Checks what is set; nothing is sent before [`Post::start`].
    pub fn new(settings: &settings::MailSettings) -> anyhow::Result<(Mailer, Post)> {
        let transport = Transport::new(settings)?;
        let (wake, woken) = channel();
        let behind = Arc::new(Semaphore::new(limits::RESETS_MAX));
        Ok((Mailer { wake, is_set_up: transport.is_some(), behind }, Post { transport, woken }))
    }

    /// Something was put into the outbox.
    pub fn wake(&self) {
        // Without a thread it waits.
        let _ = self.wake.send(());
    }
}

impl Post {
    /// Sends what waits, until nobody else holds the control database. Without a transport nothing is sent.
    ///
    /// A thread keeps the time, and each round counts as blocking work: it is then none of the runtime's timers, which
    /// tests hold still.
    pub fn start(self, control: Weak<Control>, clock: Clock, background: &Background) -> anyhow::Result<()> {
        let Post { transport: Some(transport), woken } = self else { return Ok(()) };
        let (runtime, transport) = (Handle::current(), Arc::new(transport));
        let running = Running(Heartbeat::new("mail"));
        background.add(&running.0);
        let spawned = std::thread::Builder::new().name("mail".to_owned()).spawn(move || {
            let heartbeat = &running.0;
            loop {
                let Some(control) = control.upgrade() else { return };
                let (inside, transport, clock, (done, wait)) =
                    (runtime.clone(), transport.clone(), clock.clone(), channel());
                let beating = heartbeat.clone();
                beating.beat();
                runtime.spawn_blocking(move || {
                    // A round that panicked is reported where it did; what it had claimed is due again after its lease.
                    let round = AssertUnwindSafe(|| inside.block_on(round(&control, &clock, &transport, &beating)));
                    let _ = done.send(catch_unwind(round).unwrap_or(false));
                });
                // The runtime ends without having run it.
                let Ok(is_more) = wait.recv() else { return };
                heartbeat.idle();
                let pause = if is_more { Duration::ZERO } else { limits::MAIL_PAUSE };
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

/// Sends what is due; true when there may be more.
async fn round(control: &Control, clock: &Clock, transport: &Transport, heartbeat: &Heartbeat) -> bool {
    let lease_ns = limits::MAIL_LEASE.as_nanos() as i64;
    let claimed = match control.claim_mail(clock.now_ns(), lease_ns, limits::MAIL_BATCH).await {
        Ok(claimed) => claimed,
        Err(error) => {
            tracing::warn!(%error, "the outbox cannot be read: {error}");
            return false;
        }
    };
    let is_more = claimed.len() as i64 == limits::MAIL_BATCH;
    for one in claimed {
        heartbeat.beat();
        if let Err(error) = post(control, clock, transport, one).await {
            tracing::warn!(%error, "the outbox cannot be written; a mail may be sent twice: {error}");
            return false;
        }
    }
    is_more
}

async fn post(control: &Control, clock: &Clock, transport: &Transport, one: Claimed) -> Result<(), ControlError> {
    let Claimed { id, tries, created_ns, mail } = one;
    let Some(mail) = mail else {
        tracing::error!(id, "a mail is sealed with another key and will never be sent");
        return control.forget_mail(id).await;
    };
    // Blocks this thread, which is one for blocking.
    let Err(error) = transport.send(id, &mail) else {
        tracing::info!(id, "sent a mail");
        return control.forget_mail(id).await;
    };
    let now_ns = clock.now_ns();
    let is_over = match &error {
        SendError::Unusable(_) => true,
        SendError::Refused(_) => tries + 1 >= limits::MAIL_REFUSED_TRIES,
        SendError::Later(_) => now_ns - created_ns >= limits::MAIL_LIFE.as_nanos() as i64,
    };
    if is_over {
        tracing::error!(id, %error, "a mail is given up after {} tries: {error}", tries + 1);
        return control.forget_mail(id).await;
    }
    tracing::warn!(id, %error, "a mail is not sent yet: {error}");
    control.put_mail_off(id, &error.to_string(), now_ns.saturating_add(pause_ns(tries))).await
}

/// From this failure to the next try.
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
