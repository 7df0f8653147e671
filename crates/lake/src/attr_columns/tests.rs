//! Splitting and folding restore every byte.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, RecordBatch};
use arrow::datatypes::{DataType, Int64Type};
use proptest::prelude::*;
use tidewatch_domain::model::{AnyValue, KeyValue};
use tidewatch_domain::wire;

use super::*;
use tidewatch_store::tables::Table;
use tidewatch_store::{arrow_schema, memory_schema};

/// A batch of the metric table with these encoded attributes; every other cell is empty.
fn batch(attributes: &[Vec<u8>]) -> RecordBatch {
    with_column("attributes", Arc::new(BinaryArray::from_iter_values(attributes)))
}

/// A batch of the metric table with this column; every other cell is empty.
fn with_column(name: &str, array: ArrayRef) -> RecordBatch {
    let rows = array.len();
    let is_shared = matches!(array.data_type(), DataType::Dictionary(_, _));
    let schema = if is_shared { memory_schema(Table::MetricPoints) } else { arrow_schema(Table::MetricPoints) };
    let columns = schema.fields().iter().map(|field| -> ArrayRef {
        if field.name() == name {
            return Arc::clone(&array);
        }
        match field.data_type() {
            DataType::Binary | DataType::Utf8 | DataType::Dictionary(..) => {
                let empty = arrow::array::StringArray::from_iter_values((0..rows).map(|_| ""));
                arrow::compute::cast(&empty, field.data_type()).unwrap()
            }
            other => arrow::compute::cast(&arrow::array::UInt8Array::from(vec![0; rows]), other)
                .unwrap_or_else(|_| Arc::new(arrow::array::BooleanArray::from(vec![false; rows]))),
        }
    });
    RecordBatch::try_new(schema.clone(), columns.collect()).unwrap()
}

fn encode(pairs: &[(&str, AnyValue<'_>)]) -> Vec<u8> {
    let pairs: Vec<KeyValue<'_>> = pairs.iter().map(|(key, value)| KeyValue { key, value: *value }).collect();
    let mut bytes = Vec::new();
    wire::encode_attributes(&pairs, &mut bytes);
    bytes
}

fn columns(keys: &[AttrKey], incomplete: &str) -> AttrColumns {
    let incomplete: Vec<usize> = incomplete.split(',').filter_map(|number| number.parse().ok()).collect();
    let column = |(number, key): (usize, &AttrKey)| AttrColumn {
        name: key.column(),
        encoded: key.encoded,
        key: key.key.clone(),
        is_int: key.is_int,
        complete: !incomplete.contains(&number),
    };
    AttrColumns { columns: keys.iter().enumerate().map(column).collect() }
}

#[test]
fn merged_parts_have_the_union_of_their_columns() {
    let key = |key: &str, is_int| AttrKey { encoded: "attributes", key: key.to_owned(), is_int };
    let keys = [key("a", false), key("b", true)];
    let merged = |all: &[AttrColumns]| AttrColumns::merged(&all.iter().cloned().map(Arc::new).collect::<Vec<_>>());
    let same = [columns(&keys, ""), columns(&keys, "1")];
    assert_eq!(merged(&same), Some((keys.to_vec(), vec![false, true])), "not complete in one, not complete in all");
    assert_eq!(same[0].places(&keys), None, "as they are");
    let less = columns(&keys[1..], "");
    assert_eq!(merged(&[less.clone(), columns(&keys, "")]), Some((keys.to_vec(), vec![true, false])), "one has no a");
    assert_eq!(less.places(&keys), Some(vec![None, Some(0)]));
    assert_eq!(merged(&[columns(&keys, ""), columns(&[key("b", false)], "")]), None, "other types");
    assert_eq!(merged(&[columns(&keys, ""), columns(&[], "")]), None, "all of one are encoded");
    assert_eq!(merged(&[columns(&[], ""), columns(&[], "")]), None, "merged, they may be worth splitting");
    let many: Vec<AttrKey> = (10..60).map(|number| key(&number.to_string(), false)).collect();
    assert_eq!(merged(&[columns(&many[..30], ""), columns(&many[20..], "")]), None, "too many");
}

#[test]
fn attributes_with_a_column_keep_it_at_lower_counts() {
    let with = |rare: usize| {
        let rows: Vec<_> =
            (0..640).map(|row| encode(&[(if row < rare { "rare" } else { "x" }, AnyValue::Int(1))])).collect();
        batch(&rows)
    };
    let names = |keys: &[AttrKey]| keys.iter().map(|key| key.key.clone()).collect::<Vec<_>>();
    let before = choose(&[with(10)], &[]);
    assert_eq!(names(&before), ["rare", "x"]);
    assert_eq!(names(&choose(&[with(9)], &[])), ["x"]);
    assert_eq!(names(&choose(&[with(3)], &before)), ["rare", "x"]);
    assert_eq!(names(&choose(&[with(2)], &before)), ["x"]);
}

#[test]
fn frequent_keys_leave_the_encoded_column() {
    use AnyValue::{Bool, Int, Str};
    let rows = [
        encode(&[("a", Str("x")), ("b", Int(-5)), ("c", Bool(true))]),
        encode(&[("a", Str("")), ("b", Str("five"))]),
        encode(&[("", Int(1)), ("a", Str("y")), ("a", Str("z")), ("b", Int(i64::MAX))]),
        encode(&[("b", Int(0)), ("a", Str("unsorted"))]),
        encode(&[]),
    ];
    let batch = batch(&rows);
    let keys = choose(std::slice::from_ref(&batch), &[]);
    let names: Vec<(&str, bool)> = keys.iter().map(|key| (key.key.as_str(), key.is_int)).collect();
    assert_eq!(names, [("a", false), ("b", true)]);

    let mut splitter = Splitter::new(Table::MetricPoints, keys.clone(), false);
    let split = splitter.split(&batch).unwrap();
    let text = split.column_by_name("attributes.a").unwrap().as_string::<i32>();
    let values: Vec<Option<&str>> = text.iter().collect();
    assert_eq!(values, [Some("x"), Some(""), None, None, None]);
    let int = split.column_by_name("attributes.b").unwrap().as_primitive::<Int64Type>();
    assert_eq!(int.iter().collect::<Vec<_>>(), [Some(-5), None, Some(i64::MAX), None, None]);
    let rest = split.column_by_name("attributes").unwrap().as_binary::<i32>();
    assert_eq!(rest.value(0), encode(&[("c", Bool(true))]));
    assert_eq!(rest.value(1), encode(&[("b", Str("five"))]));
    assert_eq!(rest.value(2), encode(&[("", Int(1)), ("a", Str("y")), ("a", Str("z"))]));
    assert_eq!(rest.value(3), rows[3], "an unsorted row stays whole");

    let columns = columns(&keys, &splitter.incomplete());
    assert!(columns.columns.iter().all(|column| !column.complete));
    assert_eq!(columns.fold(&split).unwrap(), batch);
}

#[test]
fn a_column_is_complete_when_no_value_stays_encoded() {
    let rows = [encode(&[("a", AnyValue::Str("x"))]), encode(&[("b", AnyValue::Int(1))])];
    let batch = batch(&rows);
    let keys = choose(std::slice::from_ref(&batch), &[]);
    let mut splitter = Splitter::new(Table::MetricPoints, keys, false);
    let split = splitter.split(&batch).unwrap();
    assert_eq!(splitter.incomplete(), "");
    let rest = split.column_by_name("attributes").unwrap().as_binary::<i32>();
    assert!((0..rest.len()).all(|row| rest.value(row).is_empty()));
}

#[test]
fn samples_are_not_periodic() {
    for (count, period) in [(8192, 8), (8192, 32), (10_000, 40), (65_536, 256)] {
        let rows = sample_rows(count);
        assert!(rows.len() <= SAMPLE_ROWS && rows.is_sorted() && rows.iter().all(|row| (*row as usize) < count));
        let mut positions: Vec<u32> = rows.iter().map(|row| row % period).collect();
        positions.sort_unstable();
        positions.dedup();
        assert!(positions.len() > period as usize / 2, "{} of {period} in {count}", positions.len());
    }
    for count in 0..600 {
        let rows = sample_rows(count);
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]) && rows.last().is_none_or(|row| (*row as usize) < count));
        assert_eq!(rows.is_empty(), count == 0);
    }
}

