//! Reads metric points.

use bumpalo::collections::Vec as ArenaVec;

use super::check::{EXEMPLAR, EXPONENTIAL_POINT, SUMMARY_POINT, Shape, check, check_field};
use super::reader::{KnownFields, Reader, fixed64, length, varint};
use super::value::Values;
use crate::decode::fault::Fault;
use crate::decode::histogram;
use crate::model::{HistogramPoint, KeyValue, Point, PointData};

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

/// Keys of the common fields in the points of an unstored kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unstored {
    pub attribute: u32,
    pub flags: u32,
    /// The other fields.
    pub rest: Shape,
}

pub(super) const EXPONENTIAL: Unstored = Unstored { attribute: length(1), flags: varint(10), rest: EXPONENTIAL_POINT };
pub(super) const SUMMARY: Unstored = Unstored { attribute: length(7), flags: varint(8), rest: SUMMARY_POINT };

/// A point of an unstored kind: attributes, times and flags, so that it can be counted as dropped.
pub(super) fn unstored_point<'a>(
    mut message: Reader<'a>,
    attributes: &mut Vec<KeyValue<'a>>,
    values: &mut Values<'a>,
    layout: Unstored,
) -> Result<Point<'a>, Fault> {
    let read = KnownFields::new(&[2, 3]).with(layout.attribute >> 3).with(layout.flags >> 3);
    let mut point = Point::default();
    while !message.is_done() {
        match message.key()? {
            START => point.start_ns = message.fixed64()?,
            TIME => point.time_ns = message.fixed64()?,
            key if key == layout.attribute => {
                values.attributes(&mut message, attributes, &mut point.attributes)?;
            }
            key if key == layout.flags => point.flags = message.uint32()?,
            key => check_field(&mut message, key, layout.rest, read, values)?,
        }
    }
    Ok(point)
}
