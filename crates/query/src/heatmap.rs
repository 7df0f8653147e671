//! Counts of rows by time and duration: `POST /api/heatmap`.
//!
//! Invariant: a selection has as many rows as the cells of its box.

use std::collections::{BTreeMap, HashMap};

use tidewatch_accounts::Project;
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_limits as limits;
use tidewatch_store::rollup::sketch::{bucket_of, least_of};
use tidewatch_store::tables::Table;

use crate::answer::Row;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::explain::timed_rows;
use crate::plans::{self, Window};
use crate::time::{Buckets, Range, to_rfc3339};
use crate::views::heatmap::{Heatmap, HeatmapCell, HeatmapMark, HeatmapRequest, HeatmapRow};

/// Buckets of a power of two in the sketch.
const SLICES: i16 = 64;
/// Rows per power of two, finest first.
const ROWS_PER_OCTAVE: [i16; 5] = [16, 8, 4, 2, 1];
/// Versions with a mark.
const MARKS_MAX: usize = 20;
/// Versions that are looked at.
const VERSIONS_MAX: usize = 1000;

/// Counts while rows are read.
struct Counts {
    buckets: Buckets,
    has_streams: bool,
    /// Otherwise the statuses of spans say it.
    has_errors: bool,
    has_versions: bool,
    cells: HashMap<(u32, i16), [u64; 2]>,
    streams: u64,
    /// The first row of each version.
    versions: BTreeMap<String, i64>,
}

/// Counts the rows of one name, or of all. A query that is none is [`QueryError::InQuery`] (400); logs and Issues are
/// [`QueryError::Unprocessable`] (422): they have no duration.
pub async fn heatmap(executor: &Executor, project: &Project, request: HeatmapRequest) -> Result<Heatmap, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let (kind, filter) = timed_rows(request.entity, request.name.as_deref(), request.query.as_deref())?;
    let table = kind.table();
    let has = |column: &str| table.column(column).is_some();
    let counts = Counts {
        buckets: Buckets::at_most(range, limits::HEATMAP_COLUMNS_MAX, MINUTE_NS),
        has_streams: has("is_stream"),
        has_errors: table != Table::Spans && has("is_error"),
        has_versions: has("app_version"),
        cells: HashMap::new(),
        streams: 0,
        versions: BTreeMap::new(),
    };
    let wanted = ["time", "duration", "is_stream", "is_error", "status", "http_status", "app_version"];
    let columns = wanted.into_iter().filter(|column| has(column)).collect();
    let plan = plans::rows(table, &[project.number], range, filter, columns, vec![], Window::first(usize::MAX));
    let read = |counts: &mut Counts, answer: &crate::answer::Answer| {
        answer.rows().for_each(|row| counts.add(row));
        true
    };
    Ok(executor.read(plan, counts, read).await?.view())
}

impl Counts {
    fn add(&mut self, row: Row<'_>) {
        if self.has_streams && row.flag("is_stream") {
            self.streams += 1;
            return;
        }
        let time = row.int("time");
        if self.has_versions {
            let version = row.text("app_version");
            if let Some(first) = self.versions.get_mut(version) {
                *first = time.min(*first);
            } else if !version.is_empty() && self.versions.len() < VERSIONS_MAX {
                self.versions.insert(version.to_owned(), time);
            }
        }
        // As `filters::span_error`.
        let is_span_error = || row.int("status") == 2 || row.int("http_status") >= 500;
        let is_error = if self.has_errors { row.flag("is_error") } else { is_span_error() };
        let column = u32::try_from((time - self.buckets.origin) / self.buckets.width).unwrap_or(0);
        let cell = self.cells.entry((column, bucket_of(row.int("duration").max(0)))).or_default();
        cell[0] += 1;
        cell[1] += u64::from(is_error);
    }

