//! Damaged segments: which records are replayed and what the report contains.

use super::Bench;
use crate::disk::Disk;
use crate::disk::sim::{Random, SimDisk};
use crate::{Position, fuzz};
use std::path::{Path, PathBuf};

/// Writes records "0000…", "1111…" of 1000 bytes into segments of 16 KiB and returns their positions.
fn written(disk: &SimDisk, records: u8) -> Vec<Position> {
    let mut bench = Bench::open(disk, Position(0)).unwrap();
    (0..records).map(|record| bench.commit(&[record; 1000]).unwrap()).collect()
}

fn segments(disk: &SimDisk) -> Vec<PathBuf> {
    let listed = disk.list(Path::new("/journal")).unwrap();
    listed
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| path.extension().is_some_and(|end| end == "segment"))
        .collect()
}

type Range = (u64, u64);

/// The first byte of each replayed record, the corrupt ranges and the torn tail.
fn reopened(disk: &SimDisk, from: Position) -> (Vec<u8>, Vec<Range>, Option<Range>) {
    let bench = Bench::open(disk, from).unwrap();
    let corrupt = bench.report.corrupt.iter().map(|range| (range.from.0, range.to.0)).collect();
    let torn = bench.report.torn_tail.as_ref().map(|tail| (tail.from.0, tail.to.0));
    (bench.replayed.iter().map(|(_, payload)| payload[0]).collect(), corrupt, torn)
}

#[test]
fn an_empty_journal_is_empty() {
    assert_eq!(reopened(&SimDisk::new(1), Position(0)), (vec![], vec![], None));
}

#[test]
fn records_come_back_after_the_given_position() {
    let disk = SimDisk::new(1);
    let positions = written(&disk, 4);
    assert_eq!(positions, [1016, 2032, 3048, 4064].map(Position));
    for (from, expected) in [(0, vec![0, 1, 2, 3]), (2032, vec![2, 3]), (4064, vec![])] {
        assert_eq!(reopened(&disk, Position(from)), (expected, vec![], None), "from {from}");
    }
}

#[test]
fn a_flipped_bit_costs_one_record_and_is_reported() {
    for (at, corrupt, what) in [
        (4096 + 1016, (1016, 2032), "length"),
        (4096 + 1016 + 5, (1016, 2032), "distance"),
        (4096 + 1016 + 9, (1016, 2032), "checksum"),
        (4096 + 1016 + 13, (1016, 2032), "check"),
        (4096 + 1016 + 16, (1016, 2032), "first payload byte"),
        (4096 + 1016 + 1015, (1016, 2032), "last payload byte"),
    ] {
        let disk = SimDisk::new(1);
        written(&disk, 4);
        disk.flip(&segments(&disk)[0], at, 4);
        assert_eq!(reopened(&disk, Position(0)), (vec![0, 2, 3], vec![corrupt], None), "{what}");
    }
}

/// Scenario: the last record ends with zeros and is damaged. Guarantee: no other record gets its position.
#[test]
fn the_position_of_a_damaged_last_record_is_not_used_again() {
    for (at, torn_to) in [(4096 + 4, 17), (4096 + 16, 2016)] {
        let disk = SimDisk::new(1);
        let mut payload = vec![0; 2000];
        payload[0] = 1;
        let damaged = Bench::open(&disk, Position(0)).unwrap().commit(&payload).unwrap();
        disk.flip(&segments(&disk)[0], at, 1);
        let mut bench = Bench::open(&disk, Position(0)).unwrap();
        let torn = bench.report.torn_tail.clone().unwrap();
        assert_eq!(torn.to, Position(torn_to), "the end as far as it can be detected");
        assert!(bench.commit(b"next").unwrap().0 >= damaged.0 + 20);
    }
}

