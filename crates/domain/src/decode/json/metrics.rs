//! Reads metrics, each of which has one of five kinds of data.

use super::envelope::{Records, each};
use super::reader::Reader;
use super::scalar::TEMPORALITIES;
use crate::decode::batch::{Owner, push};
use crate::decode::fault::Fault;
use crate::model::{Metric, MetricBatch, MetricKind, Slice, Temporality};

impl<'a> Records<'a> for MetricBatch<'a> {
    const RESOURCE_BLOCKS: &'static str = "resourceMetrics";
    const SCOPE_BLOCKS: &'static str = "scopeMetrics";
    const RECORDS: &'static str = "metrics";

    fn record(&mut self, reader: &mut Reader<'a>, owner: Owner) -> Result<(), Fault> {
        let mut metric = Metric { resource: owner.resource, scope: owner.scope, ..Metric::default() };
        let first = self.points.len();
        reader.object("metric", |reader, key| {
            match key {
                "name" => metric.name = reader.string("metric.name")?,
                "description" => metric.description = reader.string("metric.description")?,
                "unit" => metric.unit = reader.string("metric.unit")?,
                _ => match kind(key) {
                    MetricKind::Empty => reader.skip()?,
                    kind => {
                        // The last alternative wins.
                        self.points.truncate(first);
                        metric = Metric { kind, temporality: Temporality::Unspecified, monotonic: false, ..metric };
                        data(reader, &mut metric, self)?;
                    }
                },
            }
            Ok(())
        })?;
        metric.points = Slice { start: first as u32, end: self.points.len() as u32 };
        push(&mut self.metrics, metric, "metrics", self.body.records_max).map(drop)
    }
}

fn kind(key: &str) -> MetricKind {
    match key {
        "gauge" => MetricKind::Gauge,
        "sum" => MetricKind::Sum,
        "histogram" => MetricKind::Histogram,
        "exponentialHistogram" => MetricKind::ExponentialHistogram,
        "summary" => MetricKind::Summary,
        _ => MetricKind::Empty,
    }
}

/// `Gauge`, `Sum`, `Histogram`, `ExponentialHistogram` or `Summary`.
fn data<'a>(reader: &mut Reader<'a>, metric: &mut Metric<'a>, batch: &mut MetricBatch<'a>) -> Result<(), Fault> {
    let has_temporality = !matches!(metric.kind, MetricKind::Gauge | MetricKind::Summary);
    reader.object("metric data", |reader, key| {
        match key {
            "dataPoints" => each(reader, "dataPoints", |reader| {
                let point = reader.point(metric.kind, &mut batch.attributes)?;
                push(&mut batch.points, point, "metric points", batch.body.records_max).map(drop)
            })?,
            "aggregationTemporality" if has_temporality => {
                let number = reader.enumeration("aggregationTemporality", TEMPORALITIES)?;
                metric.temporality = Temporality::from_number(number);
            }
            "isMonotonic" if metric.kind == MetricKind::Sum => metric.monotonic = reader.boolean("isMonotonic")?,
            _ => reader.skip()?,
        }
        Ok(())
    })
}
