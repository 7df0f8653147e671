//! Writes one part: the encoding of each column, and a file that is complete and synced before it is registered.
//!
//! The encodings were chosen by measurement: zstd-1, zstd-3 when merged; no dictionary for ids, times and opaque
//! columns; delta encoding for times; page statistics for columns that are filtered or sorted by, none for columns that
//! never are; a bloom filter for ids that are looked up without an index of `ids`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, RecordBatch, UInt32Array};
use arrow::compute;
use arrow::datatypes::{Int64Type, UInt32Type};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, encode_arrow_schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use tidewatch_journal::disk::{Disk, DiskFile, parent_of};

use crate::attr_columns;
use crate::attr_columns::{AttrKey, Splitter};
use crate::index::trace_id;
use crate::index::trace_id::IDS;
use crate::index::trigram;
use crate::index::trigram::TRIGRAMS;
use crate::part::PartFacts;
use crate::part::checksums::{CHECKSUMS, Checksummer};
use crate::part::temporary::temporary;
use crate::rollup::builder::Builder;
use crate::rollup::directory::ROLLUP;
use crate::schedule::yielding::yield_point;
use tidewatch_columnar::group_writer::GroupWriter;
use tidewatch_columnar::page::PAGE_ROWS;
use tidewatch_store::StoreError;
use tidewatch_store::tables::{Column, Kind, Table};

/// Rows of a row group in flushed and in merged parts.
pub const GROUP_ROWS_FLUSHED: usize = 64 * 1024;
pub const GROUP_ROWS_MERGED: usize = 128 * 1024;
/// Rows that stay longer are worth more processor time.
const ZSTD_FLUSHED: i32 = 1;
const ZSTD_MERGED: i32 = 3;
/// Large rows make small row groups: a reader of a row group never holds much more than this.
const GROUP_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Filters have a power of two of bits: at 0.01, the filter of a full row group takes 16 bits per trace instead of 8,
/// and saves one page read in 30.
const BLOOM_FALSE_POSITIVES: f64 = 0.04;
const WRITE_BUFFER_BYTES: usize = 256 * 1024;
/// The file is synced in pieces of this size: a sync of a whole part would keep the disk busy, and the journal would
/// wait.
const SYNC_BYTES: u64 = 4 * 1024 * 1024;

/// A part that is being written. When it is dropped unfinished, at most a temporary file remains, which the next start
/// removes.
pub struct PartWriter {
    disk: Arc<dyn Disk>,
    /// `None` once finished.
    writer: Option<GroupWriter<FileWriter>>,
    splitter: Splitter,
    rollup: Option<Builder>,
    trigrams: Option<trigram::Builder>,
    ids: Option<trace_id::Builder>,
    temporary: PathBuf,
    facts: PartFacts,
}

impl PartWriter {
    /// Starts a part at `path`, whose folder exists, under its temporary name. `facts` has id, age, table, day and
    /// level; the other facts are computed. The attributes `keys` get columns; `rollup` is fed and written with the
    /// rows.
    pub fn create(
        disk: Arc<dyn Disk>,
        path: PathBuf,
        facts: PartFacts,
        keys: Vec<AttrKey>,
        rollup: Option<Builder>,
    ) -> Result<PartWriter, StoreError> {
        let properties = properties(&facts, &keys);
        // A flush writes rows in the memory layout, a merge in the layout of parts.
        let splitter = Splitter::new(facts.table, keys, facts.level == 0);
        let temporary = temporary(&path);
        let file = disk.create(&temporary).map_err(|e| StoreError::io("create", &temporary, e))?;
        let file = FileWriter {
            file: Arc::from(file),
            buffer: Vec::new(),
            offset: 0,
            synced: 0,
            checksummer: Checksummer::default(),
        };
        let writer = GroupWriter::new(file, Arc::clone(splitter.schema()), properties, GROUP_BYTES_MAX, yield_point)
            .map_err(|e| write_error(&temporary, e))?;
        Ok(PartWriter {
            disk,
            writer: Some(writer),
            splitter,
            rollup,
            trigrams: trigram::Builder::new(facts.table, trigram::BLOCK_ROWS),
            ids: trace_id::Builder::new(facts.table, trace_id::PAGE_ROWS),
            temporary,
            facts: PartFacts { rows: 0, bytes: 0, ..facts },
        })
    }

