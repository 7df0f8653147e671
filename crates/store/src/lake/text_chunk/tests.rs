//! What is written is read back by the `parquet` crate, and lies between the bounds that the file tells.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use proptest::prelude::*;

use super::super::group_writer::GroupWriter;
use super::hybrid;

type Texts = Vec<Option<String>>;

fn file(schema: &SchemaRef, batches: &[RecordBatch], group_rows: usize, statistics: EnabledStatistics) -> Bytes {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
        .set_max_row_group_row_count(Some(group_rows))
        .set_statistics_enabled(statistics)
        .build();
    let mut writer = GroupWriter::new(Vec::new(), Arc::clone(schema), properties, usize::MAX).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    Bytes::from(writer.into_file().unwrap().into_inner().unwrap())
}

fn read(file: &Bytes, selection: Option<RowSelection>) -> Texts {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
    let mut builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap();
    if let Some(selection) = selection {
        builder = builder.with_row_selection(selection);
    }
    let batches = builder.build().unwrap().map(Result::unwrap);
    let texts = batches.flat_map(|batch| {
        let texts = arrow::compute::cast(batch.column(0), &DataType::Utf8).unwrap();
        texts.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>()
    });
    texts.collect()
}

/// Bounds of chunks and pages hold every text of theirs.
fn check_bounds(file: &Bytes, texts: &Texts) {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let metadata = ArrowReaderMetadata::load(file, options).unwrap();
    let mut start = 0;
    for group in metadata.metadata().row_groups() {
        let rows = &texts[start..start + group.num_rows() as usize];
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

/// Runs of equal texts.
fn texts() -> impl Strategy<Value = Texts> {
    let run = (text(), prop_oneof![1..4_usize, 5..40_usize]);
    prop::collection::vec(run, 1..40)
        .prop_map(|runs| runs.into_iter().flat_map(|(text, count)| vec![text; count]).collect())
}

fn schema(kind: DataType, nullable: bool) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("text", kind, nullable)]))
}

fn dictionary(texts: &Texts) -> ArrayRef {
    let mut values: Texts = Vec::new();
    let numbers: Int32Array = texts
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
    fn any_texts_come_back(texts in texts(), group_rows in 10..500_usize, batch_rows in 1..300_usize, with_numbers in any::<bool>()) {
        let array: ArrayRef = if with_numbers { dictionary(&texts) } else { Arc::new(StringArray::from(texts.clone())) };
        let schema = schema(array.data_type().clone(), true);
        let whole = RecordBatch::try_new(Arc::clone(&schema), vec![array]).unwrap();
        let slices = (0..texts.len()).step_by(batch_rows).map(|at| whole.slice(at, batch_rows.min(texts.len() - at)));
        let file = file(&schema, &slices.collect::<Vec<_>>(), group_rows, EnabledStatistics::Page);
        prop_assert_eq!(&read(&file, None), &texts);
        let half = texts.len() / 2;
        let second = RowSelection::from(vec![RowSelector::skip(half), RowSelector::select(texts.len() - half)]);
        prop_assert_eq!(&read(&file, Some(second))[..], &texts[half..]);
        check_bounds(&file, &texts);
    }

    #[test]
    fn packed_numbers_take_no_more_room_than_they_should(runs in prop::collection::vec((0..300_u32, 1..50_usize), 1..50)) {
        let numbers: Vec<u32> = runs.iter().flat_map(|(number, count)| vec![*number; *count]).collect();
        let mut bytes = Vec::new();
        hybrid::encode(9, &numbers, &mut bytes);
        prop_assert!(bytes.len() <= (numbers.len() + 8) * 9 / 8 + runs.len() * 6);
    }
}

/// Many pages, and values too many for a dictionary to be of use.
#[test]
fn large_columns_come_back() {
    let distinct: Texts = (0..40_000).map(|n| Some(format!("{n:040}"))).collect();
    let few: Texts = (0..40_000).map(|n| (n % 7 > 0).then(|| format!("{}", n / 1000))).collect();
    for texts in [distinct, few] {
        let schema = schema(DataType::Utf8, true);
        let array: ArrayRef = Arc::new(StringArray::from(texts.clone()));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).unwrap();
        let file = file(&schema, &[batch], 64 * 1024, EnabledStatistics::Page);
        let selected =
            RowSelection::from(vec![RowSelector::skip(20_000), RowSelector::select(9000), RowSelector::skip(11_000)]);
        assert_eq!(read(&file, None), texts);
        assert_eq!(read(&file, Some(selected))[..], texts[20_000..29_000]);
        check_bounds(&file, &texts);
    }
}

#[test]
fn a_column_that_is_always_there_has_no_levels() {
    let texts: Texts = vec![Some("x".to_owned()); 20_000];
    let schema = schema(DataType::Utf8, false);
    let array: ArrayRef = Arc::new(StringArray::from(texts.clone()));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).unwrap();
    let file = file(&schema, &[batch], 64 * 1024, EnabledStatistics::Chunk);
    assert_eq!(read(&file, None), texts);
}
