//! The `parquet` crate reads back the rows that were written, and the metadata equals that of the crate's own writer.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, Float64Array, Int64Array, RecordBatch,
    StringArray, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::schema::types::ColumnPath;
use proptest::prelude::*;

use super::super::group_writer::GroupWriter;
use super::*;
use crate::page::PAGE_ROWS;

fn schema() -> SchemaRef {
    let field = |name: &str, kind, nullable| Field::new(name, kind, nullable);
    Arc::new(Schema::new(vec![
        field("id8", DataType::FixedSizeBinary(8), false),
        field("id16", DataType::FixedSizeBinary(16), false),
        field("sorted16", DataType::FixedSizeBinary(16), false),
        field("u64", DataType::UInt64, false),
        field("time", DataType::Int64, false),
        field("maybe_time", DataType::Int64, true),
        field("value", DataType::Float64, false),
        field("maybe_value", DataType::Float64, true),
        field("flag", DataType::Boolean, false),
        field("maybe_flag", DataType::Boolean, true),
        field("bytes", DataType::Binary, false),
        field("maybe_text", DataType::Utf8, true),
    ]))
}

fn properties(group_rows: usize, compression: Compression, statistics: EnabledStatistics) -> WriterProperties {
    let path = |name: &str| ColumnPath::new(vec![name.to_owned()]);
    let mut builder = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(group_rows))
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_statistics_enabled(statistics);
    for name in ["id8", "id16", "sorted16", "u64", "time", "maybe_time", "value", "maybe_value"] {
        builder = builder.set_column_dictionary_enabled(path(name), false);
    }
    // Strings without a dictionary have no statistics.
    for name in ["bytes", "maybe_text"] {
        builder = builder
            .set_column_dictionary_enabled(path(name), false)
            .set_column_statistics_enabled(path(name), EnabledStatistics::None);
    }
    for name in ["time", "maybe_time"] {
        builder = builder.set_column_encoding(path(name), Encoding::DELTA_BINARY_PACKED);
    }
    builder.set_column_bloom_filter_fpp(path("id16"), 0.04).build()
}

/// Rows of all columns, derived from a few numbers each.
fn batch(rows: &[(u64, Option<i64>)]) -> RecordBatch {
    let ids = |length: usize| -> ArrayRef {
        let ids = rows.iter().map(|(number, _)| {
            let mut id = vec![0; length];
            id[length - 8..].copy_from_slice(&number.to_be_bytes());
            id[0] ^= *number as u8;
            id
        });
        Arc::new(FixedSizeBinaryArray::try_from_iter(ids).unwrap())
    };
    let numbers = || rows.iter().map(|(number, _)| *number);
    let maybe = || rows.iter().map(|(_, maybe)| *maybe);
    let float = |bits: u64| if bits.is_multiple_of(5) { f64::from_bits(bits) } else { bits as f64 / 2.0 };
    let mut sorted: Vec<[u8; 16]> = numbers().map(|number| (u128::from(number) << 40).to_be_bytes()).collect();
    sorted.sort_unstable();
    let columns: Vec<ArrayRef> = vec![
        ids(8),
        ids(16),
        Arc::new(FixedSizeBinaryArray::try_from_iter(sorted.into_iter()).unwrap()),
        Arc::new(UInt64Array::from_iter_values(numbers())),
        Arc::new(Int64Array::from_iter_values(numbers().map(u64::cast_signed))),
        Arc::new(Int64Array::from_iter(maybe())),
        Arc::new(Float64Array::from_iter_values(numbers().map(float))),
        Arc::new(Float64Array::from_iter(maybe().map(|maybe| maybe.map(|number| number as f64 / 4.0)))),
        Arc::new(numbers().map(|number| Some(number % 3 == 0)).collect::<BooleanArray>()),
        Arc::new(maybe().map(|maybe| maybe.map(|number| number % 2 == 0)).collect::<BooleanArray>()),
        Arc::new(BinaryArray::from_iter_values(
            numbers().map(|number| number.to_be_bytes()[..number as usize % 9].to_vec()),
        )),
        Arc::new(StringArray::from_iter(maybe().map(|maybe| maybe.map(|number| number.to_string())))),
    ];
    RecordBatch::try_new(schema(), columns).unwrap()
}