    /// Appends rows of the table, at level 0 in the memory layout. All batches together are sorted.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        let split = self.splitter.split(batch)?;
        self.write_split(&split)
    }

    /// Announces rows for [`PartWriter::write_split`]: some values of the marked keys are still in the encoded columns.
    pub fn mark_incomplete(&mut self, keys: &[bool]) {
        self.splitter.mark_incomplete(keys);
    }

    /// Like [`PartWriter::write`], for rows whose attributes are already in their columns.
    pub fn write_split(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        let writer = self.writer.as_mut().expect("write comes before finish");
        writer.write(batch).map_err(|e| write_error(&self.temporary, e))?;
        widen_ranges(&mut self.facts, batch);
        yield_point();
        if let Some(rollup) = &mut self.rollup {
            rollup.add(batch)?;
        }
        yield_point();
        if let Some(trigrams) = &mut self.trigrams {
            trigrams.add(batch)?;
        }
        yield_point();
        if let Some(ids) = &mut self.ids {
            ids.add(batch)?;
        }
        Ok(())
    }

    /// Like [`PartWriter::write_split`], for the rows at these places (batch, row). String columns may be dictionary
    /// arrays in some of the batches. Not for parts with roll-ups.
    pub fn write_split_from(&mut self, batches: &[&RecordBatch], places: &[(usize, usize)]) -> Result<(), StoreError> {
        debug_assert!(!self.is_rolled_up());
        let writer = self.writer.as_mut().expect("write comes before finish");
        writer.write_from(batches, places).map_err(|e| write_error(&self.temporary, e))?;
        widen_ranges_at(&mut self.facts, batches, places);
        if let Some(trigrams) = &mut self.trigrams {
            trigrams.add_places(batches, places)?;
        }
        if let Some(ids) = &mut self.ids {
            ids.add_places(batches, places)?;
        }
        Ok(())
    }

    pub fn is_rolled_up(&self) -> bool {
        self.rollup.is_some()
    }

    /// Syncs the file and its temporary name. The part may then be registered, and after that get its final name.
    pub fn finish(mut self) -> Result<PartFacts, StoreError> {
        let writer = self.writer.take().expect("finish is called once");
        yield_point();
        let mut file = writer.into_file().map_err(|e| write_error(&self.temporary, e))?;
        let failed = |e| StoreError::io("write", &self.temporary, e);
        // The file's schema has the column types for readers, not those of the written arrays.
        file.add_metadata(ARROW_SCHEMA_META_KEY, encode_arrow_schema(self.splitter.plain_schema()));
        let incomplete = self.splitter.incomplete();
        if !incomplete.is_empty() {
            file.add_metadata(attr_columns::INCOMPLETE, incomplete);
        }
        // Between the rows and the footer, where other Parquet readers skip it. Block checksums cover it.
        if let Some(section) = self.rollup.take().and_then(|rollup| rollup.finish(file.offset())) {
            file.add_section(&section.bytes).map_err(failed)?;
            file.add_metadata(ROLLUP, section.directory);
        }
        yield_point();
        if let Some(section) = self.trigrams.take().and_then(|trigrams| trigrams.finish(file.offset())) {
            file.add_section(&section.bytes).map_err(failed)?;
            file.add_metadata(TRIGRAMS, section.directory);
        }
        yield_point();
        if let Some(section) = self.ids.take().and_then(|ids| ids.finish(file.offset())) {
            file.add_section(&section.bytes).map_err(failed)?;
            self.facts.ids = Some(section.directory.as_str().into());
            file.add_metadata(IDS, section.directory);
        }
        yield_point();
        let sums = file.flush().map_err(failed)?.checksummer.cut().encode();
        file.add_metadata(CHECKSUMS, sums);
        let file = file.finish().map_err(|e| write_error(&self.temporary, e))?;
        let (file, bytes, tail_sum) = file.finish().map_err(failed)?;
        file.sync_data().map_err(|e| StoreError::io("sync", &self.temporary, e))?;
        let folder = parent_of(&self.temporary);
        self.disk.sync_dir(folder).map_err(|e| StoreError::io("sync", folder, e))?;
        self.facts.bytes = bytes;
        self.facts.tail_sum = tail_sum;
        Ok(self.facts.clone())
    }
}