#[test]
fn rare_and_oversized_keys_stay_encoded() {
    let long = "k".repeat(200);
    let mut rows = vec![encode(&[("common", AnyValue::Int(1)), (&long, AnyValue::Int(1))]); 128];
    rows[5] = encode(&[("common", AnyValue::Int(1)), ("rare", AnyValue::Int(1))]);
    let keys = choose(&[batch(&rows)], &[]);
    assert_eq!(keys.iter().map(|key| key.key.as_str()).collect::<Vec<_>>(), ["common"]);
    let many: Vec<Vec<u8>> = (0..100)
        .map(|_| {
            let keys: Vec<String> = (0..100).map(|n| format!("key{n:03}")).collect();
            encode(&keys.iter().map(|key| (key.as_str(), AnyValue::Int(1))).collect::<Vec<_>>())
        })
        .collect();
    assert_eq!(choose(&[batch(&many)], &[]).len(), 32);
}

fn value() -> impl Strategy<Value = AnyValue<'static>> {
    prop_oneof![
        prop_oneof![Just("x"), Just(""), Just("zwölf")].prop_map(AnyValue::Str),
        any::<i64>().prop_map(AnyValue::Int),
        any::<bool>().prop_map(AnyValue::Bool),
        Just(AnyValue::Empty),
        Just(AnyValue::Double(0.5)),
    ]
}

/// Damage to a row's bytes.
#[derive(Debug, Clone)]
enum Damage {
    None,
    Cut(usize),
    Changed(usize, u8),
    /// A string that is not UTF-8.
    NotText,
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match *self {
            Damage::None => {}
            Damage::Cut(at) => bytes.truncate(at),
            Damage::Changed(at, byte) => bytes.iter_mut().skip(at).take(1).for_each(|old| *old = byte),
            Damage::NotText => bytes.extend_from_slice(&[10, 9, 10, 2, b'z', b'z', 18, 3, 10, 1, 0xff]),
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        6 => Just(Damage::None),
        1 => (0..40_usize).prop_map(Damage::Cut),
        2 => (0..40_usize, any::<u8>()).prop_map(|(at, byte)| Damage::Changed(at, byte)),
        1 => Just(Damage::NotText),
    ]
}

