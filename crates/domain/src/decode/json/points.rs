//! Reads metric points.

use bumpalo::collections::Vec as ArenaVec;

use super::reader::Reader;
use crate::decode::fault::Fault;
use crate::decode::histogram;
use crate::model::{
    ExponentialBuckets, ExponentialHistogramPoint, HistogramPoint, KeyValue, MetricKind, Point, PointData, Quantile,
    SummaryPoint,
};

impl<'a> Reader<'a> {
    /// A point of a metric of this kind.
    pub(super) fn point(&mut self, kind: MetricKind, attributes: &mut Vec<KeyValue<'a>>) -> Result<Point<'a>, Fault> {
        let mut point = Point::default();
        let mut data = HistogramPoint::default();
        let mut exponential = ExponentialHistogramPoint::default();
        let mut summary = SummaryPoint::default();
        self.object("data point", |reader, key| match key {
            "attributes" => reader.attributes(attributes).map(|slice| point.attributes = slice),
            "startTimeUnixNano" => reader.uint64("point.startTimeUnixNano").map(|time| point.start_ns = time),
            "timeUnixNano" => reader.uint64("point.timeUnixNano").map(|time| point.time_ns = time),
            "flags" => reader.uint32("point.flags").map(|flags| point.flags = flags),
            _ => match kind {
                MetricKind::Gauge | MetricKind::Sum => reader.number_field(key, &mut point.data),
                MetricKind::Histogram => reader.histogram_field(key, &mut data),
                MetricKind::ExponentialHistogram => reader.exponential_field(key, &mut exponential),
                MetricKind::Summary => reader.summary_field(key, &mut summary),
                MetricKind::Empty => reader.skip(),
            },
        })?;
        match kind {
            MetricKind::Histogram => {
                (data.bounds, data.buckets) = histogram::valid_buckets(data.bounds, data.buckets);
                point.data = PointData::Histogram(data);
            }
            MetricKind::ExponentialHistogram => {
                point.data = PointData::ExponentialHistogram(self.stacks.arena.alloc(exponential));
            }
            MetricKind::Summary => point.data = PointData::Summary(summary),
            MetricKind::Empty | MetricKind::Gauge | MetricKind::Sum => {}
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
            "bucketCounts" => data.buckets = self.bucket_counts()?,
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

    fn bucket_counts(&mut self) -> Result<&'a [u64], Fault> {
        let mut counts = ArenaVec::new_in(self.stacks.arena);
        self.list("point.bucketCounts", |reader| {
            counts.push(reader.uint64("bucket count")?);
            Ok(())
        })?;
        Ok(counts.into_bump_slice())
    }

    fn exponential_field(&mut self, key: &str, data: &mut ExponentialHistogramPoint<'a>) -> Result<(), Fault> {
        match key {
            "count" => data.count = self.uint64("point.count")?,
            "sum" => data.sum = Some(self.double("point.sum")?),
            "min" => data.min = Some(self.double("point.min")?),
            "max" => data.max = Some(self.double("point.max")?),
            "scale" => data.scale = self.int32("point.scale")?,
            "zeroCount" => data.zero_count = self.uint64("point.zeroCount")?,
            "zeroThreshold" => data.zero_threshold = self.double("point.zeroThreshold")?,
            "positive" => data.positive = self.exponential_buckets()?,
            "negative" => data.negative = self.exponential_buckets()?,
            _ => self.skip()?,
        }
        Ok(())
    }

    fn exponential_buckets(&mut self) -> Result<ExponentialBuckets<'a>, Fault> {
        let mut buckets = ExponentialBuckets::default();
        self.object("buckets", |reader, key| {
            match key {
                "offset" => buckets.offset = reader.int32("buckets.offset")?,
                "bucketCounts" => buckets.counts = reader.bucket_counts()?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(buckets)
    }

    fn summary_field(&mut self, key: &str, data: &mut SummaryPoint<'a>) -> Result<(), Fault> {
        match key {
            "count" => data.count = self.uint64("point.count")?,
            "sum" => data.sum = self.double("point.sum")?,
            "quantileValues" => {
                let mut quantiles = ArenaVec::new_in(self.stacks.arena);
                self.list("point.quantileValues", |reader| {
                    let mut quantile = Quantile::default();
                    reader.object("quantile", |reader, key| {
                        match key {
                            "quantile" => quantile.quantile = reader.double("quantile")?,
                            "value" => quantile.value = reader.double("value at a quantile")?,
                            _ => reader.skip()?,
                        }
                        Ok(())
                    })?;
                    quantiles.push(quantile);
                    Ok(())
                })?;
                data.quantiles = quantiles.into_bump_slice();
            }
            _ => self.skip()?,
        }
        Ok(())
    }
}
