//! Writes the rows of a file row group by row group. [`DictionaryColumnWriter`] encodes columns with many equal values,
//! [`PlainColumnWriter`] identifiers, times and all others.

use std::io::{self, Write};

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowSchemaConverter;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use std::sync::Arc;

use super::dictionary_column::DictionaryColumnWriter;
use super::page::Compressor;
use super::plain_column::PlainColumnWriter;
use super::row_ranges::{are_long, ranges};
use super::shared_column_chunks::{SharedChunks, Sink, finish_file};

/// Ranges that are shorter than this on average are written row by row.
const RANGE_ROWS_MIN: usize = 16;

/// Writes one Parquet file of row groups to `W`.
pub struct GroupWriter<W: Write + Send> {
    file: SerializedFileWriter<Sink<W>>,
    shared_chunks: SharedChunks,
    schema: SchemaRef,
    /// Rows and bytes after which a row group ends.
    rows_max: usize,
    bytes_max: usize,
    compressor: Compressor,
    /// Called between two columns, so that the caller's thread can let others run.
    between_columns: fn(),
    /// The writers of the open row group; empty before its first row.
    columns: Vec<ColumnWriter>,
    rows: usize,
    /// By column, the writer of the previous row group, whose memory is reused.
    reusable: Vec<Option<DictionaryColumnWriter>>,
}

enum ColumnWriter {
    Values(DictionaryColumnWriter),
    Fixed(Box<PlainColumnWriter>),
}

impl<W: Write + Send> GroupWriter<W> {
    /// Writes batches of `schema` to `sink`. A row group ends at the number of rows in `properties`, or once it has at
    /// least `bytes_max` bytes. `between_columns` is called before each column of a batch and of a row group. Fails for
    /// a schema that Parquet cannot represent.
    pub fn new(
        sink: W,
        schema: SchemaRef,
        properties: WriterProperties,
        bytes_max: usize,
        between_columns: fn(),
    ) -> Result<GroupWriter<W>> {
        let rows_max = properties.max_row_group_row_count().unwrap_or(usize::MAX);
        let root = ArrowSchemaConverter::new().convert(&with_optional_strings(&schema, &properties))?.root_schema_ptr();
        let file = SerializedFileWriter::new(Sink::new(sink), root, Arc::new(properties))?;
        let (shared_chunks, columns) = (SharedChunks::default(), Vec::new());
        let compressor = Compressor::default();
        Ok(GroupWriter {
            file,
            shared_chunks,
            schema,
            rows_max,
            bytes_max,
            compressor,
            between_columns,
            columns,
            rows: 0,
            reusable: Vec::new(),
        })
    }