impl Drop for PartWriter {
    fn drop(&mut self) {
        // A part usually fails because the disk is full, so the space is freed at once. The next start removes a file
        // that cannot be removed here.
        if self.facts.bytes == 0 {
            drop(self.writer.take());
            let _ = self.disk.remove(&self.temporary);
        }
    }
}

/// Returns disk errors unchanged; the caller decides on them.
fn write_error(path: &Path, error: ParquetError) -> StoreError {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => StoreError::io("write", path, *source),
            Err(source) => StoreError::Internal { what: "write a part", why: source.to_string() },
        },
        other => StoreError::Internal { what: "write a part", why: other.to_string() },
    }
}

fn time_and_project(batch: &RecordBatch) -> (&Int64Array, &UInt32Array) {
    let time = batch.column_by_name("time").expect("every table has a time").as_primitive::<Int64Type>();
    let project = batch.column_by_name("project").expect("every table has a project").as_primitive::<UInt32Type>();
    (time, project)
}

/// Widens the facts' ranges by the rows at these places.
fn widen_ranges_at(facts: &mut PartFacts, batches: &[&RecordBatch], places: &[(usize, usize)]) {
    let columns: Vec<_> = batches.iter().map(|batch| time_and_project(batch)).collect();
    for (batch, row) in places {
        let (time, project) = (columns[*batch].0.value(*row), columns[*batch].1.value(*row));
        (facts.time_min, facts.time_max) = (facts.time_min.min(time), facts.time_max.max(time));
        (facts.project_min, facts.project_max) = (facts.project_min.min(project), facts.project_max.max(project));
    }
    facts.rows += places.len() as u64;
}

/// Widens the facts' ranges by the rows of a batch.
fn widen_ranges(facts: &mut PartFacts, batch: &RecordBatch) {
    let (time, project) = time_and_project(batch);
    debug_assert!(time.null_count() == 0 && project.null_count() == 0);
    if let (Some(min), Some(max)) = (compute::min(time), compute::max(time)) {
        facts.time_min = facts.time_min.min(min);
        facts.time_max = facts.time_max.max(max);
    }
    if let (Some(min), Some(max)) = (compute::min(project), compute::max(project)) {
        facts.project_min = facts.project_min.min(min);
        facts.project_max = facts.project_max.max(max);
    }
    facts.rows += batch.num_rows() as u64;
}

fn properties(facts: &PartFacts, keys: &[AttrKey]) -> WriterProperties {
    let level = if facts.level == 0 { ZSTD_FLUSHED } else { ZSTD_MERGED };
    let zstd = Compression::ZSTD(ZstdLevel::try_new(level).expect("both levels exist"));
    let group_rows = if facts.level == 0 { GROUP_ROWS_FLUSHED } else { GROUP_ROWS_MERGED };
    let builder = WriterProperties::builder()
        .set_created_by("tidewatch".to_owned())
        .set_compression(zstd)
        .set_max_row_group_row_count(Some(group_rows))
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_statistics_enabled(EnabledStatistics::None);
    let columns = facts.table.columns().iter();
    let builder = columns.fold(builder, |builder, column| with_column(builder, facts.table, column));
    // Attribute columns have dictionaries where these help, and bounds that let a scan skip row groups.
    let extra = |builder: WriterPropertiesBuilder, key: &AttrKey| {
        builder.set_column_statistics_enabled(ColumnPath::new(vec![key.column()]), EnabledStatistics::Chunk)
    };
    keys.iter().fold(builder, extra).build()
}

