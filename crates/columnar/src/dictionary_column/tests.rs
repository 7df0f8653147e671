//! The `parquet` crate reads back the rows that were written, and they lie within the bounds in the file.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, DictionaryArray, Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch,
    StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Float64Type, Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::{PageIndexPolicy, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use proptest::prelude::*;

use super::super::group_writer::GroupWriter;
use crate::page::rle_bit_packing;

type Strings = Vec<Option<String>>;

fn file(schema: &SchemaRef, batches: &[RecordBatch], group_rows: usize, statistics: EnabledStatistics) -> Bytes {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
        .set_max_row_group_row_count(Some(group_rows))
        .set_statistics_enabled(statistics)
        .build();
    let mut writer = GroupWriter::new(Vec::new(), Arc::clone(schema), properties, usize::MAX, || ()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    Bytes::from(writer.into_file().unwrap().finish().unwrap())
}

fn read(file: &Bytes, selection: Option<RowSelection>) -> Strings {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
    let mut builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap();
    if let Some(selection) = selection {
        builder = builder.with_row_selection(selection);
    }
    let batches = builder.build().unwrap().map(Result::unwrap);
    let strings = batches.flat_map(|batch| {
        let strings = arrow::compute::cast(batch.column(0), &DataType::Utf8).unwrap();
        strings.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>()
    });
    strings.collect()
}

/// Asserts that the bounds of each chunk contain its strings.
fn check_bounds(file: &Bytes, strings: &Strings) {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let metadata = ArrowReaderMetadata::load(file, options).unwrap();
    let mut start = 0;
    for group in metadata.metadata().row_groups() {
        let rows = &strings[start..start + group.num_rows() as usize];
        start += rows.len();
        let statistics = group.column(0).statistics().unwrap();
        assert_eq!(statistics.null_count_opt(), Some(rows.iter().filter(|text| text.is_none()).count() as u64));
        for text in rows.iter().flatten() {
            assert!(statistics.min_bytes_opt().unwrap() <= text.as_bytes(), "{text}");
            assert!(statistics.max_bytes_opt().unwrap() >= text.as_bytes(), "{text}");
        }
        for bound in [statistics.min_bytes_opt(), statistics.max_bytes_opt()].into_iter().flatten() {
            assert!(str::from_utf8(bound).is_ok());
        }
    }
}

fn text() -> impl Strategy<Value = Option<String>> {
    let long = prop_oneof!["[a-c]{60,70}", "[äöü\u{7f}~]{30,40}", "\u{7f}{70}"];
    prop_oneof![
        1 => Just(None),
        6 => prop::sample::select(vec!["", "a", "b", "GET /x"]).prop_map(|text| Some(text.to_owned())),
        2 => "[a-z]{0,3}".prop_map(Some),
        1 => long.prop_map(Some),
    ]
}

/// Sequences of equal strings.
fn strings() -> impl Strategy<Value = Strings> {
    let run = (text(), prop_oneof![1..4_usize, 5..40_usize]);
    prop::collection::vec(run, 1..40)
        .prop_map(|runs| runs.into_iter().flat_map(|(text, count)| vec![text; count]).collect())
}

fn schema(kind: DataType, nullable: bool) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("text", kind, nullable)]))
}

fn dictionary(strings: &Strings) -> ArrayRef {
    let mut values: Strings = Vec::new();
    let numbers: Int32Array = strings
        .iter()
        .map(|text| {
            let known = values.iter().position(|value| value == text).unwrap_or_else(|| {
                values.push(text.clone());
                values.len() - 1
            });
            Some(known as i32)
        })
        .collect();
    Arc::new(DictionaryArray::new(numbers, Arc::new(StringArray::from(values))))
}

