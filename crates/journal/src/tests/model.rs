//! The durability property: after any failure of process, disk or power, exactly the records that were reported durable
//! are replayed, once and in order, or the report contains the missing ones.
//!
//! Each seed is one history of appends, groups, trims, faults and restarts, compared with a model that remembers every
//! payload. `JOURNAL_SEED=7` repeats one seed, `TIDEWATCH_TEST_LONG=1` runs more of them.

use super::{Bench, Record};
use crate::disk::Disk;
use crate::disk::sim::{Random, SimDisk, rounds};
use crate::segments::is_spare;
use crate::{AppendError, Position};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

const SEEDS: u64 = 3000;

#[test]
fn durable_records_survive_every_history() {
    let seed = std::env::var("JOURNAL_SEED").ok().and_then(|value| value.parse::<u64>().ok());
    let seeds = match seed {
        Some(seed) => seed..seed + 1,
        None => 0..rounds(SEEDS),
    };
    let mut covered = Covered::default();
    for seed in seeds.clone() {
        let run = catch_unwind(AssertUnwindSafe(|| History::new(seed).run()));
        covered.add(run.unwrap_or_else(|_| panic!("failed; replay with JOURNAL_SEED={seed}")));
    }
    if seeds.end - seeds.start >= SEEDS {
        covered.check();
    }
}

/// Number of times that the histories reached each case: a model that never crashes proves nothing.
#[derive(Debug, Default)]
struct Covered {
    acked: u64,
    replayed: u64,
    refused: u64,
    survived_unacked: u64,
    torn_tails: u64,
    corrupt: u64,
    acked_lost_to_flips: u64,
    trimmed: u64,
    spares: u64,
}

impl Covered {
    fn add(&mut self, other: Covered) {
        self.acked += other.acked;
        self.replayed += other.replayed;
        self.refused += other.refused;
        self.survived_unacked += other.survived_unacked;
        self.torn_tails += other.torn_tails;
        self.corrupt += other.corrupt;
        self.acked_lost_to_flips += other.acked_lost_to_flips;
        self.trimmed += other.trimmed;
        self.spares += other.spares;
    }

    fn check(&self) {
        let Covered { acked, replayed, .. } = *self;
        let rare = [
            self.refused,
            self.survived_unacked,
            self.torn_tails,
            self.corrupt,
            self.acked_lost_to_flips,
            self.trimmed,
            self.spares,
        ];
        assert!(acked > 10_000 && replayed > 10_000 && rare.iter().all(|&count| count > 100), "{self:?}");
    }
}

struct History {
    random: Random,
    disk: SimDisk,
    bench: Option<Bench>,
    /// Start of the replay: the caller has stored every record before it.
    from: Position,
    /// Every appended payload by id, its first eight bytes.
    offered: Vec<Vec<u8>>,
    /// The only position of each id, and the reverse.
    position_of: BTreeMap<u64, Position>,
    id_at: BTreeMap<Position, u64>,
    acked: BTreeMap<Position, u64>,
    damaged: bool,
    /// Whether a sync or a read has failed: reads may have returned bytes that are not on the disk.
    sync_failed: bool,
    covered: Covered,
}

impl History {
    fn new(seed: u64) -> History {
        let mut random = Random::new(seed);
        History {
            disk: SimDisk::new(random.next()),
            random,
            bench: None,
            from: Position(0),
            offered: Vec::new(),
            position_of: BTreeMap::new(),
            id_at: BTreeMap::new(),
            acked: BTreeMap::new(),
            damaged: false,
            sync_failed: false,
            covered: Covered::default(),
        }
    }

    fn run(mut self) -> Covered {
        self.reopen();
        let with_flips = self.random.chance(1, 4);
        for _ in 0..self.random.below(60) {
            match self.random.below(21) {
                0..9 => self.offer(),
                20 if self.random.chance(1, 3) => self.bench().journal.rotate(),
                20 => self.store(),
                9..14 => self.step(),
                14 => self.store(),
                15 => self.inject(),
                16 => self.disk.heal(),
                17 if with_flips => {
                    self.stop();
                    self.flip();
                    self.reopen();
                }
                _ => {
                    self.stop();
                    self.reopen();
                }
            }
        }
        self.ends_well();
        self.covered
    }

    fn bench(&mut self) -> &mut Bench {
        self.bench.as_mut().expect("the journal is open between steps")
    }

