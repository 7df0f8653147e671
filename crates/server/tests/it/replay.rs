//! Records of the journal that cannot be replayed: they are set aside and counted, and the next start skips them.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::{ProjectId, RequestKind, Signal};
use tidewatch_domain::project::IngestSettings;
use tidewatch_ingest::coding::Coding;
use tidewatch_ingest::enrichment::{EnrichmentSource, GroupingSource};
use tidewatch_ingest::outcome::Refused;
use tidewatch_ingest::pipeline;
use tidewatch_ingest::pipeline::Prepared;
use tidewatch_ingest::prices;
use tidewatch_ingest::prices::PriceTable;
use tidewatch_ingest::record::Header;
use tidewatch_ingest::replay::{Prepare, Replay, Replayed};
use tidewatch_ingest::request_attributes::RequestAttributes;
use tidewatch_journal::disk::hooked::{HookedDisk, Operation};
use tidewatch_journal::disk::{Disk, RealDisk};
use tidewatch_journal::{Journal, Options, Position};
use tidewatch_lake::{Lake, LakeOptions};
use tidewatch_limits::clock::Clock;
use tidewatch_store::tables::Table;
use tidewatch_store::{JournaledStore, KeepRecords};

const NO_KEY: u128 = tidewatch_store::columns::NO_KEY;

/// A data directory with a journal written by the test.
struct Bench {
    data: TempDir,
    disk: Arc<dyn Disk>,
}

impl Bench {
    fn new(disk: Arc<dyn Disk>) -> Bench {
        Bench { data: TempDir::new().expect("a temporary folder"), disk }
    }

    fn journal(&self) -> Options {
        Options { disk: self.disk.clone(), ..Options::new(self.data.path().join("journal")) }
    }

    /// Appends records durably.
    fn append(&self, from: Position, records: &[Vec<u8>]) {
        let opened = Journal::open(
            self.journal(),
            from,
            |_, _| Ok(()),
            |(), outcome| {
                outcome.expect("the disk works");
            },
        );
        let journal = opened.expect("the journal opens").journal;
        for record in records {
            journal.append(&[record], ()).expect("there is room");
        }
        journal.shutdown();
    }

    fn replay(&self, prepare: &Prepare<'_>) -> anyhow::Result<Replayed<()>> {
        let open_engine = |_| {
            let options = LakeOptions { disk: self.disk.clone(), ..LakeOptions::new(self.data.path()) };
            Ok::<Arc<dyn JournaledStore>, _>(Arc::new(Lake::open(options)?))
        };
        let keep_records: KeepRecords = Arc::new(|_, _, _| Ok(()));
        let clock = Clock::system();
        let journal = self.journal();
        let replay = Replay { open_engine: &open_engine, keep_records, journal: &journal, prepare, clock: &clock };
        replay.open(|_| |(), _| {})
    }
}

/// The files of `lost/`: names and contents.
pub fn kept(data: &Path) -> Vec<(String, Vec<u8>)> {
    fn find(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() { find(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    find(&data.join("lost"), &mut found);
    found.sort();
    let name = |path: &PathBuf| path.file_name().expect("files have names").to_string_lossy().into_owned();
    found.iter().map(|path| (name(path), std::fs::read(path).expect("a readable file"))).collect()
}

fn header() -> Header {
    Header {
        project_number: 1,
        project: ProjectId([1; 16]),
        kind: RequestKind::Otlp(Signal::Logs),
        encoding: Encoding::Json,
        coding: Coding::Identity,
        received_ns: 1_795_219_200_000_000_000,
        settings: IngestSettings::default(),
        prices: prices::NO_TABLE,
        names_max: None,
        attributes: RequestAttributes::default(),
    }
}

/// The journal record of an export of one log record.
fn log(text: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{{"timeUnixNano":"1795219200000000000","body":{{"stringValue":"{text}"}}}}]}}]}}]}}"#
    );
    [&header().encode().expect("no attributes"), body.as_bytes()].concat()
}

fn prepare(header: &Header, body: &[u8]) -> Result<Prepared, Refused> {
    let folder = std::env::temp_dir();
    let built_in = prices::read(&folder.join("no such folder")).expect("built in");
    let enrichment = EnrichmentSource {
        prices: PriceTable { prices: built_in, id: prices::NO_TABLE },
        symbols: None,
        grouping: GroupingSource::BUILT_IN,
    };
    pipeline::prepare(header, body, usize::MAX, &enrichment)
}

fn logs(replayed: &Replayed<()>) -> u64 {
    let stats = replayed.engine.stats();
    stats
        .tables
        .iter()
        .find(|stats| stats.table == Table::Logs)
        .map_or(0, |stats| stats.rows + stats.memory_rows as u64)
}

fn set_aside(replayed: &Replayed<()>) -> Vec<(&'static str, u64)> {
    replayed.set_aside.iter().map(|(reason, count)| (reason.as_str(), *count)).collect()
}

