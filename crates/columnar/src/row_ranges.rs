//! Ranges of consecutive rows. Sorted rows consist mostly of them: the points of a series, the spans of a trace, rows
//! received while one part was collected. Copying or numbering rows range by range is much cheaper than row by row.
//!
//! Long ranges are copied as a whole and short ones row by row, with the same result.

use std::ops::Range;

/// Consecutive rows of one of several batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowRange {
    /// Index of the batch.
    pub batch: usize,
    /// Row indices within the batch.
    pub rows: Range<usize>,
}

/// Converts places (batch, row) to ranges, in the same order.
pub fn ranges(places: &[(usize, usize)]) -> Vec<RowRange> {
    let mut ranges: Vec<RowRange> = Vec::new();
    for (batch, row) in places {
        match ranges.last_mut() {
            Some(range) if range.batch == *batch && range.rows.end == *row => range.rows.end += 1,
            _ => ranges.push(RowRange { batch: *batch, rows: *row..*row + 1 }),
        }
    }
    ranges
}

/// Converts ranges to places (batch, row), in the same order.
pub fn places(ranges: &[RowRange]) -> impl Iterator<Item = (usize, usize)> {
    ranges.iter().flat_map(|range| range.rows.clone().map(|row| (range.batch, row)))
}

/// Whether the ranges have at least `rows` rows on average.
pub fn are_long(ranges: &[RowRange], places: &[(usize, usize)], rows: usize) -> bool {
    ranges.len() * rows <= places.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_places_are_one_range() {
        let places = [(0, 3), (0, 4), (1, 5), (1, 6), (1, 7), (1, 7), (0, 5), (0, 4)];
        let expected = [(0, 3..5), (1, 5..8), (1, 7..8), (0, 5..6), (0, 4..5)];
        assert_eq!(ranges(&places), expected.map(|(batch, rows)| RowRange { batch, rows }));
        assert!(are_long(&ranges(&places[..6]), &places[..6], 2) && !are_long(&ranges(&places), &places, 2));
        assert!(super::places(&ranges(&places)).eq(places));
        assert_eq!(ranges(&[]), []);
    }
}
