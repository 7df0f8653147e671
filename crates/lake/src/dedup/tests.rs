use std::path::PathBuf;
use std::sync::Arc;

use tidewatch_journal::disk::Disk;
use tidewatch_journal::disk::sim::SimDisk;
use xxhash_rust::xxh3::xxh3_128;

use super::bloom::Probe;
use super::file::{self, DedupFile, DedupFileFacts, Generation};
use super::{DedupSet, State};
use crate::part::temporary::temporary;

fn key(n: u32) -> u128 {
    xxh3_128(&n.to_le_bytes())
}

fn folder() -> PathBuf {
    PathBuf::from("/seen")
}

fn disk() -> Arc<dyn Disk> {
    let disk = SimDisk::new(1);
    disk.create_dir_all(&folder()).unwrap();
    Arc::new(disk)
}

/// Writes a file of keys received at the time `id`, with spare capacity.
fn write(disk: &Arc<dyn Disk>, id: u64, keys: &[u128]) -> DedupFile {
    write_as(Generation::Current, disk, id, keys)
}

fn write_as(generation: Generation, disk: &Arc<dyn Disk>, id: u64, keys: &[u128]) -> DedupFile {
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    let facts = DedupFileFacts { id, keys: 0, received_min: id as i64, received_max: id as i64, level: 0 };
    let mut coming = keys.iter().copied();
    let file =
        file::write(disk, &folder(), generation, facts, keys.len() as u64 * 5 / 4, || Ok(coming.next())).unwrap();
    let path = DedupFile::path(&folder(), id);
    disk.rename(&temporary(&path), &path).unwrap();
    file
}

/// On a full disk, the space of the unfinished file is freed at once.
#[test]
fn a_failed_write_leaves_no_file() {
    let disk = SimDisk::new(1);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    shared.create_dir_all(&folder()).unwrap();
    let facts = DedupFileFacts { id: 1, keys: 0, received_min: 0, received_max: 0, level: 0 };
    let unreadable = || tidewatch_store::StoreError::Refused("an input cannot be read".to_owned());
    for failing in 0..3 {
        let mut left = 20_000;
        let done = file::write(&shared, &folder(), Generation::default(), facts, left, || {
            left -= 1;
            match failing {
                0 if left == 100 => return Err(unreadable()),
                1 if left == 100 => disk.fail_write_after(1),
                2 if left == 100 => disk.fail_sync_after(0),
                _ => {}
            }
            Ok((left > 0).then(|| u128::from(20_000 - left)))
        });
        assert!(done.is_err(), "{failing}");
        assert_eq!(disk.list(&folder()).unwrap(), [], "{failing}");
    }
}

#[test]
fn keys_are_found_with_and_without_an_index() {
    let disk = disk();
    // No key, one, a block, one more than a block, many blocks; and keys that are not hashes.
    let hashes = |count: u32| (0..count).map(key).collect::<Vec<_>>();
    let low: Vec<u128> = (0..5_000).map(|n| n * 3).collect();
    let high: Vec<u128> = (0..5_000).map(|n| u128::MAX - n * n).collect();
    for keys in [hashes(0), hashes(1), hashes(256), hashes(257), hashes(20_000), low, high] {
        let written = write(&disk, 3, &keys);
        let read = DedupFile::open(&disk, &folder(), written.facts).unwrap();
        assert_eq!((read.facts.keys, read.bytes()), (keys.len() as u64, written.bytes()));
        let mut listed = read.keys();
        let listed: Vec<u128> = std::iter::from_fn(|| listed.next_key().unwrap()).collect();
        let mut expected = keys.clone();
        expected.sort_unstable();
        assert!(listed == expected);

        let index = read.index().unwrap();
        let absent = (30_000..31_000).map(key).chain([1, 4, u128::MAX - 2, u128::MAX / 2]);
        for (key, is_present) in keys.iter().map(|key| (*key, true)).chain(absent.map(|key| (key, false))) {
            assert_eq!(read.contains(&index, &Probe::new(key)).unwrap(), is_present, "{key:x} of {}", keys.len());
            assert_eq!(read.contains_unindexed(&Probe::new(key)).unwrap(), is_present, "{key:x} of {}", keys.len());
        }
    }
}

