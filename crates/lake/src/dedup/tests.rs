use std::path::PathBuf;
use std::sync::Arc;

use tidewatch_journal::disk::Disk;
use tidewatch_journal::disk::sim::SimDisk;
use xxhash_rust::xxh3::xxh3_128;

use super::bloom::Probe;
use super::file::{self, Generation, SeenFacts, SeenFile};
use super::{Seen, State};
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

/// A file of keys received at the time `id`, with room for some more.
fn write(disk: &Arc<dyn Disk>, id: u64, keys: &[u128]) -> SeenFile {
    write_as(Generation::Current, disk, id, keys)
}

fn write_as(generation: Generation, disk: &Arc<dyn Disk>, id: u64, keys: &[u128]) -> SeenFile {
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    let facts = SeenFacts { id, keys: 0, received_min: id as i64, received_max: id as i64, level: 0 };
    let mut coming = keys.iter().copied();
    let file =
        file::write(disk, &folder(), generation, facts, keys.len() as u64 * 5 / 4, || Ok(coming.next())).unwrap();
    let path = SeenFile::path(&folder(), id);
    disk.rename(&temporary(&path), &path).unwrap();
    file
}

/// A full disk is what makes a write fail: what was written is given back at once.
#[test]
fn a_file_that_cannot_be_written_leaves_nothing_behind() {
    let disk = SimDisk::new(1);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    shared.create_dir_all(&folder()).unwrap();
    let facts = SeenFacts { id: 1, keys: 0, received_min: 0, received_max: 0, level: 0 };
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
fn a_file_knows_its_keys_with_and_without_an_index() {
    let disk = disk();
    // No key, one, a block, a little more, many blocks; and keys that are no hashes at all.
    let hashes = |count: u32| (0..count).map(key).collect::<Vec<_>>();
    let low: Vec<u128> = (0..5_000).map(|n| n * 3).collect();
    let high: Vec<u128> = (0..5_000).map(|n| u128::MAX - n * n).collect();
    for keys in [hashes(0), hashes(1), hashes(256), hashes(257), hashes(20_000), low, high] {
        let written = write(&disk, 3, &keys);
        let read = SeenFile::open(&disk, &folder(), written.facts).unwrap();
        assert_eq!((read.facts.keys, read.bytes()), (keys.len() as u64, written.bytes()));
        let mut listed = read.keys();
        let listed: Vec<u128> = std::iter::from_fn(|| listed.next_key().unwrap()).collect();
        let mut expected = keys.clone();
        expected.sort_unstable();
        assert!(listed == expected);

        let index = read.index().unwrap();
        let strangers = (30_000..31_000).map(key).chain([1, 4, u128::MAX - 2, u128::MAX / 2]);
        for (key, is_known) in keys.iter().map(|key| (*key, true)).chain(strangers.map(|key| (key, false))) {
            assert_eq!(read.contains(&index, &Probe::new(key)).unwrap(), is_known, "{key:x} of {}", keys.len());
            assert_eq!(read.contains_unindexed(&Probe::new(key)).unwrap(), is_known, "{key:x} of {}", keys.len());
        }
    }
}

/// A changed byte anywhere that is read is reported; none makes a known key unknown.
#[test]
fn a_changed_byte_never_makes_a_wrong_answer() {
    let disk = disk();
    let keys: Vec<u128> = (0..300).map(key).collect();
    let written = write(&disk, 9, &keys);
    let path = SeenFile::path(&folder(), 9);
    let mut reported = 0;
    for at in 0..written.bytes() {
        let raw = disk.open(&path).unwrap();
        let mut byte = [0];
        raw.read_exact_at(&mut byte, at).unwrap();
        raw.write_at(&[byte[0] ^ 16], at).unwrap();
        let answers = |with_index: bool| -> Result<bool, tidewatch_store::StoreError> {
            let read = SeenFile::open(&disk, &folder(), written.facts)?;
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
    // The room for one more fence is never read.
    assert!(reported + 24 >= written.bytes(), "{reported} of {}", written.bytes());
}

#[test]
fn indexes_in_memory_have_a_bound_and_answers_do_not_depend_on_it() {
    let disk = disk();
    let keys = |id: u64| (0..3000).map(move |n| key(id as u32 * 10_000 + n)).collect::<Vec<_>>();
    let files = || (1..=6).map(|id| write(&disk, id, &keys(id))).collect::<Vec<_>>();
    let one = files()[0].index_bytes();
    for (bound, held) in [(0, 0), (one, 1), (2 * one + 1, 2), (100 * one, 6)] {
        let mut seen = Seen::within(bound, files());
        for id in 1..=6 {
            assert!(keys(id).iter().all(|key| seen.contains(*key)), "file {id}, bound {bound}");
            assert!(!seen.contains(key(id as u32 * 10_000 + 4000)));
        }
        let in_memory: Vec<u64> = seen
            .files
            .iter()
            .filter(|held| matches!(held.state, State::InMemory(_)))
            .map(|held| held.file.facts.id)
            .collect();
        assert_eq!(in_memory, (1..=6).rev().take(held).collect::<Vec<_>>(), "the newest, bound {bound}");

        // A newer file takes the oldest one's place.
        seen.flushed(Some(write(&disk, 7, &keys(7))));
        assert!((1..=7).all(|id| keys(id).iter().all(|key| seen.contains(*key))));
        seen.replace(&[1, 2, 3, 4, 5, 6], None);
        assert!(!seen.contains(keys(3)[0]) && seen.contains(keys(7)[0]));
        assert_eq!(seen.files().count(), 1);
    }
}

/// Keys in memory, in files of this run and of one before it; in filters of what came lately, and in none any more.
#[test]
fn whatever_came_is_known_again() {
    const ROUND: u32 = 60_000;
    let before: Vec<u128> = (0..1000).map(key).collect();
    let round = |round: u32| (0..ROUND).map(move |n| key(round * 1_000_000 + n)).collect::<Vec<_>>();
    // Room for two filters and no index; room for all.
    for bound in [0, 4096 * 1024] {
        let disk = disk();
        let mut seen = Seen::within(bound, vec![write(&disk, 1, &before)]);
        for number in 1..10 {
            let keys = round(number);
            assert!(seen.insert_all(&keys, i64::from(number)).iter().all(|known| !known));
            assert!(seen.insert_all(&keys[..100], i64::from(number)).iter().all(|known| *known), "not sealed yet");
            let set = seen.seal(None);
            assert!(seen.insert_all(&keys[..100], i64::from(number)).iter().all(|known| *known), "sealed");
            seen.flushed(Some(write(&disk, u64::from(number) + 1, &set.sorted())));
            if number == 4 {
                // Those of three rounds in one file.
                let all: Vec<u128> = [1, 2, 3].into_iter().flat_map(round).collect();
                seen.replace(&[2, 3, 4], Some(write(&disk, 20, &all)));
            }
            let old = seen.files.iter().find(|held| held.file.facts.id == 1).unwrap();
            assert_eq!(matches!(old.state, State::InMemory(_)), bound > 0, "it is asked for every key");
        }
        assert_eq!(seen.recent.reaches(0), bound > 0);
        let all = before.iter().copied().chain((1..10).flat_map(|number| round(number).into_iter().step_by(97)));
        let twice: Vec<u128> = all.collect();
        assert!(seen.insert_all(&twice, 99).iter().all(|known| *known));
        assert_eq!(seen.insert_all(&[key(77_777_777), key(77_777_777)], 99), [false, true]);
    }
}