/// A header may begin with zeros and follow zeros: the search for the next record must not skip it.
#[test]
fn a_record_that_begins_with_zeros_is_found_after_a_hole_of_zeros() {
    for size in [0, 1, 256, 512, 32 << 8] {
        let disk = SimDisk::new(1);
        let mut bench = Bench::open(&disk, Position(0)).unwrap();
        let damaged = bench.commit(&[0; 700]).unwrap();
        let position = bench.commit(&vec![0; size]).unwrap();
        drop(bench);
        disk.flip(&segments(&disk)[0], 4096, 1);
        let bench = Bench::open(&disk, Position(0)).unwrap();
        assert_eq!(bench.replayed, [(position, vec![0; size])]);
        assert_eq!((bench.report.corrupt[0].from, bench.report.corrupt[0].to), (Position(0), damaged));
    }
}

/// Scenario: a power cut between the write and the sync of a group of three records loses the middle one.
/// Guarantee: this is a torn tail and not damage, because none of the records was reported durable.
#[test]
fn a_torn_group_is_no_damage_wherever_it_is_torn() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..1000 {
        let disk = SimDisk::new(seed);
        let mut bench = Bench::open(&disk, Position(0)).unwrap();
        bench.commit(&[9; 100]).unwrap();
        for record in 0..3 {
            bench.journal.append(&[&[record; 1000]], 0).unwrap();
        }
        disk.die_after(1);
        (bench.step)();
        assert!(bench.outcomes.lock().iter().all(|(_, outcome)| outcome.is_err()));
        let disk = disk.power_cut();
        let (replayed, corrupt, torn) = reopened(&disk, Position(0));
        assert_eq!(corrupt, [], "seed {seed}");
        if torn.is_some() {
            Bench::open(&disk, Position(0)).unwrap().commit(&[8]).unwrap();
            let (_, corrupt, _) = reopened(&disk, Position(0));
            assert_eq!(corrupt, [], "seed {seed}: a known tear is no damage later");
        }
        assert_eq!(replayed[0], 9);
        seen.insert((replayed[1..].to_vec(), torn.is_some()));
    }
    for expected in [(vec![], false), (vec![], true), (vec![0, 2], true), (vec![0, 1, 2], false), (vec![1], true)] {
        assert!(seen.contains(&expected), "{expected:?} never happened: {seen:?}");
    }
}

/// A last record that was torn by a crash cannot be distinguished from one that was damaged later. Both are reported.
#[test]
fn damage_to_the_very_last_record_is_a_torn_tail() {
    let disk = SimDisk::new(1);
    written(&disk, 4);
    disk.flip(&segments(&disk)[0], 4096 + 4000, 4);
    assert_eq!(reopened(&disk, Position(0)), (vec![0, 1, 2], vec![], Some((3048, 4064))));
}

#[test]
fn damage_at_the_end_of_an_earlier_segment_is_not_a_torn_tail() {
    let disk = SimDisk::new(1);
    written(&disk, 20);
    assert_eq!(segments(&disk).len(), 2);
    disk.flip(&segments(&disk)[0], 4096 + 11 * 1016 + 500, 4);
    let expected = (0..20).filter(|&record| record != 11).collect();
    assert_eq!(reopened(&disk, Position(0)), (expected, vec![(11 * 1016, 12 * 1016)], None));
}

#[test]
fn a_missing_segment_is_reported() {
    let disk = SimDisk::new(1);
    written(&disk, 50); // 12 in each segment
    let first = 12 * 1016;
    let all = segments(&disk);
    disk.remove(&all[0]).unwrap();
    assert_eq!(reopened(&disk, Position(0)), ((12..50).collect(), vec![(0, first)], None));
    assert_eq!(reopened(&disk, Position(first)), ((12..50).collect(), vec![], None), "covered records are not missing");

    let disk = SimDisk::new(1);
    written(&disk, 50);
    disk.remove(&segments(&disk)[1]).unwrap();
    let (replayed, corrupt, _) = reopened(&disk, Position(0));
    assert_eq!((replayed.len(), corrupt), (38, vec![(first, 2 * first)]));
}

