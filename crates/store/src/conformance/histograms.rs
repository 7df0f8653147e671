//! Histograms in the model: what a cumulative one adds, and where the observations of buckets are.

/// The counts of a cumulative histogram since the one before it; `None` when a count decreased, or when a bucket of the
/// one before is inside of none of its buckets.
pub(super) fn increase(before: &(Vec<f64>, Vec<u64>), now: (&[f64], &[u64])) -> Option<Vec<u64>> {
    let edges = |bounds: &[f64], bucket: usize| {
        let from = if bucket == 0 { f64::NEG_INFINITY } else { bounds[bucket - 1] };
        (from, bounds.get(bucket).copied().unwrap_or(f64::INFINITY))
    };
    let mut counts = now.1.to_vec();
    for (bucket, then) in before.1.iter().enumerate().filter(|(_, then)| **then > 0) {
        let (from, to) = edges(&before.0, bucket);
        let contains = |place: &usize| {
            let (low, high) = edges(now.0, *place);
            low <= from && to <= high
        };
        let place = (0..counts.len()).find(contains)?;
        counts[place] = counts[place].checked_sub(*then)?;
    }
    Some(counts)
}

/// The bounds of the buckets: the first starts at zero (or its bound when that is not positive), the last is at its
/// lower bound.
pub(super) fn bars_of(bounds: &[f64], counts: &[u64]) -> Vec<(f64, f64, f64)> {
    let mut bars = Vec::new();
    for (index, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let (from, to) = if index == bounds.len() {
            (bounds[index - 1], bounds[index - 1])
        } else if index == 0 {
            (if bounds[0] > 0.0 { 0.0 } else { bounds[0] }, bounds[0])
        } else {
            (bounds[index - 1], bounds[index])
        };
        bars.push((from, to, *count as f64));
    }
    bars
}
