//! The weight of a span that its sender sampled. docs/decisions/0012.
//!
//! Senders state the sampling probability in W3C `tracestate` (OpenTelemetry probability sampling) or in attributes of
//! the span. A statement that cannot be read, or that gives no weight of at least 1, is ignored. Several statements
//! usually describe the same sampling, so the greatest weight counts and not their product.

use crate::model::{AnyValue, KeyValue};

/// Maximum weight that a sender's statements give: one span in a million.
const CLIENT_WEIGHT_MAX: f64 = 1e6;

/// Number of runs that a run of a native report stands for, by its `sampleRate`, above 0 and at most 1. At most one
/// million.
pub fn rate_weight(sample_rate: f64) -> f64 {
    clamped(Some(1.0 / sample_rate))
}

/// Number of spans that a span stands for, by its `tracestate`; 1 when it does not say. At most one million.
///
/// Reads the sub-key `th` of the member `ot` (a rejection threshold of 56 bits), else its predecessor `p` (the negative
/// binary logarithm of the probability).
pub fn trace_state_weight(trace_state: &str) -> f64 {
    let member = trace_state.split(',').find_map(|member| member.trim().strip_prefix("ot="));
    let Some(member) = member else { return 1.0 };
    let value = |key: &str| member.split(';').find_map(|pair| pair.trim().strip_prefix(key)?.strip_prefix(':'));
    let weight = value("th").and_then(weight_of_threshold).or_else(|| weight_of_exponent(value("p")?, value("r")));
    clamped(weight)
}