fn with_column(builder: WriterPropertiesBuilder, table: Table, column: &Column) -> WriterPropertiesBuilder {
    let path = ColumnPath::new(vec![column.name.to_owned()]);
    let builder = match column.kind {
        // A span's own id is random and unique; siblings share their parent's id, log records of a span its id; most
        // samples of profiles have none.
        Kind::Id8 if column.name == "span_id" && !matches!(table, Table::Logs | Table::ProfileSamples) => builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_compression(path.clone(), Compression::UNCOMPRESSED),
        // Plain and compressed: zstd stores repeated trace ids once, and every Parquet reader supports it.
        Kind::Id8 | Kind::Id16 => builder.set_column_dictionary_enabled(path.clone(), false),
        // Hashes of some thousand stacks, values that are mostly multiples of a period, and few durations.
        Kind::U64 | Kind::I64
            if table == Table::ProfileSamples && matches!(column.name, "stack" | "value" | "duration") =>
        {
            builder
        }
        Kind::I64 => builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path.clone(), Encoding::DELTA_BINARY_PACKED),
        Kind::F64 | Kind::U64 | Kind::Bytes | Kind::Text if !has_few_values(column) => {
            builder.set_column_dictionary_enabled(path.clone(), false)
        }
        _ => builder,
    };
    let builder = match is_filtered(table, column) {
        true => builder.set_column_statistics_enabled(path.clone(), EnabledStatistics::Page),
        false => builder,
    };
    match is_looked_up(table, column) {
        true => builder.set_column_bloom_filter_fpp(path, BLOOM_FALSE_POSITIVES),
        false => builder,
    }
}

/// Whether adjacent rows share values, so that a dictionary is smaller and faster to read.
fn has_few_values(column: &Column) -> bool {
    match column.kind {
        Kind::Text => !matches!(column.name, "body" | "message" | "stack_trace" | "status_message" | "trace_state"),
        Kind::Bytes => column.is_dictionary || column.name == "bounds",
        Kind::U64 => matches!(column.name, "series" | "group"),
        Kind::F64 => column.name == "weight",
        _ => true,
    }
}

/// Whether the column has page statistics, which let a scan skip pages.
fn is_filtered(table: Table, column: &Column) -> bool {
    match column.kind {
        Kind::Bool | Kind::U8 | Kind::I16 | Kind::U32 | Kind::U64 | Kind::I64 | Kind::F64 => true,
        Kind::Text => !matches!(
            column.name,
            "body" | "message" | "stack_trace" | "status_message" | "description" | "trace_state" | "scope_version"
        ),
        // Rows of one trace are adjacent in the spans only.
        Kind::Id16 => is_sorted_by(table, column),
        Kind::Id8 | Kind::Bytes => false,
    }
}

/// Whether the column is part of the sort key.
fn is_sorted_by(table: Table, column: &Column) -> bool {
    table.sort_key().contains(&column.name)
}

fn is_looked_up(table: Table, column: &Column) -> bool {
    matches!(column.name, "trace_id" | "row_id") && trace_id::column(table) != Some(column.name)
}

/// Collects small writes into large ones at growing offsets.
struct FileWriter {
    file: Arc<dyn DiskFile>,
    buffer: Vec<u8>,
    offset: u64,
    /// The bytes of `offset` that are synced.
    synced: u64,
    checksummer: Checksummer,
}

impl FileWriter {
    fn write_out(&mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        self.write_through(&buffer)?;
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    fn write_through(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(bytes, self.offset)?;
        self.offset += bytes.len() as u64;
        if self.offset - self.synced >= SYNC_BYTES {
            self.file.sync_data()?;
            self.synced = self.offset;
        }
        Ok(())
    }

    /// Returns the file, its length in bytes, and the checksum of its tail; not synced.
    fn finish(mut self) -> io::Result<(Arc<dyn DiskFile>, u64, u64)> {
        self.write_out()?;
        Ok((self.file, self.offset, self.checksummer.tail()))
    }
}

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.checksummer.update(bytes);
        if self.buffer.len() + bytes.len() > WRITE_BUFFER_BYTES {
            self.write_out()?;
        }
        if bytes.len() >= WRITE_BUFFER_BYTES {
            self.write_through(bytes)?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    /// Parquet flushes after each row group; the rest of the file is synced in [`PartWriter::finish`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
