//! Which parts to merge next: few sizes of parts, each row written about once per size.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::part::Part;
use crate::tables::Table;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeOptions {
    /// Parts of one level that become one of the next.
    pub fan_in: usize,
    /// Rows of a merged part, about. Parts of more than half of it are left alone, and while their day gets rows, those
    /// of more than a quarter.
    pub rows_max: u64,
    /// Bytes of the parts that are merged into one.
    pub bytes_max: u64,
}

impl Default for MergeOptions {
    fn default() -> Self {
        MergeOptions { fan_in: 8, rows_max: 8 * 262_144, bytes_max: 1 << 30 }
    }
}

/// The next parts to merge, oldest first; `None` when nothing is worth it.
///
/// `today`: UTC day. The small parts of days that are over are merged whatever their level.
pub fn pick(parts: &[Arc<Part>], options: MergeOptions, today: i32) -> Option<Vec<Arc<Part>>> {
    let mut days: BTreeMap<(Table, i32), Vec<&Arc<Part>>> = BTreeMap::new();
    // Rows that have just come are written again once, as a rule; the rest waits for a quiet hour.
    let share = |part: &Part| if is_closed(part.facts.day, today) { 2 } else { 4 };
    let is_small = |part: &&Arc<Part>| {
        let share = share(part);
        part.facts.rows < options.rows_max / share && part.facts.bytes < options.bytes_max / share
    };
    for part in parts.iter().filter(is_small) {
        days.entry((part.facts.table, part.facts.day)).or_default().push(part);
    }
    days.into_iter().find_map(|((_, day), mut parts)| {
        parts.sort_by_key(|part| part.facts.first_id);
        let mut levels: BTreeMap<u8, Vec<&Arc<Part>>> = BTreeMap::new();
        parts.iter().for_each(|part| levels.entry(part.facts.level).or_default().push(part));
        let tier = levels.into_values().find_map(|level| full_tier(&level, options));
        tier.or_else(|| if is_closed(day, today) { closed_day(&parts, options) } else { None })
    })
}

/// Days before yesterday get no more rows, as a rule.
fn is_closed(day: i32, today: i32) -> bool {
    day < today - 1
}

/// The oldest parts of a level, when there are enough of them.
fn full_tier(level: &[&Arc<Part>], options: MergeOptions) -> Option<Vec<Arc<Part>>> {
    let taken = fitting(level, options);
    let enough = taken.len() == options.fan_in || (taken.len() > 1 && taken.len() < level.len());
    enough.then_some(taken)
}

/// What is left of a day that is over, unless it would mean to write a large part again for a few late rows.
fn closed_day(parts: &[&Arc<Part>], options: MergeOptions) -> Option<Vec<Arc<Part>>> {
    let taken = fitting(parts, options);
    let rows: u64 = taken.iter().map(|part| part.facts.rows).sum();
    let largest = taken.iter().map(|part| part.facts.rows).max()?;
    (taken.len() > 1 && (largest < rows / 4 * 3 || taken.len() == options.fan_in)).then_some(taken)
}

/// The oldest parts that fit into one, at most `fan_in`.
fn fitting(parts: &[&Arc<Part>], options: MergeOptions) -> Vec<Arc<Part>> {
    let (mut rows, mut bytes) = (0, 0);
    let fits = |part: &&&Arc<Part>| {
        rows += part.facts.rows;
        bytes += part.facts.bytes;
        rows <= options.rows_max && bytes <= options.bytes_max
    };
    parts.iter().take(options.fan_in).take_while(fits).map(|part| Arc::clone(part)).collect()
}