    fn view(self) -> Heatmap {
        let (rows, place) = rows(self.cells.keys().map(|(_, bucket)| *bucket).collect::<Vec<_>>().into_iter());
        let mut merged: BTreeMap<(u32, u32), [u64; 2]> = BTreeMap::new();
        for ((column, bucket), counts) in &self.cells {
            let cell = merged.entry((*column, place(*bucket))).or_default();
            cell[0] += counts[0];
            cell[1] += counts[1];
        }
        let total = merged.values().map(|cell| cell[0]).sum();
        let first = self.versions.values().min().copied().unwrap_or(0);
        let later = self.versions.into_iter().filter(|(_, at)| *at >= first.saturating_add(self.buckets.width));
        let mut marks: Vec<(String, i64)> = later.collect();
        marks.sort_by_key(|(_, at)| *at);
        marks.truncate(MARKS_MAX);
        Heatmap {
            from_date: to_rfc3339(self.buckets.origin),
            column_ms: self.buckets.width / 1_000_000,
            columns: self.buckets.count,
            slow_ns: slow(&merged, &rows, total),
            rows,
            cells: merged
                .into_iter()
                .map(|((column, row), [count, errors])| HeatmapCell { column, row, count, errors })
                .collect(),
            total,
            streams: self.streams,
            marks: marks.into_iter().map(|(version, at)| HeatmapMark { at: to_rfc3339(at), version }).collect(),
        }
    }
}

/// The rows that cover these buckets of the sketch, the finest that are few enough, and the row of each bucket.
fn rows<I: Iterator<Item = i16>>(buckets: I) -> (Vec<HeatmapRow>, impl Fn(i16) -> u32 + use<I>) {
    let (mut has_zero, mut bounds) = (false, None);
    for bucket in buckets {
        match bucket {
            0 => has_zero = true,
            _ => {
                let (least, greatest) = bounds.unwrap_or((bucket, bucket));
                bounds = Some((bucket.min(least), bucket.max(greatest)));
            }
        }
    }
    // Bucket 1 begins at 1, so that powers of two begin at multiples of 64 of the bucket less one.
    let of = |bucket: i16, per_octave: i16| (bucket - 1) / (SLICES / per_octave);
    let zero_rows = usize::from(has_zero);
    let fits = |per_octave: &i16| {
        let count = bounds.map_or(0, |(least, greatest)| of(greatest, *per_octave) - of(least, *per_octave) + 1);
        usize::try_from(count).unwrap_or(0) + zero_rows <= limits::HEATMAP_ROWS_MAX
    };
    let per_octave = ROWS_PER_OCTAVE.into_iter().find(fits).unwrap_or(1);
    let first = bounds.map_or(0, |(least, _)| of(least, per_octave));
    let mut rows: Vec<HeatmapRow> = Vec::new();
    if has_zero {
        rows.push(HeatmapRow { from_ns: 0, to_ns: 1 });
    }
    if let Some((_, greatest)) = bounds {
        let edge = |row: i16| least_of(row * (SLICES / per_octave) + 1);
        let of_row = |row: i16| HeatmapRow { from_ns: edge(row), to_ns: edge(row + 1) };
        rows.extend((first..=of(greatest, per_octave)).map(of_row));
    }
    let place = move |bucket: i16| match bucket {
        0 => 0,
        _ => u32::from(has_zero) + u32::try_from(of(bucket, per_octave) - first).unwrap_or(0),
    };
    (rows, place)
}

/// The least edge of a row with at most a twentieth of all rows at or above it.
fn slow(cells: &BTreeMap<(u32, u32), [u64; 2]>, rows: &[HeatmapRow], total: u64) -> Option<i64> {
    let mut counts = vec![0u64; rows.len()];
    for ((_, row), [count, _]) in cells {
        counts[*row as usize] += count;
    }
    let (mut above, mut edge) = (0, None);
    for (row, count) in rows.iter().zip(counts).rev() {
        above += count;
        if above > total / 20 && edge.is_some() {
            break;
        }
        edge = Some(row.from_ns);
    }
    edge
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A duration is in the row of its bucket, rows are few, and adjoin each other.
        #[test]
        fn every_duration_is_in_its_row(durations in prop::collection::vec(
            prop_oneof![Just(0i64), 1i64..200, 0i64..10_000_000_000, 0i64..i64::MAX / 2], 1..50)
        ) {
            let (rows, place) = rows(durations.iter().map(|duration| bucket_of(*duration)).collect::<Vec<_>>().into_iter());
            prop_assert!(rows.len() <= limits::HEATMAP_ROWS_MAX.max(64), "{}", rows.len());
            for duration in durations {
                let row = rows[place(bucket_of(duration)) as usize];
                // Above 2^53 a double rounds to the bucket above.
                prop_assert!(duration > 1 << 53 || (row.from_ns..row.to_ns).contains(&duration), "{duration} {row:?}");
            }
            for pair in rows.windows(2) {
                prop_assert!(pair[0].to_ns == pair[1].from_ns || pair[0].from_ns == 0);
            }
        }
    }
}
