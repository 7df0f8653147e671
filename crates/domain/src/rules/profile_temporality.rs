//! The temporality of the values of profiles, and the parts of cumulative values that count. DECISIONS 38.
//!
//! A profile of allocations or contention has everything since the start of its process. The difference to the profile
//! before is the amount of the time between both.

/// Meaning of the values of successive profiles of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temporality {
    /// Each profile has the amount of its own time; amounts are added up.
    Delta,
    /// Each profile has the amount since the start of its process.
    Cumulative,
    /// A state; the latest one counts.
    Gauge,
}

/// Types whose values are cumulative, as [`profile_type`](super::profile_type::profile_type) names them.
pub const CUMULATIVE_TYPES: [&str; 4] = [
    "go:profile_heap:alloc_space",
    "go:profile_heap:alloc_objects",
    "go:profile_contention:contentions",
    "go:profile_contention:delay",
];

/// The temporality of a type. A [`Temporality::Delta`] type without durations may still turn out to be cumulative, see
/// [`parts`].
pub fn temporality(profile_type: &str, is_gauge: bool) -> Temporality {
    match profile_type {
        _ if is_gauge => Temporality::Gauge,
        name if CUMULATIVE_TYPES.contains(&name) => Temporality::Cumulative,
        _ => Temporality::Delta,
    }
}

/// One profile of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Start, nanoseconds since the epoch.
    pub time_ns: i64,
    /// Nanoseconds; 0 when the profile does not say it.
    pub duration_ns: i64,
    /// Sum of the values.
    pub value: i64,
    /// Number of samples with a value.
    pub samples: i64,
}

/// The part of a profile's values that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    Whole,
    /// The difference to the profile before.
    SinceBefore,
    /// None: the time that they cover is unknown. The next profile is compared with it.
    Base,
}

/// Number of profiles without a duration after which a growing type counts as cumulative.
const GROWING_MIN: usize = 3;

/// The parts of the profiles of one process, which are sorted by time and duration. Not for gauges.
pub fn parts(temporality: Temporality, readings: &[Reading]) -> Vec<Part> {
    if temporality != Temporality::Cumulative && !is_growing(readings) {
        return vec![Part::Whole; readings.len()];
    }
    let mut before: Option<&Reading> = None;
    let part = |reading| match before.replace(reading) {
        None if reading.duration_ns > 0 => Part::Whole,
        None => Part::Base,
        Some(before) => since(before, reading),
    };
    readings.iter().map(part).collect()
}

fn since(before: &Reading, reading: &Reading) -> Part {
    if (before.value, before.samples) == (reading.value, reading.samples) {
        return Part::SinceBefore;
    }
    // A smaller value: the process was started again after the profile before, so that all of it is new.
    let is_reset = reading.value < before.value;
    if is_reset || is_apart(before, reading) { Part::Whole } else { Part::SinceBefore }
}

/// Whether a profile says that it covers a time after that of the profile before: it is a delta, as those that
/// `/debug/pprof/heap?seconds=30` returns. The time of a profile may be the start or the end of what it covers.
fn is_apart(before: &Reading, reading: &Reading) -> bool {
    let gap = reading.time_ns.saturating_sub(before.time_ns);
    let with_slack = gap.saturating_add(gap / 10);
    reading.duration_ns > 0 && reading.duration_ns.max(before.duration_ns) <= with_slack
}

/// Whether profiles of a type that is not known to be cumulative are: none has a duration, and the values only grow.
pub fn is_growing(readings: &[Reading]) -> bool {
    readings.len() >= GROWING_MIN
        && readings.iter().all(|reading| reading.duration_ns == 0)
        && readings.windows(2).all(|pair| pair[0].value <= pair[1].value)
        && readings.first().map(|first| first.value) < readings.last().map(|last| last.value)
}

