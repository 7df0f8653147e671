//! Profiles in one process: samples per CPU-second, bytes per sample, and the flame graph of a day.
//!
//! `cargo bench --bench profiles` prints three lines. The day has 8640 profiles of ten seconds with 300 samples each,
//! drawn from 4000 stacks of 30 frames; parts are merged as after a day.
#![allow(clippy::print_stdout, clippy::allow_attributes, reason = "a benchmark prints its results")]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use support::{cpu_ns, median};
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::encode::Message;
use tidewatch_domain::model::{ProjectId, RequestKind};
use tidewatch_domain::project::IngestSettings;
use tidewatch_ingest::coding::Coding;
use tidewatch_ingest::enrichment::EnrichmentSource;
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

const DAY_NS: i64 = 86_400_000_000_000;
/// 2026-11-19.
const START: i64 = 20_776 * DAY_NS;
const PROFILES: i64 = 8640;
const SAMPLES: u64 = 300;
const STACKS: u64 = 4000;
const FRAMES: u64 = 30;
const FUNCTIONS: u64 = 3000;

/// A number that follows from `seed`.
fn mix(seed: u64) -> u64 {
    let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 8
}

/// The profile with this number: `profile.proto`, not compressed.
fn profile(number: i64) -> Vec<u8> {
    let mut body = Vec::new();
    let mut message = Message(&mut body);
    message.message(1, |of| {
        of.uint(1, 1);
        of.uint(2, 2);
    });
    for sample in 0..SAMPLES {
        // Some stacks are much more frequent than others.
        let draw = mix(number as u64 * SAMPLES + sample);
        let stack = (draw % STACKS).min((draw >> 20) % STACKS);
        message.message(2, |of| {
            let mut list = Vec::new();
            for depth in (0..FRAMES).rev() {
                // Stacks share the frames near the root.
                let function = mix((stack >> (2 * (FRAMES - depth).min(6))) * FRAMES + depth) % FUNCTIONS;
                varint(function + 1, &mut list);
            }
            of.bytes(1, &list);
            of.uint(2, 10_000_000 * (1 + draw % 3));
        });
    }
    for function in 0..FUNCTIONS {
        message.message(4, |of| {
            of.uint(1, function + 1);
            of.message(4, |line| line.uint(1, function + 1));
        });
        message.message(5, |of| {
            of.uint(1, function + 1);
            of.uint(2, function + 4);
            of.uint(4, 3);
        });
    }
    for text in ["", "cpu", "nanoseconds", "/src/shop/orders.go"] {
        message.text(6, text);
    }
    for function in 0..FUNCTIONS {
        message.text(6, &format!("github.com/example/shop/package{}.(*Service).method{function}", function % 40));
    }
    message.uint(9, (START + number * 10_000_000_000) as u64);
    message.uint(10, 10_000_000_000);
    body
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

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
    let enrichment = EnrichmentSource { prices: PriceTable { prices: &[], id: NO_TABLE }, symbols: None };
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
    for number in 0..PROFILES {
        let body = profile(number);
        let received = START + number * 10_000_000_000;
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
    let samples = PROFILES as u64 * SAMPLES;
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