#[test]
fn a_segment_without_a_header_is_reported_whole() {
    let disk = SimDisk::new(1);
    written(&disk, 30);
    let first = 12 * 1016;
    let path = &segments(&disk)[1];
    disk.flip(path, 20, 1);
    assert_eq!(reopened(&disk, Position(0)), ((0..30).collect(), vec![], None), "one copy is enough");
    disk.flip(path, 2048, 1);
    let (replayed, corrupt, _) = reopened(&disk, Position(0));
    assert_eq!((replayed.len(), corrupt), (18, vec![(first, 2 * first)]));
}

#[test]
fn an_emptied_directory_is_reported_and_positions_go_on() {
    let disk = SimDisk::new(1);
    let last = *written(&disk, 5).last().unwrap();
    disk.remove(&segments(&disk)[0]).unwrap();
    let mut bench = Bench::open(&disk, last).unwrap();
    assert_eq!(bench.report.corrupt.len(), 1);
    assert_eq!(bench.commit(b"next").unwrap(), Position(last.0 + 20));
    drop(bench);
    assert_eq!(reopened(&disk, last), (vec![b'n'], vec![], None), "reported once");
}

#[test]
fn a_journal_cut_short_is_reported_and_positions_go_on() {
    let disk = SimDisk::new(1);
    let last = *written(&disk, 5).last().unwrap();
    disk.open(&segments(&disk)[0]).unwrap().set_len(4096 + 2000).unwrap();
    let mut bench = Bench::open(&disk, last).unwrap();
    assert_eq!(bench.report.corrupt.len(), 1, "{:?}", bench.report);
    assert_eq!(bench.commit(b"next").unwrap(), Position(last.0 + 20));
}

/// Scenario: the second segment's header, which holds the end of the first segment, is damaged, and so is the first
/// segment's last record. Guarantee: because a segment follows, this is not a torn tail.
#[test]
fn a_damaged_end_before_a_damaged_header_is_damage() {
    let disk = SimDisk::new(1);
    written(&disk, 20);
    let paths = segments(&disk);
    disk.flip(&paths[0], 4096 + 11 * 1016 + 500, 4);
    disk.flip(&paths[1], 0, 1);
    disk.flip(&paths[1], 2048, 1);
    let (replayed, corrupt, torn) = reopened(&disk, Position(0));
    assert_eq!((replayed.len(), torn), (11, None));
    assert_eq!(corrupt[0], (11 * 1016, 12 * 1016));
    assert_eq!(corrupt.len(), 2);
}

/// Scenario: a read fails once. Guarantee: it is retried, and no damage is reported.
#[test]
fn a_read_that_succeeds_on_retry_is_not_damage() {
    for read in 0..3 {
        let disk = SimDisk::new(1);
        written(&disk, 3);
        disk.fail_read_after(read);
        let bench = Bench::open(&disk, Position(0)).unwrap();
        assert_eq!(bench.replayed.len(), 3, "read {read}");
        assert!(bench.report.is_intact() && bench.report.torn_tail.is_none());
    }
}

/// Scenario: a page of the last segment is unreadable. Guarantee: it is damage, neither the end nor a torn tail.
#[test]
fn an_unreadable_page_is_damage() {
    let disk = SimDisk::new(1);
    written(&disk, 10);
    disk.break_page(&segments(&disk)[0], 8192 + 100); // positions 4096 to 8192: records 4 to 8
    assert_eq!(reopened(&disk, Position(0)), (vec![0, 1, 2, 3, 9], vec![(4064, 9 * 1016)], None));

    let disk = SimDisk::new(1);
    written(&disk, 7);
    disk.break_page(&segments(&disk)[0], 8192);
    assert_eq!(reopened(&disk, Position(0)), (vec![0, 1, 2, 3], vec![(4064, 8192)], None));
    let mut bench = Bench::open(&disk, Position(0)).unwrap();
    assert!(bench.commit(b"next").unwrap() > Position(8192));
}

