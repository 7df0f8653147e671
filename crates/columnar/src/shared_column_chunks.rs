//! Stores equal column chunks of a row group once.
//!
//! A service name is a table column and a resource attribute, which has its own column; span names often equal the
//! route. Of the chunks of a row group that have the same bytes, only the first is written, and the file's metadata
//! refers to its offset for all of them. Parquet readers need no support for this.

use std::io::{self, Write};

use bytes::Bytes;
use parquet::basic::Type;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataWriter};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

/// The column chunks of a file that share bytes with an earlier chunk.
#[derive(Default)]
pub struct SharedChunks {
    /// Chunks written to the open row group.
    written: Vec<Written>,
    columns: usize,
    bytes: i64,
    groups: usize,
    found: Vec<SharedChunk>,
}

/// A written chunk that later chunks may equal.
struct Written {
    column: usize,
    /// Offset from the start of the row group.
    at: i64,
    kind: (Type, i16),
    bytes: Bytes,
}

/// A column chunk that shares the bytes of column `of`.
struct SharedChunk {
    group: usize,
    column: usize,
    of: usize,
}

impl SharedChunks {
    /// Appends the chunk of the next column, or only its metadata when the row group already has an equal chunk.
    pub fn append<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        bytes: Bytes,
        mut close: ColumnCloseResult,
    ) -> Result<()> {
        let column = close.metadata.column_descr();
        let kind = (column.physical_type(), column.max_def_level());
        match self.written.iter().find(|written| written.kind == kind && written.bytes == bytes) {
            Some(first) => {
                self.found.push(SharedChunk { group: self.groups, column: self.columns, of: first.column });
                // Offsets count from the position that the chunk would have had.
                let back = self.bytes - first.at;
                let pages = close.offset_index.iter_mut().flat_map(|index| &mut index.page_locations);
                pages.for_each(|page| page.offset -= back);
                close.metadata = close.metadata.into_builder().set_total_compressed_size(0).build()?;
                group.append_column(&Bytes::new(), close)?;
                self.columns += 1;
            }
            None => {
                let (column, at) = (self.columns, self.bytes);
                self.skip(bytes.len() as i64);
                group.append_column(&bytes, close)?;
                self.written.push(Written { column, at, kind, bytes });
            }
        }
        Ok(())
    }

    /// Counts a column of `bytes` bytes that the caller appends itself.
    pub fn skip(&mut self, bytes: i64) {
        (self.columns, self.bytes) = (self.columns + 1, self.bytes + bytes);
    }

    /// Starts the next row group.
    pub fn end_group(&mut self) {
        self.written.clear();
        (self.columns, self.bytes, self.groups) = (0, 0, self.groups + 1);
    }

    /// The file's metadata, with the offsets of shared chunks.
    fn place(&self, metadata: ParquetMetaData) -> Result<ParquetMetaData> {
        let mut builder = metadata.into_builder().set_page_index(None);
        let mut groups = builder.take_row_groups();
        for pairs in self.found.chunk_by(|a, b| a.group == b.group) {
            let group = &mut groups[pairs[0].group];
            let mut columns = group.columns().to_vec();
            for shared in pairs {
                columns[shared.column] = with_offsets_of(columns[shared.column].clone(), &columns[shared.of])?;
            }
            *group = group.clone().into_builder().set_column_metadata(columns).build()?;
        }
        Ok(builder.set_row_groups(groups).build())
    }
}

fn with_offsets_of(shared: ColumnChunkMetaData, first: &ColumnChunkMetaData) -> Result<ColumnChunkMetaData> {
    shared
        .into_builder()
        .set_total_compressed_size(first.compressed_size())
        .set_data_page_offset(first.data_page_offset())
        .set_dictionary_page_offset(first.dictionary_page_offset())
        .build()
}

/// The output of a file. Its end can be held back.
pub struct Sink<W> {
    /// `None` once the file has ended.
    out: Option<W>,
    held: Option<Vec<u8>>,
}

impl<W: Write + Send> Sink<W> {
    pub fn new(out: W) -> Sink<W> {
        Sink { out: Some(out), held: None }
    }

    pub fn out(&mut self) -> &mut W {
        self.out.as_mut().expect("the file has not ended")
    }
}

impl<W: Write + Send> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.held {
            Some(held) => held.write(bytes),
            None => self.out().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out().flush()
    }
}

/// Size of the end of a file: length of the metadata and magic number.
const LENGTH_AND_MAGIC: usize = 8;

