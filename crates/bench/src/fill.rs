//! `tidewatch bench fill`: the data directory of a server that has been busy for a month, made in minutes.
//!
//! Generated export requests go through the decoder, the rules, the memtable, the flush and the merge of the real
//! server. Left out: HTTP, the journal, and (but for the last day) the keys of retries.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tidewatch_store::TelemetryStore;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::{ProjectId, Signal};
use tidewatch_domain::project::IngestSettings;
use tidewatch_journal::Position;
use tidewatch_lake::{Lake, LakeOptions, MergeOptions};
use tidewatch_store::Stats;
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::retention::Retention;
use tidewatch_store::tables::Table;

use super::generate::{self, Generator, Kind, Period, SERIES};
use super::grouped;
use super::reads::{self, Sample};
use tidewatch_accounts::secrets;
use tidewatch_accounts::secrets::password;
use tidewatch_accounts::secrets::seal::Sealer;
use tidewatch_accounts::{By, Control, Location, NewAccount};
use tidewatch_ingest::coding::Coding;
use tidewatch_ingest::knowledge::Knowledge;
use tidewatch_ingest::pipeline;
use tidewatch_ingest::prices;
use tidewatch_ingest::prices::PriceTable;
use tidewatch_ingest::record::Header;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::files;

/// What describes the data, in its directory.
pub const MANIFEST: &str = "bench.json";
/// A list for `bench query --reads`.
pub const READS: &str = "bench-reads.json";
/// The account whose project has the data.
pub const EMAIL: &str = "bench@example.com";
pub const PASSWORD: &str = "bench-password";

const BATCH: usize = 512;
const DAY_NS: u64 = 24 * 3600 * 1_000_000_000;
/// Room that is wanted on the disk: bytes per record, about twice what they take after merging, and some for the server.
const BYTES_PER_RECORD: u64 = 100;
const BYTES_SPARE: u64 = 2 << 30;
const WAIT: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, clap::Args)]
pub struct FillArgs {
    /// The data directory to make; start a server on it with `--retention-days 0`, and sign in as is printed at the end.
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
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Of the generator.
    pub generator: u32,
    pub spans: u64,
    pub logs: u64,
    pub points: u64,
    pub days: u64,
    /// End of the data, nanoseconds since the epoch.
    pub end_ns: u64,
    /// Rows and bytes after merging, by table.
    pub tables: Vec<TableSize>,
    pub seconds: f64,
    /// CPU seconds it took.
    pub cpu_seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableSize {
    pub table: String,
    pub rows: u64,
    pub bytes: u64,
    pub parts: usize,
}

pub fn run(arguments: &FillArgs, mut say: impl FnMut(&str)) -> anyhow::Result<()> {
    let manifest = fill(arguments, &mut say)?;
    for TableSize { table, rows, bytes, parts } in manifest.tables.iter().filter(|table| table.rows > 0) {
        let each = *bytes as f64 / *rows as f64;
        let (rows, megabytes) = (grouped(*rows), *bytes as f64 / 1e6);
        say(&format!("{table:<14} {rows:>14} rows {megabytes:>9.1} MB {each:>7.1} bytes each, {parts} parts"));
    }
    say(&format!("made in {:.0} s ({:.0} s of CPU)", manifest.seconds, manifest.cpu_seconds));
    say(&format!("now: tidewatch serve --retention-days 0 --data-dir {}", arguments.data_dir.display()));
    say(&format!("and sign in as {EMAIL} with the password {PASSWORD}"));
    Ok(())
}

/// Makes the directory; refuses one that is there already.
pub fn fill(arguments: &FillArgs, say: &mut dyn FnMut(&str)) -> anyhow::Result<Manifest> {
    let folder = &arguments.data_dir;
    if folder.join("catalog.sqlite").exists() {
        bail!("{} holds data already", folder.display());
    }
    if arguments.generate.signal() != Signal::Traces {
        bail!("--generate says what kind of spans: rich or lean");
    }
    files::make_data_directory(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    make_account(folder)?;
    let plan = Plan::new(arguments);
    check_space(folder, plan.records() * BYTES_PER_RECORD + BYTES_SPARE)?;
    let (started, cpu) = (Instant::now(), own_cpu());
    let sample = plan.fill(folder, say)?;
    let stats = plan.merge(folder, say)?;
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

/// Numbers of projects that have telemetry are not given again: the project is made first.
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
    let by = By {
        user_id: None,
        name: "tidewatch bench".to_owned(),
        address: String::new(),
        user_agent: String::new(),
        at_ns: Clock::system().now_ns(),
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let control = Control::open(&location, sealer).await?;
        let (_, project) = control.register(&by, &account).await?;
        control.close().await;
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

    /// As the server's, but nothing is merged or dropped by the wall clock.
    fn options(&self, folder: &Path, merge: MergeOptions, background: bool) -> LakeOptions {
        LakeOptions { merge, background, retention: Retention::all(0), ..LakeOptions::new(folder) }
    }

    /// Everything into parts as flushed; gives a trace in the middle of the last day.
    fn fill(&self, folder: &Path, say: &mut dyn FnMut(&str)) -> anyhow::Result<Option<Sample>> {
        let nothing = MergeOptions { rows_max: 0, bytes_max: 0, ..MergeOptions::default() };
        let lake = Lake::open(self.options(folder, nothing, true)).context("cannot open the store")?;
        let prices = PriceTable { prices: prices::read(folder)?, id: prices::NO_TABLE };
        let knowledge = Knowledge { prices, symbols: None };
        let mut generator = Generator::new(self.seed);
        let (mut body, mut position, mut sample) = (Vec::new(), 0, None);
        // One turn per request of whatever there is most of; the others keep up.
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
                    let prepared = pipeline::prepare(&header, &body, usize::MAX, &knowledge)
                        .map_err(|refused| anyhow::anyhow!("a generated request was refused: {:?}", refused.error))?;
                    let rows = if is_last_day { prepared.rows } else { prepared.rows.without_keys() };
                    position += 1;
                    lake.apply(Position(position), NO_KEY, header.received_ns, rows);
                    if !lake.wait_while_behind(WAIT) {
                        say("waiting for the disk");
                    }
                }
            }
            if turn % (turns / 20).max(1) == 0 && turn > 0 {
                say(&format!("{:>3} % made", turn * 100 / turns));
            }
        }
        lake.shutdown().context("cannot flush")?;
        Ok(sample)
    }

