//! When monitors are checked: at times that are spread over the interval by the id of the monitor.
//!
//! The times of a monitor are `phase + n * interval` since the epoch. A time that has passed is done once, whatever
//! happened before: of several times that were not done, only the latest is, so neither a restart nor a jump of the
//! clock makes checks pile up.

use std::collections::BTreeMap;

use tidewatch_domain::units::{DAY_NS, SECOND_NS};
use tidewatch_limits as limits;

/// The offset of a monitor within its interval, nanoseconds: 0 or more, and less than the interval.
fn phase_ns(id: i64, interval_ns: i64) -> i64 {
    // Fibonacci hashing: consecutive ids are far from each other, and any range of ids is spread evenly.
    let hash = (id as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((u128::from(hash) * interval_ns as u128) >> 64) as i64
}

/// The latest time of the schedule at or before `now_ns`, nanoseconds since the epoch.
pub fn slot_ns(id: i64, interval_seconds: i64, now_ns: i64) -> i64 {
    let interval_ns = interval_seconds.max(1) * SECOND_NS;
    let phase_ns = phase_ns(id, interval_ns);
    (now_ns - phase_ns).div_euclid(interval_ns) * interval_ns + phase_ns
}

/// The slot that is due, if it is not done. `done_ns`: the slot that was done last.
pub fn due_ns(id: i64, interval_seconds: i64, done_ns: Option<i64>, now_ns: i64) -> Option<i64> {
    let slot = slot_ns(id, interval_seconds, now_ns);
    (done_ns != Some(slot)).then_some(slot)
}

/// Slots between the one that was done last and the one that is done now, by UTC day: start of the day and number.
/// Those of the last [`limits::MONITOR_BAR_DAYS`] days only.
pub fn missed(interval_seconds: i64, done_ns: Option<i64>, slot_ns: i64) -> Vec<(i64, i64)> {
    let interval_ns = interval_seconds.max(1) * SECOND_NS;
    let Some(done_ns) = done_ns.filter(|done_ns| *done_ns < slot_ns) else { return Vec::new() };
    let oldest_ns = slot_ns.div_euclid(DAY_NS) * DAY_NS - (limits::MONITOR_BAR_DAYS - 1) * DAY_NS;
    let mut days = BTreeMap::new();
    let mut first_ns = done_ns + interval_ns;
    if first_ns < oldest_ns {
        first_ns += (oldest_ns - first_ns + interval_ns - 1).div_euclid(interval_ns) * interval_ns;
    }
    while first_ns < slot_ns {
        let day_ns = first_ns.div_euclid(DAY_NS) * DAY_NS;
        let end_ns = (day_ns + DAY_NS).min(slot_ns);
        let count = (end_ns - first_ns + interval_ns - 1).div_euclid(interval_ns);
        days.insert(day_ns, count);
        first_ns += count * interval_ns;
    }
    days.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOON: i64 = 1_780_315_200 * SECOND_NS;

    #[test]
    fn a_slot_is_done_once_and_only_the_latest_one() {
        let slot = |seconds: i64| slot_ns(7, 60, NOON + seconds * SECOND_NS);
        let due = |done, seconds: i64| due_ns(7, 60, done, NOON + seconds * SECOND_NS);
        assert_eq!(due(None, 0), Some(slot(0)), "a new monitor is checked at once");
        assert_eq!(due(Some(slot(0)), 0), None);
        assert_eq!(due(Some(slot(0)), 60), Some(slot(60)));
        assert_eq!(due(Some(slot(0)), 3600), Some(slot(3600)), "one check after an hour without any");
        assert_eq!(due(Some(slot(3600)), 0), Some(slot(0)), "the clock went back: one check, then the usual ones");
        assert_eq!(due(Some(slot(0)), 30).is_some(), slot(30) != slot(0));
    }

    #[test]
    fn missed_slots_are_counted_by_day() {
        let midnight = NOON - 43_200 * SECOND_NS;
        let at = |hours: i64| midnight + hours * 3600 * SECOND_NS;
        for done in [None, Some(at(4)), Some(at(6))] {
            assert!(missed(3600, done, at(5)).is_empty(), "{done:?}");
        }
        assert_eq!(missed(3600, Some(at(1)), at(5)), [(midnight, 3)]);
        assert_eq!(missed(3600, Some(at(22)), at(26)), [(midnight, 1), (midnight + DAY_NS, 2)]);
        let long = missed(3600, Some(at(0)), at(24 * 400));
        assert_eq!(long.len(), 89, "the day of the slot has none before it");
        assert!(long.iter().all(|(_, count)| *count == 24));
    }

    proptest! {
        #[test]
        fn a_slot_is_within_one_interval_of_now(id in 1..i64::MAX, interval in 30..=86_400_i64, now in 0..i64::MAX / 4) {
            let slot = slot_ns(id, interval, now);
            prop_assert!(slot <= now && now - slot < interval * SECOND_NS);
            prop_assert_eq!(slot_ns(id, interval, slot), slot);
            prop_assert_eq!(slot_ns(id, interval, slot + interval * SECOND_NS), slot + interval * SECOND_NS);
        }

        /// Whatever the times at which the schedule is looked at, a check is made at most once per slot.
        #[test]
        fn no_slot_is_done_twice_while_the_clock_runs(id in 1..1000_i64, steps in prop::collection::vec(0..200_i64, 1..50)) {
            let (mut now, mut done, mut slots) = (NOON, None, Vec::new());
            for step in steps {
                now += step * SECOND_NS;
                if let Some(slot) = due_ns(id, 60, done, now) {
                    done = Some(slot);
                    slots.push(slot);
                }
            }
            prop_assert!(slots.windows(2).all(|pair| pair[0] < pair[1]));
        }

        /// Checks and misses together are all slots.
        #[test]
        fn nothing_is_lost_between_two_slots(interval in 30..=86_400_i64, count in 1..1000_i64, start in 0..86_400_i64) {
            let done = NOON + start * SECOND_NS;
            let slot = done + count * interval * SECOND_NS;
            let days = missed(interval, Some(done), slot);
            let sum: i64 = days.iter().map(|(_, count)| count).sum();
            if slot - done < 80 * DAY_NS {
                prop_assert_eq!(sum, count - 1);
            } else {
                prop_assert!(sum < count && days.len() <= 90);
            }
        }
    }

    /// Checks of consecutive ids are spread over the interval: no second has more than a few times its share.
    #[test]
    fn checks_are_spread_over_the_interval() {
        for first in [1, 1000, 123_456] {
            let mut seconds = [0; 60];
            for id in first..first + 600 {
                seconds[usize::try_from(phase_ns(id, 60 * SECOND_NS) / SECOND_NS).unwrap()] += 1;
            }
            assert!(seconds.iter().all(|count| (5..=20).contains(count)), "{seconds:?}");
        }
    }
}
