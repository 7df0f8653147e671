//! Metric points of many series; the points of a series are grouped in memory, in a flush and in a merge.

use arrow::array::RecordBatch;
use tidewatch_domain::model::{AnyValue, KeyValue, Signal};
use tidewatch_domain::wire;
use tidewatch_journal::Position;
use tidewatch_store::TelemetryStore;

use super::support::*;
use crate::sort::SortKeys;
use crate::{Lake, LakeOptions, MergeOptions};
use tidewatch_store::columns::{NO_KEY, Rows, TableBuffer};
use tidewatch_store::tables::Table;

const SERIES: u64 = 37;
const REQUESTS: u64 = 60;
const REQUEST_POINTS: u64 = 500;

/// Points of all series in turn. Every fifth series has histograms; some points are late.
fn request(number: u64) -> Rows {
    let mut buffer = TableBuffer::new(Table::MetricPoints);
    for point in number * REQUEST_POINTS..(number + 1) * REQUEST_POINTS {
        let series = point * 7 % SERIES;
        let late = if point % 91 == 0 { 40 } else { 0 };
        let time = TODAY_NS + (point / SERIES) as i64 * SECOND_NS - late * SECOND_NS;
        let mut attributes = Vec::new();
        let zone = ["a", "b", "c"][series as usize % 3];
        let pairs = [
            KeyValue { key: "shard", value: AnyValue::Int(series as i64) },
            KeyValue { key: "zone", value: AnyValue::Str(zone) },
        ];
        wire::encode_attributes(&pairs[..1 + series as usize % 2], &mut attributes);
        let is_histogram = series.is_multiple_of(5);
        let mut row = buffer.row();
        row.u32(1 + (series % 2) as u32).text(["load", "orders"][series as usize % 2]).i64(time).i64(time - 9);
        row.f64((point % 100) as f64 - 0.5)
            .u8(1)
            .u8(series as u8 % 3)
            .bool(series.is_multiple_of(3))
            .text("ms")
            .text("");
        row.u64(series.wrapping_mul(0x9E37_79B9_7F4A_7C15)).text("shop").bytes(&attributes).bytes(&[]).text("scope");
        row.optional_bytes(is_histogram.then_some(&[1, 2, 3])).optional_bytes(is_histogram.then_some(&[point as u8]));
        row.optional_i64((point % 7 == 0).then_some(i64::MAX - point as i64));
    }
    Rows::from_buffer(1, Signal::Metrics, buffer)
}

fn is_sorted(batches: &[RecordBatch]) -> bool {
    let mut keys = SortKeys::new(Table::MetricPoints).unwrap();
    batches.iter().all(|batch| {
        let rows = keys.of(batch).unwrap();
        (1..batch.num_rows()).all(|row| rows.row(row - 1) <= rows.row(row))
    })
}

#[test]
fn points_are_read_back_unchanged() {
    let (bench, other) = (Bench::new(1), Bench::new(2));
    let open = |bench: &Bench| {
        let merge = MergeOptions { fan_in: 3, ..MergeOptions::default() };
        Lake::open(LakeOptions { merge, ..bench.options() }).unwrap()
    };
    let (lake, plain) = (open(&bench), open(&other));
    for number in 0..REQUESTS {
        lake.apply(Position(number + 1), NO_KEY, TODAY_NS, request(number));
        if number % 20 == 19 {
            // In memory, some are grouped.
            let in_memory = contents(&lake, Table::MetricPoints);
            lake.flush().unwrap();
            assert!(contents(&lake, Table::MetricPoints) == in_memory);
        }
    }
    // A single request has too few points to be grouped.
    for number in 0..REQUESTS {
        plain.apply(Position(number + 1), NO_KEY, TODAY_NS, request(number));
        if number % 10 == 9 {
            plain.flush().unwrap();
        }
    }
    let expected = contents(&plain, Table::MetricPoints);
    assert_eq!(expected.len() as u64, REQUESTS * REQUEST_POINTS);
    assert!(contents(&lake, Table::MetricPoints) == expected);
    for lake in [lake, plain] {
        assert!(is_sorted(&batches(&lake, Table::MetricPoints)));
        lake.merge(TODAY_NS + 2 * DAY_NS).unwrap();
        // Late points of the first seconds of the day belong to the day before.
        assert_eq!(lake.stats().tables[Table::MetricPoints as usize].parts, 2);
        assert!(contents(&lake, Table::MetricPoints) == expected);
        assert!(is_sorted(&batches(&lake, Table::MetricPoints)));
    }
}
