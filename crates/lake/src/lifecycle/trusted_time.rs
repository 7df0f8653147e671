//! The time that retention uses: the wall clock, as far as it can be trusted. DECISIONS 25.
//!
//! Retention and the expiry of retry keys delete data for good, and a wall clock can be wrong: a faulty real-time
//! clock, a resumed virtual machine, a typo in `date`. [`TrustedTime`] follows the wall clock while it agrees with the
//! monotonic clock. A jump ahead of more than [`JUMP_MAX`] is followed after it has lasted for [`CONFIRMED_AFTER`] of
//! uptime, or at once if the operator configures it ([`crate::LakeOptions::trusts_clock`]). A jump back is followed at
//! once, because it deletes nothing. In every case the day advances by at most [`DAYS_PER_HOUR`] within an hour.
//!
//! The last trusted time is stored in the catalog, so that a clock that is wrong at the start of the process is
//! detected too.

use std::collections::VecDeque;
use std::time::Duration;

use tidewatch_domain::units::{DAY_NS, HOUR_NS};
use tidewatch_store::days::day_of;

/// Maximum lead of the wall clock over the monotonic clock, nanoseconds. The monotonic clock does not count suspended
/// time, so a machine that sleeps at night needs some hours.
const JUMP_MAX: i64 = DAY_NS;
/// A larger jump of the clock is followed after it has lasted for this much uptime.
pub const CONFIRMED_AFTER: Duration = Duration::from_secs(24 * 3600);
/// Maximum number of days of telemetry that expire within an hour.
pub const DAYS_PER_HOUR: usize = 2;
const HOUR: Duration = Duration::from_secs(3600);

/// The trusted time is written to the catalog about this often, under [`TIME_NOTE`].
pub const NOTE_INTERVAL_NS: u64 = HOUR_NS as u64;
pub const TIME_NOTE: &str = "trusted_time";

/// See the module. Times are nanoseconds since the epoch; uptimes come from [`crate::Clock::uptime`].
#[derive(Debug)]
pub struct TrustedTime {
    /// Wall-clock time and uptime when they last agreed.
    agreed: (i64, Duration),
    ahead: Option<Ahead>,
    /// The latest day returned.
    day: i32,
    /// The uptimes of the last advances of `day`, oldest first.
    advances: VecDeque<Duration>,
}

/// A wall clock that jumped ahead.
#[derive(Debug, Clone, Copy)]
struct Ahead {
    /// Uptime when it was noticed.
    since: Duration,
    /// Wall-clock time minus uptime.
    offset: i64,
}

impl TrustedTime {
    /// `last` is the newest time known from earlier runs, trusted or of receipt; `None` for an empty store, which has
    /// no data to lose.
    pub fn new(last: Option<i64>, wall: i64, uptime: Duration) -> TrustedTime {
        let last = last.unwrap_or(wall);
        TrustedTime { agreed: (last, uptime), ahead: None, day: day_of(last), advances: VecDeque::new() }
    }

    /// The trusted time. Never later than `wall`.
    pub fn now(&mut self, wall: i64, uptime: Duration, trusts_clock: bool) -> i64 {
        let expected = self.agreed.0.saturating_add(nanoseconds(uptime.saturating_sub(self.agreed.1)));
        if trusts_clock || wall.saturating_sub(expected) <= JUMP_MAX || self.is_confirmed(wall, uptime) {
            if self.ahead.take().is_some() {
                tracing::info!("retention follows the clock again");
            }
            self.agreed = (wall, uptime);
        }
        let trusted = wall.min(self.agreed.0.saturating_add(nanoseconds(uptime.saturating_sub(self.agreed.1))));
        if trusts_clock {
            self.day = day_of(trusted);
            return trusted;
        }
        self.advance(day_of(trusted), uptime);
        trusted.min((i64::from(self.day) + 1).saturating_mul(DAY_NS) - 1)
    }

    /// The lead of the wall clock over the trusted time while a jump is unconfirmed, nanoseconds; 0 otherwise.
    pub fn ahead_ns(&self, wall: i64, uptime: Duration) -> i64 {
        let expected = self.agreed.0.saturating_add(nanoseconds(uptime.saturating_sub(self.agreed.1)));
        if self.ahead.is_some() { wall.saturating_sub(expected).max(0) } else { 0 }
    }

