//! `tidewatch bench fill`: makes the data directory of a server after a busy month, in minutes.
//!
//! Generated export requests pass through the decoder, the rules, the memtable, the flush and the merge of the real
//! server. Excluded are HTTP, the journal, and the keys of retries, except for the last day.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::{ProjectId, Signal};
use tidewatch_domain::project::IngestSettings;
use tidewatch_domain::units;
use tidewatch_journal::Position;
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::tables::Table;
use tidewatch_store::{JournaledStore, Stats, StoreError};

use super::digits::grouped;
use super::generate::{self, Generator, Kind, Period, SERIES};
use super::reads::{self, Sample};
use tidewatch_accounts::secrets;
use tidewatch_accounts::secrets::password;
use tidewatch_accounts::secrets::seal::Sealer;
use tidewatch_accounts::{Actor, Control, Location, NewAccount};
use tidewatch_ingest::coding::Coding;
use tidewatch_ingest::enrichment::{EnrichmentSource, GroupingSource};
use tidewatch_ingest::pipeline;
use tidewatch_ingest::prices;
use tidewatch_ingest::prices::PriceTable;
use tidewatch_ingest::record::Header;
use tidewatch_ingest::request_attributes::RequestAttributes;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::files;

/// File name of the [`Manifest`] in the data directory.
pub const MANIFEST: &str = "bench.json";
/// File name of a list for `bench query --reads` in the data directory.
pub const READS: &str = "bench-reads.json";
/// Email address of the account whose project has the data.
pub const EMAIL: &str = "bench@example.com";
/// Password of that account.
pub const PASSWORD: &str = "bench-password";

const BATCH: usize = 512;
const DAY_NS: u64 = units::DAY_NS as u64;
/// Required free disk space: bytes per record, about twice their size after merging, and a reserve for the server.
const BYTES_PER_RECORD: u64 = 100;
const BYTES_SPARE: u64 = 2 << 30;
const WAIT: Duration = Duration::from_secs(60);

/// Arguments of `tidewatch bench fill`.
#[derive(Debug, Clone, clap::Args)]
pub struct FillArgs {
    /// The data directory to make; start a server on it with `--retention-days 0`, and sign in as is printed at the
    /// end.
    #[arg(long)]
    pub data_dir: PathBuf,
    /// Spans in all.
    #[arg(long, default_value_t = 1_000_000)]
    pub spans: u64,
    /// Log records in all; a tenth of the spans when not given.
    #[arg(long)]
    pub logs: Option<u64>,
    /// Metric points in all; a tenth of the spans when not given.
    #[arg(long)]
    pub points: Option<u64>,
    /// Days that the data is spread over, until the last midnight (UTC).
    #[arg(long, default_value_t = 30)]
    pub days: u64,
    /// Kind of spans.
    #[arg(long, value_enum, default_value = "rich")]
    pub generate: Kind,
    /// The same seed generates the same data.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Description of the generated data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Version of the generator, [`generate::VERSION`].
    pub generator: u32,
    /// Number of spans.
    pub spans: u64,
    /// Number of log records.
    pub logs: u64,
    /// Number of metric points.
    pub points: u64,
    /// Days that the data covers.
    pub days: u64,
    /// End of the data, nanoseconds since the epoch.
    pub end_ns: u64,
    /// Rows and bytes after merging, by table.
    pub tables: Vec<TableSize>,
    /// Wall-clock seconds it took.
    pub seconds: f64,
    /// CPU seconds it took.
    pub cpu_seconds: f64,
}

/// Size of one table after merging.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableSize {
    /// Name of the table.
    pub table: String,
    /// Number of rows.
    pub rows: u64,
    /// Size on disk.
    pub bytes: u64,
    /// Number of parts.
    pub parts: usize,
}

/// Opens the engine of a server for generated data. Nothing is removed by the wall clock.
pub trait FillEngine {
    /// Opens the store in the folder. Nothing is merged.
    fn open(&self, folder: &Path) -> Result<Arc<dyn JournaledStore>, StoreError>;

    /// Merges what the folder has as a server would have done until `now_ns`, nanoseconds since the epoch.
    fn merge(&self, folder: &Path, now_ns: i64) -> Result<Stats, StoreError>;
}