fn ours(batches: &[RecordBatch], properties: WriterProperties) -> Bytes {
    let mut writer = GroupWriter::new(Vec::new(), schema(), properties, usize::MAX, || ()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    Bytes::from(writer.into_file().unwrap().finish().unwrap())
}

fn theirs(batches: &[RecordBatch], properties: WriterProperties) -> Bytes {
    let mut writer = ArrowWriter::try_new(Vec::new(), schema(), Some(properties)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    Bytes::from(writer.into_inner().unwrap())
}

fn read(file: &Bytes, selection: Option<RowSelection>) -> Vec<ArrayRef> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
    let options = options.with_schema(schema());
    let mut builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap();
    if let Some(selection) = selection {
        builder = builder.with_row_selection(selection);
    }
    let batches: Vec<RecordBatch> = builder.build().unwrap().map(Result::unwrap).collect();
    arrow::compute::concat_batches(&schema(), &batches).unwrap().columns().to_vec()
}

/// Asserts that the arrays have the same bits, including those of NaN values.
fn assert_same(a: &[ArrayRef], b: &[ArrayRef]) {
    for ((a, b), field) in a.iter().zip(b).zip(schema().fields()) {
        let (a, b) = (a.to_data(), b.to_data());
        let bits = |data: &arrow::array::ArrayData| match field.data_type() {
            DataType::Float64 => {
                let array = Float64Array::from(data.clone());
                array.iter().map(|value| value.map(f64::to_bits)).collect::<Vec<_>>()
            }
            _ => Vec::new(),
        };
        if *field.data_type() == DataType::Float64 {
            assert_eq!(bits(&a), bits(&b), "{}", field.name());
        } else {
            assert_eq!(a, b, "{}", field.name());
        }
    }
}

fn metadata(file: &Bytes) -> Arc<ParquetMetaData> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
    Arc::clone(ArrowReaderMetadata::load(file, options).unwrap().metadata())
}

/// Asserts that both files have the same metadata, except sizes where values may be null.
fn assert_same_metadata(ours: &Bytes, theirs: &Bytes) {
    let (a, b) = (metadata(ours), metadata(theirs));
    assert_eq!(a.num_row_groups(), b.num_row_groups());
    for (number, (a, b)) in a.row_groups().iter().zip(b.row_groups()).enumerate() {
        for (a, b) in a.columns().iter().zip(b.columns()) {
            let name = a.column_descr().name().to_owned();
            assert_eq!(a.statistics(), b.statistics(), "{name}");
            assert_eq!(a.num_values(), b.num_values(), "{name}");
            assert_eq!(a.compression(), b.compression(), "{name}");
            assert_eq!(a.encodings_mask(), b.encodings_mask(), "{name}");
            assert_eq!(a.page_encoding_stats(), b.page_encoding_stats(), "{name}");
            // The levels of nullable columns are encoded differently.
            if a.column_descr().max_def_level() == 0 {
                assert_eq!(a.uncompressed_size(), b.uncompressed_size(), "{name}");
                assert_eq!(a.compressed_size(), b.compressed_size(), "{name}");
            }
        }
        let blooms = |file: &Bytes| {
            let options = ReadOptionsBuilder::new().build();
            let reader = SerializedFileReader::new_with_options(file.clone(), options).unwrap();
            let group = reader.metadata().row_group(number).clone();
            let bloom = parquet::bloom_filter::Sbbf::read_from_column_chunk(group.column(1), file).unwrap().unwrap();
            let mut bits = Vec::new();
            bloom.write(&mut bits).unwrap();
            bits
        };
        assert_eq!(blooms(ours), blooms(theirs));
    }
    for group in 0..a.num_row_groups() {
        let (a, b) = (a.page_index_for_row_group(group), b.page_index_for_row_group(group));
        for (column, field) in schema().fields().iter().enumerate() {
            assert_eq!(comparable(a.column_index(column)), comparable(b.column_index(column)), "{}", field.name());
            let rows = |pages: &[PageLocation]| pages.iter().map(|page| page.first_row_index).collect::<Vec<_>>();
            let (a, b) = (a.page_locations(column).unwrap(), b.page_locations(column).unwrap());
            assert_eq!(rows(a), rows(b), "{}", field.name());
        }
    }
}

