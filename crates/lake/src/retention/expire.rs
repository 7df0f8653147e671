//! The time of retention and of the expiry of retry keys: [`TrustedTime`] over the lake's clock, stored in the catalog.
//!
//! Invariant: a clock that jumps ahead expires nothing for one day, then at most two days of data per hour.

use std::sync::atomic::Ordering;

use crate::lifecycle::state::Shared;
use crate::lifecycle::trusted_time::{NOTE_INTERVAL_NS, TIME_NOTE, TrustedTime};
use tidewatch_domain::units::DAY_NS;
use tidewatch_store::StoreError;

impl Shared {
    /// The trusted time; `None` without a clock and before [`Shared::start_time`].
    pub fn trusted_now(&self) -> Option<i64> {
        let clock = self.options.clock.as_ref()?;
        let mut time = self.time.lock();
        let now = time.as_mut()?.now(clock.now_ns(), clock.uptime(), self.options.trusts_clock);
        self.latest_trusted.fetch_max(now, Ordering::Relaxed);
        Some(now)
    }

    pub fn clock_ahead_ns(&self) -> i64 {
        let (Some(clock), time) = (&self.options.clock, self.time.lock()) else { return 0 };
        time.as_ref().map_or(0, |time| time.ahead_ns(clock.now_ns(), clock.uptime()))
    }

    /// Starts retention after the replay, at the latest time known from earlier runs.
    pub fn start_time(&self) {
        let Some(clock) = &self.options.clock else { return };
        let (noted, received) = (*self.noted_time.lock(), self.state.lock().newest_received);
        // Times of receipt come from the wall clock; a time far beyond the trusted time proves nothing.
        let last = noted.map(|noted| match received {
            Some(received) if (noted..=noted.saturating_add(DAY_NS)).contains(&received) => received,
            _ => noted,
        });
        let time = TrustedTime::new(last.or(received), clock.now_ns(), clock.uptime());
        *self.time.lock() = Some(time);
    }

    /// Stores the trusted time for the next start.
    pub fn note_time(&self, now_ns: i64) -> Result<(), StoreError> {
        let mut noted = self.noted_time.lock();
        if noted.is_none_or(|noted| noted.abs_diff(now_ns) >= NOTE_INTERVAL_NS) {
            self.catalog.lock().note(TIME_NOTE, now_ns)?;
            *noted = Some(now_ns);
        }
        Ok(())
    }
}
