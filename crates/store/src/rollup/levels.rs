//! How wide cells are, and which of them make up a range of time.

pub const MINUTE: i64 = 60 * 1_000_000_000;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

/// Widths of cells, nanoseconds; each divides the next. Cells start at whole multiples, counted from the epoch.
///
/// Four hours are the buckets of a chart of a week or more.
pub const WIDTHS: [i64; 5] = [MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, DAY];

/// Cells of a level are stored in chunks of so much time, so that a short range reads little.
pub const CHUNKS: [i64; 5] = [HOUR, 6 * HOUR, DAY, DAY, 30 * DAY];

/// Widths and chunks of parts that were written before, with the levels that these are now.
pub const EARLIER: &[(&[i64], &[i64], &[usize])] =
    &[(&[MINUTE, 15 * MINUTE, HOUR, DAY], &[HOUR, 6 * HOUR, DAY, 30 * DAY], &[0, 1, 2, 4])];

/// Times beyond this have no cells: nothing overflows.
pub const TIME_MAX: i64 = 1 << 62;

/// What is asked of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// `from <= time < to`.
    pub from: i64,
    pub to: i64,
    /// Origin and width of a time bucket that no cell may straddle.
    pub bucket: Option<(i64, i64)>,
}

/// Ranges of cells of one level, and what is left over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cover {
    /// Level, and the times `from..to` it covers, whole cells.
    pub cells: Vec<(usize, i64, i64)>,
    /// Times `from..to` that no cell covers.
    pub rest: Vec<(i64, i64)>,
}

impl Span {
    fn takes(&self, width: i64) -> bool {
        self.bucket.is_none_or(|(origin, bucket)| bucket % width == 0 && origin % width == 0)
    }
}

/// Covers the span with the fewest cells of the levels that are there (`has`), coarse inside and fine at the ends.
///
/// Rows lie in `time_min..=time_max`: what reaches beyond them may be covered with cells that do too.
pub fn cover(span: &Span, has: impl Fn(usize) -> bool, time_min: i64, time_max: i64) -> Cover {
    let mut cover = Cover::default();
    if time_min < -TIME_MAX || time_max > TIME_MAX {
        cover.rest.push((span.from, span.to));
        return cover;
    }
    let day = WIDTHS[WIDTHS.len() - 1];
    let from = if span.from <= time_min { time_min.div_euclid(day) * day } else { span.from };
    let to = if span.to > time_max { (time_max.div_euclid(day) + 1) * day } else { span.to };
    let usable: Vec<usize> = (0..WIDTHS.len()).filter(|&level| has(level) && span.takes(WIDTHS[level])).collect();
    fill(&usable, from, to, &mut cover);
    cover
}

fn fill(levels: &[usize], from: i64, to: i64, cover: &mut Cover) {
    if from >= to {
        return;
    }
    let Some((&level, finer)) = levels.split_last() else {
        cover.rest.push((from, to));
        return;
    };
    let width = WIDTHS[level];
    let (first, last) = ((from + width - 1).div_euclid(width) * width, to.div_euclid(width) * width);
    if first >= last {
        return fill(finer, from, to, cover);
    }
    cover.cells.push((level, first, last));
    fill(finer, from, first, cover);
    fill(finer, last, to, cover);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_written_before_is_still_there() {
        for (widths, chunks, levels) in EARLIER {
            let now = |all: &[i64]| levels.iter().map(|level| all[*level]).collect::<Vec<_>>();
            assert_eq!((now(&WIDTHS), now(&CHUNKS)), (widths.to_vec(), chunks.to_vec()));
        }
    }

    #[test]
    fn coarse_inside_fine_at_the_ends() {
        let at = |day: i64, hour: i64, minute: i64| day * DAY + hour * HOUR + minute * MINUTE;
        let span = Span { from: at(1, 22, 44) + 5, to: at(4, 1, 1) + 7, bucket: None };
        let found = cover(&span, |level| level != 1 && level != 3, 0, at(9, 0, 0));
        let cells = [
            (4, at(2, 0, 0), at(4, 0, 0)),
            (2, at(1, 23, 0), at(2, 0, 0)),
            (0, at(1, 22, 45), at(1, 23, 0)),
            (2, at(4, 0, 0), at(4, 1, 0)),
            (0, at(4, 1, 0), at(4, 1, 1)),
        ];
        assert_eq!(found.cells, cells);
        assert_eq!(found.rest, [(span.from, at(1, 22, 45)), (at(4, 1, 1), span.to)]);
    }

    #[test]
    fn beyond_the_rows_nothing_is_ragged() {
        let span = Span { from: i64::MIN, to: i64::MAX, bucket: None };
        let found = cover(&span, |_| true, 3 * DAY + 5, 4 * DAY - 1);
        assert_eq!((found.cells.as_slice(), found.rest.len()), (&[(4, 3 * DAY, 4 * DAY)][..], 0));
        let found = cover(&Span { from: 3 * DAY + 6, ..span }, |_| true, 3 * DAY + 5, 4 * DAY - 1);
        assert_eq!(found.rest, [(3 * DAY + 6, 3 * DAY + MINUTE)]);
    }

    #[test]
    fn a_cell_is_never_wider_than_a_bucket() {
        let span = Span { from: 0, to: DAY, bucket: Some((0, 5 * MINUTE)) };
        assert_eq!(cover(&span, |_| true, 0, DAY).cells, [(0, 0, DAY)]);
        assert_eq!(cover(&span, |level| level > 0, 0, DAY).rest, [(0, DAY)]);
        let span = Span { bucket: Some((7, HOUR)), ..span };
        assert_eq!(cover(&span, |_| true, 0, DAY).cells, []);
        let span = Span { bucket: Some((30 * MINUTE, HOUR)), ..span };
        assert_eq!(cover(&span, |_| true, 0, DAY).cells, [(1, 0, DAY)]);
    }

    proptest! {
        /// Every moment at which a row may lie is covered once when it is asked for, else never.
        #[test]
        fn every_moment_once(
            from in -3 * DAY..3 * DAY, length in 0..4 * DAY, has in prop::array::uniform5(any::<bool>()),
            time_min in -2 * DAY..DAY, rows in 0..2 * DAY, at in prop::collection::vec(0.0..=1.0, 20),
        ) {
            let span = Span { from, to: from + length, bucket: None };
            let time_max = time_min + rows;
            let found = cover(&span, |level| has[level], time_min, time_max);
            for (level, from, to) in &found.cells {
                prop_assert!(has[*level] && from % WIDTHS[*level] == 0 && to % WIDTHS[*level] == 0);
            }
            for share in at {
                let time = time_min + (rows as f64 * share) as i64;
                let in_cells = found.cells.iter().filter(|(_, from, to)| (*from..*to).contains(&time)).count();
                let in_rest = found.rest.iter().filter(|(from, to)| (*from..*to).contains(&time)).count();
                prop_assert_eq!(in_cells + in_rest, usize::from((span.from..span.to).contains(&time)));
            }
        }
    }
}