    fn offer(&mut self) {
        let id = self.offered.len() as u64;
        let extra = match self.random.below(8) {
            0 => 0,
            1 => self.random.below(20_000), // larger than a segment, now and then
            _ => self.random.below(500),
        };
        let mut payload = id.to_le_bytes().to_vec();
        // Includes runs of zeros and bytes that resemble record headers.
        let fill = [0, 0xff, self.random.next() as u8][self.random.below(3) as usize];
        payload.resize(8 + extra as usize, fill);
        let cut = self.random.below(payload.len() as u64 + 1) as usize;
        let outcome = self.bench().journal.append(&[&payload[..cut], &[], &payload[cut..]], id);
        self.offered.push(payload);
        if let Err((error, returned)) = outcome {
            assert_eq!((error, returned), (AppendError::Full, id));
        }
    }

    fn step(&mut self) {
        let Some(bench) = &mut self.bench else { return };
        (bench.step)();
        let durable = bench.journal.durable_position();
        let outcomes = std::mem::take(&mut *bench.outcomes.lock());
        for (id, outcome) in outcomes {
            match outcome {
                Ok(position) => {
                    assert!(position <= durable && position > self.from);
                    assert!(
                        self.acked.last_key_value().is_none_or(|(&last, _)| last < position),
                        "{position} is not new"
                    );
                    self.seen(id, position);
                    self.acked.insert(position, id);
                    self.covered.acked += 1;
                }
                Err(AppendError::NoSpace | AppendError::Io(_)) => self.covered.refused += 1,
                Err(error) => panic!("completed with {error:?}"),
            }
        }
    }

    /// Asserts that a record keeps its position and that no other record gets it.
    fn seen(&mut self, id: u64, position: Position) {
        if self.sync_failed && !self.acked.contains_key(&position) {
            // After a failed sync a refused record may be read from the page cache once and then disappear.
            self.id_at.remove(&position);
        }
        assert_eq!(*self.position_of.entry(id).or_insert(position), position, "record {id} moved");
        assert_eq!(*self.id_at.entry(position).or_insert(id), id, "position {position} used twice");
    }

    /// The caller stores everything up to some record and usually trims the journal.
    fn store(&mut self) {
        let later: Vec<Position> = self.acked.range(self.from..).map(|(&position, _)| position).collect();
        let Some(&covered) = later.get(self.random.below(later.len() as u64) as usize) else { return };
        self.from = covered;
        if self.random.chance(2, 3) {
            match self.bench().journal.trim(covered) {
                Ok(removed) => {
                    self.covered.trimmed += removed as u64;
                    let files = self.disk.list(Path::new("/journal")).unwrap_or_default();
                    self.covered.spares += files.iter().filter(|(path, _)| is_spare(path)).count() as u64;
                }
                Err(error) => assert!(self.disk.is_dead(), "{error}"),
            }
        }
    }

    fn inject(&mut self) {
        match self.random.below(6) {
            4.. => self.disk.die_after(self.random.below(8)),
            0 => self.disk.fail_write_after(self.random.below(6)),
            1 => {
                self.sync_failed = true;
                self.disk.fail_sync_after(self.random.below(6));
            }
            2 => self.disk.set_capacity(Some(self.disk.used() + self.random.below(20_000))),
            _ => self.disk.set_capacity(Some(self.disk.used())),
        }
    }

    /// A clean shutdown, a killed process or a power cut.
    fn stop(&mut self) {
        let how = self.random.below(4);
        if how == 0 {
            self.step();
        }
        self.bench = None;
        match how {
            0 if !self.disk.is_dead() => {}
            0 | 1 => self.disk = self.disk.process_killed(),
            _ => self.disk = self.disk.power_cut(),
        }
        self.disk.heal();
    }

    fn flip(&mut self) {
        let files = self.disk.list(Path::new("/journal")).unwrap();
        for _ in 0..1 + self.random.below(3) {
            let (path, bytes) = &files[self.random.below(files.len() as u64) as usize];
            let offset = match self.random.below(8) {
                0 => self.random.below(52),        // the header
                1 => self.random.below(52) + 2048, // its copy
                _ => 4096 + self.random.below(bytes.saturating_sub(4096)),
            };
            let mask = 1 << self.random.below(8);
            self.damaged |= self.disk.flip(path, offset, mask);
        }
    }

