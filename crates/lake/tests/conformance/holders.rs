//! The ways to hold the same rows.

use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use tempfile::TempDir;

use tidewatch_domain::model::Signal;
use tidewatch_domain::units::DAY_NS;
use tidewatch_journal::Position;
use tidewatch_journal::disk::RealDisk;
use tidewatch_lake::attr_columns;
use tidewatch_lake::attr_columns::Splitter;
pub(crate) use tidewatch_lake::index::trace_id;
pub(crate) use tidewatch_lake::index::trigram;
use tidewatch_lake::{Lake, LakeOptions, MergeOptions, Part, PartFacts, RollupOptions, Source};
use tidewatch_store::columns::{NO_KEY, Rows};
use tidewatch_store::plan::{Filter, Plan, Shape};
use tidewatch_store::query_memory::{QueryMemory, RequestMemory};
use tidewatch_store::tables::Table;

use tidewatch_store::conformance::dice::Dice;
use tidewatch_store::conformance::rows::{Cell, MIDNIGHT, Row, batch, buffer};

/// Enough memory for every query of these tests.
pub fn plenty() -> RequestMemory {
    RequestMemory::new(&Arc::new(QueryMemory::new(4 << 30)))
}

/// Memory for the rows of a few pages.
pub fn little() -> RequestMemory {
    RequestMemory::new(&Arc::new(QueryMemory::of_one_request(1 << 20)))
}

/// Sources, and the folder of their parts.
pub struct Held {
    pub how: &'static str,
    pub sources: Vec<Source>,
    _folder: Option<TempDir>,
}

pub fn one_batch(table: Table, rows: &[Row]) -> Held {
    Held { how: "one batch", sources: vec![Source::Memory(batch(table, rows))], _folder: None }
}

/// Batches cut at random positions, some of them empty.
pub fn many_batches(table: Table, rows: &[Row], dice: &mut Dice) -> Held {
    let sources = cut(rows, 7, dice).iter().map(|rows| Source::Memory(batch(table, rows))).collect();
    Held { how: "many batches", sources, _folder: None }
}

/// Parts with tiny row groups and pages beside memory, so that every way of skipping is used.
pub fn tiny_parts(table: Table, rows: &[Row], dice: &mut Dice) -> Held {
    let folder = tempfile::tempdir().expect("a folder for parts");
    let mut rows = rows.to_vec();
    dice.shuffle(&mut rows);
    let mut sources = Vec::new();
    for (id, mut rows) in cut(&rows, 4, dice).into_iter().enumerate() {
        if rows.is_empty() || dice.once_in(4) {
            sources.push(Source::Memory(batch(table, &rows)));
            continue;
        }
        if dice.once_in(2) {
            rows.sort_by_key(|row| time_and_project(table, row));
        }
        let path = folder.path().join(format!("{id}.parquet"));
        sources.push(Source::Part(Arc::new(write_part(table, id as u64, &rows, &path, dice))));
    }
    Held { how: "tiny parts", sources, _folder: Some(folder) }
}

/// A real lake with flushes and merges between requests, and the rest of the rows in its memtable.
pub fn lake(table: Table, rows: &[Row], dice: &mut Dice) -> Held {
    let (lake, folder) = filled_lake(table, rows, dice);
    let everything = Shape::Rows { columns: Vec::new(), order: Vec::new(), limit: 0, offset: 0 };
    let everything = Plan {
        table,
        projects: (0..100).collect(),
        from: i64::MIN,
        to: i64::MAX,
        filter: Filter::True,
        shape: everything,
    };
    Held { how: "a lake", sources: lake.sources(&everything), _folder: Some(folder) }
}

/// A lake with the rows, and its folder.
pub fn filled_lake(table: Table, rows: &[Row], dice: &mut Dice) -> (Lake, TempDir) {
    let folder = tempfile::tempdir().expect("a folder for a lake");
    let mut rows = rows.to_vec();
    dice.shuffle(&mut rows);
    let mut rollups = RollupOptions { shrink: if dice.once_in(3) { 2 } else { 0 }, ..RollupOptions::ALWAYS };
    // Every width, or only those that save rows; roll-ups always used, or never.
    rollups.query_rows_min = if dice.once_in(2) { 0 } else { u64::MAX };
    let options = LakeOptions {
        background: false,
        attr_columns_from: if dice.once_in(2) { Some(1) } else { None },
        merge: MergeOptions { fan_in: 2, ..MergeOptions::default() },
        rollups,
        // Random rows must be stored as they are: pairing would set the peers of some.
        calls_max: 0,
        ..LakeOptions::new(folder.path())
    };
    let lake = Lake::open(options).expect("an empty folder becomes a lake");
    for (number, rows) in cut(&rows, 6, dice).iter().enumerate() {
        let rows = Rows::from_buffer(1, Signal::Traces, buffer(table, rows));
        lake.apply(Position(1 + number as u64), NO_KEY, MIDNIGHT, rows);
        if dice.once_in(2) {
            lake.flush().expect("the disk takes it");
        }
        if dice.once_in(4) {
            lake.merge(MIDNIGHT + 10 * DAY_NS).expect("the disk takes it");
        }
    }
    (lake, folder)
}

