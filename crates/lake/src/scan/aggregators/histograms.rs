//! Quantiles of histogram metrics. DECISIONS 16.

use std::collections::HashMap;

use arrow::array::RecordBatch;

use super::distribution::{Distribution, Interval, add_intervals};
use super::{CUMULATIVE, Selected, SeriesId, series_ids, unsigned};
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
    /// subtracted; a row with a smaller bucket, or with other bounds, starts over and is left out. `None` without
    /// observations.
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

/// Bucket counts since the previous row; `None` when a bucket decreased or the bounds differ.
fn step(before: &Histogram, row: &Histogram) -> Option<Vec<u64>> {
    if before.bounds != row.bounds {
        return None;
    }
    row.buckets.iter().zip(&before.buckets).map(|(now, then)| now.checked_sub(*then)).collect()
}

/// Little-endian 8-byte words.
fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("chunks of exactly eight bytes")))
}