    fn reopen(&mut self) {
        // Recovery may be interrupted any number of times.
        while self.random.chance(1, 4) {
            match self.random.below(3) {
                0 => self.disk.fail_read_after(self.random.below(3)),
                1 => self.disk.set_capacity(Some(0)),
                _ => self.disk.die_after(self.random.below(4)),
            }
            let opened = Bench::open(&self.disk, self.from);
            if let (Ok(bench), false) = (opened, self.disk.is_dead()) {
                self.disk.heal();
                return self.check_opened(bench);
            }
            self.stop();
        }
        let bench = Bench::open(&self.disk, self.from).expect("a healthy disk opens");
        self.check_opened(bench);
    }

    fn check_opened(&mut self, bench: Bench) {
        let Bench { replayed, report, .. } = &bench;
        self.covered.replayed += replayed.len() as u64;
        self.covered.torn_tails += u64::from(report.torn_tail.is_some());
        self.covered.corrupt += report.corrupt.len() as u64;
        assert_eq!(report.records, replayed.len() as u64);
        assert!(self.damaged || self.sync_failed || report.corrupt.is_empty(), "false alarm: {report:?}");

        let mut reported: Vec<(Position, Position)> =
            report.corrupt.iter().map(|range| (range.from, range.to)).collect();
        reported.extend(report.torn_tail.iter().map(|tail| (tail.from, tail.to)));
        let replayed = replayed.clone();
        self.bench = Some(bench);
        self.check_replayed(&replayed);
        self.check_missing(&replayed, &reported);

        // The caller may store a replayed record, so it must stay, unless a sync has failed.
        for (position, payload) in &replayed {
            let id = id_of(payload);
            let unacked = !self.acked.contains_key(position);
            self.covered.survived_unacked += u64::from(unacked);
            if unacked && !self.sync_failed {
                self.acked.insert(*position, id);
            }
        }
    }

    /// Asserts that every replayed record equals an appended one, in order and at its position.
    fn check_replayed(&mut self, replayed: &[Record]) {
        let mut last = (self.from, None);
        for (position, payload) in replayed {
            let id = id_of(payload);
            assert_eq!(self.offered.get(id as usize), Some(payload), "not what was offered");
            assert!(position.0 >= last.0.0 + 16 + payload.len() as u64, "records overlap at {position}");
            assert!(last.1 < Some(id), "record {id} out of order");
            self.seen(id, *position);
            last = (*position, Some(id));
        }
    }

    /// Asserts that every durable record after `from` is replayed, or is in the report of a damaged disk.
    fn check_missing(&mut self, replayed: &[Record], reported: &[(Position, Position)]) {
        let replayed: BTreeMap<Position, u64> =
            replayed.iter().map(|(position, payload)| (*position, id_of(payload))).collect();
        let mut lost = Vec::new();
        for (&position, &id) in self.acked.range(Position(self.from.0 + 1)..) {
            if replayed.get(&position) == Some(&id) {
                continue;
            }
            let start = Position(position.0 - 16 - self.offered[id as usize].len() as u64);
            let is_reported = reported.iter().any(|&(from, to)| from < position && start < to);
            assert!(self.damaged && is_reported, "record {id} at {start}..{position} is lost, reported: {reported:?}");
            lost.push(position);
        }
        self.covered.acked_lost_to_flips += lost.len() as u64;
        for position in lost {
            self.acked.remove(&position);
        }
    }

    /// Asserts that appends succeed and are durable once the disk works again.
    fn ends_well(&mut self) {
        if self.disk.is_dead() {
            self.stop();
            self.reopen();
        }
        self.disk.heal();
        self.step();
        for _ in 0..3 {
            let (id, payload) = (self.offered.len() as u64, (self.offered.len() as u64).to_le_bytes().to_vec());
            self.bench().journal.append(&[&payload], id).expect("there is room");
            self.offered.push(payload);
        }
        let before = self.acked.len();
        self.step();
        assert_eq!(self.acked.len(), before + 3, "appends succeed again");
        self.bench = None;
        self.disk = self.disk.power_cut();
        self.reopen();
    }
}

fn id_of(payload: &[u8]) -> u64 {
    u64::from_le_bytes(payload[..8].try_into().expect("every payload begins with its id"))
}
