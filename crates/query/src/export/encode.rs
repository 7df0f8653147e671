//! Encoders of the export formats, based on the writers of the `parquet`, `arrow-json` and `arrow-csv` crates.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow_json::writer::{EncoderOptions, LineDelimited};
use parking_lot::Mutex;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use tidewatch_store::StoreError;
use tidewatch_store::tables::Table;

use super::Format;
use tidewatch_limits as limits;

/// RFC 3339 in UTC, with nanoseconds.
const TIME: &str = "%Y-%m-%dT%H:%M:%S%.9fZ";

/// Writes a file of one format. Its bytes are taken while it grows.
pub struct Encoder {
    writer: Writer,
    out: Output,
    schema: SchemaRef,
}

enum Writer {
    Parquet(Box<ArrowWriter<Output>>),
    Ndjson(arrow_json::Writer<Output, LineDelimited>),
    Csv(Box<arrow_csv::Writer<Output>>),
}

/// Bytes that were written and not yet taken.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Options of JSON values: nulls are explicit, times are strings.
pub fn json_options() -> EncoderOptions {
    EncoderOptions::default().with_explicit_nulls(true).with_timestamp_tz_format(TIME.to_owned())
}

impl Encoder {
    /// Starts a file of batches with this schema. The metadata of a Parquet file names the table.
    pub fn start(format: Format, schema: &SchemaRef, table: Table) -> Result<Encoder, StoreError> {
        let out = Output::default();
        let writer = match format {
            Format::Parquet => {
                let writer = ArrowWriter::try_new(out.clone(), Arc::clone(schema), Some(properties(table)));
                Writer::Parquet(Box::new(writer.map_err(failed)?))
            }
            Format::Ndjson => Writer::Ndjson(
                arrow_json::WriterBuilder::new()
                    .with_explicit_nulls(true)
                    .with_timestamp_tz_format(TIME.to_owned())
                    .build(out.clone()),
            ),
            Format::Csv => Writer::Csv(Box::new(
                arrow_csv::WriterBuilder::new()
                    .with_header(true)
                    .with_timestamp_tz_format(TIME.to_owned())
                    .build(out.clone()),
            )),
        };
        Ok(Encoder { writer, out, schema: Arc::clone(schema) })
    }

    /// Encodes a batch.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        match &mut self.writer {
            Writer::Parquet(writer) => {
                writer.write(batch).map_err(failed)?;
                // A row group is in memory until it is flushed.
                if writer.memory_size() >= limits::EXPORT_GROUP_BYTES {
                    writer.flush().map_err(failed)?;
                }
                Ok(())
            }
            Writer::Ndjson(writer) => writer.write(batch).map_err(failed),
            Writer::Csv(writer) => writer.write(batch).map_err(failed),
        }
    }

    /// Takes the bytes that were written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut *self.out.0.lock())
    }

    /// Ends the file and returns its last bytes.
    pub fn finish(mut self) -> Result<Vec<u8>, StoreError> {
        match &mut self.writer {
            Writer::Parquet(writer) => drop(writer.finish().map_err(failed)?),
            Writer::Ndjson(writer) => writer.finish().map_err(failed)?,
            // Writes the header line of a file without rows.
            Writer::Csv(writer) => writer.write(&RecordBatch::new_empty(Arc::clone(&self.schema))).map_err(failed)?,
        }
        Ok(self.take())
    }
}

fn properties(table: Table) -> WriterProperties {
    let level = ZstdLevel::try_new(1).expect("there is a level 1");
    WriterProperties::builder()
        .set_created_by("tidewatch".to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(limits::EXPORT_GROUP_ROWS))
        // Statistics and offsets of pages would stay in memory until the end of the file.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(vec![KeyValue::new("tidewatch.table".to_owned(), table.name().to_owned())]))
        .build()
}

fn failed(error: impl Display) -> StoreError {
    StoreError::Internal { what: "write an export", why: error.to_string() }
}