proptest! {
    #[test]
    fn rows_are_restored(
        rows in prop::collection::vec(prop::collection::vec((prop::sample::select(vec!["", "a", "b", "b.c", "d"]), value()), 0..6), 1..20),
        sorted in any::<bool>(),
    ) {
        let encoded: Vec<Vec<u8>> = rows
            .into_iter()
            .map(|mut row| {
                if sorted { row.sort_by_key(|(key, _)| *key) }
                encode(&row)
            })
            .collect();
        let batch = batch(&encoded);
        let keys = choose(std::slice::from_ref(&batch), &[]);
        let mut splitter = Splitter::new(Table::MetricPoints, keys.clone(), false);
        let split = splitter.split(&batch).unwrap();
        prop_assert_eq!(columns(&keys, &splitter.incomplete()).fold(&split).unwrap(), batch);
    }

    /// A shared column split once per value equals the same column split row by row.
    #[test]
    fn shared_values_are_split_like_their_rows(
        values in prop::collection::vec(prop::collection::vec((prop::sample::select(vec!["a", "b", "b.c", "d"]), value()), 0..5), 1..5),
        rows in prop::collection::vec(0..100_usize, 1..30),
    ) {
        let values: Vec<Vec<u8>> = values.iter().map(|pairs| encode(pairs)).collect();
        let encoded: Vec<Vec<u8>> = rows.iter().map(|row| values[row % values.len()].clone()).collect();
        let plain = with_column("resource", Arc::new(BinaryArray::from_iter_values(&encoded)));
        let numbers = rows.iter().map(|row| (row % values.len()) as i32);
        let shared = arrow::array::DictionaryArray::<arrow::datatypes::Int32Type>::new(
            numbers.collect::<Vec<_>>().into(),
            Arc::new(BinaryArray::from_iter_values(&values)),
        );
        let shared = with_column("resource", Arc::new(shared));
        let keys = choose(std::slice::from_ref(&plain), &[]);
        let mut by_row = Splitter::new(Table::MetricPoints, keys.clone(), false);
        let mut by_value = Splitter::new(Table::MetricPoints, keys, true);
        let (by_row, by_value) = (by_row.split(&plain).unwrap(), by_value.split(&shared).unwrap());
        for (field, column) in by_row.schema().fields().iter().zip(by_value.columns()) {
            let column = arrow::compute::cast(column, field.data_type()).unwrap();
            prop_assert_eq!(&column, by_row.column_by_name(field.name()).unwrap(), "{}", field.name());
        }
    }

    /// The cache of pairs does not change the result.
    #[test]
    fn cached_pairs_are_split_like_parsed_pairs(
        rows in prop::collection::vec(prop::collection::vec((prop::sample::select(vec!["", "a", "b", "b.c", "d", "zz"]), value()), 0..7), 1..8),
        order in prop::collection::vec((any::<usize>(), any::<bool>(), damage()), 1..60),
        distinct in 0..80_usize,
        as_numbers in any::<bool>(),
    ) {
        let row = |(row, sorted, damage): &(usize, bool, Damage)| {
            let mut pairs = rows[row % rows.len()].clone();
            if *sorted { pairs.sort_by_key(|(key, _)| *key) }
            let mut bytes = encode(&pairs);
            damage.apply(&mut bytes);
            bytes
        };
        // Strings that occur once, and some of them again.
        let once = (0..distinct * 2).map(|number| encode(&[("a", AnyValue::Str(&(number % distinct).to_string()))]));
        let encoded = BinaryArray::from_iter_values(order.iter().map(row).chain(once).chain(order.iter().map(row)));
        let keys = ["a", "b", "b.c", "c", "zz"].map(|key| AttrKey {
            encoded: "attributes",
            key: key.to_owned(),
            is_int: key == "b",
        });
        let quick = rows::split(&encoded, &keys, as_numbers);
        let slow = rows::split_slowly(&encoded, &keys, false);
        prop_assert_eq!(quick.rest, slow.rest);
        prop_assert_eq!(quick.is_incomplete, slow.is_incomplete);
        for (quick, slow) in quick.extra.iter().zip(&slow.extra) {
            prop_assert_eq!(&arrow::compute::cast(quick, slow.data_type()).unwrap(), slow);
        }
    }

    #[test]
    fn arbitrary_bytes_are_restored(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let batch = batch(&[bytes, encode(&[("a", AnyValue::Int(1))])]);
        let keys = choose(std::slice::from_ref(&batch), &[]);
        let mut splitter = Splitter::new(Table::MetricPoints, keys.clone(), false);
        let split = splitter.split(&batch).unwrap();
        prop_assert_eq!(columns(&keys, &splitter.incomplete()).fold(&split).unwrap(), batch);
    }
}
