//! Doubles with their last bits rounded off: the oracle's JSON reader is not exact in the last one.

use bumpalo::Bump;
use tidewatch_domain::model::{AnyValue, KeyValue, LogBatch, MetricBatch, PointData, TraceBatch};

fn double(number: f64) -> f64 {
    if number.is_finite() { f64::from_bits((number.to_bits() + (1 << 11)) & !0xfff) } else { number }
}

fn value<'a>(value: AnyValue<'a>, arena: &'a Bump) -> AnyValue<'a> {
    match value {
        AnyValue::Double(number) => AnyValue::Double(double(number)),
        AnyValue::Array(elements) => {
            AnyValue::Array(arena.alloc_slice_fill_iter(elements.iter().map(|element| self::value(*element, arena))))
        }
        AnyValue::Map(pairs) => {
            AnyValue::Map(arena.alloc_slice_fill_iter(pairs.iter().map(|pair| self::pair(*pair, arena))))
        }
        other => other,
    }
}

fn pair<'a>(pair: KeyValue<'a>, arena: &'a Bump) -> KeyValue<'a> {
    KeyValue { value: value(pair.value, arena), ..pair }
}

fn pairs<'a>(list: &mut [KeyValue<'a>], arena: &'a Bump) {
    list.iter_mut().for_each(|kept| *kept = pair(*kept, arena));
}

pub fn traces<'a>(mut batch: TraceBatch<'a>, arena: &'a Bump) -> TraceBatch<'a> {
    pairs(&mut batch.attributes, arena);
    batch
}

pub fn logs<'a>(mut batch: LogBatch<'a>, arena: &'a Bump) -> LogBatch<'a> {
    pairs(&mut batch.attributes, arena);
    for record in &mut batch.records {
        record.body = value(record.body, arena);
    }
    batch
}

pub fn metrics<'a>(mut batch: MetricBatch<'a>, arena: &'a Bump) -> MetricBatch<'a> {
    pairs(&mut batch.attributes, arena);
    for point in &mut batch.points {
        match &mut point.data {
            PointData::Double(number) => *number = double(*number),
            PointData::Histogram(data) => {
                for number in [&mut data.sum, &mut data.min, &mut data.max].into_iter().flatten() {
                    *number = double(*number);
                }
                data.bounds = arena.alloc_slice_fill_iter(data.bounds.iter().map(|bound| double(*bound)));
            }
            PointData::Empty | PointData::Int(_) => {}
        }
    }
    batch
}