    /// Appends the rows of a batch of the schema. Fails for a column type or property that is not supported, or when
    /// the sink fails.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut start = 0;
        while start < batch.num_rows() {
            let rows = (batch.num_rows() - start).min(self.rows_max - self.rows);
            self.write_rows(&batch.slice(start, rows))?;
            start += rows;
            if self.rows == self.rows_max || self.bytes() >= self.bytes_max {
                self.end_group()?;
            }
        }
        Ok(())
    }

    fn write_rows(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.columns.is_empty() {
            self.columns = self.new_columns()?;
        }
        for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
            (self.between_columns)();
            match column {
                ColumnWriter::Values(chunk) => chunk.write(array),
                ColumnWriter::Fixed(chunk) => chunk.write(array)?,
            }
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    /// Appends the rows at these places (batch, row). String columns may be dictionary arrays in some of the batches.
    pub fn write_from(&mut self, batches: &[&RecordBatch], mut places: &[(usize, usize)]) -> Result<()> {
        while !places.is_empty() {
            let (now, later) = places.split_at(places.len().min(self.rows_max - self.rows));
            self.write_places(batches, now)?;
            places = later;
            if self.rows == self.rows_max || self.bytes() >= self.bytes_max {
                self.end_group()?;
            }
        }
        Ok(())
    }

    fn write_places(&mut self, batches: &[&RecordBatch], places: &[(usize, usize)]) -> Result<()> {
        if self.columns.is_empty() {
            self.columns = self.new_columns()?;
        }
        let ranges = ranges(places);
        let by_range = are_long(&ranges, places, RANGE_ROWS_MIN);
        for (index, column) in self.columns.iter_mut().enumerate() {
            (self.between_columns)();
            let arrays: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(index)).collect();
            match column {
                ColumnWriter::Values(chunk) if by_range => chunk.write_ranges(&arrays, &ranges),
                ColumnWriter::Fixed(chunk) if by_range => chunk.write_ranges(&arrays, &ranges)?,
                ColumnWriter::Values(chunk) => chunk.write_from(&arrays, places.iter().copied()),
                ColumnWriter::Fixed(chunk) => chunk.write_from(&arrays, places.iter().copied())?,
            }
        }
        self.rows += places.len();
        Ok(())
    }

    /// Columns are not nested: there is one per field.
    fn new_columns(&mut self) -> Result<Vec<ColumnWriter>> {
        let mut reusable = std::mem::take(&mut self.reusable).into_iter();
        let (descriptions, properties) = (self.file.schema_descr(), self.file.properties());
        let column = |(index, field): (usize, &Arc<Field>)| {
            if let Some(chunk) = reusable.next().flatten() {
                return Ok(ColumnWriter::Values(chunk));
            }
            let (description, kind) = (descriptions.column(index), field.data_type());
            if is_dictionary_encoded(kind, description.path(), properties) {
                return Ok(ColumnWriter::Values(DictionaryColumnWriter::new(description, self.rows_max)));
            }
            let chunk = PlainColumnWriter::new(description, kind, properties, &self.compressor)?;
            let unknown = || ParquetError::NYI(format!("a column of {kind} with these properties"));
            Ok(ColumnWriter::Fixed(Box::new(chunk.ok_or_else(unknown)?)))
        };
        self.schema.fields().iter().enumerate().map(column).collect()
    }

    fn bytes(&self) -> usize {
        let bytes = self.columns.iter().map(|column| match column {
            ColumnWriter::Values(chunk) => chunk.bytes(),
            ColumnWriter::Fixed(chunk) => chunk.bytes(),
        });
        bytes.sum()
    }

    fn end_group(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let properties = Arc::clone(self.file.properties());
        let mut group = self.file.next_row_group()?;
        for column in self.columns.drain(..) {
            (self.between_columns)();
            match column {
                ColumnWriter::Values(mut chunk) => {
                    let (bytes, close) = chunk.finish(&properties, &self.compressor)?;
                    self.shared_chunks.append(&mut group, bytes, close)?;
                    self.reusable.push(Some(chunk));
                }
                ColumnWriter::Fixed(chunk) => {
                    let (bytes, close) = chunk.finish()?;
                    self.shared_chunks.skip(close.metadata.compressed_size());
                    group.append_column(&bytes, close)?;
                    self.reusable.push(None);
                }
            }
        }
        group.close()?;
        self.shared_chunks.end_group();
        self.rows = 0;
        Ok(())
    }

    /// Ends the last row group.
    pub fn into_file(mut self) -> Result<GroupedFile<W>> {
        self.end_group()?;
        Ok(GroupedFile { file: self.file, shared_chunks: self.shared_chunks })
    }
}

/// A file with all its rows, to which sections and metadata may be added.
pub struct GroupedFile<W: Write + Send> {
    file: SerializedFileWriter<Sink<W>>,
    shared_chunks: SharedChunks,
}

impl<W: Write + Send> GroupedFile<W> {
    /// Offset of the next section from the start of the file, in bytes.
    pub fn offset(&self) -> u64 {
        self.file.bytes_written() as u64
    }

    /// Appends bytes that no Parquet metadata refers to, so that other Parquet readers skip them.
    pub fn add_section(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Adds a key-value pair to the file's metadata.
    pub fn add_metadata(&mut self, key: &str, value: String) {
        self.file.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
    }

    /// Writes all buffered bytes to the sink and returns the sink.
    pub fn flush(&mut self) -> io::Result<&mut W> {
        self.file.flush()?;
        Ok(self.file.inner_mut().out())
    }

    /// Writes the file's metadata and returns the sink.
    pub fn finish(self) -> Result<W> {
        finish_file(self.file, &self.shared_chunks)
    }
}

/// Whether [`DictionaryColumnWriter`] writes the column.
fn is_dictionary_encoded(kind: &DataType, path: &ColumnPath, properties: &WriterProperties) -> bool {
    let has_bloom = properties.bloom_filter_properties(path).is_some();
    DictionaryColumnWriter::supports(kind) && properties.dictionary_enabled(path) && !has_bloom
}

/// Declares dictionary-encoded strings nullable although they never are null: attribute columns are nullable, and only
/// columns with the same levels can share a column chunk.
fn with_optional_strings(schema: &Schema, properties: &WriterProperties) -> Schema {
    let is_text = |kind: &DataType| match kind {
        DataType::Dictionary(_, values) => **values == DataType::Utf8,
        kind => *kind == DataType::Utf8,
    };
    let field = |field: &Arc<Field>| {
        let path = ColumnPath::new(vec![field.name().clone()]);
        match is_text(field.data_type()) && is_dictionary_encoded(field.data_type(), &path, properties) {
            true => Arc::new(field.as_ref().clone().with_nullable(true)),
            false => Arc::clone(field),
        }
    };
    Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())
}
