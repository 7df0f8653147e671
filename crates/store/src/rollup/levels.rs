//! Widths of roll-up cells, and the cells that cover a range of time.

use tidewatch_domain::units::{DAY_NS, HOUR_NS, MINUTE_NS};

/// Widths of cells by level, nanoseconds; each divides the next. Cells start at multiples of their width since the
/// epoch.
///
/// Four hours are the bucket width of charts of a week or more.
pub const WIDTHS: [i64; 5] = [MINUTE_NS, 15 * MINUTE_NS, HOUR_NS, 4 * HOUR_NS, DAY_NS];

/// Durations by level, nanoseconds, of the chunks in which cells are stored; a short range reads few chunks.
pub const CHUNKS: [i64; 5] = [HOUR_NS, 6 * HOUR_NS, DAY_NS, DAY_NS, 30 * DAY_NS];

/// Widths and chunks of parts of earlier releases, with the index of each in [`WIDTHS`].
pub const EARLIER: &[(&[i64], &[i64], &[usize])] =
    &[(&[MINUTE_NS, 15 * MINUTE_NS, HOUR_NS, DAY_NS], &[HOUR_NS, 6 * HOUR_NS, DAY_NS, 30 * DAY_NS], &[0, 1, 2, 4])];

/// Times beyond `-TIME_MAX..=TIME_MAX` have no cells, so that no computation overflows.
pub const TIME_MAX: i64 = 1 << 62;

/// A queried time range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Start, inclusive, nanoseconds since the epoch.
    pub from: i64,
    /// End, exclusive, nanoseconds since the epoch.
    pub to: i64,
    /// Origin and width of the time buckets, whose bounds no cell may cross; `None` without buckets.
    pub bucket: Option<(i64, i64)>,
}

/// The cells that cover a time range, and the times that no cell covers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cover {
    /// Ranges of whole cells: the level, and the times `from..to`.
    pub cells: Vec<(usize, i64, i64)>,
    /// Times `from..to` that no cell covers.
    pub rest: Vec<(i64, i64)>,
}

impl Span {
    fn takes(&self, width: i64) -> bool {
        self.bucket.is_none_or(|(origin, bucket)| bucket % width == 0 && origin % width == 0)
    }
}

/// Covers the span with the fewest cells of the levels for which `has` is true: coarse inside, fine at the ends.
///
/// All rows are in `time_min..=time_max`: where the span exceeds these times, its cells may exceed the span.
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
    fn earlier_widths_and_chunks_are_levels_of_today() {
        for (widths, chunks, levels) in EARLIER {
            let now = |all: &[i64]| levels.iter().map(|level| all[*level]).collect::<Vec<_>>();
            assert_eq!((now(&WIDTHS), now(&CHUNKS)), (widths.to_vec(), chunks.to_vec()));
        }
    }

    #[test]
    fn cells_are_coarse_inside_and_fine_at_the_ends() {
        let at = |day: i64, hour: i64, minute: i64| day * DAY_NS + hour * HOUR_NS + minute * MINUTE_NS;
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
    fn cells_may_exceed_a_span_beyond_the_rows() {
        let span = Span { from: i64::MIN, to: i64::MAX, bucket: None };
        let found = cover(&span, |_| true, 3 * DAY_NS + 5, 4 * DAY_NS - 1);
        assert_eq!((found.cells.as_slice(), found.rest.len()), (&[(4, 3 * DAY_NS, 4 * DAY_NS)][..], 0));
        let found = cover(&Span { from: 3 * DAY_NS + 6, ..span }, |_| true, 3 * DAY_NS + 5, 4 * DAY_NS - 1);
        assert_eq!(found.rest, [(3 * DAY_NS + 6, 3 * DAY_NS + MINUTE_NS)]);
    }

    #[test]
    fn a_cell_is_never_wider_than_a_bucket() {
        let span = Span { from: 0, to: DAY_NS, bucket: Some((0, 5 * MINUTE_NS)) };
        assert_eq!(cover(&span, |_| true, 0, DAY_NS).cells, [(0, 0, DAY_NS)]);
        assert_eq!(cover(&span, |level| level > 0, 0, DAY_NS).rest, [(0, DAY_NS)]);
        let span = Span { bucket: Some((7, HOUR_NS)), ..span };
        assert_eq!(cover(&span, |_| true, 0, DAY_NS).cells, []);
        let span = Span { bucket: Some((30 * MINUTE_NS, HOUR_NS)), ..span };
        assert_eq!(cover(&span, |_| true, 0, DAY_NS).cells, [(1, 0, DAY_NS)]);
    }

    proptest! {
        /// Every time of a possible row is covered once when it is within the span, else never.
        #[test]
        fn every_time_is_covered_once(
            from in -3 * DAY_NS..3 * DAY_NS, length in 0..4 * DAY_NS, has in prop::array::uniform5(any::<bool>()),
            time_min in -2 * DAY_NS..DAY_NS, rows in 0..2 * DAY_NS, at in prop::collection::vec(0.0..=1.0, 20),
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
