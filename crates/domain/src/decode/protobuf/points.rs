//! Reads metric points.

use bumpalo::collections::Vec as ArenaVec;

use super::check::{EXEMPLAR, check};
use super::reader::{KnownFields, Reader, fixed64, length, varint};
use super::value::Values;
use crate::decode::fault::Fault;
use crate::decode::histogram;
use crate::model::{ExponentialHistogramPoint, HistogramPoint, KeyValue, Point, PointData, Quantile, SummaryPoint};

const START: u32 = fixed64(2);
const TIME: u32 = fixed64(3);

/// `NumberDataPoint`.
pub(super) fn number_point<'a>(
    mut message: Reader<'a>,
    attributes: &mut Vec<KeyValue<'a>>,
    values: &mut Values<'a>,
) -> Result<Point<'a>, Fault> {
    const AS_DOUBLE: u32 = fixed64(4);
    const EXEMPLARS: u32 = length(5);
    const AS_INT: u32 = fixed64(6);
    const ATTRIBUTE: u32 = length(7);
    const FLAGS: u32 = varint(8);
    let mut point = Point::default();
    while !message.is_done() {
        match message.key()? {
            START => point.start_ns = message.fixed64()?,
            TIME => point.time_ns = message.fixed64()?,
            AS_DOUBLE => point.data = PointData::Double(message.double()?),
            AS_INT => point.data = PointData::Int(message.fixed64()? as i64),
            ATTRIBUTE => {
                values.attributes(&mut message, attributes, &mut point.attributes)?;
            }
            FLAGS => point.flags = message.uint32()?,
            EXEMPLARS => check(message.message()?, EXEMPLAR, values)?,
            other => message.skip(other, KnownFields::new(&[2, 3, 4, 5, 6, 7, 8]))?,
        }
    }
    Ok(point)
}

/// `HistogramDataPoint`. Bounds and buckets may be packed or unpacked.
pub(super) fn histogram_point<'a>(
    mut message: Reader<'a>,
    attributes: &mut Vec<KeyValue<'a>>,
    values: &mut Values<'a>,
) -> Result<Point<'a>, Fault> {
    const COUNT: u32 = fixed64(4);
    const SUM: u32 = fixed64(5);
    const BUCKETS: u32 = length(6);
    const BUCKET: u32 = fixed64(6);
    const BOUNDS: u32 = length(7);
    const BOUND: u32 = fixed64(7);
    const EXEMPLARS: u32 = length(8);
    const ATTRIBUTE: u32 = length(9);
    const FLAGS: u32 = varint(10);
    const MIN: u32 = fixed64(11);
    const MAX: u32 = fixed64(12);
    let mut point = Point::default();
    let mut data = HistogramPoint::default();
    let mut buckets = ArenaVec::new_in(values.arena());
    let mut bounds = ArenaVec::new_in(values.arena());
    while !message.is_done() {
        match message.key()? {
            START => point.start_ns = message.fixed64()?,
            TIME => point.time_ns = message.fixed64()?,
            COUNT => data.count = message.fixed64()?,
            SUM => data.sum = Some(message.double()?),
            BUCKETS => {
                let mut list = message.message()?;
                buckets.reserve(list.rest().len() / 8);
                while !list.is_done() {
                    buckets.push(list.fixed64()?);
                }
            }
            BUCKET => buckets.push(message.fixed64()?),
            BOUNDS => {
                let mut list = message.message()?;
                bounds.reserve(list.rest().len() / 8);
                while !list.is_done() {
                    bounds.push(list.double()?);
                }
            }
            BOUND => bounds.push(message.double()?),
            EXEMPLARS => check(message.message()?, EXEMPLAR, values)?,
            ATTRIBUTE => {
                values.attributes(&mut message, attributes, &mut point.attributes)?;
            }
            FLAGS => point.flags = message.uint32()?,
            MIN => data.min = Some(message.double()?),
            MAX => data.max = Some(message.double()?),
            other => message.skip(other, KnownFields::new(&[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]))?,
        }
    }
    (data.bounds, data.buckets) = histogram::valid_buckets(bounds.into_bump_slice(), buckets.into_bump_slice());
    point.data = PointData::Histogram(data);
    Ok(point)
}