/// Scenario: the header write of a new segment was torn before the rename.
#[test]
fn an_incomplete_segment_is_removed() {
    let disk = SimDisk::new(1);
    disk.create_dir_all(Path::new("/journal")).unwrap();
    disk.create(Path::new("/journal/next.tmp")).unwrap().write_at(b"TWJR", 0).unwrap();
    assert_eq!(reopened(&disk, Position(0)), (vec![], vec![], None));
    assert!(!disk.exists(Path::new("/journal/next.tmp")));
}

#[test]
fn a_segment_of_a_later_version_stops_the_opening() {
    let disk = SimDisk::new(1);
    written(&disk, 1);
    let path = &segments(&disk)[0];
    let file = disk.open(path).unwrap();
    let mut copy = [0; 52];
    file.read_exact_at(&mut copy, 0).unwrap();
    copy[8] = 9;
    let crc = crc32c::crc32c(&copy[..48]).to_le_bytes();
    copy[48..].copy_from_slice(&crc);
    file.write_at(&copy, 0).unwrap();
    let error = Bench::open(&disk, Position(0)).err().unwrap().to_string();
    assert!(error.ends_with("has format version 9; this program reads version 1"), "{error}");
}

/// A payload that is a copy of a record with the right salt, but at another position, is not replayed.
#[test]
fn a_record_inside_a_damaged_record_is_not_replayed() {
    let disk = SimDisk::new(1);
    let mut bench = Bench::open(&disk, Position(0)).unwrap();
    bench.commit(b"first").unwrap();
    let mut record = vec![0; 21];
    disk.open(&segments(&disk)[0]).unwrap().read_exact_at(&mut record, 4096).unwrap();
    bench.commit(&record.repeat(10)).unwrap();
    bench.commit(b"last").unwrap();
    drop(bench);
    disk.flip(&segments(&disk)[0], 4096 + 21, 1);
    let bench = Bench::open(&disk, Position(0)).unwrap();
    let payloads: Vec<&[u8]> = bench.replayed.iter().map(|(_, payload)| &payload[..]).collect();
    assert_eq!(payloads, [&b"first"[..], b"last"]);
    assert_eq!(bench.report.corrupt.len(), 1);
}

/// Runs the fuzz target over mutated and random bytes: no panic, and never more records than were written.
#[test]
fn arbitrary_bytes_never_panic() {
    let disk = SimDisk::new(1);
    let mut bench = Bench::open(&disk, Position(0)).unwrap();
    for size in [0, 1, 15, 16, 17, 300, 2000] {
        bench.commit(&vec![size as u8; size]).unwrap();
    }
    let file = disk.open(&segments(&disk)[0]).unwrap();
    let mut good = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(&mut good, 0).unwrap();
    assert_eq!(fuzz::segment(&good), 7);

    for seed in 0..1000 {
        let mut random = Random::new(seed);
        let mut bytes = good.clone();
        for _ in 0..1 + random.below(6) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(5) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = random.next() as u8,
                2 => bytes[at] ^= 1 << random.below(8),
                3 => bytes[at..].iter_mut().take(64).for_each(|byte| *byte = random.next() as u8),
                _ => {
                    let piece = bytes[at..(at + 100).min(bytes.len())].to_vec();
                    let to = random.below(bytes.len() as u64) as usize;
                    bytes.splice(to..to, piece);
                }
            }
        }
        assert!(fuzz::segment(&bytes) <= 7, "seed {seed}");
        let noise: Vec<u8> = (0..random.below(9000)).map(|_| random.next() as u8).collect();
        assert_eq!(fuzz::segment(&noise), 0, "seed {seed}");
        let mut headed = good[..4096].to_vec();
        headed.extend(noise);
        assert_eq!(fuzz::segment(&headed), 0, "seed {seed}");
    }
}
