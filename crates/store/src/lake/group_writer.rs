//! The rows of a part, row group by row group, each column encoded by what suits it: values of which many are equal by
//! [`ValueChunk`], identifiers, times and other numbers by [`FixedChunk`], all else by the `parquet` crate.

use std::io::{self, Write};

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::interleave;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use std::sync::Arc;

use super::aliases::{Aliases, Sink, end_file};
use super::fixed_chunk::FixedChunk;
use super::give_way::give_way;
use super::runs::{are_long, runs};
use super::value_chunk::ValueChunk;

/// Shorter runs than this are written row by row.
const RUN_ROWS_LEAST: usize = 16;

pub struct GroupWriter<W: Write + Send> {
    file: SerializedFileWriter<Sink<W>>,
    aliases: Aliases,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// Rows and bytes after which a row group ends.
    rows_max: usize,
    bytes_max: usize,
    /// Of the row group in the making; empty before its first row.
    columns: Vec<ColumnWriter>,
    rows: usize,
    groups: usize,
}

enum ColumnWriter {
    Values(ValueChunk),
    Fixed(Box<FixedChunk>),
    Other(Box<ArrowColumnWriter>),
}

impl<W: Write + Send> GroupWriter<W> {
    /// Batches will have this schema.
    pub fn new(sink: W, schema: SchemaRef, properties: WriterProperties, bytes_max: usize) -> Result<GroupWriter<W>> {
        let rows_max = properties.max_row_group_row_count().unwrap_or(usize::MAX);
        let root = ArrowSchemaConverter::new().convert(&with_optional_texts(&schema, &properties))?.root_schema_ptr();
        let file = SerializedFileWriter::new(Sink::new(sink), root, Arc::new(properties))?;
        let factory = ArrowRowGroupWriterFactory::new(&file, Arc::clone(&schema));
        let (aliases, columns) = (Aliases::default(), Vec::new());
        Ok(GroupWriter { file, aliases, factory, schema, rows_max, bytes_max, columns, rows: 0, groups: 0 })
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
        for ((column, field), array) in self.columns.iter_mut().zip(self.schema.fields()).zip(batch.columns()) {
            give_way();
            match column {
                ColumnWriter::Values(chunk) => chunk.write(array),
                ColumnWriter::Fixed(chunk) => chunk.write(array)?,
                ColumnWriter::Other(writer) => {
                    compute_leaves(field, array)?.iter().try_for_each(|leaf| writer.write(leaf))?;
                }
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
        for (index, (column, field)) in self.columns.iter_mut().zip(self.schema.fields()).enumerate() {
            give_way();
            let arrays: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(index)).collect();
            match column {
                ColumnWriter::Values(chunk) if by_run => chunk.write_runs(&arrays, &runs),
                ColumnWriter::Fixed(chunk) if by_run => chunk.write_runs(&arrays, &runs)?,
                ColumnWriter::Values(chunk) => chunk.write_from(&arrays, places.iter().copied()),
                ColumnWriter::Fixed(chunk) => chunk.write_from(&arrays, places.iter().copied())?,
                ColumnWriter::Other(writer) => {
                    let arrays: Vec<&dyn Array> = arrays.into_iter().map(AsRef::as_ref).collect();
                    let array = interleave(&arrays, places)?;
                    compute_leaves(field, &array)?.iter().try_for_each(|leaf| writer.write(leaf))?;
                }
            }
        }
        self.rows += places.len();
        Ok(())
    }

    /// No column is nested: there is one writer per field.
    fn new_columns(&self) -> Result<Vec<ColumnWriter>> {
        let (descriptions, properties) = (self.file.schema_descr(), self.file.properties());
        let writers = self.factory.create_column_writers(self.groups)?.into_iter().enumerate();
        let column = |(index, writer)| {
            let description = descriptions.column(index);
            let kind = self.schema.field(index).data_type();
            if is_by_value(kind, description.path(), properties) {
                return Ok(ColumnWriter::Values(ValueChunk::new(description, self.rows_max)));
            }
            Ok(match FixedChunk::new(description, kind, properties)? {
                Some(chunk) => ColumnWriter::Fixed(Box::new(chunk)),
                None => ColumnWriter::Other(Box::new(writer)),
            })
        };
        writers.map(column).collect()
    }

    fn bytes(&self) -> usize {
        let bytes = self.columns.iter().map(|column| match column {
            ColumnWriter::Values(chunk) => chunk.bytes(),
            ColumnWriter::Fixed(chunk) => chunk.bytes(),
            ColumnWriter::Other(writer) => writer.get_estimated_total_bytes(),
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
            give_way();
            match column {
                ColumnWriter::Values(chunk) => {
                    let (bytes, close) = chunk.finish(&properties)?;
                    self.aliases.append(&mut group, bytes, close)?;
                }
                ColumnWriter::Fixed(chunk) => {
                    let (bytes, close) = chunk.finish()?;
                    self.aliases.skip(close.metadata.compressed_size());
                    group.append_column(&bytes, close)?;
                }
                ColumnWriter::Other(writer) => {
                    let chunk = writer.close()?;
                    self.aliases.skip(chunk.close().metadata.compressed_size());
                    chunk.append_to_row_group(&mut group)?;
                }
            }
        }
        group.close()?;
        self.aliases.end_group();
        (self.rows, self.groups) = (0, self.groups + 1);
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
