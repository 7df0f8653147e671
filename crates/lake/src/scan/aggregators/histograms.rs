//! Quantiles of histogram metrics. DECISIONS 16.

use std::collections::HashMap;

use arrow::array::RecordBatch;

use super::distribution::{Distribution, Interval, add_intervals};
use super::selected::{CUMULATIVE, Selected, SeriesId, series_ids, unsigned};
use crate::batch::cells::{cells, times};
use tidewatch_store::StoreError;

/// Histogram rows by series.
#[derive(Debug, Default)]
pub(crate) struct Histograms {
    series: HashMap<SeriesId, Vec<Histogram>>,
    bytes: usize,
}

#[derive(Debug, Clone)]
struct Histogram {
    time: i64,
    group: u32,
    cumulative: bool,
    bounds: Vec<f64>,
    buckets: Vec<u64>,
}

impl Histograms {
    pub fn update(&mut self, batch: &RecordBatch, selected: &Selected<'_>) -> Result<(), StoreError> {
        let (times, bounds, buckets) = (times(batch)?, cells(batch, "bounds")?, cells(batch, "buckets")?);
        let (series, temporalities) = (series_ids(batch)?, unsigned(batch, "temporality")?);
        selected.each(|row, group| {
            let bounds: Vec<f64> = words(bounds.bytes(row)).map(f64::from_bits).collect();
            let buckets: Vec<u64> = words(buckets.bytes(row)).collect();
            // Bounds separate buckets. Rows without bounds, or with another number of buckets, are left out.
            if bounds.is_empty() || buckets.len() != bounds.len() + 1 {
                return;
            }
            self.bytes += 2 * (8 * (bounds.len() + buckets.len()) + size_of::<Histogram>());
            let cumulative = temporalities(row) == CUMULATIVE;
            let histogram = Histogram { time: times.value(row), group, cumulative, bounds, buckets };
            self.series.entry(series(row)).or_default().push(histogram);
        });
        Ok(())
    }

    pub fn merge(&mut self, other: Histograms, groups: &[u32]) {
        self.bytes += other.bytes;
        for (series, histograms) in other.series {
            let ours = histograms.into_iter().map(|histogram| {
                let group = groups[histogram.group as usize];
                Histogram { group, ..histogram }
            });
            self.series.entry(series).or_default().extend(ours);
        }
    }

    pub fn bytes(&self) -> usize {
        self.bytes + self.series.len() * 64
    }

    /// Quantiles of every group, from the sum of the buckets of all its rows. From a cumulative row the previous row is
    /// subtracted; a row that cannot be its continuation starts over and is left out. `None` without observations.
    pub fn quantiles(&self, groups: usize, qs: &[f64]) -> Vec<Option<Vec<f64>>> {
        let mut intervals: Vec<Vec<Interval>> = vec![Vec::new(); groups];
        for rows in self.series.values() {
            let mut rows: Vec<&Histogram> = rows.iter().collect();
            rows.sort_unstable_by(|a, b| a.time.cmp(&b.time).then_with(|| a.buckets.cmp(&b.buckets)));
            let mut before: Option<&Histogram> = None;
            for row in rows {
                let counts = match row.cumulative {
                    true => before.replace(row).and_then(|before| step(before, row)),
                    false => Some(row.buckets.clone()),
                };
                if let Some(counts) = counts {
                    add_intervals(&row.bounds, &counts, &mut intervals[row.group as usize]);
                }
            }
        }
        let quantiles = |distribution: Distribution| qs.iter().map(|q| distribution.quantile(*q)).collect();
        intervals.into_iter().map(|intervals| Distribution::of(intervals).map(quantiles)).collect()
    }
}

/// Bucket counts since the previous row; `None` when a bucket decreased, or when observations of the previous row do not
/// lie within one bucket of this one. Exponential histograms get buckets at their ends and coarser ones: the buckets of
/// the previous row that lie within a bucket are added up.
fn step(before: &Histogram, row: &Histogram) -> Option<Vec<u64>> {
    if before.bounds == row.bounds {
        return row.buckets.iter().zip(&before.buckets).map(|(now, then)| now.checked_sub(*then)).collect();
    }
    let mut counts = row.buckets.clone();
    for (bucket, then) in before.buckets.iter().enumerate().filter(|(_, then)| **then > 0) {
        let from = bucket.checked_sub(1).map_or(f64::NEG_INFINITY, |below| before.bounds[below]);
        let to = before.bounds.get(bucket).copied().unwrap_or(f64::INFINITY);
        let within = row.bounds.partition_point(|bound| *bound < to);
        let starts = within.checked_sub(1).map_or(f64::NEG_INFINITY, |below| row.bounds[below]);
        if from < starts {
            return None;
        }
        counts[within] = counts[within].checked_sub(*then)?;
    }
    Some(counts)
}

/// Little-endian 8-byte words.
fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("chunks of exactly eight bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(bounds: &[f64], buckets: &[u64]) -> Histogram {
        Histogram { time: 0, group: 0, cumulative: true, bounds: bounds.to_vec(), buckets: buckets.to_vec() }
    }

    #[track_caller]
    fn check(before: (&[f64], &[u64]), row: (&[f64], &[u64]), expected: Option<&[u64]>) {
        let found = step(&histogram(before.0, before.1), &histogram(row.0, row.1));
        assert_eq!(found.as_deref(), expected, "{before:?} {row:?}");
    }

    #[test]
    fn cumulative_rows_continue_in_wider_and_coarser_buckets() {
        check((&[1.0, 2.0], &[0, 3, 0]), (&[1.0, 2.0], &[0, 5, 0]), Some(&[0, 2, 0]));
        check((&[1.0, 2.0], &[0, 3, 0]), (&[1.0, 2.0], &[0, 2, 0]), None);
        // New buckets at both ends, and an empty one that was merged with its neighbor.
        check((&[1.0, 2.0], &[0, 3, 0]), (&[0.5, 1.0, 2.0, 8.0], &[0, 1, 4, 2, 0]), Some(&[0, 1, 1, 2, 0]));
        check((&[1.0, 4.0, 8.0], &[0, 0, 2, 0]), (&[2.0, 4.0, 8.0], &[0, 1, 2, 0]), Some(&[0, 1, 0, 0]));
        // A coarser scale.
        check((&[1.0, 2.0, 4.0], &[0, 3, 1, 0]), (&[1.0, 4.0], &[0, 6, 0]), Some(&[0, 2, 0]));
        // Observations that a bound divides, and observations that disappeared.
        check((&[1.0, 4.0], &[0, 3, 0]), (&[1.0, 2.0, 4.0], &[0, 6, 6, 0]), None);
        check((&[1.0, 2.0], &[0, 3, 0]), (&[4.0, 8.0], &[0, 6, 0]), None);
        check((&[1.0], &[0, 3]), (&[1.0, 2.0], &[0, 6, 0]), None);
    }
}
