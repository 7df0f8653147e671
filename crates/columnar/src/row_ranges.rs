//! Rows behind one another, of which sorted rows mostly consist: points of a series, spans of a trace, whatever came in the
//! time of one part. What is copied or numbered run by run costs a fraction.

use std::ops::Range;

/// Rows behind one another in one of several batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub batch: usize,
    pub rows: Range<usize>,
}

/// Places (batch, row) as runs.
pub fn runs(places: &[(usize, usize)]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (batch, row) in places {
        match runs.last_mut() {
            Some(run) if run.batch == *batch && run.rows.end == *row => run.rows.end += 1,
            _ => runs.push(Run { batch: *batch, rows: *row..*row + 1 }),
        }
    }
    runs
}

/// Runs as places (batch, row).
pub fn places(runs: &[Run]) -> impl Iterator<Item = (usize, usize)> {
    runs.iter().flat_map(|run| run.rows.clone().map(|row| (run.batch, row)))
}

/// Are runs of so many rows on average?
pub fn are_long(runs: &[Run], places: &[(usize, usize)], rows: usize) -> bool {
    runs.len() * rows <= places.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_behind_one_another_are_a_run() {
        let places = [(0, 3), (0, 4), (1, 5), (1, 6), (1, 7), (1, 7), (0, 5), (0, 4)];
        let expected = [(0, 3..5), (1, 5..8), (1, 7..8), (0, 5..6), (0, 4..5)];
        assert_eq!(runs(&places), expected.map(|(batch, rows)| Run { batch, rows }));
        assert!(are_long(&runs(&places[..6]), &places[..6], 2) && !are_long(&runs(&places), &places, 2));
        assert!(super::places(&runs(&places)).eq(places));
        assert_eq!(runs(&[]), []);
    }
}