/// A changed byte anywhere that is read is reported, and never hides a key.
#[test]
fn a_changed_byte_never_hides_a_key() {
    let disk = disk();
    let keys: Vec<u128> = (0..300).map(key).collect();
    let written = write(&disk, 9, &keys);
    let path = DedupFile::path(&folder(), 9);
    let mut reported = 0;
    for at in 0..written.bytes() {
        let raw = disk.open(&path).unwrap();
        let mut byte = [0];
        raw.read_exact_at(&mut byte, at).unwrap();
        raw.write_at(&[byte[0] ^ 16], at).unwrap();
        let answers = |with_index: bool| -> Result<bool, tidewatch_store::StoreError> {
            let read = DedupFile::open(&disk, &folder(), written.facts)?;
            let index = if with_index { Some(read.index()?) } else { None };
            let mut all = true;
            for key in &keys {
                all &= match &index {
                    Some(index) => read.contains(index, &Probe::new(*key))?,
                    None => read.contains_unindexed(&Probe::new(*key))?,
                };
            }
            Ok(all)
        };
        let (with, without) = (answers(true), answers(false));
        assert!(!matches!(with, Ok(false)) && !matches!(without, Ok(false)), "byte {at} made a key unknown");
        reported += u64::from(with.is_err());
        raw.write_at(&byte, at).unwrap();
    }
    // The spare capacity of one fence is never read.
    assert!(reported + 24 >= written.bytes(), "{reported} of {}", written.bytes());
}

#[test]
fn indexes_in_memory_are_bounded_without_changing_results() {
    let disk = disk();
    let keys = |id: u64| (0..3000).map(move |n| key(id as u32 * 10_000 + n)).collect::<Vec<_>>();
    let files = || (1..=6).map(|id| write(&disk, id, &keys(id))).collect::<Vec<_>>();
    let one = files()[0].index_bytes();
    for (bound, indexed) in [(0, 0), (one, 1), (2 * one + 1, 2), (100 * one, 6)] {
        let mut dedup = DedupSet::within(bound, files());
        for id in 1..=6 {
            assert!(keys(id).iter().all(|key| dedup.contains(*key)), "file {id}, bound {bound}");
            assert!(!dedup.contains(key(id as u32 * 10_000 + 4000)));
        }
        let in_memory: Vec<u64> = dedup
            .files
            .iter()
            .filter(|indexed| matches!(indexed.state, State::InMemory(_)))
            .map(|indexed| indexed.file.facts.id)
            .collect();
        assert_eq!(in_memory, (1..=6).rev().take(indexed).collect::<Vec<_>>(), "the newest, bound {bound}");

        // A newer file takes the memory of the oldest one.
        dedup.finish_flush(Some(write(&disk, 7, &keys(7))));
        assert!((1..=7).all(|id| keys(id).iter().all(|key| dedup.contains(*key))));
        dedup.replace(&[1, 2, 3, 4, 5, 6], None);
        assert!(!dedup.contains(keys(3)[0]) && dedup.contains(keys(7)[0]));
        assert_eq!(dedup.files().count(), 1);
    }
}

/// Keys in memory, in files of this run and of the run before it, and in and beyond the filters of recent keys.
#[test]
fn every_received_key_is_detected() {
    const ROUND: u32 = 60_000;
    let before: Vec<u128> = (0..1000).map(key).collect();
    let round = |round: u32| (0..ROUND).map(move |n| key(round * 1_000_000 + n)).collect::<Vec<_>>();
    // Memory for two filters and no index; memory for all.
    for bound in [0, 4096 * 1024] {
        let disk = disk();
        let mut dedup = DedupSet::within(bound, vec![write(&disk, 1, &before)]);
        for number in 1..10 {
            let keys = round(number);
            assert!(dedup.insert_all(&keys, i64::from(number)).iter().all(|known| !known));
            assert!(dedup.insert_all(&keys[..100], i64::from(number)).iter().all(|known| *known), "not sealed yet");
            let set = dedup.seal(None);
            assert!(dedup.insert_all(&keys[..100], i64::from(number)).iter().all(|known| *known), "sealed");
            dedup.finish_flush(Some(write(&disk, u64::from(number) + 1, &set.sorted())));
            if number == 4 {
                // The keys of three rounds in one file.
                let all: Vec<u128> = [1, 2, 3].into_iter().flat_map(round).collect();
                dedup.replace(&[2, 3, 4], Some(write(&disk, 20, &all)));
            }
            let old = dedup.files.iter().find(|indexed| indexed.file.facts.id == 1).unwrap();
            assert_eq!(matches!(old.state, State::InMemory(_)), bound > 0, "it is read for every key");
        }
        assert_eq!(dedup.recent.reaches(0), bound > 0);
        let all = before.iter().copied().chain((1..10).flat_map(|number| round(number).into_iter().step_by(97)));
        let twice: Vec<u128> = all.collect();
        assert!(dedup.insert_all(&twice, 99).iter().all(|known| *known));
        assert_eq!(dedup.insert_all(&[key(77_777_777), key(77_777_777)], 99), [false, true]);
    }
}