#[cfg(test)]
mod tests {
    use super::Part::{Base, SinceBefore, Whole};
    use super::Temporality::{Cumulative, Delta, Gauge};
    use super::*;

    #[test]
    fn temporality_table() {
        for (name, is_gauge, expected) in [
            ("go:profile_heap:alloc_space", false, Cumulative),
            ("go:profile_heap:alloc_objects", false, Cumulative),
            ("go:profile_contention:contentions", false, Cumulative),
            ("go:profile_contention:delay", false, Cumulative),
            ("go:profile_heap:inuse_space", true, Gauge),
            ("go:profile_cpu:nanoseconds", false, Delta),
            ("pprof:profile_wall:nanoseconds", false, Delta),
        ] {
            assert_eq!(temporality(name, is_gauge), expected, "{name}");
        }
    }

    // DECISIONS 38. A row: temporality, (time, duration, value) of each profile, expected parts and their sum.
    #[test]
    fn parts_table() {
        type Row = (Temporality, &'static [(i64, i64, i64)], &'static [Part], i64);
        let table: [Row; 14] = [
            (Cumulative, &[], &[], 0),
            // A first profile counts only where it covers its own time.
            (Cumulative, &[(0, 0, 9)], &[Base], 0),
            (Cumulative, &[(0, 5, 9)], &[Whole], 9),
            (
                Cumulative,
                &[(0, 0, 5), (10, 0, 7), (20, 0, 7), (30, 0, 15)],
                &[Base, SinceBefore, SinceBefore, SinceBefore],
                10,
            ),
            // The first says its time, the others do not.
            (Cumulative, &[(0, 5, 5), (10, 0, 7)], &[Whole, SinceBefore], 7),
            // A restart: a smaller value is all new.
            (Cumulative, &[(0, 0, 5), (10, 0, 7), (20, 0, 3), (30, 0, 4)], &[Base, SinceBefore, Whole, SinceBefore], 6),
            // An idle process, whose profiles have durations.
            (Cumulative, &[(0, 10, 9), (10, 10, 9), (20, 10, 9)], &[Whole, SinceBefore, SinceBefore], 9),
            // Durations since the start of the process: times are starts, or ends.
            (Cumulative, &[(0, 10, 5), (0, 20, 7), (0, 30, 9)], &[Whole, SinceBefore, SinceBefore], 9),
            (Cumulative, &[(10, 10, 5), (20, 20, 7), (30, 30, 9)], &[Whole, SinceBefore, SinceBefore], 9),
            // Deltas of a cumulative type have times that do not overlap.
            (Cumulative, &[(0, 10, 5), (10, 10, 7), (20, 10, 3)], &[Whole, Whole, Whole], 15),
            (Delta, &[(0, 10, 5), (10, 10, 7), (20, 10, 9)], &[Whole, Whole, Whole], 21),
            (Delta, &[(0, 0, 5), (10, 0, 7)], &[Whole, Whole], 12),
            // Whatever has no duration and grows.
            (Delta, &[(0, 0, 5), (10, 0, 7), (20, 0, 9)], &[Base, SinceBefore, SinceBefore], 4),
            (Delta, &[(0, 0, 5), (10, 0, 7), (20, 0, 6)], &[Whole, Whole, Whole], 18),
        ];
        for (temporality, profiles, expected, sum) in table {
            let reading = |(time_ns, duration_ns, value)| Reading { time_ns, duration_ns, value, samples: 1 };
            let readings: Vec<Reading> = profiles.iter().copied().map(reading).collect();
            let found = parts(temporality, &readings);
            assert_eq!(found, expected, "{temporality:?} {profiles:?}");
            let counted = found.iter().enumerate().map(|(at, part)| match part {
                Whole => readings[at].value,
                SinceBefore => readings[at].value - readings[at - 1].value,
                Base => 0,
            });
            assert_eq!(counted.sum::<i64>(), sum, "{temporality:?} {profiles:?}");
        }
    }
}
