//! Exports from a data directory that no server uses, or from a backup.
//!
//! The directory is not changed. A temporary directory gets a copy of the catalog and links to the parts. The store
//! that is opened there replays the journal like a server at its start, so the export has the rows that a server would
//! return. Stack traces of requests that only the journal has are raw, without symbols.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;
use tidewatch_journal::disk::RealDisk;
use tidewatch_lake::{Lake, LakeOptions, check as lake_check};
use tidewatch_store::tables::Table;
use uuid::Uuid;

use super::output::Output;
use super::request::Request;
use crate::backup::check;
use crate::cli::terminal::remark;
use crate::config::Config;
use crate::process::missing_accounts::copy_database;
use tidewatch_accounts as accounts;
use tidewatch_ingest::enrichment::{EnrichmentSource, GroupingSource};
use tidewatch_ingest::prices::{self, PriceTable};
use tidewatch_ingest::{pipeline, record};
use tidewatch_query::export::columns::ProjectIds;
use tidewatch_query::export::{self, Export};
use tidewatch_store::TelemetryStore as _;

/// Deadline of one piece of an export, which no export reaches in practice.
const PIECE_MAX: Duration = Duration::from_secs(3600);

/// Writes the export of the settings' data directory. An error if a server uses it.
pub fn export(request: &Request<'_>, config: &Config, output: &mut Output) -> anyhow::Result<()> {
    let data = &config.data_dir;
    ensure!(data.join("catalog.sqlite").exists(), "there is no store in {}; is --data-dir right?", data.display());
    let _lock = check::lock(data)?.with_context(|| {
        format!("a server uses {}: export from it with --url, or from a backup (tidewatch backup)", data.display())
    })?;
    let view = TempDir::new().context("cannot make a temporary directory")?;
    let projects = projects(data, view.path())?;
    let lake = open(config, view.path())?;
    let numbers = numbers(request, &projects, lake.highest_project())?;
    let plan = export::plan(request.table, numbers, request.range);
    if lake.is_incomplete(&plan) {
        remark("rows of this range were damaged and set aside; the export lacks them");
    }
    let names = ProjectIds::new(projects.into_iter().flatten());
    let mut export = Export::start(lake.cursor(&plan)?, request.table, request.format, names)?;
    while let Some(bytes) = export.next(&lake.request_memory(), Instant::now() + PIECE_MAX)? {
        output.write(&bytes)?;
    }
    Ok(())
}

/// Number and id of each project that is not deleted; `None` if the control database is elsewhere.
fn projects(data: &Path, view: &Path) -> anyhow::Result<Option<Vec<(u32, Uuid)>>> {
    if !data.join("control.sqlite").exists() {
        return Ok(None);
    }
    let copy = copy_database(data, "control.sqlite", view)?;
    accounts::projects_in(&copy)
        .with_context(|| format!("cannot read {}", data.join("control.sqlite").display()))
        .map(Some)
}

/// Numbers of the projects to export.
fn numbers(request: &Request<'_>, known: &Option<Vec<(u32, Uuid)>>, highest: u32) -> anyhow::Result<Vec<u32>> {
    match (request.project, known) {
        (Some(id), Some(known)) => {
            let found = known.iter().find(|(_, known)| id.parse() == Ok(*known));
            found.map(|(number, _)| vec![*number]).with_context(|| format!("there is no project {id}"))
        }
        (Some(number), None) => {
            let number = number.parse().with_context(|| {
                format!("the accounts are not in the directory: --project is a project's number, not {number}")
            })?;
            Ok(vec![number])
        }
        // 0: counts of requests that belong to no project.
        (None, Some(known)) => {
            Ok(known.iter().map(|(number, _)| *number).chain(without_project(request.table)).collect())
        }
        (None, None) => Ok((1..=highest).chain(without_project(request.table)).collect()),
    }
}

fn without_project(table: Table) -> Option<u32> {
    (table == Table::IngestCounts).then_some(0)
}

/// Opens a store in `view` with the parts of the directory, and replays the journal.
fn open(config: &Config, view: &Path) -> anyhow::Result<Lake> {
    let data = &config.data_dir;
    let catalog = copy_database(data, "catalog.sqlite", view)?;
    for file in lake_check::listed_files(&catalog).context("cannot read catalog.sqlite")? {
        // A crash may have come before the file was renamed.
        let named = [&file.path, &file.temporary].into_iter().find(|path| data.join(path).exists());
        let path = named.with_context(|| format!("{} is missing", data.join(&file.path).display()))?;
        let link = view.join(path);
        let folder = link.parent().context("a file lies in a folder")?;
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let target = std::path::absolute(data.join(path)).context("cannot tell the directory's path")?;
        symlink(target, &link).with_context(|| format!("cannot link {}", link.display()))?;
    }
    let options = LakeOptions {
        background: false,
        flush_rows: config.flush_rows,
        memory_bytes: config.memtable_mb.saturating_mul(1024 * 1024),
        names_max: config.names_max,
        query_bytes_max: config.query_memory_bytes(),
        ..LakeOptions::new(view)
    };
    let lake = Lake::open(options).context("cannot open the store")?;
    replay(data, view, &lake)?;
    Ok(lake)
}

/// Applies the journal records that no part covers.
fn replay(data: &Path, view: &Path, lake: &Lake) -> anyhow::Result<()> {
    let folder = data.join("journal");
    if !folder.exists() {
        return Ok(());
    }
    copy_prices(data, view)?;
    let (prices, before) = prices::open(view)?;
    let apply = |position, payload: &[u8]| -> anyhow::Result<()> {
        let (header, body) = record::decode(payload)?;
        let then = before.get(&header.prices).map(|prices| PriceTable { prices, id: header.prices });
        let enrichment =
            EnrichmentSource { prices: then.unwrap_or(prices), symbols: None, grouping: GroupingSource::BUILT_IN };
        let prepared = pipeline::prepare(&header, body, usize::MAX, &enrichment).map_err(|refused| refused.error)?;
        lake.apply(position, prepared.request_key, header.received_ns, prepared.rows);
        if lake.is_behind() {
            lake.flush()?;
        }
        Ok(())
    };
    let report = tidewatch_journal::inspect(&folder, &RealDisk, lake.covered(), &mut |position, payload| {
        apply(position, payload).map_err(Into::into)
    });
    let report = report.with_context(|| format!("cannot read {}", folder.display()))?;
    if let Some(range) = report.corrupt.first() {
        let (from, to, why) = (range.from, range.to, &range.why);
        bail!(
            "the journal is damaged from {from} to {to}: {why}; a start of the server sets aside what cannot be read"
        );
    }
    Ok(())
}

/// Copies the price tables that journal records were priced with.
fn copy_prices(data: &Path, view: &Path) -> anyhow::Result<()> {
    let mut files = vec![Path::new("ai-prices.json").to_path_buf()];
    if let Ok(kept) = std::fs::read_dir(data.join("ai-prices")) {
        std::fs::create_dir_all(view.join("ai-prices")).context("cannot make a temporary directory")?;
        files.extend(kept.flatten().map(|file| Path::new("ai-prices").join(file.file_name())));
    }
    for file in files.iter().filter(|file| data.join(file).exists()) {
        let copied = std::fs::copy(data.join(file), view.join(file));
        copied.with_context(|| format!("cannot copy {}", data.join(file).display()))?;
    }
    Ok(())
}