/// Fills the directory and prints what was made, line by line, with `print_line`.
pub fn run(arguments: &FillArgs, engine: &dyn FillEngine, mut print_line: impl FnMut(&str)) -> anyhow::Result<()> {
    let manifest = fill(arguments, engine, &mut print_line)?;
    for TableSize { table, rows, bytes, parts } in manifest.tables.iter().filter(|table| table.rows > 0) {
        let each = *bytes as f64 / *rows as f64;
        let (rows, megabytes) = (grouped(*rows), *bytes as f64 / 1e6);
        print_line(&format!("{table:<14} {rows:>14} rows {megabytes:>9.1} MB {each:>7.1} bytes each, {parts} parts"));
    }
    print_line(&format!("made in {:.0} s ({:.0} s of CPU)", manifest.seconds, manifest.cpu_seconds));
    print_line(&format!("now: tidewatch serve --retention-days 0 --data-dir {}", arguments.data_dir.display()));
    print_line(&format!("and sign in as {EMAIL} with the password {PASSWORD}"));
    Ok(())
}

/// Makes the data directory. Fails if it has data already.
pub fn fill(
    arguments: &FillArgs,
    engine: &dyn FillEngine,
    print_line: &mut dyn FnMut(&str),
) -> anyhow::Result<Manifest> {
    let folder = &arguments.data_dir;
    if folder.join("catalog.sqlite").exists() {
        bail!("{} holds data already", folder.display());
    }
    if arguments.generate.signal() != Signal::Traces {
        bail!("--generate says what kind of spans: rich or lean");
    }
    files::create_data_directory(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    make_account(folder)?;
    let plan = Plan::new(arguments);
    check_space(folder, plan.records() * BYTES_PER_RECORD + BYTES_SPARE)?;
    let (started, cpu) = (Instant::now(), own_cpu());
    let sample = plan.fill(folder, engine, print_line)?;
    print_line("merging");
    let stats = engine.merge(folder, plan.end_ns as i64 + 3 * DAY_NS as i64).context("cannot merge")?;
    let size = |table: &Table| {
        let stats = &stats.tables[*table as usize];
        TableSize { table: table.name().to_owned(), rows: stats.rows, bytes: stats.bytes, parts: stats.parts }
    };
    let manifest = Manifest {
        generator: generate::VERSION,
        spans: plan.spans,
        logs: plan.logs,
        points: plan.points,
        days: arguments.days,
        end_ns: plan.end_ns,
        tables: Table::ALL.iter().map(size).collect(),
        seconds: started.elapsed().as_secs_f64(),
        cpu_seconds: own_cpu() - cpu,
    };
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    write(READS, serde_json::to_string_pretty(&reads::reads(plan.end_ns, sample))?)?;
    write(MANIFEST, serde_json::to_string_pretty(&manifest)?)?;
    Ok(manifest)
}

/// Makes the account and its project before the data: the server does not assign the number of a project that has
/// telemetry.
fn make_account(folder: &Path) -> anyhow::Result<()> {
    let sealer = Sealer::new(&secrets::sealing_key(folder).context("cannot make the key for secrets")?);
    let location = Location::file(&folder.join("control.sqlite"));
    let account = NewAccount {
        email: EMAIL.to_owned(),
        name: "Bench".to_owned(),
        password_hash: password::hash(PASSWORD)?,
        organization_name: "Bench".to_owned(),
        timezone: "UTC".to_owned(),
        project_name: "Bench".to_owned(),
        framework: "opentelemetry".to_owned(),
    };
    let by = Actor {
        user_id: None,
        name: "tidewatch bench".to_owned(),
        address: String::new(),
        user_agent: String::new(),
        at_ns: Clock::system().now_ns(),
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let control = Control::open(&location, sealer).await?;
        let (_, project) = control.people.register(&by, &account).await?;
        control.database().close().await;
        ensure!(project.number == PROJECT, "the first project has the number {}", project.number);
        Ok(())
    })
}

fn own_cpu() -> f64 {
    super::process::cpu_seconds(std::process::id()).unwrap_or_default()
}

struct Plan {
    kind: Kind,
    seed: u64,
    spans: u64,
    logs: u64,
    points: u64,
    start_ns: u64,
    end_ns: u64,
}

