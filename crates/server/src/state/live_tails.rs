//! The live tails of logs that are open: their number is limited per user and in all, and they end when the server
//! stops.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tidewatch_limits as limits;
use tokio::sync::watch;

/// The open live tails.
#[derive(Debug, Default)]
pub struct LiveTails {
    by_user: Mutex<HashMap<i64, usize>>,
    closing: watch::Sender<bool>,
}

/// One open live tail. Dropping it makes room for another.
#[derive(Debug)]
pub struct LiveTailPermit {
    tails: Arc<LiveTails>,
    user: i64,
}

impl LiveTails {
    /// Counts one more tail of a user. `None` beyond [`limits::LIVE_TAILS_PER_USER_MAX`] or [`limits::LIVE_TAILS_MAX`].
    pub fn enter(self: &Arc<LiveTails>, user: i64) -> Option<LiveTailPermit> {
        let mut by_user = self.by_user.lock();
        let all: usize = by_user.values().sum();
        let own = by_user.get(&user).copied().unwrap_or(0);
        if all >= limits::LIVE_TAILS_MAX || own >= limits::LIVE_TAILS_PER_USER_MAX {
            return None;
        }
        by_user.insert(user, own + 1);
        Some(LiveTailPermit { tails: self.clone(), user })
    }

    /// A channel whose value becomes true when the server stops.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Ends all tails.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }
}

impl Drop for LiveTailPermit {
    fn drop(&mut self) {
        let mut by_user = self.tails.by_user.lock();
        if let Some(count) = by_user.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                by_user.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_limited_per_user_and_in_all() {
        let tails = Arc::new(LiveTails::default());
        let mut open: Vec<_> = (0..limits::LIVE_TAILS_PER_USER_MAX).map(|_| tails.enter(1).expect("room")).collect();
        assert!(tails.enter(1).is_none());
        assert!(tails.enter(2).is_some(), "another user has room");
        open.pop();
        open.push(tails.enter(1).expect("room again"));
        let others = limits::LIVE_TAILS_MAX - limits::LIVE_TAILS_PER_USER_MAX;
        open.extend((0..others).map(|user| tails.enter(10 + user as i64).expect("room")));
        assert!(tails.enter(9).is_none());
        drop(open);
        assert!(tails.by_user.lock().is_empty());
    }
}
