//! Rates of counters, computed from the points of every series in time order.

use std::collections::HashMap;

use arrow::array::RecordBatch;

use tidewatch_domain::units;

use super::selected::{CUMULATIVE, DELTA, Selected, SeriesId, series_ids, unsigned};
use super::total::Total;
use crate::batch::cells::{cells, times};
use tidewatch_store::StoreError;

const SECOND: f64 = units::SECOND_NS as f64;

/// Points of counters by series.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    series: HashMap<SeriesId, Vec<Point>>,
    points: usize,
}

#[derive(Debug, Clone, Copy)]
struct Point {
    time: i64,
    value: f64,
    group: u32,
    temporality: u64,
}

impl Counters {
    pub fn update(&mut self, batch: &RecordBatch, selected: &Selected<'_>) -> Result<(), StoreError> {
        let (times, values) = (times(batch)?, cells(batch, "value")?);
        let (series, temporalities) = (series_ids(batch)?, unsigned(batch, "temporality")?);
        selected.each(|row, group| {
            let Some(value) = values.number(row) else { return };
            let point = Point { time: times.value(row), value, group, temporality: temporalities(row) };
            self.series.entry(series(row)).or_default().push(point);
            self.points += 1;
        });
        Ok(())
    }

    pub fn merge(&mut self, other: Counters, groups: &[u32]) {
        self.points += other.points;
        for (series, points) in other.series {
            let ours = points.into_iter().map(|point| Point { group: groups[point.group as usize], ..point });
            self.series.entry(series).or_default().extend(ours);
        }
    }

    pub fn bytes(&self) -> usize {
        self.points * 2 * size_of::<Point>() + self.series.len() * 64
    }

    /// Increase per second of every group. A delta counts as it is. A cumulative counter counts the step from the
    /// previous point, in the group of the later point, unless the counter decreased. A point of neither kind counts
    /// nothing. `None` for a group without any step. WIRE 3.1 "rate".
    pub fn rates(&self, groups: usize, width: i64) -> Vec<Option<f64>> {
        let mut increases = vec![Total::default(); groups];
        for points in self.series.values() {
            let mut points = points.clone();
            points.sort_unstable_by(|a, b| a.time.cmp(&b.time).then(a.value.total_cmp(&b.value)));
            let mut before: Option<f64> = None;
            for point in points {
                let increase = match point.temporality {
                    DELTA => Some(point.value),
                    CUMULATIVE => {
                        let step = before.replace(point.value).map(|before| point.value - before);
                        step.filter(|step| *step >= 0.0)
                    }
                    _ => None,
                };
                if let Some(increase) = increase {
                    increases[point.group as usize].add(increase);
                }
            }
        }
        let seconds = width as f64 / SECOND;
        increases.iter().map(|total| (total.rows > 0).then(|| total.value() / seconds)).collect()
    }
}