/// Guarantee: the start continues, the record is copied byte for byte, and the next start does not see it.
#[test]
fn a_record_that_cannot_be_decoded_is_set_aside_and_skipped() {
    let bench = Bench::new(Arc::new(RealDisk));
    let (mut unknown, mut malformed) = (log("a"), log("b"));
    unknown[1] = 77;
    malformed.truncate(malformed.len() - 5);
    bench.append(Position(0), &[log("first"), unknown.clone(), malformed.clone(), log("last"), unknown.clone()]);
    let replayed = bench.replay(&prepare).expect("it starts");
    assert_eq!((logs(&replayed), set_aside(&replayed)), (2, vec![("undecodable", 3)]));
    let files = kept(bench.data.path());
    assert_eq!(files.iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(), [&unknown, &malformed, &unknown]);
    assert!(files.iter().all(|(name, _)| name.ends_with(".record")), "{files:?}");
    replayed.engine.flush().expect("the disk works");
    drop(replayed);
    let again = bench.replay(&prepare).expect("it starts");
    assert_eq!((logs(&again), again.report.records, set_aside(&again)), (2, 0, vec![]));
}

/// A journal of a newer version is not damaged: skipping its records would lose what the newer program could read.
#[test]
fn a_record_of_an_unknown_version_fails_the_start() {
    let bench = Bench::new(Arc::new(RealDisk));
    let mut newer = log("a");
    newer[0] = 99;
    bench.append(Position(0), &[newer]);
    let error = bench.replay(&prepare).err().expect("it does not start");
    assert!(format!("{error:#}").contains("version 99"), "{error:#}");
    assert!(kept(bench.data.path()).is_empty());
}

#[test]
fn a_record_whose_rows_panic_twice_is_set_aside_and_skipped() {
    let bench = Bench::new(Arc::new(RealDisk));
    bench.append(Position(0), &[log("first"), log("poison"), log("once"), log("last")]);
    let panicked = Cell::new(false);
    let poisoned = |header: &Header, body: &[u8]| {
        let text = String::from_utf8_lossy(body);
        assert!(!text.contains("poison"), "a bug of the rules, on purpose");
        assert!(!text.contains("once") || panicked.replace(true), "a bug that comes once, on purpose");
        prepare(header, body)
    };
    let replayed = bench.replay(&poisoned).expect("it starts");
    assert_eq!((logs(&replayed), set_aside(&replayed)), (3, vec![("panicked", 1)]));
    let files = kept(bench.data.path());
    assert_eq!(files.iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(), [&log("poison")]);
}

/// Scenario: the lake panics when it applies a record, because of what it reads from its own files. Guarantee: no rows
/// in memory are stored twice or lost; the record is set aside and skipped.
#[test]
fn a_record_that_panics_twice_when_it_is_applied_is_set_aside_and_skipped() {
    let is_broken = Arc::new(AtomicBool::new(false));
    let panics = is_broken.clone();
    let disk = HookedDisk::new(Arc::new(RealDisk), move |what, path| -> io::Result<()> {
        let is_look_up = what == Operation::Read
            && path.extension().is_some_and(|extension| extension == "keys")
            && std::thread::current().name() == Some("replay");
        assert!(!(is_look_up && panics.load(Ordering::SeqCst)), "a bug of the lake, on purpose");
        Ok(())
    });
    let bench = Bench::new(Arc::new(disk));
    // Only records that contain "keyed" have a request key and are looked up.
    let keyed = |header: &Header, body: &[u8]| {
        let request_key = if String::from_utf8_lossy(body).contains("keyed") { 7 } else { NO_KEY };
        prepare(header, body).map(|prepared| Prepared { request_key, ..prepared })
    };
    bench.append(Position(0), &[log("keyed, first")]);
    let before = bench.replay(&keyed).expect("it starts");
    before.engine.flush().expect("the disk works");
    let covered = before.engine.covered();
    drop(before);
    bench.append(covered, &[log("a"), log("keyed, again"), log("b")]);
    is_broken.store(true, Ordering::SeqCst);
    let replayed = bench.replay(&keyed).expect("it starts");
    assert_eq!((logs(&replayed), set_aside(&replayed)), (3, vec![("panicked", 1)]));
    let files = kept(bench.data.path());
    assert_eq!(files.iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(), [&log("keyed, again")]);
}

/// Damage is counted, its bytes are copied before the journal is trimmed, and the records around it are stored.
#[test]
fn damaged_ranges_are_copied_to_lost() {
    let bench = Bench::new(Arc::new(RealDisk));
    bench.append(Position(0), &[log("first"), log("damaged")]);
    bench.append(Position(0), &[log("last")]);
    let mut segments: Vec<PathBuf> =
        std::fs::read_dir(bench.data.path().join("journal")).unwrap().map(|entry| entry.unwrap().path()).collect();
    segments.sort();
    let (segment, at) = segments
        .iter()
        .find_map(|path| {
            let bytes = std::fs::read(path).unwrap();
            let at = bytes.windows(7).position(|window| window == b"damaged")?;
            Some((path.clone(), at))
        })
        .expect("the record lies in a segment");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[at] = b'D';
    std::fs::write(&segment, bytes).unwrap();
    let replayed = bench.replay(&prepare).expect("it starts");
    assert_eq!((logs(&replayed), set_aside(&replayed)), (2, vec![("damaged", 1)]));
    let files = kept(bench.data.path());
    assert_eq!(files.len(), 1, "{files:?}");
    let (name, bytes) = &files[0];
    assert!(name.ends_with(".damaged"), "{name}");
    assert!(bytes.windows(7).any(|window| window == b"Damaged"), "what is left of the record");
    replayed.engine.flush().expect("the disk works");
    drop(replayed);
    let again = bench.replay(&prepare).expect("it starts");
    assert_eq!((logs(&again), set_aside(&again)), (2, vec![]), "it is not found again");
}