impl Plan {
    fn new(arguments: &FillArgs) -> Plan {
        let now_ns = Clock::system().now_ns() as u64;
        let end_ns = now_ns - now_ns % DAY_NS;
        Plan {
            kind: arguments.generate,
            seed: arguments.seed,
            spans: arguments.spans,
            logs: arguments.logs.unwrap_or(arguments.spans / 10),
            points: arguments.points.unwrap_or(arguments.spans / 10),
            start_ns: end_ns - arguments.days.clamp(1, 10_000) * DAY_NS,
            end_ns,
        }
    }

    fn records(&self) -> u64 {
        self.spans + self.logs + self.points
    }

    /// Generates the data and flushes it into parts. Returns a trace in the middle of the last day.
    fn fill(
        &self,
        folder: &Path,
        engine: &dyn FillEngine,
        print_line: &mut dyn FnMut(&str),
    ) -> anyhow::Result<Option<Sample>> {
        let store = engine.open(folder).context("cannot open the store")?;
        let prices = PriceTable { prices: prices::read(folder)?, id: prices::NO_TABLE };
        let enrichment = EnrichmentSource { prices, symbols: None, grouping: GroupingSource::BUILT_IN };
        let mut generator = Generator::new(self.seed);
        let (mut body, mut position, mut sample) = (Vec::new(), 0, None);
        // One turn per request of the most frequent kind; the other kinds follow in proportion.
        let turns = self.spans.max(self.logs).max(self.points).div_ceil(BATCH as u64).max(1);
        let length_ns = (self.end_ns - self.start_ns) / turns;
        let mut done = [0; 3];
        for turn in 0..turns {
            let period = Period { from_ns: self.start_ns + turn * length_ns, length_ns };
            let is_last_day = period.from_ns + DAY_NS >= self.end_ns;
            let due = |total: u64| (u128::from(total) * u128::from(turn + 1) / u128::from(turns)) as u64;
            for (index, (kind, total, whole)) in [
                (self.kind, self.spans, BATCH as u64),
                (Kind::Logs, self.logs, BATCH as u64),
                (Kind::Points, self.points, SERIES),
            ]
            .into_iter()
            .enumerate()
            {
                while done[index] + whole <= due(total) || (turn + 1 == turns && done[index] < total) {
                    let units = whole.min(total - done[index]);
                    generator.request(kind, units as usize, period, &mut body);
                    done[index] += units;
                    if sample.is_none() && kind.signal() == Signal::Traces && period.from_ns + DAY_NS / 2 >= self.end_ns
                    {
                        sample = Sample::of(&body);
                    }
                    let header = header(kind.signal(), period.from_ns as i64);
                    let prepared = pipeline::prepare(&header, &body, usize::MAX, &enrichment)
                        .map_err(|refused| anyhow::anyhow!("a generated request was refused: {:?}", refused.error))?;
                    let rows = if is_last_day { prepared.rows } else { prepared.rows.without_keys() };
                    position += 1;
                    store.apply(Position(position), NO_KEY, header.received_ns, rows);
                    if !store.wait_while_behind(WAIT) {
                        print_line("waiting for the disk");
                    }
                }
            }
            if turn % (turns / 20).max(1) == 0 && turn > 0 {
                print_line(&format!("{:>3} % made", turn * 100 / turns));
            }
        }
        store.flush().context("cannot flush")?;
        Ok(sample)
    }
}

/// Number of a server's first project.
const PROJECT: u32 = 1;

fn header(signal: Signal, received_ns: i64) -> Header {
    Header {
        project_number: PROJECT,
        project: ProjectId([7; 16]),
        kind: signal.into(),
        encoding: Encoding::Protobuf,
        coding: Coding::Identity,
        received_ns,
        settings: IngestSettings::default(),
        prices: prices::NO_TABLE,
        names_max: None,
        attributes: RequestAttributes::default(),
    }
}

/// Checks the free disk space before any data is written.
fn check_space(folder: &Path, bytes: u64) -> anyhow::Result<()> {
    let output = std::process::Command::new("df").args(["--output=avail", "-B1"]).arg(folder).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    // Without `df` the check is skipped.
    let Some(free) = text.lines().nth(1).and_then(|line| line.trim().parse::<u64>().ok()) else { return Ok(()) };
    if free < bytes {
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        let (wanted, free) = (gigabytes(bytes), gigabytes(free));
        bail!("{} has {free:.1} GB free; {wanted:.1} GB are wanted", folder.display());
    }
    Ok(())
}