/// Writes the page indexes and the file's metadata, with the offsets of shared chunks.
pub fn finish_file<W: Write + Send>(
    mut file: SerializedFileWriter<Sink<W>>,
    shared_chunks: &SharedChunks,
) -> Result<W> {
    if shared_chunks.found.is_empty() {
        return Ok(file.into_inner()?.out.expect("the file has not ended"));
    }
    file.flush()?;
    file.inner_mut().held = Some(Vec::new());
    let metadata = shared_chunks.place(file.finish()?)?;
    let sink = file.inner_mut();
    let mut end = sink.held.take().unwrap_or_default();
    let mut out = sink.out.take().expect("the file has not ended");
    let (rest, tail) = end.split_at(end.len() - LENGTH_AND_MAGIC);
    let length = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    end.truncate(rest.len() - length as usize);
    ParquetMetaDataWriter::new(&mut end, &metadata).finish()?;
    out.write_all(&end)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
    use arrow::compute::concat_batches;
    use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
    use parquet::arrow::arrow_reader::{
        ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
    };
    use parquet::file::metadata::PageIndexPolicy;
    use parquet::file::properties::WriterProperties;
    use proptest::prelude::*;

    use super::super::group_writer::GroupWriter;
    use super::*;

    /// Three strings of a row, the first never null; a time; a number.
    type Row = (String, Option<String>, Option<String>, i64, Option<i64>);

    fn schema() -> SchemaRef {
        let string = |name, nullable| Field::new(name, DataType::Utf8, nullable);
        let number = |name, nullable| Field::new(name, DataType::Int64, nullable);
        Arc::new(Schema::new(vec![
            string("a", false),
            string("b", true),
            number("time", false),
            string("c", true),
            number("number", true),
        ]))
    }

    fn batch(rows: &[Row]) -> RecordBatch {
        let strings = |strings: Vec<Option<&String>>| Arc::new(StringArray::from_iter(strings)) as ArrayRef;
        let columns = vec![
            strings(rows.iter().map(|row| Some(&row.0)).collect()),
            strings(rows.iter().map(|row| row.1.as_ref()).collect()),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.3))) as ArrayRef,
            strings(rows.iter().map(|row| row.2.as_ref()).collect()),
            Arc::new(Int64Array::from_iter(rows.iter().map(|row| row.4))) as ArrayRef,
        ];
        RecordBatch::try_new(schema(), columns).unwrap()
    }

    fn file(rows: &[Row], group_rows: usize) -> Bytes {
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(group_rows))
            .set_column_dictionary_enabled("time".into(), false)
            .set_data_page_row_count_limit(8192)
            .build();
        let mut writer = GroupWriter::new(Vec::new(), schema(), properties, usize::MAX, || ()).unwrap();
        writer.write(&batch(rows)).unwrap();
        Bytes::from(writer.into_file().unwrap().finish().unwrap())
    }

    fn read(file: &Bytes, selection: Option<RowSelection>) -> RecordBatch {
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
        let mut builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap();
        if let Some(selection) = selection {
            builder = builder.with_row_selection(selection);
        }
        let schema = Arc::clone(builder.schema());
        let batches: Vec<RecordBatch> = builder.build().unwrap().map(Result::unwrap).collect();
        concat_batches(&schema, &batches).unwrap()
    }

    fn rows_of(batch: &RecordBatch) -> Vec<Row> {
        let strings = |name| batch.column_by_name(name).unwrap().as_string::<i32>();
        let numbers = |name| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>();
        let text = |name, row| strings(name).iter().nth(row).flatten().map(str::to_owned);
        let number = |name, row| numbers(name).iter().nth(row).flatten();
        let row = |row| {
            let time = number("time", row).unwrap();
            (text("a", row).unwrap(), text("b", row), text("c", row), time, number("number", row))
        };
        (0..batch.num_rows()).map(row).collect()
    }

    /// Sequences of equal rows whose second and third string mostly equal the first.
    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let text = || prop::sample::select(vec!["", "checkout", "GET /x", "basket"]).prop_map(str::to_owned);
        let other = || prop_oneof![20 => Just(None), 1 => prop::option::of(text()).prop_map(Some)];
        let run = (text(), other(), other(), any::<i16>(), prop::option::of(0..3_i64), 1..60_usize);
        prop::collection::vec(run, 1..30).prop_map(|runs| {
            let rows = runs.into_iter().flat_map(|(a, b, c, time, number, count)| {
                let like = |other: Option<Option<String>>| other.unwrap_or_else(|| Some(a.clone()));
                let row = (a.clone(), like(b), like(c), i64::from(time), number);
                std::iter::repeat_n(row, count)
            });
            rows.collect()
        })
    }

    proptest! {
        #[test]
        fn columns_are_read_back_whichever_are_equal(rows in rows(), group_rows in 5..400_usize, skip in 0..200_usize, take in 1..200_usize) {
            let file = file(&rows, group_rows);
            prop_assert_eq!(&rows_of(&read(&file, None)), &rows);
            let (skip, end) = (skip.min(rows.len()), (skip + take).min(rows.len()));
            let selection = vec![RowSelector::skip(skip), RowSelector::select(end - skip)];
            prop_assert_eq!(&rows_of(&read(&file, Some(selection.into()))), &rows[skip..end]);
        }
    }

    #[test]
    fn pages_of_a_shared_chunk_are_found_one_by_one() {
        let row = |n: i64| {
            let text = format!("text {}", n * 7919 % 1000);
            (text.clone(), Some(text.clone()), Some(text), n, None)
        };
        let rows: Vec<Row> = (0..60_000).map(row).collect();
        let file = file(&rows, 40_000);
        for (skip, take) in [(100, 50), (20_000, 9), (39_990, 20), (59_999, 1)] {
            let selection = vec![RowSelector::skip(skip), RowSelector::select(take)];
            assert_eq!(rows_of(&read(&file, Some(selection.into()))), rows[skip..skip + take], "{skip}");
        }
    }

    #[test]
    fn equal_chunks_are_stored_once() {
        let row = |n: i64, b: &str| {
            let text = format!("text {}", n * 7919 % 1000);
            (text.clone(), Some(format!("{text}{b}")), Some(text), n, None)
        };
        let equal = file(&(0..20_000).map(|n| row(n, "")).collect::<Vec<_>>(), 20_000);
        let other = file(&(0..20_000).map(|n| row(n, "!")).collect::<Vec<_>>(), 20_000);
        let options = || ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
        let places = |file: &Bytes| {
            let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options()).unwrap();
            let group = builder.metadata().row_group(0);
            [0, 1, 3].map(|column| group.column(column).byte_range())
        };
        let [a, b, c] = places(&equal);
        assert!(a == b && b == c && a.1 > 10_000);
        let [a, b, c] = places(&other);
        assert!(a != b && a == c);
        assert!(equal.len() + 10_000 < other.len());
    }
}