/// A column index without its definition level histograms: the null counts have the same content.
fn comparable(index: Option<&ColumnIndexMetaData>) -> String {
    let index = format!("{index:?}");
    let Some((before, after)) = index.split_once("definition_level_histograms: ") else { return index };
    let after = after.split_once("nan_counts").expect("the field that follows").1;
    format!("{before}{after}")
}

fn check(batches: &[RecordBatch], group_rows: usize, compression: Compression, statistics: EnabledStatistics) {
    let properties = || properties(group_rows, compression, statistics);
    let (ours, theirs) = (ours(batches, properties()), theirs(batches, properties()));
    assert_same_metadata(&ours, &theirs);
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_same(&read(&ours, None), &read(&theirs, None));
    let half = RowSelection::from(vec![RowSelector::skip(rows / 2), RowSelector::select(rows - rows / 2)]);
    assert_same(&read(&ours, Some(half.clone())), &read(&theirs, Some(half)));
}

fn zstd() -> Compression {
    Compression::ZSTD(ZstdLevel::try_new(1).unwrap())
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..4_u64, 2 => 0..1000_u64, 1 => any::<u64>(), 1 => any::<i64>().prop_map(i64::cast_unsigned)]
}

/// Sequences of equal rows.
fn rows() -> impl Strategy<Value = Vec<(u64, Option<i64>)>> {
    let maybe = prop_oneof![1 => Just(None), 2 => (0..5_i64).prop_map(Some), 1 => any::<i64>().prop_map(Some)];
    let run = (number(), maybe, prop_oneof![1..4_usize, 5..200_usize]);
    prop::collection::vec(run, 1..40)
        .prop_map(|runs| runs.into_iter().flat_map(|(number, maybe, count)| vec![(number, maybe); count]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_rows_are_written_like_those_of_the_crate(
        rows in rows(),
        group_rows in 50..3000_usize,
        batch_rows in 1..700_usize,
        compressed in any::<bool>(),
        statistics in prop::sample::select(vec![EnabledStatistics::None, EnabledStatistics::Chunk, EnabledStatistics::Page]),
    ) {
        let batches: Vec<RecordBatch> = rows.chunks(batch_rows).map(batch).collect();
        check(&batches, group_rows, if compressed { zstd() } else { Compression::UNCOMPRESSED }, statistics);
    }

    #[test]
    fn rows_are_taken_from_several_arrays(
        rows in rows(),
        runs in prop::collection::vec((0..2_usize, any::<usize>(), prop_oneof![Just(1_usize), 1..700_usize]), 1..300),
    ) {
        let batches = [batch(&rows), batch(&rows[rows.len() / 2..])];
        let place = |(number, row, length): (usize, usize, usize)| {
            let start = row % batches[number].num_rows();
            (start..batches[number].num_rows().min(start + length)).map(move |row| (number, row))
        };
        let places: Vec<(usize, usize)> = runs.into_iter().flat_map(place).collect();
        let properties = || properties(1000, zstd(), EnabledStatistics::Page);
        let mut writer = GroupWriter::new(Vec::new(), schema(), properties(), usize::MAX, || ()).unwrap();
        writer.write_from(&[&batches[0], &batches[1]], &places).unwrap();
        let file = Bytes::from(writer.into_file().unwrap().finish().unwrap());
        let gathered = arrow::compute::interleave_record_batch(&[&batches[0], &batches[1]], &places).unwrap();
        assert_same(&read(&file, None), gathered.columns());
    }
}

/// Columns of many pages.
#[test]
fn large_columns_are_written_like_those_of_the_crate() {
    let row = |number: u64| {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed, (!number.is_multiple_of(3)).then_some((mixed >> 20).cast_signed()))
    };
    let rows: Vec<_> = (0..40_000).map(row).collect();
    let batches: Vec<RecordBatch> = rows.chunks(8192).map(batch).collect();
    check(&batches, 64 * 1024, zstd(), EnabledStatistics::Page);
    // Where a row group ends within a batch, the next pages of the crate's writer may end some rows late.
    check(&batches, 16_384, Compression::UNCOMPRESSED, EnabledStatistics::Chunk);
}
