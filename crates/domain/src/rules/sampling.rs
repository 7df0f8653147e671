//! Which traces are recorded, and how many each stands for. SPEC sampling, DECISIONS 13.
//!
//! The decision depends on the trace id alone, so that every node and every batch decides alike. A trace kept at a
//! low rate is also kept at any higher one.

use xxhash_rust::xxh3::xxh3_64;

use crate::model::TraceId;

/// `None`: not recorded. `Some(weight)`: recorded, and stands for `weight` traces (1 / rate, at least 1).
///
/// `rate` is a share, 0 to 1; anything that is not a number reads as 1.
pub fn sample(trace_id: TraceId, rate: f64) -> Option<f64> {
    if rate.is_nan() || rate >= 1.0 {
        return Some(1.0);
    }
    let kept = place(trace_id) < rate;
    kept.then(|| 1.0 / rate)
}

/// Where a trace lies between 0 (kept by every rate above 0) and 1 (exclusive), evenly spread.
fn place(trace_id: TraceId) -> f64 {
    const BITS: u32 = 53;
    (xxh3_64(&trace_id.0) >> (64 - BITS)) as f64 / (1u64 << BITS) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(number: u32) -> TraceId {
        let mut bytes = [0; 16];
        bytes[12..].copy_from_slice(&number.to_be_bytes());
        TraceId(bytes)
    }

    #[test]
    fn default_rate_keeps_everything_at_weight_one() {
        for rate in [1.0, 7.0, f64::NAN] {
            assert_eq!(sample(trace(1), rate), Some(1.0));
        }
    }

    #[test]
    fn rate_zero_keeps_nothing() {
        assert!((0..1000).all(|number| sample(trace(number), 0.0).is_none()));
        assert!((0..1000).all(|number| sample(trace(number), -1.0).is_none()));
    }

    #[test]
    fn weights_add_up_to_what_was_received() {
        for rate in [0.5, 0.1] {
            let sum: f64 = (0..20_000).filter_map(|number| sample(trace(number), rate)).sum();
            assert!((sum - 20_000.0).abs() < 1_500.0, "rate {rate} counts {sum} instead of about 20000");
        }
    }

    #[test]
    fn kept_at_a_low_rate_is_kept_at_a_higher_one() {
        for number in 0..2_000 {
            if sample(trace(number), 0.1).is_some() {
                assert!(sample(trace(number), 0.4).is_some());
            }
        }
    }
}
