//! Chooses the parts to merge next: parts have few sizes, and each row is written about once per size.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::options::MergeOptions;
use crate::part::Part;
use tidewatch_store::days::day_of;
use tidewatch_store::tables::Table;

const MERGES_WAITING_MAX: usize = 4;

/// The next parts to merge, oldest first; `None` when no merge is due. In a table without identity they are adjacent in
/// age among the parts of their day.
///
/// `today` is a UTC day. The small parts of a day that has ended become one, whatever their levels, if they fit. Parts
/// that could not be read lately are left out.
pub fn pick(parts: &[Arc<Part>], options: MergeOptions, today: i32) -> Option<Vec<Arc<Part>>> {
    let mut days: BTreeMap<(Table, i32, u32), Vec<&Arc<Part>>> = BTreeMap::new();
    // New rows are usually merged once; further merges wait until the day has ended.
    let share = |part: &Part| if is_closed(part.facts.day, today) { 2 } else { 8 };
    let is_small = |part: &&Arc<Part>| {
        let share = share(part);
        part.facts.rows < options.rows_max / share && part.facts.bytes < options.bytes_max / share
    };
    let now = Instant::now();
    let mut by_age: Vec<&Arc<Part>> = parts.iter().collect();
    by_age.sort_by_key(|part| part.facts.first_id);
    // By table and day, the number of preceding parts that are left out.
    let mut excluded: BTreeMap<(Table, i32), u32> = BTreeMap::new();
    for part in by_age {
        let (table, day) = (part.facts.table, part.facts.day);
        let excluded = excluded.entry((table, day)).or_default();
        if is_small(&part) && !part.is_left_out(now) {
            // Rows without identity keep their order in a merge only when adjacent parts are merged.
            let run = if table.identity().is_empty() { *excluded } else { 0 };
            days.entry((table, day, run)).or_default().push(part);
        } else {
            *excluded += 1;
        }
    }
    days.into_iter().find_map(|((table, day, _), parts)| {
        let mut levels: BTreeMap<(u8, usize), Vec<&Arc<Part>>> = BTreeMap::new();
        let mut stretch = 0;
        for (number, part) in parts.iter().enumerate() {
            let level = part.facts.level;
            if table.identity().is_empty() && number > 0 && parts[number - 1].facts.level != level {
                stretch = number;
            }
            levels.entry((level, stretch)).or_default().push(part);
        }
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

/// Whether a day is before yesterday: such days rarely receive rows.
fn is_closed(day: i32, today: i32) -> bool {
    day < today - 1
}

/// The oldest parts of a level, when there are enough for a merge.
fn full_tier(level: &[&Arc<Part>], options: MergeOptions) -> Option<Vec<Arc<Part>>> {
    let taken = fitting(level, options);
    let enough = taken.len() == options.fan_in || (taken.len() > 1 && taken.len() < level.len());
    enough.then_some(taken)
}

/// The parts to merge of a day that has ended. While there are too many for one merge, the smallest adjacent parts, so
/// that the last merge takes all; then as many as fit, unless a large part would be rewritten for few late rows.
fn closed_day(parts: &[&Arc<Part>], options: MergeOptions) -> Option<Vec<Arc<Part>>> {
    let beyond = parts.len().saturating_sub(options.fan_in);
    if beyond > 0 {
        let neighbours = parts.windows(options.fan_in.min(beyond + 1));
        return neighbours.min_by_key(|parts| rows_of(parts.iter().copied())).map(|parts| fitting(parts, options));
    }
    let taken = fitting(parts, options);
    let largest = taken.iter().map(|part| part.facts.rows).max()?;
    let is_worthwhile = 4 * largest < 3 * rows_of(&taken) || !taken.iter().any(|part| is_late(part));
    (taken.len() > 1 && is_worthwhile).then_some(taken)
}

/// Whether the part may have rows that were received after the end of their day.
fn is_late(part: &Part) -> bool {
    is_closed(part.facts.day, day_of(part.facts.received_max))
}

fn rows_of<'p>(parts: impl IntoIterator<Item = &'p Arc<Part>>) -> u64 {
    parts.into_iter().map(|part| part.facts.rows).sum()
}

/// The oldest parts that fit into one part, at most `fan_in`.
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
    use crate::part::PartFacts;

    fn part(day: i32, level: u8) -> Arc<Part> {
        part_of(1, day, level, 1)
    }

    fn part_of(id: u64, day: i32, level: u8, rows: u64) -> Arc<Part> {
        let facts = PartFacts {
            id,
            first_id: id,
            table: Table::Spans,
            day,
            rows,
            bytes: rows,
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

    /// Merges until no merge is due. Returns the number of rows written.
    fn merge_all(parts: &mut Vec<Arc<Part>>, options: MergeOptions, today: i32) -> u64 {
        let mut written = 0;
        while let Some(inputs) = pick(parts, options, today) {
            assert!((2..=options.fan_in).contains(&inputs.len()));
            let rows = rows_of(&inputs);
            assert!(rows <= options.rows_max);
            let level = inputs.iter().map(|part| part.facts.level).max().unwrap() + 1;
            let received_max = inputs.iter().map(|part| part.facts.received_max).max().unwrap();
            let facts = part_of(inputs[0].facts.id, inputs[0].facts.day, level, rows).facts.clone();
            parts.retain(|part| !inputs.iter().any(|input| Arc::ptr_eq(input, part)));
            let facts = PartFacts { received_max, ..facts };
            parts.push(Arc::new(Part::new(Arc::new(RealDisk), "part".into(), facts)));
            written += rows;
        }
        written
    }

    /// For any number of flushes, and any merges while the day received rows.
    #[test]
    fn an_ended_day_becomes_one_part() {
        let options = MergeOptions { fan_in: 8, rows_max: 100_000, bytes_max: 100_000 };
        for count in 1..300 {
            let mut parts: Vec<_> = (0..count).map(|id| part_of(id, 5, 0, 100 + id % 7)).collect();
            let (mut others, rows) = (parts.clone(), rows_of(&parts));
            let written = merge_all(&mut parts, options, 7);
            assert_eq!(parts.len(), 1, "{count} new parts");
            assert!(written <= rows * 4, "{count} new parts: {written} rows written for {rows}");
            merge_all(&mut others, options, 5);
            merge_all(&mut others, options, 7);
            assert_eq!(others.len(), 1, "{count} parts of a day that got rows");
        }
    }

    #[test]
    fn a_day_larger_than_one_part_becomes_few_parts() {
        let options = MergeOptions { fan_in: 8, rows_max: 2000, bytes_max: 2000 };
        let mut parts: Vec<_> = (0..52).map(|id| part_of(id, 5, 0, 64)).collect();
        let written = merge_all(&mut parts, options, 7);
        assert_eq!(rows_of(&parts), 52 * 64);
        assert!(parts.len() <= 3 && written <= 3 * 52 * 64, "{} parts, {written} rows written", parts.len());
    }

    /// Late parts one by one, each after all others were merged.
    #[test]
    fn late_rows_do_not_cause_repeated_rewrites_of_a_large_part() {
        let options = MergeOptions { fan_in: 8, rows_max: 100_000, bytes_max: 100_000 };
        let late = |id, rows| {
            let facts = PartFacts { received_max: i64::MAX, ..part_of(id, 5, 0, rows).facts.clone() };
            Arc::new(Part::new(Arc::new(RealDisk), "part".into(), facts))
        };
        let (mut parts, mut written) = (vec![part_of(0, 5, 2, 40_000)], 0);
        for id in 1..=1000 {
            parts.push(late(id, 10));
            written += merge_all(&mut parts, options, 7);
            assert!(parts.len() <= options.fan_in);
        }
        assert_eq!(rows_of(&parts), 50_000);
        // Merging all parts whenever there are eight would write 5.7 million rows.
        assert!(written < 1_000_000, "{written}");
    }
}
