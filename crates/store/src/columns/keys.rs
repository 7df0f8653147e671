//! Hashes that identify spans, exceptions and series.

use super::attributes::encode_sorted;
use super::dictionary_cells::DictionaryCells;
use tidewatch_domain::model::{KeyValue, SpanId, SpanKind, TraceId};
use tidewatch_domain::project::Exception;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

/// The key of a record that has no identity and is never a duplicate.
pub const NO_KEY: u128 = 0;

/// Random constants that distinguish the keys of the two sides of a span.
const SERVER_SIDE: u128 = 0x93C4_67E3_7DB0_C7A4_D1BE_3F81_0152_CB57;
const OTHER_SIDE: u128 = 0x5C5D_8F0B_6E26_3A39_F4A1_7D94_2B8E_10C6;

/// The dedup key of one side of a span of `project`; never [`NO_KEY`]. DECISIONS 11: Zipkin and B3 share one span id
/// between caller and callee.
#[inline]
pub fn span_key(project: u32, trace_id: TraceId, span_id: SpanId, kind: SpanKind) -> u128 {
    (key_of_both_sides(project, trace_id, span_id) ^ if kind.is_server_side() { SERVER_SIDE } else { OTHER_SIDE })
        .max(1)
}

/// The two keys that earlier releases may have stored for the span with this key; only one of them can match.
pub fn keys_without_side(key: u128) -> [u128; 2] {
    [key ^ SERVER_SIDE, key ^ OTHER_SIDE].map(|key| key.max(1))
}

#[inline]
fn key_of_both_sides(project: u32, trace_id: TraceId, span_id: SpanId) -> u128 {
    let (trace, span) = (u128::from_le_bytes(trace_id.0), u64::from_le_bytes(span_id.0));
    // Project, trace id and span id as little-endian words; the third one starts in the middle of the second.
    let words = [u64::from(project) | (trace as u64) << 32, (trace >> 32) as u64, (trace >> 64) as u64, span];
    xxh3_128_of_28(words).max(1)
}

/// XXH3 (128 bits) of 28 bytes, given as the words at offsets 0, 8, 12 and 20. The library reads its input from memory,
/// so that the bytes would have to be stored first and loaded again after a stall.
#[inline]
fn xxh3_128_of_28(words: [u64; 4]) -> u128 {
    const LENGTH: u64 = 28;
    const PRIME_1: u64 = 0x9E37_79B1_85EB_CA87;
    const PRIME_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
    const PRIME_4: u64 = 0x85EB_CA77_C2B2_AE63;
    /// The first bytes of the algorithm's own secret.
    const SECRET: [u64; 4] =
        [0xBE4B_A423_396C_FEB8, 0x1CAD_21F7_2C81_017C, 0xDB97_9083_E96D_D4DE, 0x1F67_B3B7_A4A4_4072];
    let folded = |one: u64, other: u64| {
        let product = u128::from(one) * u128::from(other);
        product as u64 ^ (product >> 64) as u64
    };
    let avalanche = |hash: u64| {
        let hash = (hash ^ hash >> 37).wrapping_mul(0x1656_6791_9E37_79F9);
        hash ^ hash >> 32
    };
    let [a, b, c, d] = words;
    let low = folded(a ^ SECRET[0], b ^ SECRET[1]).wrapping_add(LENGTH.wrapping_mul(PRIME_1)) ^ c.wrapping_add(d);
    let high = folded(c ^ SECRET[2], d ^ SECRET[3]) ^ a.wrapping_add(b);
    let mixed =
        low.wrapping_mul(PRIME_1).wrapping_add(high.wrapping_mul(PRIME_4)).wrapping_add(LENGTH.wrapping_mul(PRIME_2));
    u128::from(avalanche(low.wrapping_add(high))) | u128::from(avalanche(mixed).wrapping_neg()) << 64
}

/// The dedup keys of one exception, which can arrive on a span and as a log record.
///
/// Exceptions with equal trace, span, type and message are the same. DECISIONS 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceptionKeys {
    /// The key of the exception on a span.
    pub as_span: u128,
    /// The key of the exception as a log record.
    pub as_log: u128,
    /// Whether this one arrived as a log record.
    pub is_log: bool,
}

impl ExceptionKeys {
    /// Computes both keys; `ids`: the trace id and span id of the exception.
    pub fn new(project: u32, ids: (&[u8; 16], &[u8; 8]), exception: &Exception<'_>, is_log: bool) -> ExceptionKeys {
        let key = |name: &[u8]| {
            let mut hasher = Xxh3::with_seed(u64::from(project));
            for part in [name, ids.0, ids.1, exception.exception_type.as_bytes(), b"\0", exception.message.as_bytes()] {
                hasher.update(part);
            }
            hasher.digest128().max(1)
        };
        ExceptionKeys { as_span: key(b"span exception"), as_log: key(b"log exception"), is_log }
    }
}

/// Computes the hash of a time series from its name, attributes and resource, regardless of the order of attributes.
pub struct SeriesHasher {
    bytes: Vec<u8>,
}

impl SeriesHasher {
    pub fn new() -> SeriesHasher {
        SeriesHasher { bytes: Vec::new() }
    }

    /// A hash of the attributes that does not depend on their order.
    pub fn attributes(&mut self, attributes: &[KeyValue<'_>]) -> u64 {
        self.bytes.clear();
        encode_sorted(attributes, &mut self.bytes);
        DictionaryCells::hash_of(&self.bytes)
    }

    /// The hash of a series. `attributes`, `resource`: the hashes that [`SeriesHasher::attributes`] returns.
    pub fn series(&mut self, name: &str, attributes: u64, resource: u64) -> u64 {
        self.bytes.clear();
        self.bytes.extend_from_slice(&attributes.to_le_bytes());
        self.bytes.extend_from_slice(name.as_bytes());
        xxh3_64_with_seed(&self.bytes, resource)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_128;

    use super::*;

    proptest! {
        // Keys are stored in files, so the hash must not change.
        #[test]
        fn a_span_has_the_hash_of_its_bytes_and_side(project: u32, trace: [u8; 16], span: [u8; 8]) {
            let bytes = [&project.to_le_bytes()[..], &trace, &span].concat();
            let (hash, key) = (xxh3_128(&bytes), |kind| span_key(project, TraceId(trace), SpanId(span), kind));
            prop_assert_eq!(key(SpanKind::Server), (hash ^ SERVER_SIDE).max(1));
            prop_assert_eq!(key(SpanKind::Consumer), key(SpanKind::Server));
            for kind in [SpanKind::Unspecified, SpanKind::Internal, SpanKind::Client, SpanKind::Producer] {
                prop_assert_eq!(key(kind), (hash ^ OTHER_SIDE).max(1));
                prop_assert!(keys_without_side(key(kind)).contains(&hash.max(1)));
            }
            prop_assert!(keys_without_side(key(SpanKind::Server)).contains(&hash.max(1)));
        }
    }
}