/// `ExponentialHistogramDataPoint`.
pub(super) fn exponential_point<'a>(
    mut message: Reader<'a>,
    attributes: &mut Vec<KeyValue<'a>>,
    values: &mut Values<'a>,
) -> Result<Point<'a>, Fault> {
    const ATTRIBUTE: u32 = length(1);
    const COUNT: u32 = fixed64(4);
    const SUM: u32 = fixed64(5);
    const SCALE: u32 = varint(6);
    const ZERO_COUNT: u32 = fixed64(7);
    const POSITIVE: u32 = length(8);
    const NEGATIVE: u32 = length(9);
    const FLAGS: u32 = varint(10);
    const EXEMPLARS: u32 = length(11);
    const MIN: u32 = fixed64(12);
    const MAX: u32 = fixed64(13);
    const ZERO_THRESHOLD: u32 = fixed64(14);
    let mut point = Point::default();
    let mut data = ExponentialHistogramPoint::default();
    let mut positive = ArenaVec::new_in(values.arena());
    let mut negative = ArenaVec::new_in(values.arena());
    while !message.is_done() {
        match message.key()? {
            ATTRIBUTE => {
                values.attributes(&mut message, attributes, &mut point.attributes)?;
            }
            START => point.start_ns = message.fixed64()?,
            TIME => point.time_ns = message.fixed64()?,
            COUNT => data.count = message.fixed64()?,
            SUM => data.sum = Some(message.double()?),
            SCALE => data.scale = zigzag(message.varint()?),
            ZERO_COUNT => data.zero_count = message.fixed64()?,
            POSITIVE => exponential_buckets(message.message()?, &mut data.positive.offset, &mut positive)?,
            NEGATIVE => exponential_buckets(message.message()?, &mut data.negative.offset, &mut negative)?,
            FLAGS => point.flags = message.uint32()?,
            EXEMPLARS => check(message.message()?, EXEMPLAR, values)?,
            MIN => data.min = Some(message.double()?),
            MAX => data.max = Some(message.double()?),
            ZERO_THRESHOLD => data.zero_threshold = message.double()?,
            other => message.skip(other, KnownFields::new(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]))?,
        }
    }
    (data.positive.counts, data.negative.counts) = (positive.into_bump_slice(), negative.into_bump_slice());
    point.data = PointData::ExponentialHistogram(values.arena().alloc(data));
    Ok(point)
}

/// `Buckets`, added to those of an earlier message for the same field. Counts may be packed or unpacked.
fn exponential_buckets<'a>(
    mut message: Reader<'a>,
    offset: &mut i32,
    counts: &mut ArenaVec<'a, u64>,
) -> Result<(), Fault> {
    const OFFSET: u32 = varint(1);
    const COUNTS: u32 = length(2);
    const COUNT: u32 = varint(2);
    while !message.is_done() {
        match message.key()? {
            OFFSET => *offset = zigzag(message.varint()?),
            COUNTS => {
                let mut list = message.message()?;
                while !list.is_done() {
                    counts.push(list.varint()?);
                }
            }
            COUNT => counts.push(message.varint()?),
            other => message.skip(other, KnownFields::new(&[1, 2]))?,
        }
    }
    Ok(())
}

/// The `sint32` that a varint encodes.
fn zigzag(encoded: u64) -> i32 {
    let encoded = encoded as u32;
    (encoded >> 1).cast_signed() ^ -(encoded & 1).cast_signed()
}

/// `SummaryDataPoint`.
pub(super) fn summary_point<'a>(
    mut message: Reader<'a>,
    attributes: &mut Vec<KeyValue<'a>>,
    values: &mut Values<'a>,
) -> Result<Point<'a>, Fault> {
    const COUNT: u32 = fixed64(4);
    const SUM: u32 = fixed64(5);
    const QUANTILE: u32 = length(6);
    const ATTRIBUTE: u32 = length(7);
    const FLAGS: u32 = varint(8);
    let mut point = Point::default();
    let mut data = SummaryPoint::default();
    let mut quantiles = ArenaVec::new_in(values.arena());
    while !message.is_done() {
        match message.key()? {
            START => point.start_ns = message.fixed64()?,
            TIME => point.time_ns = message.fixed64()?,
            COUNT => data.count = message.fixed64()?,
            SUM => data.sum = message.double()?,
            QUANTILE => quantiles.push(quantile(message.message()?)?),
            ATTRIBUTE => {
                values.attributes(&mut message, attributes, &mut point.attributes)?;
            }
            FLAGS => point.flags = message.uint32()?,
            other => message.skip(other, KnownFields::new(&[2, 3, 4, 5, 6, 7, 8]))?,
        }
    }
    data.quantiles = quantiles.into_bump_slice();
    point.data = PointData::Summary(data);
    Ok(point)
}

/// `ValueAtQuantile`.
fn quantile(mut message: Reader<'_>) -> Result<Quantile, Fault> {
    const QUANTILE: u32 = fixed64(1);
    const VALUE: u32 = fixed64(2);
    let mut quantile = Quantile::default();
    while !message.is_done() {
        match message.key()? {
            QUANTILE => quantile.quantile = message.double()?,
            VALUE => quantile.value = message.double()?,
            other => message.skip(other, KnownFields::new(&[1, 2]))?,
        }
    }
    Ok(quantile)
}
