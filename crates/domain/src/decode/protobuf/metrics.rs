//! Reads metrics, each of which has one of five kinds of data.

use super::envelope::Records;
use super::points::{exponential_point, histogram_point, number_point, summary_point};
use super::reader::{KnownFields, Reader, length, varint};
use super::value::Values;
use crate::decode::batch::{Owner, push};
use crate::decode::fault::Fault;
use crate::model::{Metric, MetricBatch, MetricKind, Slice, Temporality};

impl<'a> Records<'a> for MetricBatch<'a> {
    fn record(&mut self, mut message: Reader<'a>, owner: Owner, values: &mut Values<'a>) -> Result<(), Fault> {
        const NAME: u32 = length(1);
        const DESCRIPTION: u32 = length(2);
        const UNIT: u32 = length(3);
        const GAUGE: u32 = length(5);
        const SUM: u32 = length(7);
        const HISTOGRAM: u32 = length(9);
        const EXPONENTIAL_HISTOGRAM: u32 = length(10);
        const SUMMARY: u32 = length(11);
        const METADATA: u32 = length(12);
        const METRIC: KnownFields = KnownFields::new(&[1, 2, 3, 5, 7, 9, 10, 11, 12]);

        let mut metric = Metric { resource: owner.resource, scope: owner.scope, ..Metric::default() };
        let first = self.points.len();
        while !message.is_done() {
            let kind = match message.key()? {
                NAME => {
                    metric.name = message.string("metric name")?;
                    continue;
                }
                DESCRIPTION => {
                    metric.description = message.string("metric description")?;
                    continue;
                }
                UNIT => {
                    metric.unit = message.string("metric unit")?;
                    continue;
                }
                METADATA => {
                    values.attribute_message(message.message()?)?;
                    continue;
                }
                GAUGE => MetricKind::Gauge,
                SUM => MetricKind::Sum,
                HISTOGRAM => MetricKind::Histogram,
                EXPONENTIAL_HISTOGRAM => MetricKind::ExponentialHistogram,
                SUMMARY => MetricKind::Summary,
                other => {
                    message.skip(other, METRIC)?;
                    continue;
                }
            };
            if metric.kind != kind {
                // The last alternative wins.
                self.points.truncate(first);
                metric = Metric { kind, temporality: Temporality::Unspecified, monotonic: false, ..metric };
            }
            data(message.message()?, &mut metric, self, values)?;
        }
        metric.points = Slice { start: first as u32, end: self.points.len() as u32 };
        push(&mut self.metrics, metric, "metrics", self.body.records_max).map(drop)
    }
}

/// `Gauge`, `Sum`, `Histogram`, `ExponentialHistogram` or `Summary`: common fields have the same numbers.
fn data<'a>(
    mut message: Reader<'a>,
    metric: &mut Metric<'a>,
    batch: &mut MetricBatch<'a>,
    values: &mut Values<'a>,
) -> Result<(), Fault> {
    const POINT: u32 = length(1);
    const TEMPORALITY: u32 = varint(2);
    const MONOTONIC: u32 = varint(3);
    let (known, has_temporality) = match metric.kind {
        MetricKind::Empty | MetricKind::Gauge | MetricKind::Summary => (KnownFields::new(&[1]), false),
        MetricKind::Sum => (KnownFields::new(&[1, 2, 3]), true),
        MetricKind::Histogram | MetricKind::ExponentialHistogram => (KnownFields::new(&[1, 2]), true),
    };
    while !message.is_done() {
        match message.key()? {
            POINT => {
                let point = message.message()?;
                let point = match metric.kind {
                    MetricKind::Empty | MetricKind::Gauge | MetricKind::Sum => {
                        number_point(point, &mut batch.attributes, values)?
                    }
                    MetricKind::Histogram => histogram_point(point, &mut batch.attributes, values)?,
                    MetricKind::ExponentialHistogram => exponential_point(point, &mut batch.attributes, values)?,
                    MetricKind::Summary => summary_point(point, &mut batch.attributes, values)?,
                };
                push(&mut batch.points, point, "metric points", batch.body.records_max)?;
            }
            TEMPORALITY if has_temporality => metric.temporality = Temporality::from_number(message.int32()?.into()),
            MONOTONIC if metric.kind == MetricKind::Sum => metric.monotonic = message.varint()? != 0,
            other => message.skip(other, known)?,
        }
    }
    Ok(())
}