/// Number of spans that a span stands for, by its attributes; 1 when they do not say. At most one million.
pub fn attributes_weight(attributes: &[KeyValue<'_>]) -> f64 {
    let weights = attributes.iter().filter_map(|attribute| {
        let statement = Statement::of_key(attribute.key)?;
        statement.weight(attribute.value)
    });
    weights.map(|weight| clamped(Some(weight))).fold(1.0, f64::max)
}

/// Whether the attribute `key` states a sampling probability.
pub fn is_sampling_attribute(key: &str) -> bool {
    Statement::of_key(key).is_some()
}

/// Meaning of an attribute's value.
enum Statement {
    /// The probability, 0 to 1.
    Probability,
    /// The probability in percent, 0 to 100.
    Percentage,
    /// `n` of "1 in n". A value between 0 and 1 is the probability.
    OneIn,
}

impl Statement {
    fn of_key(key: &str) -> Option<Statement> {
        match key {
            "sampling.probability" => Some(Statement::Probability),
            "_MS.sampleRate" => Some(Statement::Percentage),
            "SampleRate" | "sampleRate" | "sample.rate" => Some(Statement::OneIn),
            _ => None,
        }
    }

    fn weight(&self, value: AnyValue<'_>) -> Option<f64> {
        let value = value.as_double().filter(|value| *value > 0.0)?;
        match self {
            Statement::Probability => Some(1.0 / value),
            Statement::Percentage => Some(100.0 / value),
            Statement::OneIn if value < 1.0 => Some(1.0 / value),
            Statement::OneIn => Some(value),
        }
    }
}

/// Number of thresholds.
const THRESHOLDS: f64 = (1u64 << 56) as f64;
/// Maximum hexadecimal digits of a threshold; fewer digits are followed by zeros.
const DIGITS_MAX: usize = 14;

/// A span is kept when its randomness is at least the threshold: 0 keeps all, `8` one in two.
fn weight_of_threshold(digits: &str) -> Option<f64> {
    // `from_str_radix` also takes a sign.
    let is_hexadecimal =
        (1..=DIGITS_MAX).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = is_hexadecimal.then(|| u64::from_str_radix(digits, 16).ok()).flatten()?;
    let threshold = number << (4 * (DIGITS_MAX - digits.len()));
    Some(THRESHOLDS / ((1u64 << 56) - threshold) as f64)
}

/// Maximum of `p` and of the randomness `r`; `p` is 63 for probability zero.
const EXPONENT_MAX: i32 = 62;

/// 2^p. `None` for probability zero, and when the randomness `r` contradicts `p`.
fn weight_of_exponent(exponent: &str, randomness: Option<&str>) -> Option<f64> {
    let number = |text: &str| {
        let is_decimal = (1..=2).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
        is_decimal.then(|| text.parse::<i32>().ok()).flatten().filter(|number| *number <= EXPONENT_MAX)
    };
    let exponent = number(exponent)?;
    match randomness {
        Some(randomness) if number(randomness)? < exponent => None,
        _ => Some(f64::from(exponent).exp2()),
    }
}

/// A weight of 1 to [`CLIENT_WEIGHT_MAX`].
fn clamped(weight: Option<f64>) -> f64 {
    weight.filter(|weight| *weight >= 1.0).map_or(1.0, |weight| weight.min(CLIENT_WEIGHT_MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // OpenTelemetry, "TraceState: Probability Sampling"; docs/decisions/0012.
    #[test]
    fn trace_state_table() {
        for (trace_state, weight) in [
            ("", 1.0),
            ("ot=th:0", 1.0),
            ("ot=th:8", 2.0),
            ("ot=th:c", 4.0),
            ("ot=th:C", 4.0),
            ("ot=th:e66666666666", 10.0),
            ("ot=th:e6666666666666", 10.0),
            ("ot=th:fd70a3d70a3d71", 100.0),
            ("ot=rv:abcdefabcdefab;th:8", 2.0),
            ("vendor=th:c,ot=rv:0;th:8 , other=1", 2.0),
            (" ot=th:8", 2.0),
            // All of 56 bits: 2^56, clamped.
            ("ot=th:ffffffffffffff", CLIENT_WEIGHT_MAX),
            // Not 1 to 14 hexadecimal digits.
            ("ot=th:", 1.0),
            ("ot=th:e66666666666666", 1.0),
            ("ot=th:+8", 1.0),
            ("ot=th:0x8", 1.0),
            ("ot=th:g", 1.0),
            ("ot=th:é", 1.0),
            ("ot=th", 1.0),
            ("ot=xth:8", 1.0),
            ("not=th:8", 1.0),
            // The older p and r.
            ("ot=p:3", 8.0),
            ("ot=p:0", 1.0),
            ("ot=r:5;p:3", 8.0),
            ("ot=p:3;r:3", 8.0),
            ("ot=p:3;r:2", 1.0),
            ("ot=p:3;r:x", 1.0),
            ("ot=p:63", 1.0),
            ("ot=p:62", CLIENT_WEIGHT_MAX),
            ("ot=p:-1", 1.0),
            ("ot=p:003", 1.0),
            // th is the newer form; an unreadable one leaves p.
            ("ot=th:8;p:3", 2.0),
            ("ot=th:x;p:3", 8.0),
        ] {
            let found = trace_state_weight(trace_state);
            assert!((found - weight).abs() < 1e-6 * weight, "{trace_state}: {found} instead of {weight}");
        }
    }

    #[test]
    fn attributes_table() {
        let (text, int, double) = (AnyValue::Str, AnyValue::Int, AnyValue::Double);
        for (attributes, weight) in [
            (vec![], 1.0),
            (vec![("sampling.probability", double(0.1))], 10.0),
            (vec![("sampling.probability", text("0.25"))], 4.0),
            (vec![("sampling.probability", int(1))], 1.0),
            (vec![("sampling.probability", double(0.0))], 1.0),
            (vec![("sampling.probability", double(-0.5))], 1.0),
            (vec![("sampling.probability", double(7.0))], 1.0),
            (vec![("sampling.probability", double(f64::NAN))], 1.0),
            (vec![("sampling.probability", double(1e-300))], CLIENT_WEIGHT_MAX),
            (vec![("sampling.probability", double(f64::MIN_POSITIVE / 4.0))], CLIENT_WEIGHT_MAX),
            (vec![("sampling.probability", text("often"))], 1.0),
            (vec![("SampleRate", int(10))], 10.0),
            (vec![("sampleRate", text(" 20 "))], 20.0),
            (vec![("sample.rate", double(4.0))], 4.0),
            (vec![("sampleRate", double(0.2))], 5.0),
            (vec![("sampleRate", int(0))], 1.0),
            (vec![("SampleRate", int(i64::MAX))], CLIENT_WEIGHT_MAX),
            (vec![("_MS.sampleRate", double(25.0))], 4.0),
            (vec![("_MS.sampleRate", int(100))], 1.0),
            (vec![("_MS.sampleRate", int(200))], 1.0),
            (vec![("samplerate", int(10)), ("sampling.priority", int(10))], 1.0),
            (vec![("SampleRate", int(10)), ("sampling.probability", double(0.5))], 10.0),
            (vec![("SampleRate", int(2)), ("sampling.probability", double(0.1))], 10.0),
        ] {
            let list: Vec<_> = attributes.iter().map(|(key, value)| KeyValue { key, value: *value }).collect();
            let found = attributes_weight(&list);
            assert!((found - weight).abs() < 1e-9 * weight, "{attributes:?}: {found} instead of {weight}");
        }
    }

    fn is_weight(weight: f64) -> bool {
        (1.0..=CLIENT_WEIGHT_MAX).contains(&weight)
    }

    proptest! {
        #[test]
        fn any_trace_state_gives_a_weight(text in "\\PC*", state in "(ot=)?(th|p|r|rv):[0-9a-fx:;,= ]{0,20}") {
            prop_assert!(is_weight(trace_state_weight(&text)));
            prop_assert!(is_weight(trace_state_weight(&state)));
        }

        /// The weight is the inverse of the share of randomness values that the threshold keeps.
        #[test]
        fn a_threshold_keeps_one_in_its_weight(threshold in 0u64..(1 << 56)) {
            let weight = trace_state_weight(&format!("ot=th:{threshold:014x}"));
            let kept = ((1u64 << 56) - threshold) as f64 / THRESHOLDS;
            prop_assert!((weight - (1.0 / kept).min(CLIENT_WEIGHT_MAX)).abs() <= 1e-9 * weight);
        }

        #[test]
        fn any_attribute_gives_a_weight(number in any::<f64>(), text in "\\PC*") {
            for key in ["sampling.probability", "_MS.sampleRate", "sampleRate"] {
                for value in [AnyValue::Double(number), AnyValue::Str(&text)] {
                    let weight = attributes_weight(&[KeyValue { key, value }]);
                    prop_assert!(is_weight(weight));
                }
            }
        }
    }
}