    /// Whether the jump to `wall` has lasted long enough. Records its start.
    fn is_confirmed(&mut self, wall: i64, uptime: Duration) -> bool {
        let offset = wall.saturating_sub(nanoseconds(uptime));
        match self.ahead {
            Some(ahead) if offset.saturating_sub(ahead.offset).saturating_abs() <= JUMP_MAX => {
                uptime.saturating_sub(ahead.since) >= CONFIRMED_AFTER
            }
            _ => {
                let days = wall.saturating_sub(self.agreed.0) / DAY_NS;
                tracing::warn!(
                    days,
                    "the clock is {days} days ahead of what was last known: retention and the expiry of retry keys \
                     wait until it has been so for 24 hours, or until retention_trust_clock is set"
                );
                self.ahead = Some(Ahead { since: uptime, offset });
                false
            }
        }
    }

    fn advance(&mut self, target: i32, uptime: Duration) {
        self.advances.retain(|at| uptime.saturating_sub(*at) < HOUR);
        while self.day < target && self.advances.len() < DAYS_PER_HOUR {
            self.day += 1;
            self.advances.push_back(uptime);
        }
        self.day = self.day.min(target);
    }
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use tidewatch_domain::units::HOUR_NS;

    use super::*;

    const START: i64 = 20_000 * DAY_NS + 12 * HOUR_NS;

    fn hours(count: u64) -> Duration {
        Duration::from_secs(3600 * count)
    }

    /// Steps of the wall clock's distance from `START`, the uptime, and the expected day relative to `START`'s; in
    /// hours.
    #[track_caller]
    fn check(last: Option<i64>, steps: &[(i64, u64, i32)]) {
        let mut time = TrustedTime::new(last, START + steps[0].0 * HOUR_NS, Duration::ZERO);
        for (wall, uptime, day) in steps {
            let now = time.now(START + wall * HOUR_NS, hours(*uptime), false);
            assert_eq!(day_of(now) - day_of(START), *day, "wall {wall} h, uptime {uptime} h of {steps:?}");
        }
    }

    #[test]
    fn days_expire_by_the_trusted_time() {
        // Time passes.
        check(None, &[(0, 0, 0), (11, 11, 0), (12, 12, 1), (40, 40, 2), (400, 400, 4), (401, 401, 6)]);
        // A jump of 400 days and back while time passes.
        check(None, &[(0, 0, 0), (9600, 0, 0), (9613, 13, 1), (14, 14, 1), (36, 36, 2)]);
        // A jump that lasts is followed after a day of uptime, two days an hour.
        check(None, &[(0, 0, 0), (241, 1, 0), (264, 24, 1), (265, 25, 3), (266, 26, 5), (267, 27, 7)]);
        // Another jump counts from its own beginning.
        check(None, &[(0, 0, 0), (241, 1, 0), (9_600, 23, 1), (9_602, 25, 1), (9_623, 46, 2), (9_624, 47, 4)]);
        // Back, and ahead again to the same time.
        check(None, &[(0, 0, 0), (-9600, 1, -400), (2, 2, -400), (24, 24, -399)]);
        // A suspended machine: the monotonic clock stops every night.
        check(None, &[(0, 0, 0), (14, 1, 1), (38, 2, 2), (62, 3, 3)]);
        // Wrong from the start.
        check(Some(START), &[(9600, 0, 0), (9612, 12, 1)]);
        check(Some(START), &[(20, 0, 1), (25, 5, 1)]);
        // A first start with nothing stored follows the clock.
        check(None, &[(9600, 0, 400), (0, 1, 0)]);
    }

    #[test]
    fn the_operator_confirms_a_jump() {
        let mut time = TrustedTime::new(Some(START), START, Duration::ZERO);
        let wall = START + 400 * DAY_NS;
        assert_eq!(time.now(wall, hours(1), false), START + HOUR_NS);
        assert!(time.ahead_ns(wall, hours(1)) > 399 * DAY_NS);
        assert_eq!(time.now(wall, hours(1), true), wall);
        assert_eq!(time.ahead_ns(wall, hours(1)), 0);
    }

    proptest! {
        /// The trusted time is never ahead of the wall clock, and advances by at most two days within an hour.
        #[test]
        fn any_clock_is_followed_slowly(steps in proptest::collection::vec((any::<i64>(), 0..7200_u64), 1..60)) {
            let mut uptime = Duration::ZERO;
            let mut time = TrustedTime::new(Some(START), START, uptime);
            let mut days: Vec<(Duration, i32)> = vec![(uptime, day_of(START))];
            for (wall, seconds) in steps {
                uptime += Duration::from_secs(seconds);
                let now = time.now(wall, uptime, false);
                prop_assert!(now <= wall);
                days.push((uptime, day_of(now)));
                let latest = day_of(now);
                let lowest = days.iter().filter(|(at, _)| uptime - *at < HOUR).map(|(_, day)| *day).min();
                prop_assert!(latest - lowest.unwrap_or(latest) <= DAYS_PER_HOUR as i32 + 1);
            }
        }
    }
}
