//! The same calls on every store give the same results.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use tidewatch_blobs::{Blob, BlobStore, is_pending};

/// Runs a test on each kind of store.
fn on_each(test: impl Fn(&BlobStore)) {
    let folder = tempfile::tempdir().expect("a folder");
    test(&BlobStore::in_folder(folder.path().join("blobs")).expect("a runtime"));
    test(&BlobStore::in_memory().expect("a runtime"));
}

fn names(list: Vec<Blob>) -> Vec<String> {
    list.into_iter().map(|blob| blob.name).collect()
}

#[test]
fn nothing_is_in_an_empty_store() {
    on_each(|store| {
        assert_eq!(store.get("a/b").expect("an answer"), None);
        assert_eq!(store.len("a/b").expect("an answer"), None);
        assert_eq!(store.list("a").expect("an answer"), []);
        assert!(!store.delete("a/b").expect("an answer"));
        assert!(!store.read("a/b", |_| panic!("nothing to read")).expect("an answer"));
        store.delete_below("a").expect("nothing to delete");
    });
}

#[test]
fn names_are_kept_as_they_are() {
    on_each(|store| {
        let all = ["p/a b[1]{x}.js.map", "p/ä%2Fb%25.js", "p/x#y.js", "p/~.txt", "p/q/r.map", "pp/a"];
        for name in all {
            store.put(name, name.as_bytes()).expect("a write");
        }
        for name in all {
            assert_eq!(store.get(name).expect("an answer").as_deref(), Some(name.as_bytes()));
        }
        assert_eq!(
            names(store.list("p").expect("a list")),
            ["p/a b[1]{x}.js.map", "p/x#y.js", "p/~.txt", "p/ä%2Fb%25.js"]
        );
        store.delete_below("p").expect("a deletion");
        assert_eq!(names(store.list("p").expect("a list")), [""; 0]);
        assert_eq!(store.get("p/q/r.map").expect("an answer"), None);
        assert_eq!(names(store.list("pp").expect("a list")), ["pp/a"], "a name that only begins alike");
        for name in ["../a", "a/../b", "a/./b", "a//b", "a\nb"] {
            assert!(store.put(name, b"").is_err(), "{name:?}");
        }
    });
}

#[test]
fn a_large_blob_is_written_and_read_in_parts() {
    on_each(|store| {
        let bytes: Vec<u8> = (0..20_000_001_u32).map(|place| (place % 251) as u8).collect();
        store.put("large", &bytes).expect("a write");
        store.put_unsynced("small", b"1").expect("a write");
        assert_eq!(store.len("large").expect("an answer"), Some(bytes.len() as u64));
        let mut read = Vec::new();
        assert!(store.read("large", |part| read.extend_from_slice(part)).expect("an answer"));
        assert!(read == bytes && store.get("large").expect("an answer").is_some_and(|found| found == bytes));
        let all = store.get_all(["small", "none", "large"].map(str::to_owned).to_vec()).expect("an answer");
        assert_eq!(
            all.iter().map(|one| one.as_ref().map(|bytes| bytes.len())).collect::<Vec<_>>(),
            [Some(1), None, Some(bytes.len())]
        );
    });
}

// A blob is a file at its name: data directories of earlier releases have them there.
#[test]
fn a_folder_has_a_file_per_blob_and_shows_no_incomplete_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = BlobStore::in_folder(folder.path()).expect("a runtime");
    store.put("maps/x/a%2Fb.map", b"1").expect("a write");
    assert_eq!(std::fs::read(folder.path().join("maps/x/a%2Fb.map")).expect("a file"), b"1");
    let pending = folder.path().join("maps/x/c.map#1");
    std::fs::write(&pending, b"half").expect("a file");
    assert_eq!(names(store.list("maps/x").expect("a list")), ["maps/x/a%2Fb.map"]);
    assert!(is_pending(&pending) && !is_pending(Path::new("a#b.map")) && !is_pending(Path::new("a#")));
    store.delete_below("maps/x").expect("a deletion");
    assert!(!pending.exists(), "with everything in it");
}

// Earlier releases stored files of any name, with their metadata in a file beside them: these are not incomplete.
#[test]
fn incomplete_writes_are_removed_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = BlobStore::in_folder(folder.path().join("blobs")).expect("a runtime");
    assert_eq!(store.remove_pending().expect("nothing to remove"), 0);
    for name in ["maps/p/a.map", "maps/p/a.map.info", "maps/p/b#c.js"] {
        store.put(name, name.as_bytes()).expect("a write");
    }
    let maps = folder.path().join("blobs/maps/p");
    for name in ["a.map#1", "a.map.info#2", "main.js#1", "main.js#1.info", "large.map#12"] {
        std::fs::write(maps.join(name), b"{}").expect("a file");
    }
    assert_eq!(store.remove_pending().expect("a removal"), 3);
    let mut left: Vec<String> = std::fs::read_dir(&maps)
        .expect("a folder")
        .map(|entry| entry.expect("a file").file_name().into_string().expect("a name"))
        .collect();
    left.sort();
    assert_eq!(left, ["a.map", "a.map.info", "b#c.js", "main.js#1", "main.js#1.info"]);
    assert_eq!(store.get("maps/p/a.map").expect("an answer").as_deref(), Some("maps/p/a.map".as_bytes()));
}

#[test]
fn a_full_or_unwritable_disk_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("file"), b"").expect("a file");
    let store = BlobStore::in_folder(folder.path()).expect("a runtime");
    let error = store.put("file/below", b"1").expect_err("a file is no folder");
    assert_eq!(error.kind(), std::io::ErrorKind::NotADirectory, "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_store_is_a_map(steps in prop::collection::vec((0..4_u8, "[ab]/[ab]", prop::collection::vec(any::<u8>(), 0..9)), 1..20)) {
        let folder = tempfile::tempdir().expect("a folder");
        for store in [BlobStore::in_folder(folder.path()).expect("a runtime"), BlobStore::in_memory().expect("a runtime")] {
            let mut model = BTreeMap::new();
            for (step, name, bytes) in &steps {
                match step {
                    0 | 1 => {
                        store.put(name, bytes).expect("a write");
                        model.insert(name.clone(), bytes.clone());
                    }
                    2 => prop_assert_eq!(store.delete(name).expect("a deletion"), model.remove(name).is_some()),
                    _ => {
                        store.delete_below("a").expect("a deletion");
                        model.retain(|name, _| !name.starts_with("a/"));
                    }
                }
                let found = store.get(name).expect("an answer");
                prop_assert_eq!(found.as_deref(), model.get(name).map(Vec::as_slice));
            }
            for below in ["a", "b"] {
                let wanted: Vec<_> = model.iter().filter(|(name, _)| name.starts_with(below)).collect();
                let found = store.list(below).expect("a list");
                prop_assert_eq!(found.len(), wanted.len());
                for (blob, (name, bytes)) in found.iter().zip(wanted) {
                    prop_assert_eq!((&blob.name, blob.bytes), (name, bytes.len() as u64));
                }
            }
        }
    }
}
