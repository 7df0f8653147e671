//! Compares every segment of every bundle, and the column after it, with Mozilla's `source-map`.

use std::path::{Path, PathBuf};
use std::process::Command;

use tidewatch_symbols::{Artifact, Script, convert_source_map};

use crate::run;

/// The source as resolved and as written in the map, line, column, name.
type Original = ((String, Option<String>), u32, u32, Option<String>);

/// Line (one-based), column (zero-based), and all acceptable results.
type Lookup = (u32, u32, Vec<Option<Original>>);

/// The bundler's folder in the cache, with its packages as locked.
fn installed() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache"))).expect("HOME is set");
    let (from, to) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/bundles"), base.join("tidewatch/bundles"));
    std::fs::create_dir_all(to.join("src")).expect("a cache folder");
    for folder in ["", "src"] {
        for entry in std::fs::read_dir(from.join(folder)).expect("the folder").flatten().filter(|e| e.path().is_file())
        {
            std::fs::copy(entry.path(), to.join(folder).join(entry.file_name())).expect("a copy");
        }
    }
    let lock = std::fs::read_to_string(from.join("package-lock.json")).expect("the lock file");
    let marker = to.join(".installed");
    if std::fs::read_to_string(&marker).ok().as_ref() != Some(&lock) {
        run(Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&to));
        std::fs::write(&marker, lock).expect("a marker");
    }
    to
}

fn is_right(script: &Script<'_>, lookup: &Lookup) -> bool {
    let place = script.place(lookup.0, lookup.1);
    lookup.2.iter().any(|original| match (&place, original) {
        (None, None) => true,
        (Some(place), Some(((resolved, written), line, column, name))) => {
            (place.source() == resolved || Some(place.source()) == written.as_deref())
                && (place.line, place.column, place.name()) == (*line, *column, name.as_deref())
        }
        _ => false,
    })
}

#[test]
fn mozilla_agrees_on_bundles_of_three_bundlers() {
    let folder = installed();
    let built = String::from_utf8(run(Command::new("node").arg("build.mjs").current_dir(&folder))).expect("text");
    let mut bundlers = 0;
    for name in built.lines() {
        let read = |file: &str| std::fs::read(folder.join("out").join(name).join(file)).expect("it was built");
        let artifact = convert_source_map(&read("bundle.js.map"), None, None).expect(name);
        let script = Artifact::open(&artifact).ok().and_then(Script::open).expect("a script");
        let lookups: Vec<Lookup> = serde_json::from_slice(&read("answers.json")).expect("answers");
        let wrong: Vec<_> = lookups.iter().filter(|lookup| !is_right(&script, lookup)).collect();
        for lookup in wrong.iter().take(5) {
            eprintln!(
                "{name}: expected {lookup:?}, got {:?}",
                script.place(lookup.0, lookup.1).map(|p| (p.source(), p.line, p.column, p.name()))
            );
        }
        assert!(wrong.is_empty(), "{name}: {} of {} places differ", wrong.len(), lookups.len());
        eprintln!("{name}: {} places", lookups.len());
        assert!(lookups.len() > 30, "{name}: {}", lookups.len());
        bundlers += 1;
    }
    assert_eq!(bundlers, 8);
}