fn cut(rows: &[Row], pieces_max: usize, dice: &mut Dice) -> Vec<Vec<Row>> {
    let mut cuts: Vec<usize> = (0..dice.below(pieces_max)).map(|_| dice.below(rows.len() + 1)).collect();
    cuts.extend([0, rows.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| rows[pair[0]..pair[1]].to_vec()).collect()
}

fn time_and_project(table: Table, row: &Row) -> (i64, u32) {
    let of = |name: &str| &row[table.column(name).expect("every table has it").0];
    match (of("time"), of("project")) {
        (Cell::I64(time), Cell::U64(project)) => (*time, *project as u32),
        other => panic!("{other:?} is no time and project"),
    }
}

fn write_part(table: Table, id: u64, rows: &[Row], path: &Path, dice: &mut Dice) -> Part {
    let batch: RecordBatch = batch(table, rows);
    let page_rows = 1 + dice.below(5);
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(1 + dice.below(20)))
        .set_data_page_row_count_limit(page_rows)
        .set_write_batch_size(page_rows)
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(dice.once_in(2))
        .set_bloom_filter_enabled(dice.once_in(2))
        .set_statistics_enabled(*dice.pick(&[
            EnabledStatistics::Page,
            EnabledStatistics::Page,
            EnabledStatistics::Chunk,
            EnabledStatistics::None,
        ]))
        .set_column_index_truncate_length(Some(1 + dice.below(8)))
        .set_statistics_truncate_length(Some(1 + dice.below(8)))
        .build();
    let file = std::fs::File::create(path).expect("a new file");
    // Half of the parts have frequent attributes in columns of their own.
    let keys = if dice.once_in(2) { attr_columns::choose(std::slice::from_ref(&batch), &[]) } else { Vec::new() };
    let mut splitter = Splitter::new(table, keys, false);
    let split = splitter.split(&batch).expect("rows can be split");
    let mut writer = ArrowWriter::try_new(file, split.schema(), Some(properties)).expect("the schema can be written");
    writer.write(&split).expect("rows can be written");
    let incomplete = KeyValue::new(attr_columns::INCOMPLETE.to_owned(), splitter.incomplete());
    writer.append_key_value_metadata(incomplete);
    writer.flush().expect("rows can be written");
    if dice.once_in(2)
        && let Some(mut trigrams) = trigram::Builder::new(table, 1 + dice.below(9))
    {
        trigrams.add(&batch).expect("rows have their strings");
        if let Some(section) = trigrams.finish(writer.bytes_written() as u64) {
            writer.write_all(&section.bytes).expect("the file takes it");
            writer.append_key_value_metadata(KeyValue::new(trigram::TRIGRAMS.to_owned(), section.directory));
        }
    }
    let mut ids = None;
    if dice.once_in(2)
        && let Some(mut builder) = trace_id::Builder::new(table, 1 + dice.below(5))
    {
        builder.add(&batch).expect("rows have their ids");
        if let Some(section) = builder.finish(writer.bytes_written() as u64) {
            writer.write_all(&section.bytes).expect("the file takes it");
            ids = Some(section.directory.into());
        }
    }
    writer.close().expect("a part can be finished");
    let places: Vec<(i64, u32)> = rows.iter().map(|row| time_and_project(table, row)).collect();
    let times = || places.iter().map(|(time, _)| *time);
    let projects = || places.iter().map(|(_, project)| *project);
    let facts = PartFacts {
        id,
        first_id: id,
        table,
        day: 0,
        rows: rows.len() as u64,
        bytes: std::fs::metadata(path).expect("the part is there").len(),
        time_min: times().min().expect("there are rows"),
        time_max: times().max().expect("there are rows"),
        project_min: projects().min().expect("there are rows"),
        project_max: projects().max().expect("there are rows"),
        level: 0,
        tail_sum: 0,
        received_min: i64::MIN,
        received_max: i64::MAX,
        ids,
    };
    Part::new(Arc::new(RealDisk), path.to_path_buf(), facts)
}
