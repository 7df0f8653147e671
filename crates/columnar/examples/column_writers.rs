//! Compares the column writers of this crate with the writer of the `parquet` crate: decision 0010.
//!
//! `cargo run --release --example column_writers -- PART.parquet...` reads each file and writes its rows to memory with
//! both writers, with the encodings, compression and statistics of the file. It writes the rows once as plain arrays,
//! and once, like a flush, as dictionary arrays in the columns that the file encodes with a dictionary. The table shows
//! processor time and bytes per row: the best of several rounds, on one thread.

use std::error::Error;
use std::fs::File;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use tidewatch_columnar::group_writer::GroupWriter;
use tidewatch_columnar::page::PAGE_ROWS;

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 5;
const ROWS_PER_GROUP: usize = 64 * 1024;
/// Row groups do not end because of their size.
const GROUP_BYTES_MAX: usize = usize::MAX;

fn main() -> Outcome<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        return Err("name Parquet files, such as parts/spans/<day>/<part>.parquet of a data directory".into());
    }
    report("writer            arrays        CPU ns/row   bytes/row  file");
    for file in &files {
        compare(file)?;
    }
    Ok(())
}

fn compare(path: &str) -> Outcome<()> {
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(false);
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(File::open(path)?, options)?;
    let metadata = Arc::clone(reader.metadata());
    let plain: Vec<RecordBatch> = reader.with_batch_size(PAGE_ROWS).build()?.collect::<Result<_, _>>()?;
    let plain: Vec<RecordBatch> =
        plain.iter().map(|batch| with_types(batch, |_, kind| plain_type(kind))).collect::<Outcome<_>>()?;
    let has_dictionary = |column: usize| is_dictionary_encoded(&metadata, column);
    let dictionaries: Vec<RecordBatch> = plain
        .iter()
        .map(|batch| {
            with_types(batch, |column, kind| match kind {
                DataType::Utf8 | DataType::Binary if has_dictionary(column) => {
                    DataType::Dictionary(Box::new(DataType::Int32), Box::new(kind.clone()))
                }
                kind => kind.clone(),
            })
        })
        .collect::<Outcome<_>>()?;
    for (arrays, batches) in [("plain", &plain), ("dictionaries", &dictionaries)] {
        let properties = properties(&metadata, &batches[0].schema());
        measure("tidewatch", arrays, batches, path, || ours(batches, &properties))?;
        measure("parquet crate", arrays, batches, path, || theirs(batches, &properties))?;
    }
    Ok(())
}

fn ours(batches: &[RecordBatch], properties: &WriterProperties) -> Outcome<Vec<u8>> {
    let schema = batches[0].schema();
    let mut writer = GroupWriter::new(Vec::new(), schema, properties.clone(), GROUP_BYTES_MAX, || {})?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(writer.into_file()?.finish()?)
}

fn theirs(batches: &[RecordBatch], properties: &WriterProperties) -> Outcome<Vec<u8>> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batches[0].schema(), Some(properties.clone()))?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(writer.into_inner()?)
}

fn measure(
    writer: &str,
    arrays: &str,
    batches: &[RecordBatch],
    path: &str,
    write: impl Fn() -> Outcome<Vec<u8>>,
) -> Outcome<()> {
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let (mut best, mut bytes) = (u64::MAX, Vec::new());
    for _ in 0..ROUNDS {
        let before = cpu_ns()?;
        bytes = write()?;
        best = best.min(cpu_ns()? - before);
    }
    let length = bytes.len();
    assert_eq!(read(bytes)?, rows, "every row is in the file");
    let (cpu, size) = (best as f64 / rows as f64, length as f64 / rows as f64);
    report(&format!("{writer:16}  {arrays:12}  {cpu:10.0}  {size:10.2}  {path} ({rows} rows)"));
    Ok(())
}

/// The number of rows that the `parquet` crate reads back.
fn read(bytes: Vec<u8>) -> Outcome<usize> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes))?.build()?;
    let rows: Result<Vec<usize>, _> = reader.map(|batch| batch.map(|batch| batch.num_rows())).collect();
    Ok(rows?.iter().sum())
}

/// Processor time of this thread.
fn cpu_ns() -> Outcome<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().unwrap_or_default().parse()?)
}

/// The batch cast to the types that `of` returns by column and type.
fn with_types(batch: &RecordBatch, of: impl Fn(usize, &DataType) -> DataType) -> Outcome<RecordBatch> {
    let schema = batch.schema();
    let mut fields: Vec<Field> = Vec::new();
    let mut arrays = Vec::new();
    for (index, (field, array)) in schema.fields().iter().zip(batch.columns()).enumerate() {
        let kind = of(index, field.data_type());
        arrays.push(cast(array, &kind)?);
        fields.push(field.as_ref().clone().with_data_type(kind));
    }
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    Ok(RecordBatch::try_new(schema, arrays)?)
}

fn plain_type(kind: &DataType) -> DataType {
    match kind {
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        kind => kind.clone(),
    }
}

fn is_dictionary_encoded(metadata: &ParquetMetaData, column: usize) -> bool {
    metadata.row_groups().iter().any(|group| group.column(column).dictionary_page_offset().is_some())
}

/// Writer properties from the columns of the file's first row group.
fn properties(metadata: &ParquetMetaData, schema: &Schema) -> WriterProperties {
    let zstd = Compression::ZSTD(ZstdLevel::try_new(1).expect("the level exists"));
    let mut builder = WriterProperties::builder()
        .set_compression(zstd)
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_statistics_enabled(EnabledStatistics::None);
    let group = metadata.row_group(0);
    for (index, field) in schema.fields().iter().enumerate() {
        let (path, chunk) = (ColumnPath::new(vec![field.name().clone()]), group.column(index));
        if chunk.compression() == Compression::UNCOMPRESSED {
            builder = builder.set_column_compression(path.clone(), Compression::UNCOMPRESSED);
        }
        if chunk.statistics().is_some() {
            builder = builder.set_column_statistics_enabled(path.clone(), EnabledStatistics::Page);
        }
        if !is_dictionary_encoded(metadata, index) {
            builder = builder.set_column_dictionary_enabled(path.clone(), false);
            let deltas = [Encoding::DELTA_BINARY_PACKED, Encoding::DELTA_BYTE_ARRAY];
            let delta = deltas.into_iter().find(|delta| chunk.encodings().any(|encoding| encoding == *delta));
            if let Some(delta) = delta {
                builder = builder.set_column_encoding(path, delta);
            }
        }
    }
    builder.build()
}

#[expect(clippy::print_stdout, reason = "the measurement is the output")]
fn report(line: &str) {
    println!("{line}");
}
