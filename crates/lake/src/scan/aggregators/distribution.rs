//! Quantiles of a distribution that is known by its histogram buckets only.

/// `count` observations, evenly distributed over `from..=to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    pub from: f64,
    pub to: f64,
    pub count: f64,
}

/// Appends the buckets of one histogram. The lowest bucket starts at zero when its bound is positive. Otherwise, and
/// above the last bound, the observations are placed at the bound itself.
pub(crate) fn add_intervals(bounds: &[f64], counts: &[u64], intervals: &mut Vec<Interval>) {
    for (bucket, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let Some(&to) = bounds.get(bucket).or(bounds.last()) else { continue };
        let from = match bucket.checked_sub(1) {
            None if to > 0.0 => 0.0,
            None => to,
            Some(below) => bounds[below],
        };
        if from.is_finite() && to.is_finite() {
            intervals.push(Interval { from, to, count: *count as f64 });
        }
    }
}

/// Disjoint ascending steps: observations between two edges, or exactly on one.
pub(crate) struct Distribution {
    steps: Vec<Interval>,
    count: f64,
}

impl Distribution {
    /// Intervals may overlap: two instruments need not have the same bounds. `None` without observations.
    pub fn of(mut intervals: Vec<Interval>) -> Option<Distribution> {
        intervals.sort_unstable_by(|a, b| {
            a.from.total_cmp(&b.from).then(a.to.total_cmp(&b.to)).then(a.count.total_cmp(&b.count))
        });
        // Most intervals have equal edges: these are added up first.
        intervals.dedup_by(|interval, kept| {
            let same = interval.from == kept.from && interval.to == kept.to;
            if same {
                kept.count += interval.count;
            }
            same
        });
        let mut edges: Vec<f64> = intervals.iter().flat_map(|interval| [interval.from, interval.to]).collect();
        edges.sort_unstable_by(f64::total_cmp);
        edges.dedup();
        let mut on_edge = vec![0.0; edges.len()];
        let mut above_edge = vec![0.0; edges.len()];
        for interval in &intervals {
            let first = edges.partition_point(|edge| *edge < interval.from);
            if interval.from == interval.to {
                on_edge[first] += interval.count;
                continue;
            }
            let last = edges.partition_point(|edge| *edge < interval.to);
            for at in first..last {
                // Halved, so that the widest bucket does not overflow.
                let share = (edges[at + 1] / 2.0 - edges[at] / 2.0) / (interval.to / 2.0 - interval.from / 2.0);
                above_edge[at] += interval.count * share;
            }
        }
        let mut steps = Vec::new();
        for (at, &from) in edges.iter().enumerate() {
            let to = edges.get(at + 1).copied().unwrap_or(from);
            steps.push(Interval { from, to: from, count: on_edge[at] });
            steps.push(Interval { from, to, count: above_edge[at] });
        }
        steps.retain(|step| step.count > 0.0);
        let count = steps.iter().map(|step| step.count).sum();
        (!steps.is_empty()).then_some(Distribution { steps, count })
    }

    /// The value that a fraction `q` of the observations does not exceed, interpolated inside a step.
    pub fn quantile(&self, q: f64) -> f64 {
        let mut left = q * self.count;
        for step in &self.steps {
            if left <= step.count {
                let fraction = left / step.count;
                return step.from * (1.0 - fraction) + step.to * fraction;
            }
            left -= step.count;
        }
        self.steps.last().map_or(0.0, |last| last.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rows: &[(&[f64], &[u64])], q: f64, expected: f64) {
        let mut intervals = Vec::new();
        rows.iter().for_each(|(bounds, counts)| add_intervals(bounds, counts, &mut intervals));
        let quantile = Distribution::of(intervals).expect("there are observations").quantile(q);
        assert!((quantile - expected).abs() < 1e-9, "{rows:?} at {q}: {quantile}, not {expected}");
    }

    // DECISIONS 16: interpolated inside the bucket.
    #[test]
    fn quantiles_are_interpolated_inside_buckets() {
        check(&[(&[10.0, 20.0], &[0, 10, 0])], 0.5, 15.0);
        check(&[(&[10.0, 20.0], &[10, 0, 0])], 0.5, 5.0);
        check(&[(&[10.0, 20.0], &[10, 10, 0])], 0.75, 15.0);
        check(&[(&[10.0, 20.0], &[0, 0, 3])], 0.5, 20.0);
        check(&[(&[-5.0, 5.0], &[4, 4, 0])], 0.25, -5.0);
        check(&[(&[10.0], &[4, 4])], 1.0, 10.0);
        // Two instruments with different bounds.
        check(&[(&[10.0], &[4, 0]), (&[20.0], &[4, 0])], 0.5, 20.0 / 3.0);
    }
}
