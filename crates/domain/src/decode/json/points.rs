//! Reads metric points: numbers, histograms, and the common fields of unstored kinds.

use bumpalo::collections::Vec as ArenaVec;

use super::reader::Reader;
use crate::decode::fault::Fault;
use crate::decode::histogram;
use crate::model::{HistogramPoint, KeyValue, MetricKind, Point, PointData};

impl<'a> Reader<'a> {
    /// A point of a metric of this kind.
    pub(super) fn point(&mut self, kind: MetricKind, attributes: &mut Vec<KeyValue<'a>>) -> Result<Point<'a>, Fault> {
        let mut point = Point::default();
        let mut data = HistogramPoint::default();
        self.object("data point", |reader, key| match key {
            "attributes" => reader.attributes(attributes).map(|slice| point.attributes = slice),
            "startTimeUnixNano" => reader.uint64("point.startTimeUnixNano").map(|time| point.start_ns = time),
            "timeUnixNano" => reader.uint64("point.timeUnixNano").map(|time| point.time_ns = time),
            "flags" => reader.uint32("point.flags").map(|flags| point.flags = flags),
            _ => match kind {
                MetricKind::Gauge | MetricKind::Sum => reader.number_field(key, &mut point.data),
                MetricKind::Histogram => reader.histogram_field(key, &mut data),
                MetricKind::Empty | MetricKind::ExponentialHistogram | MetricKind::Summary => reader.skip(),
            },
        })?;
        if kind == MetricKind::Histogram {
            (data.bounds, data.buckets) = histogram::valid_buckets(data.bounds, data.buckets);
            point.data = PointData::Histogram(data);
        }
        Ok(point)
    }

    fn number_field(&mut self, key: &str, data: &mut PointData<'a>) -> Result<(), Fault> {
        match key {
            "asDouble" => *data = PointData::Double(self.double("point.asDouble")?),
            "asInt" => *data = PointData::Int(self.int64("point.asInt")?),
            _ => self.skip()?,
        }
        Ok(())
    }

    fn histogram_field(&mut self, key: &str, data: &mut HistogramPoint<'a>) -> Result<(), Fault> {
        match key {
            "count" => data.count = self.uint64("point.count")?,
            "sum" => data.sum = Some(self.double("point.sum")?),
            "min" => data.min = Some(self.double("point.min")?),
            "max" => data.max = Some(self.double("point.max")?),
            "bucketCounts" => {
                let mut counts = ArenaVec::new_in(self.stacks.arena);
                self.list("point.bucketCounts", |reader| {
                    counts.push(reader.uint64("bucket count")?);
                    Ok(())
                })?;
                data.buckets = counts.into_bump_slice();
            }
            "explicitBounds" => {
                let mut bounds = ArenaVec::new_in(self.stacks.arena);
                self.list("point.explicitBounds", |reader| {
                    bounds.push(reader.double("bound")?);
                    Ok(())
                })?;
                data.bounds = bounds.into_bump_slice();
            }
            _ => self.skip()?,
        }
        Ok(())
    }
}
