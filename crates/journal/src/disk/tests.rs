//! The contract of both disks, and the losses that the simulated disk may cause.

use super::sim::SimDisk;
use super::*;

/// Asserts the same results on the real and on the simulated disk.
#[track_caller]
fn behaves_like_a_file_system(disk: &dyn Disk, root: &Path) {
    let dir = root.join("a/b");
    disk.create_dir_all(&dir).unwrap();
    disk.create_dir_all(&dir).unwrap();
    assert_eq!(disk.list(&dir).unwrap(), vec![]);
    assert_eq!(disk.list_dirs(root).unwrap(), vec![root.join("a")]);
    assert_eq!(disk.list(&root.join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);

    let path = dir.join("one");
    let file = disk.create(&path).unwrap();
    file.write_at(b"world", 5).unwrap();
    assert_eq!(file.len().unwrap(), 10);
    file.write_at(b"hello", 0).unwrap();
    let mut read = [0; 20];
    assert_eq!(file.read_at(&mut read, 3).unwrap(), 7);
    assert_eq!(&read[..7], b"loworld");
    assert_eq!(file.read_at(&mut read, 99).unwrap(), 0);
    assert_eq!(file.read_exact_at(&mut read, 0).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    file.set_len(3).unwrap();
    file.set_len(5).unwrap();
    assert_eq!(file.read_at(&mut read, 0).unwrap(), 5);
    assert_eq!(&read[..5], b"hel\0\0");
    file.sync_data().unwrap();

    let other = dir.join("two");
    disk.create(&other).unwrap();
    disk.rename(&path, &other).unwrap();
    disk.sync_dir(&dir).unwrap();
    assert!(!disk.exists(&path) && disk.exists(&other));
    assert_eq!(disk.list(&dir).unwrap(), vec![(other.clone(), 5)]);
    assert_eq!(disk.open(&path).err().unwrap().kind(), io::ErrorKind::NotFound);
    assert_eq!(disk.open(&other).unwrap().len().unwrap(), 5);
    assert_eq!(disk.create(&other).unwrap().len().unwrap(), 0);

    let held = disk.lock(&dir.join("lock")).unwrap();
    assert_eq!(disk.lock(&dir.join("lock")).err().unwrap().kind(), io::ErrorKind::WouldBlock);
    drop(held);
    disk.lock(&dir.join("lock")).unwrap();

    disk.remove(&other).unwrap();
    disk.remove(&dir.join("lock")).unwrap();
    assert_eq!(disk.remove(&other).unwrap_err().kind(), io::ErrorKind::NotFound);
    disk.remove_dir(&dir).unwrap();
    assert_eq!(disk.list_dirs(&root.join("a")).unwrap(), Vec::<PathBuf>::new());
    assert_eq!(file.len().unwrap(), 0, "truncated, and an open file outlives its name");
}

#[test]
fn the_real_disk_behaves() {
    let root = tempfile::tempdir().unwrap();
    behaves_like_a_file_system(&RealDisk, root.path());
}

#[test]
fn the_simulated_disk_behaves() {
    behaves_like_a_file_system(&SimDisk::new(1), Path::new("/"));
}

#[test]
fn bare_names_live_in_the_current_directory() {
    assert_eq!(parent_of(Path::new("data")), Path::new("."));
    assert_eq!(parent_of(Path::new("/data/x")), Path::new("/data"));
    assert_eq!(parent_of(Path::new("/")), Path::new("/"));
}

/// Scenario: one file is synced together with its name, another is not. Guarantee: the first one survives every power
/// cut; the second one is sometimes lost, sometimes torn, sometimes complete.
#[test]
fn a_power_cut_loses_only_unsynced_writes() {
    let mut fates = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let disk = SimDisk::new(seed);
        let (kept, risked) = (Path::new("/kept"), Path::new("/risked"));
        let file = disk.create(kept).unwrap();
        file.write_at(&[7; 100], 0).unwrap();
        file.sync_data().unwrap();
        disk.sync_dir(Path::new("/")).unwrap();
        disk.create(risked).unwrap().write_at(&[9; 100], 0).unwrap();

        let after = disk.power_cut();
        assert!(file.write_at(&[1], 0).is_err(), "the old handle is dead");
        let mut bytes = [0; 200];
        assert_eq!(after.open(kept).unwrap().read_at(&mut bytes, 0).unwrap(), 100, "seed {seed}");
        assert_eq!(bytes[..100], [7; 100]);
        fates.insert(match after.open(risked) {
            Err(_) => "no name",
            Ok(file) => match file.read_at(&mut bytes, 0).unwrap() {
                0 => "empty",
                100 if bytes[..100] == [9; 100] => "whole",
                _ => "torn",
            },
        });
    }
    assert_eq!(fates.into_iter().collect::<Vec<_>>(), ["empty", "no name", "torn", "whole"]);
}

#[test]
fn a_renamed_file_has_its_old_or_its_new_name_after_a_power_cut() {
    let mut seen = [0; 2];
    for seed in 0..100 {
        let disk = SimDisk::new(seed);
        disk.create(Path::new("/old")).unwrap().sync_data().unwrap();
        disk.sync_dir(Path::new("/")).unwrap();
        disk.rename(Path::new("/old"), Path::new("/new")).unwrap();
        let names = disk.power_cut().list(Path::new("/")).unwrap();
        assert_eq!(names.len(), 1, "seed {seed}: {names:?}");
        seen[usize::from(names[0].0 == Path::new("/new"))] += 1;
    }
    assert!(seen[0] > 10 && seen[1] > 10, "{seen:?}");
}

#[test]
fn a_full_disk_refuses_growth_and_recovers() {
    let disk = SimDisk::new(1);
    let file = disk.create(Path::new("/f")).unwrap();
    disk.set_capacity(Some(100));
    file.write_at(&[1; 80], 0).unwrap();
    let error = file.write_at(&[2; 80], 80).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    file.write_at(&[3; 80], 0).expect("overwriting needs no space");
    disk.set_capacity(None);
    file.write_at(&[2; 80], 80).unwrap();
    assert_eq!(disk.used(), 160);
}

/// A successful sync after a failed one does not restore the lost bytes.
#[test]
fn a_failed_sync_loses_bytes() {
    let mut lost = 0;
    for seed in 0..50 {
        let disk = SimDisk::new(seed);
        let file = disk.create(Path::new("/f")).unwrap();
        disk.sync_dir(Path::new("/")).unwrap();
        file.write_at(&[5; 64], 0).unwrap();
        disk.fail_sync_after(0);
        assert!(file.sync_data().is_err());
        file.sync_data().unwrap();
        let mut bytes = [0; 64];
        disk.power_cut().open(Path::new("/f")).unwrap().read_at(&mut bytes, 0).unwrap();
        lost += usize::from(bytes != [5; 64]);
    }
    assert!(lost > 10 && lost < 50, "{lost}");
}

#[test]
fn the_same_seed_gives_the_same_disk() {
    let run = |seed| {
        let disk = SimDisk::new(seed);
        let file = disk.create(Path::new("/f")).unwrap();
        disk.sync_dir(Path::new("/")).unwrap();
        for step in 0..20u8 {
            file.write_at(&[step; 50], u64::from(step) * 30).unwrap();
        }
        let after = disk.power_cut();
        let mut bytes = vec![0; 1000];
        let read = after.open(Path::new("/f")).unwrap().read_at(&mut bytes, 0).unwrap();
        bytes.truncate(read);
        bytes
    };
    for seed in 0..20 {
        assert_eq!(run(seed), run(seed));
    }
}

/// Scenario: a process dies anywhere while it creates a directory; the next one finds or creates it and writes a durable
/// file there. Guarantee: the file survives a power cut.
#[test]
fn an_existing_directory_is_made_durable_too() {
    let path = Path::new("/a/b/c");
    let write = |disk: &SimDisk| {
        disk.create(&path.join("f")).unwrap().sync_data().unwrap();
        disk.sync_dir(path).unwrap();
    };
    let mut lost = 0;
    for seed in 0..60 {
        let first = SimDisk::new(seed);
        first.die_after(seed % 8);
        let made = first.create_dir_all(path);
        assert_eq!(made.is_ok(), seed % 8 >= 6, "three directories, three syncs");
        let disk = first.process_killed();
        disk.create_dir_all(path).unwrap();
        write(&disk);
        assert!(disk.power_cut().exists(&path.join("f")), "seed {seed}");

        // The simulated disk detects missing syncs.
        let careless = SimDisk::new(seed);
        path.ancestors().collect::<Vec<_>>().into_iter().rev().skip(1).for_each(|dir| careless.make_dir(dir).unwrap());
        write(&careless);
        lost += usize::from(!careless.power_cut().exists(&path.join("f")));
    }
    assert!(lost > 30, "{lost}");
}

#[test]
fn a_removed_directory_may_be_back_after_a_power_cut() {
    let mut back = 0;
    for seed in 0..100 {
        let disk = SimDisk::new(seed);
        let path = Path::new("/a");
        disk.create_dir_all(path).unwrap();
        disk.remove_dir(path).unwrap();
        back += usize::from(disk.power_cut().exists(path));
        disk.create_dir_all(path).expect_err("the power is out");
    }
    assert!((10..90).contains(&back), "{back}");
}

/// A child process shares the lock between `fork` and `exec`.
#[test]
#[expect(clippy::disallowed_methods, reason = "a forked child has such a clone; nothing is read")]
fn a_lock_is_released_while_a_duplicate_handle_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lock");
    let held = RealDisk.lock(&path).unwrap();
    let copy = held.downcast_ref::<super::RealLock>().expect("a lock of the real disk").0.try_clone().unwrap();
    drop(held);
    RealDisk.lock(&path).unwrap();
    drop(copy);
}
