//! Hashes that stand for a record: what "the same span", "the same request" and "the same series" mean.

use tidewatch_domain::model::{KeyValue, SpanId, TraceId};
use tidewatch_domain::wire;
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

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

/// Time series: name, attributes and resource, the order of attributes aside.
pub struct SeriesHasher {
    hashes: Vec<u64>,
    bytes: Vec<u8>,
}

impl SeriesHasher {
    pub fn new() -> SeriesHasher {
        SeriesHasher { hashes: Vec::new(), bytes: Vec::new() }
    }

    /// A hash of the attributes that does not depend on their order.
    pub fn attributes(&mut self, attributes: &[KeyValue<'_>]) -> u64 {
        self.hashes.clear();
        for attribute in attributes {
            self.bytes.clear();
            wire::encode_attributes(std::slice::from_ref(attribute), &mut self.bytes);
            self.hashes.push(xxh3_64(&self.bytes));
        }
        self.hashes.sort_unstable();
        let mut hasher = Xxh3::new();
        self.hashes.iter().for_each(|hash| hasher.update(&hash.to_le_bytes()));
        hasher.digest()
    }
}

/// `attributes` and `resource` as [`SeriesHasher::attributes`] gives them.
pub fn series(name: &str, attributes: u64, resource: u64) -> u64 {
    let mut hasher = Xxh3::with_seed(resource);
    hasher.update(&attributes.to_le_bytes());
    hasher.update(name.as_bytes());
    hasher.digest()
}