proptest! {
    #[test]
    fn any_strings_are_read_back(strings in strings(), group_rows in 10..500_usize, batch_rows in 1..300_usize, with_numbers in any::<bool>()) {
        let array: ArrayRef = if with_numbers { dictionary(&strings) } else { Arc::new(StringArray::from(strings.clone())) };
        let schema = schema(array.data_type().clone(), true);
        let whole = RecordBatch::try_new(Arc::clone(&schema), vec![array]).unwrap();
        let slices = (0..strings.len()).step_by(batch_rows).map(|at| whole.slice(at, batch_rows.min(strings.len() - at)));
        let file = file(&schema, &slices.collect::<Vec<_>>(), group_rows, EnabledStatistics::Page);
        prop_assert_eq!(&read(&file, None), &strings);
        let half = strings.len() / 2;
        let second = RowSelection::from(vec![RowSelector::skip(half), RowSelector::select(strings.len() - half)]);
        prop_assert_eq!(&read(&file, Some(second))[..], &strings[half..]);
        check_bounds(&file, &strings);
    }

    #[test]
    fn packed_numbers_have_a_bounded_size(runs in prop::collection::vec((0..300_u32, 1..50_usize), 1..50)) {
        let numbers: Vec<u32> = runs.iter().flat_map(|(number, count)| vec![*number; *count]).collect();
        let mut bytes = Vec::new();
        rle_bit_packing::encode(9, &numbers, &mut bytes);
        prop_assert!(bytes.len() <= (numbers.len() + 8) * 9 / 8 + runs.len() * 6);
    }

    /// The format's bit order, for every width.
    #[test]
    fn packed_numbers_are_read_back(
        width in 1..=32_u8,
        runs in prop::collection::vec((any::<u32>(), prop_oneof![1..4_usize, 5..30_usize]), 0..30),
    ) {
        let numbers: Vec<u32> =
            runs.iter().flat_map(|(number, count)| vec![number >> (32 - width); *count]).collect();
        let mut bytes = Vec::new();
        rle_bit_packing::encode(width, &numbers, &mut bytes);
        prop_assert_eq!(unpacked(width, &bytes, numbers.len()), numbers);
    }

    /// Rows and bounds of chunks and pages equal those of the `parquet` crate's writer.
    #[test]
    fn any_numbers_are_read_back(
        runs in prop::collection::vec((prop_oneof![5 => (0..4_u64).prop_map(Some), 2 => any::<u64>().prop_map(Some), 1 => Just(None)], 1..30_usize), 1..40),
        kind in 0..6_usize,
        group_rows in 10..500_usize,
        nullable in any::<bool>(),
    ) {
        let numbers: Vec<Option<u64>> =
            runs.iter().flat_map(|(number, count)| vec![number.or((!nullable).then_some(7)); *count]).collect();
        let array = number_array(kind, &numbers);
        let schema = schema(array.data_type().clone(), nullable);
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).unwrap();
        let ours = file(&schema, std::slice::from_ref(&batch), group_rows, EnabledStatistics::Page);
        let theirs = their_file(&schema, &batch, group_rows);
        prop_assert_eq!(batches(&ours), batches(&theirs));
        for (ours, theirs) in groups(&ours).iter().zip(&groups(&theirs)) {
            let bounds = |group: &RowGroupMetaData| {
                let statistics = group.column(0).statistics().cloned();
                statistics.map(|s| (s.min_bytes_opt().map(<[u8]>::to_vec), s.max_bytes_opt().map(<[u8]>::to_vec), s.null_count_opt()))
            };
            prop_assert_eq!(bounds(ours), bounds(theirs));
        }
        prop_assert_eq!(page_bounds(&ours), page_bounds(&theirs));
    }
}

/// Decodes the output of [`rle_bit_packing::encode`].
fn unpacked(width: u8, mut bytes: &[u8], count: usize) -> Vec<u32> {
    let mut numbers = Vec::new();
    while numbers.len() < count {
        let (mut head, mut shift) = (0_u64, 0);
        loop {
            let (byte, rest) = bytes.split_first().unwrap();
            bytes = rest;
            head |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let length = (head >> 1) as usize;
        if head & 1 == 1 {
            let (packed, rest) = bytes.split_at(length * usize::from(width));
            bytes = rest;
            let bit = |at: usize| u32::from(packed[at / 8] >> (at % 8) & 1);
            let number = |n: usize| (0..usize::from(width)).map(|b| bit(n * usize::from(width) + b) << b).sum::<u32>();
            numbers.extend((0..length * 8).map(number));
        } else {
            let (number, rest) = bytes.split_at(usize::from(width.div_ceil(8)));
            bytes = rest;
            let mut whole = [0; 4];
            whole[..number.len()].copy_from_slice(number);
            numbers.extend(vec![u32::from_le_bytes(whole); length]);
        }
    }
    assert!(bytes.is_empty() && numbers[count..].iter().all(|number| *number == 0));
    numbers.truncate(count);
    numbers
}

fn number_array(kind: usize, numbers: &[Option<u64>]) -> ArrayRef {
    let all = numbers.iter().copied();
    match kind {
        0 => Arc::new(all.map(|n| n.map(|n| n as u8)).collect::<UInt8Array>()),
        1 => Arc::new(all.map(|n| n.map(|n| n as i16)).collect::<Int16Array>()),
        2 => Arc::new(all.map(|n| n.map(|n| n as u32)).collect::<UInt32Array>()),
        3 => Arc::new(all.collect::<UInt64Array>()),
        4 => Arc::new(all.map(|n| n.map(u64::cast_signed)).collect::<Int64Array>()),
        _ => Arc::new(all.map(|n| n.map(|n| n as f64 / 8.0 - 1e9)).collect::<Float64Array>()),
    }
}

/// The same rows written by the `parquet` crate.
fn their_file(schema: &SchemaRef, batch: &RecordBatch, group_rows: usize) -> Bytes {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group_rows))
        .set_statistics_enabled(EnabledStatistics::Page)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(schema), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    Bytes::from(writer.into_inner().unwrap())
}

fn batches(file: &Bytes) -> Vec<RecordBatch> {
    ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap().build().unwrap().map(Result::unwrap).collect()
}

fn groups(file: &Bytes) -> Vec<RowGroupMetaData> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    ArrowReaderMetadata::load(file, options).unwrap().metadata().row_groups().to_vec()
}

