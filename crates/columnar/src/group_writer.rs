//! The rows of a part, row group by row group, each column encoded by what suits it: values of which many are equal by
//! [`ValueChunk`], identifiers, times and all else by [`FixedChunk`].

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

use super::dictionary_column::ValueChunk;
use super::page::Compressor;
use super::plain_column::FixedChunk;
use super::row_ranges::{are_long, runs};
use super::shared_column_chunks::{Aliases, Sink, end_file};

/// Shorter runs than this are written row by row.
const RUN_ROWS_LEAST: usize = 16;

pub struct GroupWriter<W: Write + Send> {
    file: SerializedFileWriter<Sink<W>>,
    aliases: Aliases,
    schema: SchemaRef,
    /// Rows and bytes after which a row group ends.
    rows_max: usize,
    bytes_max: usize,
    compressor: Compressor,
    /// Called between two columns, so that the caller's thread can let others run.
    between_columns: fn(),
    /// Of the row group in the making; empty before its first row.
    columns: Vec<ColumnWriter>,
    rows: usize,
    /// By column, what the row groups before left to write to.
    left: Vec<Option<ValueChunk>>,
}

enum ColumnWriter {
    Values(ValueChunk),
    Fixed(Box<FixedChunk>),
}

impl<W: Write + Send> GroupWriter<W> {
    /// Writes batches of `schema` to `sink`. A row group ends at the number of rows that `properties` name, or once it
    /// takes `bytes_max`. `between_columns` is called before each column of a batch and of a row group.
    pub fn new(
        sink: W,
        schema: SchemaRef,
        properties: WriterProperties,
        bytes_max: usize,
        between_columns: fn(),
    ) -> Result<GroupWriter<W>> {
        let rows_max = properties.max_row_group_row_count().unwrap_or(usize::MAX);
        let root = ArrowSchemaConverter::new().convert(&with_optional_texts(&schema, &properties))?.root_schema_ptr();
        let file = SerializedFileWriter::new(Sink::new(sink), root, Arc::new(properties))?;
        let (aliases, columns) = (Aliases::default(), Vec::new());
        let compressor = Compressor::default();
        Ok(GroupWriter {
            file,
            aliases,
            schema,
            rows_max,
            bytes_max,
            compressor,
            between_columns,
            columns,
            rows: 0,
            left: Vec::new(),
        })
    }

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

    /// The rows at these places (batch, row). Texts may be dictionaries in some of the batches.
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
        let runs = runs(places);
        let by_run = are_long(&runs, places, RUN_ROWS_LEAST);
        for (index, column) in self.columns.iter_mut().enumerate() {
            (self.between_columns)();
            let arrays: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(index)).collect();
            match column {
                ColumnWriter::Values(chunk) if by_run => chunk.write_runs(&arrays, &runs),
                ColumnWriter::Fixed(chunk) if by_run => chunk.write_runs(&arrays, &runs)?,
                ColumnWriter::Values(chunk) => chunk.write_from(&arrays, places.iter().copied()),
                ColumnWriter::Fixed(chunk) => chunk.write_from(&arrays, places.iter().copied())?,
            }
        }
        self.rows += places.len();
        Ok(())
    }

    /// No column is nested: there is one per field.
    fn new_columns(&mut self) -> Result<Vec<ColumnWriter>> {
        let mut left = std::mem::take(&mut self.left).into_iter();
        let (descriptions, properties) = (self.file.schema_descr(), self.file.properties());
        let column = |(index, field): (usize, &Arc<Field>)| {
            if let Some(chunk) = left.next().flatten() {
                return Ok(ColumnWriter::Values(chunk));
            }
            let (description, kind) = (descriptions.column(index), field.data_type());
            if is_by_value(kind, description.path(), properties) {
                return Ok(ColumnWriter::Values(ValueChunk::new(description, self.rows_max)));
            }
            let chunk = FixedChunk::new(description, kind, properties, &self.compressor)?;
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
                    self.aliases.append(&mut group, bytes, close)?;
                    self.left.push(Some(chunk));
                }
                ColumnWriter::Fixed(chunk) => {
                    let (bytes, close) = chunk.finish()?;
                    self.aliases.skip(close.metadata.compressed_size());
                    group.append_column(&bytes, close)?;
                    self.left.push(None);
                }
            }
        }
        group.close()?;
        self.aliases.end_group();
        self.rows = 0;
        Ok(())
    }

    /// The file, every row in it.
    pub fn into_file(mut self) -> Result<GroupedFile<W>> {
        self.end_group()?;
        Ok(GroupedFile { file: self.file, aliases: self.aliases })
    }
}

/// A file with all its rows, to which sections and metadata may be added.
pub struct GroupedFile<W: Write + Send> {
    file: SerializedFileWriter<Sink<W>>,
    aliases: Aliases,
}

impl<W: Write + Send> GroupedFile<W> {
    /// Where the next section will lie.
    pub fn offset(&self) -> u64 {
        self.file.bytes_written() as u64
    }

    /// Bytes that other readers of Parquet skip.
    pub fn add_section(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    pub fn add_metadata(&mut self, key: &str, value: String) {
        self.file.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
    }

    /// What the file is written to; it has everything that was added.
    pub fn flushed(&mut self) -> io::Result<&mut W> {
        self.file.flush()?;
        Ok(self.file.inner_mut().out())
    }

    /// Writes the file's metadata.
    pub fn finish(self) -> Result<W> {
        end_file(self.file, &self.aliases)
    }
}

/// Columns that [`ValueChunk`] writes.
fn is_by_value(kind: &DataType, path: &ColumnPath, properties: &WriterProperties) -> bool {
    let has_bloom = properties.bloom_filter_properties(path).is_some();
    ValueChunk::takes(kind) && properties.dictionary_enabled(path) && !has_bloom
}

/// Texts that rows repeat are never absent, but written as if they might be: so are those of attributes, and only
/// alike can one be the other's alias.
fn with_optional_texts(schema: &Schema, properties: &WriterProperties) -> Schema {
    let is_text = |kind: &DataType| match kind {
        DataType::Dictionary(_, values) => **values == DataType::Utf8,
        kind => *kind == DataType::Utf8,
    };
    let field = |field: &Arc<Field>| {
        let path = ColumnPath::new(vec![field.name().clone()]);
        match is_text(field.data_type()) && is_by_value(field.data_type(), &path, properties) {
            true => Arc::new(field.as_ref().clone().with_nullable(true)),
            false => Arc::clone(field),
        }
    };
    Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())
}
