//! Hashes that stand for a record: what "the same span", "the same request" and "the same series" mean.

use super::attributes::encode_sorted;
use super::shared::SharedCells;
use tidewatch_domain::model::{KeyValue, SpanId, TraceId};
use tidewatch_domain::project::Exception;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed, xxh3_128};

/// "No key": a record that cannot be recognised again.
pub const NO_KEY: u128 = 0;

/// The same span of the same project always has the same key. DECISIONS 11.
pub fn span_key(project: u32, trace_id: TraceId, span_id: SpanId) -> u128 {
    let mut bytes = [0; 28];
    bytes[..4].copy_from_slice(&project.to_le_bytes());
    bytes[4..20].copy_from_slice(&trace_id.0);
    bytes[20..].copy_from_slice(&span_id.0);
    xxh3_128(&bytes).max(1)
}

/// One exception under the two names it can arrive by: as a span's, and as a log record's.
///
/// Equal trace, span, type and message are the same exception. DECISIONS 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Twin {
    pub as_span: u128,
    pub as_log: u128,
    /// Which of the two this one is.
    pub is_log: bool,
}

impl Twin {
    pub fn new(project: u32, ids: (&[u8; 16], &[u8; 8]), exception: &Exception<'_>, is_log: bool) -> Twin {
        let key = |name: &[u8]| {
            let mut hasher = Xxh3::with_seed(u64::from(project));
            for part in [name, ids.0, ids.1, exception.exception_type.as_bytes(), b"\0", exception.message.as_bytes()] {
                hasher.update(part);
            }
            hasher.digest128().max(1)
        };
        Twin { as_span: key(b"span exception"), as_log: key(b"log exception"), is_log }
    }
}

/// Time series: name, attributes and resource, the order of attributes aside.
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
        SharedCells::hash_of(&self.bytes)
    }

    /// `attributes` and `resource` as [`SeriesHasher::attributes`] gives them: the hashes of their sorted encoding.
    pub fn series(&mut self, name: &str, attributes: u64, resource: u64) -> u64 {
        self.bytes.clear();
        self.bytes.extend_from_slice(&attributes.to_le_bytes());
        self.bytes.extend_from_slice(name.as_bytes());
        xxh3_64_with_seed(&self.bytes, resource)
    }
}