/// The bounds of every page of every row group.
fn page_bounds(file: &Bytes) -> Vec<String> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let metadata = ArrowReaderMetadata::load(file, options).unwrap();
    let metadata = metadata.metadata();
    let groups = 0..metadata.num_row_groups();
    let schema = metadata.file_metadata().schema_descr();
    let arrow = parquet::arrow::parquet_to_arrow_schema(schema, None).unwrap();
    let statistics = StatisticsConverter::try_new("text", &arrow, schema).unwrap();
    let index = metadata.page_index().unwrap().as_ref();
    let groups: Vec<usize> = groups.collect();
    let low = statistics.data_page_mins(index, &groups).unwrap();
    let high = statistics.data_page_maxes(index, &groups).unwrap();
    vec![format!("{low:?}"), format!("{high:?}")]
}

proptest! {
    /// Long and short ranges of string arrays and of dictionary arrays.
    #[test]
    fn strings_are_taken_from_several_arrays(
        strings in strings(),
        runs in prop::collection::vec((0..2_usize, any::<usize>(), prop_oneof![1..3_usize, 1..900_usize]), 1..40),
        group_rows in 10..2000_usize,
    ) {
        let repeated: Strings = strings.iter().flat_map(|text| vec![text.clone(); 9]).collect();
        let arrays: [ArrayRef; 2] = [Arc::new(StringArray::from(repeated.clone())), dictionary(&repeated)];
        let places: Vec<(usize, usize)> = runs
            .into_iter()
            .flat_map(|(array, row, length)| {
                let start = row % repeated.len();
                (start..repeated.len().min(start + length)).map(move |row| (array, row))
            })
            .collect();
        let batches = arrays.map(|array| {
            let schema = schema(array.data_type().clone(), true);
            RecordBatch::try_new(schema, vec![array]).unwrap()
        });
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(group_rows))
            .set_statistics_enabled(EnabledStatistics::Page)
            .build();
        let mut writer = GroupWriter::new(Vec::new(), batches[0].schema(), properties, usize::MAX, || ()).unwrap();
        writer.write_from(&[&batches[0], &batches[1]], &places).unwrap();
        let file = Bytes::from(writer.into_file().unwrap().finish().unwrap());
        let expected: Strings = places.iter().map(|(_, row)| repeated[*row].clone()).collect();
        prop_assert_eq!(&read(&file, None), &expected);
        check_bounds(&file, &expected);
    }
}

#[test]
fn a_chunk_with_nan_has_no_bounds() {
    let schema = schema(DataType::Float64, false);
    let array: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::NAN, 2.0]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).unwrap();
    let file = file(&schema, &[batch], 100, EnabledStatistics::Page);
    assert!(groups(&file)[0].column(0).statistics().is_none());
    assert_eq!(batches(&file)[0].num_rows(), 3);
}

/// Both zeros compare equal, but have different bits.
#[test]
fn zero_and_minus_zero_are_two_values() {
    let schema = schema(DataType::Float64, false);
    let numbers: Vec<f64> = (0..20_000).map(|n| if n % 3 == 0 { -0.0 } else { 0.0 }).collect();
    let array: ArrayRef = Arc::new(Float64Array::from(numbers.clone()));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).unwrap();
    let file = file(&schema, &[batch], 64 * 1024, EnabledStatistics::Page);
    let bits = |batch: &RecordBatch| {
        let numbers = batch.column(0).as_primitive::<Float64Type>().values();
        numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>()
    };
    let expected: Vec<u64> = numbers.iter().map(|number| number.to_bits()).collect();
    assert_eq!(batches(&file).iter().flat_map(bits).collect::<Vec<_>>(), expected);
}

/// Columns of many pages, one with too many values for a useful dictionary.
#[test]
fn large_columns_are_read_back() {
    let distinct: Strings = (0..40_000).map(|n| Some(format!("{n:040}"))).collect();
    let few: Strings = (0..40_000).map(|n| (n % 7 > 0).then(|| format!("{}", n / 1000))).collect();
    for strings in [distinct, few] {
        let schema = schema(DataType::Utf8, true);
        let array: ArrayRef = Arc::new(StringArray::from(strings.clone()));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).unwrap();
        let file = file(&schema, &[batch], 64 * 1024, EnabledStatistics::Page);
        let selected =
            RowSelection::from(vec![RowSelector::skip(20_000), RowSelector::select(9000), RowSelector::skip(11_000)]);
        assert_eq!(read(&file, None), strings);
        assert_eq!(read(&file, Some(selected))[..], strings[20_000..29_000]);
        check_bounds(&file, &strings);
    }
}

#[test]
fn a_column_without_nulls_has_no_levels() {
    let strings: Strings = vec![Some("x".to_owned()); 20_000];
    let schema = schema(DataType::Utf8, false);
    let array: ArrayRef = Arc::new(StringArray::from(strings.clone()));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).unwrap();
    let file = file(&schema, &[batch], 64 * 1024, EnabledStatistics::Chunk);
    assert_eq!(read(&file, None), strings);
}