    /// As the server would have done it meanwhile.
    fn merge(&self, folder: &Path, say: &mut dyn FnMut(&str)) -> anyhow::Result<Stats> {
        let lake = Lake::open(self.options(folder, MergeOptions::default(), false)).context("cannot open the store")?;
        say("merging");
        lake.merge(self.end_ns as i64 + 3 * DAY_NS as i64).context("cannot merge")?;
        let stats = lake.stats();
        lake.shutdown().context("cannot close the store")?;
        Ok(stats)
    }
}

/// The number of a server's first project.
const PROJECT: u32 = 1;

fn header(signal: Signal, received_ns: i64) -> Header {
    Header {
        project_number: PROJECT,
        project: ProjectId([7; 16]),
        signal,
        encoding: Encoding::Protobuf,
        coding: Coding::Identity,
        received_ns,
        settings: IngestSettings::default(),
        prices: prices::NO_TABLE,
        names_max: None,
    }
}

/// Better now than when the disk is full.
fn check_space(folder: &Path, bytes: u64) -> anyhow::Result<()> {
    let output = std::process::Command::new("df").args(["--output=avail", "-B1"]).arg(folder).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    // Where nobody can tell, the disk will.
    let Some(free) = text.lines().nth(1).and_then(|line| line.trim().parse::<u64>().ok()) else { return Ok(()) };
    if free < bytes {
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        let (wanted, free) = (gigabytes(bytes), gigabytes(free));
        bail!("{} has {free:.1} GB free; {wanted:.1} GB are wanted", folder.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_month() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let arguments = FillArgs {
            data_dir: folder.path().join("data"),
            spans: 4_000,
            logs: None,
            points: Some(700),
            days: 30,
            generate: Kind::Rich,
            seed: 1,
        };
        let manifest = fill(&arguments, &mut |_| ()).expect("it is made");
        let rows = |table: Table| manifest.tables[table as usize].rows;
        assert_eq!((rows(Table::Spans), rows(Table::Logs)), (4_000, 400));
        // A histogram's point is stored as two.
        assert!(rows(Table::MetricPoints) > 700);
        assert!(rows(Table::Endpoints) > 350 && rows(Table::Tasks) > 20 && rows(Table::Exceptions) > 0);
        let reads = std::fs::read_to_string(arguments.data_dir.join(READS)).expect("the list of reads");
        assert!(serde_json::from_str::<Vec<super::super::query::Read>>(&reads).is_ok_and(|reads| reads.len() > 10));
        assert!(fill(&arguments, &mut |_| ()).is_err(), "a directory with data is left alone");
    }
}
