//! Chooses the attributes that a part stores in separate columns.

use std::collections::HashMap;

use arrow::array::{AsArray, RecordBatch};
use xxhash_rust::xxh3::Xxh3Builder;

use super::pairs::{self, Plain};
use super::{AttrKey, ENCODED};

/// Extra columns per encoded column.
const KEYS_MAX: usize = 32;
/// An attribute is frequent when at least one in this many sampled rows has it.
const SHARE: usize = 64;
/// An attribute with a column in the previous part stays frequent with this many times fewer rows: parts with the same
/// columns are merged without splitting their attributes again.
const HYSTERESIS: usize = 4;
/// Keys longer than this get no column.
const KEY_BYTES_MAX: usize = 128;
/// Distinct keys that are counted. Only senders that put data into keys have more.
const COUNTED_MAX: usize = 4096;

/// The frequent text and integer attributes in samples of the part's rows, in the order of their columns. `before`: the
/// attributes chosen for the previous part.
pub fn choose(samples: &[RecordBatch], before: &[AttrKey]) -> Vec<AttrKey> {
    ENCODED.into_iter().flat_map(|encoded| choose_of(encoded, samples, before)).collect()
}

fn choose_of(encoded: &'static str, samples: &[RecordBatch], before: &[AttrKey]) -> Vec<AttrKey> {
    // By key: the number of rows with text and with an integer.
    let mut counts: HashMap<Vec<u8>, [usize; 2], Xxh3Builder> = HashMap::default();
    let mut rows = 0;
    for batch in samples {
        let Some(column) = batch.column_by_name(encoded) else { return Vec::new() };
        rows += batch.num_rows();
        let mut list = Vec::new();
        for bytes in column.as_binary::<i32>().iter().flatten() {
            pairs::read(bytes, &mut list);
            for pair in &list {
                let kind = match pair.plain() {
                    Some(Plain::Text(_)) => 0,
                    Some(Plain::Int(_)) => 1,
                    None => continue,
                };
                if let Some(counts) = counts.get_mut(pair.key) {
                    counts[kind] += 1;
                } else if counts.len() < COUNTED_MAX && (1..=KEY_BYTES_MAX).contains(&pair.key.len()) {
                    counts.insert(pair.key.to_vec(), if kind == 0 { [1, 0] } else { [0, 1] });
                }
            }
        }
    }
    let weighed = counts.into_iter().filter_map(|(key, [text, int])| {
        let key = AttrKey { encoded, key: String::from_utf8(key).ok()?, is_int: int > text };
        let factor = if before.contains(&key) { HYSTERESIS } else { 1 };
        Some((text.max(int) * factor, key))
    });
    let mut keys: Vec<(usize, AttrKey)> = weighed.filter(|(count, _)| *count >= (rows / SHARE).max(1)).collect();
    keys.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.key.cmp(&b.1.key)));
    keys.truncate(KEYS_MAX);
    let mut keys: Vec<AttrKey> = keys.into_iter().map(|(_, key)| key).collect();
    keys.sort_by(|a, b| a.key.cmp(&b.key));
    keys
}
