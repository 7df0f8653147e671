//! Which parts to merge next: few sizes of parts, each row written about once per size.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::part::Part;
use crate::tables::Table;

const MERGES_WAITING_MAX: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeOptions {
    /// Parts of one level that become one of the next.
    pub fan_in: usize,
    /// Rows of a merged part, about. Parts of more than half of it are left alone, and while their day gets rows, those
    /// of more than an eighth.
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
    let share = |part: &Part| if is_closed(part.facts.day, today) { 2 } else { 8 };
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

/// Whether a day of a table has more new parts than [`MERGES_WAITING_MAX`] merges would take.
pub fn is_behind(parts: &[Arc<Part>], options: MergeOptions) -> bool {
    let mut days: BTreeMap<i32, usize> = BTreeMap::new();
    let new = parts.iter().filter(|part| part.facts.level == 0);
    new.for_each(|part| *days.entry(part.facts.day).or_default() += 1);
    days.into_values().any(|count| count > MERGES_WAITING_MAX * options.fan_in)
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

#[cfg(test)]
mod tests {
    use tidewatch_journal::disk::RealDisk;

    use super::*;
    use crate::lake::part::PartFacts;

    fn part(day: i32, level: u8) -> Arc<Part> {
        let facts = PartFacts {
            id: 1,
            first_id: 1,
            table: Table::Spans,
            day,
            rows: 1,
            bytes: 1,
            time_min: 0,
            time_max: 0,
            project_min: 1,
            project_max: 1,
            level,
            tail_sum: 0,
            received_min: 0,
            received_max: 0,
            ids: None,
        };
        Arc::new(Part::new(Arc::new(RealDisk), "part".into(), facts))
    }

    #[test]
    fn merging_is_behind_when_a_day_has_new_parts_for_more_than_four_merges() {
        let options = MergeOptions { fan_in: 2, ..MergeOptions::default() };
        let parts = |day, level, count| (0..count).map(move |_| part(day, level));
        let many: Vec<_> = parts(1, 0, 8).chain(parts(2, 0, 8)).chain(parts(1, 1, 9)).collect();
        assert!(!is_behind(&many, options));
        let more: Vec<_> = many.into_iter().chain(parts(2, 0, 1)).collect();
        assert!(is_behind(&more, options));
    }
}
