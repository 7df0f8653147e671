//! Profiles in one process: samples per CPU-second, bytes per sample, and the flame graph of a day.
//!
//! `cargo bench --bench profiles` prints three lines. The day has 8640 profiles of ten seconds with 300 samples each,
//! drawn from 4000 stacks of 30 frames; parts are merged as after a day.
#![allow(clippy::print_stdout, clippy::allow_attributes, reason = "a benchmark prints its results")]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use support::{cpu_ns, median};
use tidewatch_bench::generate::profiles::{PROFILE_NS, PROFILES_PER_DAY, SAMPLES, profile};
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::{ProjectId, RequestKind};
use tidewatch_domain::project::IngestSettings;
use tidewatch_domain::units::DAY_NS;
use tidewatch_ingest::coding::Coding;
use tidewatch_ingest::enrichment::{EnrichmentSource, GroupingSource};
use tidewatch_ingest::pipeline::{self, Prepared};
use tidewatch_ingest::prices::{NO_TABLE, PriceTable};
use tidewatch_ingest::record::Header;
use tidewatch_ingest::request_attributes::RequestAttributes;
use tidewatch_journal::Position;
use tidewatch_lake::{Lake, LakeOptions};
use tidewatch_store::plan::{Filter, Function, Key, Plan, Shape, Value};
use tidewatch_store::tables::Table;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// 2026-11-19.
const START: i64 = 20_776 * DAY_NS;

fn prepare(body: &[u8], received_ns: i64) -> Prepared {
    let header = Header {
        project_number: 1,
        project: ProjectId([7; 16]),
        kind: RequestKind::Profile,
        encoding: Encoding::Protobuf,
        coding: Coding::Identity,
        received_ns,
        settings: IngestSettings::default(),
        prices: NO_TABLE,
        names_max: None,
        attributes: RequestAttributes { service: "shop".to_owned(), ..RequestAttributes::default() },
    };
    let enrichment = EnrichmentSource {
        prices: PriceTable { prices: &[], id: NO_TABLE },
        symbols: None,
        grouping: GroupingSource::BUILT_IN,
    };
    pipeline::prepare(&header, body, usize::MAX, &enrichment).map_err(|refused| refused.error).expect("a profile")
}

/// Bytes of the files below a folder.
fn bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| if entry.path().is_dir() { bytes(&entry.path()) } else { entry.metadata().map_or(0, |m| m.len()) })
        .sum()
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = LakeOptions { background: false, ..LakeOptions::new(folder.path()) };
    let lake = Lake::open(options).expect("an empty folder becomes a lake");
    let (mut spent, mut position) = (0, 0);
    for number in 0..PROFILES_PER_DAY {
        let body = profile(number, START);
        let received = START + number.cast_signed() * PROFILE_NS;
        let start = cpu_ns();
        let prepared = prepare(&body, received);
        position += 1;
        lake.apply(Position(position), prepared.request_key, received, prepared.rows);
        spent += cpu_ns() - start;
        if number % 1000 == 999 {
            lake.flush().expect("the disk takes it");
        }
    }
    lake.flush().expect("the disk takes it");
    lake.merge(START + 3 * DAY_NS).expect("the parts are merged");
    let samples = PROFILES_PER_DAY * SAMPLES;
    println!(
        "ingest: {:.2} million samples per CPU-second, without HTTP, journal and flush",
        samples as f64 * 1e3 / spent as f64
    );
    let of = |table: Table| bytes(&folder.path().join("parts").join(table.name())) as f64 / samples as f64;
    let (rows, stacks) = (of(Table::ProfileSamples), of(Table::ProfileStacks) + of(Table::Profiles));
    println!(
        "at rest: {:.2} bytes per sample: {rows:.2} of samples, {stacks:.2} of stacks and profiles",
        rows + stacks
    );

    let text = |column, value: &str| Filter::eq(column, Value::Text(value.to_owned()));
    let filter = text("server_name", "shop").and(text("profile_type", "go:profile_cpu:nanoseconds"));
    let shape = Shape::Groups {
        keys: vec![Key::column("stack")],
        aggregates: vec![Function::Sum("value").named("value"), Function::Count.named("rows")],
        order: Vec::new(),
        limit: 1_000_000,
        offset: 0,
    };
    let sums = Plan { table: Table::ProfileSamples, projects: vec![1], from: START, to: START + DAY_NS, filter, shape };
    let shape = Shape::Rows { columns: vec!["stack", "frames"], order: Vec::new(), limit: 1_000_000, offset: 0 };
    let stacks = Plan { table: Table::ProfileStacks, filter: Filter::True, shape, ..sums.clone() };
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..9 {
        for (plan, times) in [&sums, &stacks].into_iter().zip(&mut times) {
            let start = Instant::now();
            let answer = lake.execute(plan, start + Duration::from_secs(60)).expect("an answer");
            times.push(start.elapsed().as_secs_f64() * 1e3);
            assert!(answer.num_rows() > 1000, "{} stacks", answer.num_rows());
        }
    }
    let [sums, stacks] = times.map(median);
    println!(
        "flame graph of a day: {:.0} ms: {sums:.0} for the sums of {samples} samples, {stacks:.0} for the stacks, without the tree",
        sums + stacks
    );
}
