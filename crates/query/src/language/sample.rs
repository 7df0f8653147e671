//! Bounds the rows that counts of values read: all rows of a range, or slices spread evenly over it.

use tidewatch_limits as limits;
use tidewatch_store::plan::{Filter, Function, Op};
use tidewatch_store::tables::Table;

use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::plans;
use crate::time::Range;

/// Slices of a range; many, so that hours of much and of little traffic count alike.
const SLICES: i64 = 32;
/// Parts of the range that may be enough, the last is all of it: one `n`th each.
const PARTS: [i64; 10] = [4096, 1024, 256, 64, 32, 16, 8, 4, 2, 1];
/// Output column of the number of rows.
const ROWS: &str = "rows";

/// The rows that are counted.
pub struct Sample {
    /// Passes the rows of the sample.
    pub filter: Filter,
    /// Number of rows in the sample.
    pub rows: u64,
    /// Number of rows that each stands for; 1: the sample is all rows, and counts are exact.
    pub factor: i64,
}

impl Sample {
    /// A sample of the rows that pass `filter`: all of them, or at least [`limits::COUNTED_ROWS_MIN`].
    pub async fn draw(
        executor: &Executor,
        table: Table,
        project: u32,
        range: Range,
        filter: &Filter,
    ) -> Result<Sample, QueryError> {
        let mut greatest = PARTS[0];
        for factor in PARTS {
            let Some(times) = slices(range, factor).filter(|_| factor <= greatest) else { continue };
            let sampled = filter.clone().and(times);
            let count = vec![Function::Count.named(ROWS)];
            let plan = plans::groups(table, &[project], range, sampled.clone(), vec![], count);
            let rows = executor.run(plan).await?.first().map_or(0, |row| row.count(ROWS));
            if rows >= limits::COUNTED_ROWS_MIN || factor == 1 {
                return Ok(Sample { filter: sampled, rows, factor });
            }
            greatest = likely_factor(rows, factor);
        }
        Ok(Sample { filter: filter.clone(), rows: 0, factor: 1 })
    }

    /// Whether counts are estimated.
    pub fn is_estimated(&self) -> bool {
        self.factor > 1
    }

    /// The number of rows that `rows` of the sample stand for.
    pub fn scaled(&self, rows: u64) -> u64 {
        rows.saturating_mul(self.factor.unsigned_abs())
    }
}

/// The greatest factor whose sample probably has enough rows, when one `factor`th of the range has `rows` of them.
fn likely_factor(rows: u64, factor: i64) -> i64 {
    let all = rows.saturating_mul(factor.unsigned_abs());
    // A quarter more, because slices differ.
    let wanted = limits::COUNTED_ROWS_MIN + limits::COUNTED_ROWS_MIN / 4;
    i64::try_from(all / wanted).unwrap_or(i64::MAX).max(1)
}

/// The condition on the time of rows in slices that cover one `factor`th of the range; `None` when the range is too
/// short for them.
fn slices(range: Range, factor: i64) -> Option<Filter> {
    if factor == 1 {
        return Some(Filter::True);
    }
    let step = range.to.checked_sub(range.from)? / SLICES;
    let width = step / factor;
    if width == 0 {
        return None;
    }
    let slice = |number: i64| {
        // In the middle of each step: the ends of a range are often not like the rest of it.
        let from = range.from + number * step + (step - width) / 2;
        filters::compare("time", Op::Ge, from).and(filters::compare("time", Op::Lt, from + width))
    };
    Some(Filter::Any((0..SLICES).map(slice).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_sample_probably_has_enough_rows() {
        let wanted = limits::COUNTED_ROWS_MIN + limits::COUNTED_ROWS_MIN / 4;
        assert_eq!(likely_factor(0, 4096), 1);
        assert_eq!(likely_factor(wanted / 64, 4096), 63, "rounded down");
        assert_eq!(likely_factor(wanted.div_ceil(64), 4096), 64);
        assert_eq!(likely_factor(u64::MAX, 4096), (u64::MAX / wanted) as i64);
    }

    #[test]
    fn slices_cover_the_wanted_part_of_the_range() {
        let range = Range { from: 1_000, to: 1_000 + 3_200_000 };
        assert_eq!(slices(range, 1), Some(Filter::True));
        let Some(Filter::Any(found)) = slices(range, 64) else { panic!("the range is long enough") };
        assert_eq!(found.len(), 32);
        let width = 100_000 / 64;
        let from = 1_000 + (100_000 - width) / 2;
        let first = filters::compare("time", Op::Ge, from).and(filters::compare("time", Op::Lt, from + width));
        assert_eq!(found[0], first);
        assert_eq!(slices(Range { from: 0, to: 100 }, 8), None, "too short");
    }
}
