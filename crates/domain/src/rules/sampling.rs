//! Head sampling by trace id, and the weight of sampled traces. SPEC sampling, DECISIONS 13.
//!
//! The decision depends only on the trace id, so all nodes and batches agree. A trace sampled at one rate is also sampled
//! at any higher rate.

use xxhash_rust::xxh3::xxh3_64;

use crate::model::TraceId;

/// Maximum weight of a row. Roll-ups contain no greater one.
pub const WEIGHT_MAX: f64 = 1e9;

/// The weight of a sampled trace, 1 / rate and at least 1; `None` when it is not in the sample.
///
/// `rate` is 0 to 1; NaN reads as 1.
pub fn sample(trace_id: TraceId, rate: f64) -> Option<f64> {
    if rate.is_nan() || rate >= 1.0 {
        return Some(1.0);
    }
    let kept = hash(trace_id) < rate;
    kept.then(|| 1.0 / rate)
}

/// The weight of a row of a trace that the server sampled at weight `server` and its sender at weight `client`: their
/// product, 1 to [`WEIGHT_MAX`].
pub fn combined(server: f64, client: f64) -> f64 {
    let weight = server * client;
    if weight.is_nan() { 1.0 } else { weight.clamp(1.0, WEIGHT_MAX) }
}

/// A hash of the trace id, uniform in [0, 1).
fn hash(trace_id: TraceId) -> f64 {
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
    fn weights_add_up_to_the_received_count() {
        for rate in [0.5, 0.1] {
            let sum: f64 = (0..20_000).filter_map(|number| sample(trace(number), rate)).sum();
            assert!((sum - 20_000.0).abs() < 1_500.0, "rate {rate} counts {sum} instead of about 20000");
        }
    }

    // docs/decisions/0012.
    #[test]
    fn weights_of_server_and_sender_multiply() {
        for (server, client, weight) in [
            (1.0, 1.0, 1.0),
            (2.0, 10.0, 20.0),
            (1e6, 1e6, WEIGHT_MAX),
            (f64::INFINITY, 1.0, WEIGHT_MAX),
            (f64::INFINITY, 0.0, 1.0),
            (0.1, 2.0, 1.0),
        ] {
            assert_eq!(combined(server, client), weight, "{server} {client}");
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
