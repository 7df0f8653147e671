//! Requests of a version compared with those of other versions.

/// Requests of each side that a comparison needs.
pub const SAMPLES_MIN: f64 = 20.0;
/// Standard deviations of a difference.
const CERTAIN: f64 = 3.0;
/// Logarithm of 1.15: the least relative difference of durations.
const LN_LEAST: f64 = 0.139_761_942;
/// The least differences of the median and of the tail, nanoseconds.
const P50_LEAST: f64 = 5e6;
const P95_LEAST: f64 = 10e6;
/// The least difference of failed shares.
const SHARE_LEAST: f64 = 0.003;

/// Requests of one side. Durations in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample {
    /// Stored rows.
    pub calls: f64,
    /// Failed ones among them.
    pub failed: f64,
    /// Rows with a duration that counts.
    pub timed: f64,
    /// P16, P50, P84 and P95 of their durations.
    pub durations: [f64; 4],
}

/// Quantity in which two samples differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Differs {
    /// The failed share.
    Failed,
    /// The median duration.
    P50,
    /// The duration that one of twenty exceeds.
    P95,
}

/// The certain differences of `new` from `old`: the value and whether it is worse. Nothing on fewer than
/// [`SAMPLES_MIN`] requests of a side.
pub fn differences(old: &Sample, new: &Sample) -> Vec<(Differs, bool)> {
    let mut found = Vec::new();
    if old.calls >= SAMPLES_MIN && new.calls >= SAMPLES_MIN {
        let (was, is) = (old.failed / old.calls, new.failed / new.calls);
        let all = (old.failed + new.failed) / (old.calls + new.calls);
        let deviation = (all * (1.0 - all) * (1.0 / old.calls + 1.0 / new.calls)).sqrt();
        if (is - was).abs() >= SHARE_LEAST.max(CERTAIN * deviation) {
            found.push((Differs::Failed, is > was));
        }
    }
    if old.timed >= SAMPLES_MIN && new.timed >= SAMPLES_MIN {
        let spread = |of: &Sample| (of.durations[2].max(1.0) / of.durations[0].max(1.0)).ln() / 2.0;
        let error = spread(old).max(spread(new)) * (1.0 / old.timed + 1.0 / new.timed).sqrt();
        // The standard errors of quantiles of a normal distribution, in its standard deviations.
        for (differs, index, of_spread, least) in
            [(Differs::P50, 1, 1.25, P50_LEAST), (Differs::P95, 3, 2.1, P95_LEAST)]
        {
            let (was, is) = (old.durations[index].max(1.0), new.durations[index].max(1.0));
            let is_certain = (is / was).ln().abs() >= LN_LEAST.max(CERTAIN * of_spread * error);
            if is_certain && (is - was).abs() >= least {
                found.push((differs, is > was));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(calls: f64, failed: f64, p50_ms: f64) -> Sample {
        let durations = [0.7, 1.0, 1.4, 2.0].map(|factor| factor * p50_ms * 1e6);
        Sample { calls, failed, timed: calls, durations }
    }

    #[test]
    fn only_certain_differences_of_enough_requests_are_found() {
        use Differs::*;
        for (old, new, expected) in [
            (sample(500.0, 1.0, 100.0), sample(500.0, 1.0, 150.0), vec![(P50, true), (P95, true)]),
            (sample(500.0, 1.0, 150.0), sample(500.0, 1.0, 100.0), vec![(P50, false), (P95, false)]),
            (sample(500.0, 1.0, 100.0), sample(500.0, 60.0, 100.0), vec![(Failed, true)]),
            (sample(500.0, 60.0, 100.0), sample(500.0, 1.0, 100.0), vec![(Failed, false)]),
            // Too few requests, too small a difference, too short a time, noise.
            (sample(500.0, 1.0, 100.0), sample(19.0, 10.0, 900.0), vec![]),
            (sample(500.0, 1.0, 100.0), sample(500.0, 1.0, 112.0), vec![]),
            (sample(500.0, 1.0, 2.0), sample(500.0, 1.0, 3.0), vec![]),
            (sample(20.0, 0.0, 100.0), sample(20.0, 1.0, 125.0), vec![]),
        ] {
            assert_eq!(differences(&old, &new), expected, "{old:?} {new:?}");
        }
    }
}
