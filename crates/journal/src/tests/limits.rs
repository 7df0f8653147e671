//! Size limits: records beyond them are refused immediately, and accepted again once there is room.

use super::{Bench, small};
use crate::disk::Disk;
use crate::disk::sim::SimDisk;
use crate::{AppendError, OpenError, Options, Position};
use std::path::Path;

#[test]
fn a_record_at_the_bound_passes_and_one_byte_more_does_not() {
    let disk = SimDisk::new(1);
    let mut bench = Bench::open(&disk, Position(0)).unwrap();
    assert!(bench.commit(&vec![1; 64 << 10]).is_ok());
    let (error, payload) = bench.journal.append(&[&vec![1; 64 << 10], b"x"], 5).unwrap_err();
    assert_eq!((error, payload), (AppendError::TooLarge { bytes: 65537, bytes_max: 65536 }, 5));
}

#[test]
fn the_queue_is_bounded_but_takes_one_record_of_any_size() {
    let disk = SimDisk::new(1);
    let mut bench = Bench::open(&disk, Position(0)).unwrap();
    bench.journal.append(&[&vec![1; 60 << 10]], 1).unwrap();
    assert_eq!(bench.journal.append(&[b"x"], 2).unwrap_err().0, AppendError::Full);
    (bench.step)();
    bench.journal.append(&[b"x"], 3).unwrap();
    (bench.step)();
    assert_eq!(bench.outcomes.lock().iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn a_full_journal_refuses_until_trimmed() {
    let disk = SimDisk::new(1);
    let options = Options { bytes_max: 200 << 10, ..small(&disk) };
    let mut bench = Bench::open_with(options, Position(0)).unwrap();
    let mut last = Position(0);
    let refused = loop {
        match bench.commit(&[7; 5000]) {
            Ok(position) => last = position,
            Err(error) => break error,
        }
    };
    assert_eq!(refused, AppendError::Full);
    let full = bench.journal.bytes();
    assert!((150 << 10..=200 << 10).contains(&full), "{full}");
    assert_eq!(bench.journal.durable_position(), last);
    assert!(bench.journal.trim(last).unwrap() > 5);
    assert!(bench.journal.bytes() < full / 4);
    assert_eq!(bench.journal.trim(last).unwrap(), 0, "the last segment preserves the next position");
    bench.commit(&[7; 5000]).unwrap();
}

#[test]
fn trim_keeps_uncovered_records() {
    for seed in 0..10 {
        trim_keeps_uncovered_records_on(SimDisk::new(seed));
    }
}

fn trim_keeps_uncovered_records_on(disk: SimDisk) {
    let mut bench = Bench::open(&disk, Position(0)).unwrap();
    let positions: Vec<Position> = (0..40).map(|record| bench.commit(&[record; 1000]).unwrap()).collect();
    assert_eq!(bench.journal.trim(Position(0)).unwrap(), 0);
    assert_eq!(bench.journal.trim(positions[10]).unwrap(), 0, "the segment also holds record 11");
    assert_eq!(bench.journal.trim(positions[11]).unwrap(), 1);
    assert_eq!(bench.journal.trim(positions[39]).unwrap(), 2);
    drop(bench);
    let disk = disk.power_cut();
    let bench = Bench::open(&disk, positions[38]).unwrap();
    assert_eq!(disk.list(Path::new("/journal")).unwrap().len(), 2, "removals are durable: the lock and one segment");
    assert_eq!(bench.replayed, [(positions[39], vec![39; 1000])]);
    assert!(bench.report.is_intact());
}

#[test]
fn trimmed_files_are_recycled() {
    let disk = SimDisk::new(1);
    let mut bench = Bench::open(&disk, Position(0)).unwrap();
    let mut last = Position(0);
    let files = |disk: &SimDisk| disk.list(Path::new("/journal")).unwrap().len();
    let mut most = 0;
    for record in 0..200 {
        last = bench.commit(&[record; 1000]).unwrap();
        if record % 20 == 19 {
            bench.journal.trim(last).unwrap();
            most = most.max(files(&disk));
        }
    }
    assert_eq!(most, 4, "the lock, one segment, two spares");
    let after = bench.commit(&[7; 1000]).unwrap();
    drop(bench);
    let disk = disk.power_cut();
    let bench = Bench::open(&disk, last).unwrap();
    assert_eq!(bench.replayed, [(after, vec![7; 1000])], "none of the file's old content");
    assert!(bench.report.is_intact() && bench.report.torn_tail.is_none(), "{:?}", bench.report);
    assert_eq!(files(&disk), 2, "the lock and one segment");
}

#[test]
fn after_a_rotation_no_earlier_bytes_remain() {
    let disk = SimDisk::new(1);
    let mut bench = Bench::open(&disk, Position(0)).unwrap();
    let holds_old = |disk: &SimDisk| {
        let files = disk.list(Path::new("/journal")).unwrap();
        files.iter().any(|(path, bytes)| {
            let mut content = vec![0; *bytes as usize];
            disk.open(path).unwrap().read_at(&mut content, 0).unwrap();
            content.windows(100).any(|window| window == [7; 100])
        })
    };
    let mut last = Position(0);
    for _ in 0..60 {
        last = bench.commit(&[7; 1000]).unwrap();
        bench.journal.trim(last).unwrap();
    }
    assert!(holds_old(&disk), "the last segment and the spares");
    bench.journal.rotate();
    (bench.step)();
    bench.journal.trim(last).unwrap();
    assert!(!holds_old(&disk));
    // A rotation without new records has no effect, and the next record is durable.
    bench.journal.rotate();
    let after = bench.commit(&[8; 1000]).unwrap();
    drop(bench);
    let bench = Bench::open(&disk.power_cut(), last).unwrap();
    assert_eq!(bench.replayed, [(after, vec![8; 1000])]);
    assert!(bench.report.is_intact() && bench.report.torn_tail.is_none(), "{:?}", bench.report);
}

/// Old content after the last record of a recycled file must not hide damage to that record.
#[test]
fn damage_at_the_end_of_a_recycled_file_is_reported() {
    let disk = SimDisk::new(1);
    let mut bench = Bench::open(&disk, Position(0)).unwrap();
    let mut last = Position(0);
    for record in 0..60 {
        let before = last;
        last = bench.commit(&[record; 1000]).unwrap();
        bench.journal.trim(before).unwrap();
    }
    drop(bench);
    let disk = disk.power_cut();
    let mut files = disk.list(Path::new("/journal")).unwrap().into_iter();
    let (path, _) = files.rfind(|(path, _)| crate::segment::base_of(path).is_some()).unwrap();
    let base = crate::segment::base_of(&path).unwrap();
    assert!(disk.flip(&path, crate::segment::HEADER_BYTES + (last.0 - base.0) - 1016, 1), "its header");
    let bench = Bench::open(&disk, Position(0)).unwrap();
    let torn = bench.report.torn_tail.as_ref().expect("the record is reported");
    assert!(torn.from.0 == last.0 - 1016 && torn.to >= last, "{torn:?}");
}

#[test]
fn a_full_disk_refuses_records_until_space_returns() {
    let disk = SimDisk::new(1);
    let mut bench = Bench::open(&disk, Position(0)).unwrap();
    let before = bench.commit(&[1; 1000]).unwrap();
    disk.set_capacity(Some(disk.used()));
    for _ in 0..50 {
        assert_eq!(bench.commit(&[2; 9000]), Err(AppendError::NoSpace));
        assert_eq!(bench.journal.durable_position(), before);
    }
    assert_eq!(disk.list(Path::new("/journal")).unwrap().len(), 2, "no leftover files: the lock and one segment");
    disk.set_capacity(None);
    let after = bench.commit(&[3; 9000]).unwrap();
    drop(bench);
    let bench = Bench::open(&disk.power_cut(), Position(0)).unwrap();
    assert_eq!(bench.replayed, [(before, vec![1; 1000]), (after, vec![3; 9000])]);
    assert!(bench.report.is_intact());
}

#[test]
fn a_full_disk_does_not_stop_the_start() {
    let disk = SimDisk::new(1);
    let position = Bench::open(&disk, Position(0)).unwrap().commit(b"kept").unwrap();
    disk.set_capacity(Some(0));
    let mut bench = Bench::open(&disk, Position(0)).unwrap();
    assert_eq!(bench.replayed, [(position, b"kept".to_vec())]);
    assert_eq!(bench.commit(b"more"), Err(AppendError::NoSpace));
    disk.set_capacity(None);
    bench.commit(b"more").unwrap();
}

/// Scenario: each step of a commit fails once, in turn.
/// Guarantee: that group is refused, the next one succeeds, and a power cut does not confuse the two.
#[test]
fn a_failed_write_or_sync_refuses_one_group() {
    for first in [true, false] {
        for fail in 0..4 {
            let disk = SimDisk::new(fail);
            let mut bench = Bench::open(&disk, Position(0)).unwrap();
            let mut expected = Vec::new();
            if !first {
                expected.push((bench.commit(b"before").unwrap(), b"before".to_vec()));
            }
            match fail {
                0 | 1 => disk.fail_write_after(fail),
                _ => disk.fail_sync_after(fail - 2),
            }
            let mut failures = 0;
            for payload in [&b"one"[..], b"two", b"three", b"four"] {
                match bench.commit(payload) {
                    Ok(position) => expected.push((position, payload.to_vec())),
                    Err(AppendError::Io(_)) => failures += 1,
                    Err(error) => panic!("{error:?}"),
                }
            }
            assert_eq!(failures, 1, "first: {first}, fail: {fail}");
            drop(bench);
            let bench = Bench::open(&disk.power_cut(), Position(0)).unwrap();
            assert_eq!(bench.replayed, expected, "first: {first}, fail: {fail}");
            assert!(bench.report.is_intact());
        }
    }
}

/// Scenario: a sync fails and the process restarts. Guarantee: a refused record is not replayed from the page cache.
#[test]
fn a_record_refused_by_a_failed_sync_is_not_replayed() {
    for seed in 0..20 {
        let disk = SimDisk::new(seed);
        let mut bench = Bench::open(&disk, Position(0)).unwrap();
        let kept = bench.commit(b"kept").unwrap();
        disk.fail_sync_after(0);
        assert!(matches!(bench.commit(b"refused"), Err(AppendError::Io(_))));
        drop(bench);
        let bench = Bench::open(&disk.process_killed(), Position(0)).unwrap();
        assert_eq!(bench.replayed, [(kept, b"kept".to_vec())], "seed {seed}");
    }
}

/// Scenario: everything but the active segment is trimmed, and the active one fails before its first record.
/// Guarantee: it stays, so that the next start knows the next position.
#[test]
fn the_only_segment_stays_even_when_it_failed() {
    let disk = SimDisk::new(1);
    let mut bench = Bench::open(&disk, Position(0)).unwrap();
    let stored = bench.commit(b"stored").unwrap();
    disk.fail_write_after(0);
    assert!(matches!(bench.commit(b"refused"), Err(AppendError::Io(_))));
    assert_eq!(bench.journal.trim(stored).unwrap(), 1);
    disk.set_capacity(Some(disk.used()));
    assert_eq!(bench.commit(b"refused"), Err(AppendError::NoSpace));
    drop(bench);
    let bench = Bench::open(&disk, stored).unwrap();
    assert!(bench.replayed.is_empty() && bench.report.is_intact(), "{:?}", bench.report);
}

#[test]
fn options_that_cannot_work_are_refused() {
    let disk = SimDisk::new(1);
    for (options, message) in [
        (Options { bytes_max: 100 << 10, ..small(&disk) }, "bytes_max 102400 is less than two segments, 147456 bytes"),
        (Options { record_bytes_max: 2 << 30, ..small(&disk) }, "records and queue are bounded by 1073741824 bytes"),
    ] {
        let error = Bench::open_with(options, Position(0)).err().unwrap();
        assert_eq!(error.to_string(), format!("journal options: {message}"));
    }
    assert!(Options::new("/anywhere").check().is_ok());
}

#[test]
fn a_second_opening_is_refused_while_the_first_lives() {
    let disk = SimDisk::new(1);
    let bench = Bench::open(&disk, Position(0)).unwrap();
    let second = Bench::open(&disk, Position(0)).err().unwrap();
    assert!(matches!(second, OpenError::Locked(_)), "{second}");
    drop(bench);
    Bench::open(&disk, Position(0)).unwrap();
}
