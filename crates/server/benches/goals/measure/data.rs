//! The data sets, created once and reused. G6 is their size.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use tidewatch_bench::fill::{MANIFEST, Manifest};
use tidewatch_bench::generate;
use tidewatch_store::tables::Table;

use crate::goals::Measured;
use crate::settings::Settings;

/// Increased when the encoding of parts changes: sort order, column encodings.
const LAYOUT: u32 = 6;
/// Source files of the roll-up encoding. Parts with an older encoding would be scanned instead of using roll-ups.
const ROLLUPS: [&str; 3] = [
    include_str!("../../../../lake/src/rollup/directory.rs"),
    include_str!("../../../../store/src/rollup/levels.rs"),
    include_str!("../../../../store/src/rollup/spec.rs"),
];

/// The data directory with `spans` spans, created when missing.
pub fn large(settings: &Settings) -> (PathBuf, Manifest) {
    make(settings, "rich", settings.spans, 30)
}

fn make(settings: &Settings, kind: &str, spans: u64, days: u64) -> (PathBuf, Manifest) {
    let key = format!("v{}-{:08x}-{kind}-{spans}-{days}d", generate::VERSION, format_key());
    let folder = settings.folder.join(key);
    if let Some(manifest) = read(&folder) {
        return (folder, manifest);
    }
    let making = settings.folder.join("being-made");
    std::fs::remove_dir_all(&making).ok();
    let mut command = Command::new(&settings.tidewatch);
    command.args(["bench", "fill", "--generate", kind, "--spans", &spans.to_string(), "--days", &days.to_string()]);
    if kind == "lean" {
        command.args(["--logs", "0", "--points", "0"]);
    }
    let status = command.arg("--data-dir").arg(&making).status().expect("the release binary runs");
    assert!(status.success(), "cannot make the data set");
    std::fs::rename(&making, &folder).expect("a folder of the same disk");
    let manifest = read(&folder).expect("bench fill leaves a manifest");
    (folder, manifest)
}

fn read(folder: &Path) -> Option<Manifest> {
    serde_json::from_str(&std::fs::read_to_string(folder.join(MANIFEST)).ok()?).ok()
}

/// A hash of the columns and the roll-up encoding, which names the data set.
fn format_key() -> u32 {
    let mut hash = DefaultHasher::new();
    (LAYOUT, ROLLUPS).hash(&mut hash);
    for table in Table::ALL {
        (table.name(), table.sort_key()).hash(&mut hash);
        table.columns().iter().for_each(|column| (column.name, column.kind, column.nullable).hash(&mut hash));
    }
    hash.finish() as u32
}

/// Bytes of all files under `parts/`, entity rows and roll-ups included.
pub fn weigh(settings: &Settings, large: &Manifest) -> Vec<Measured> {
    let (_, lean) = make(settings, "lean", if settings.quick { 500_000 } else { 4_000_000 }, 1);
    let bytes = |manifest: &Manifest, of: &dyn Fn(&str) -> bool| {
        manifest.tables.iter().filter(|table| of(&table.table)).map(|table| table.bytes).sum::<u64>() as f64
    };
    let is_other = |name: &str| matches!(name, "logs" | "metric_points" | "ingest_counts");
    let spans = |manifest: &Manifest, id| {
        let all = bytes(manifest, &|name| !is_other(name)) / manifest.spans as f64;
        let alone = bytes(manifest, &|name| name == "spans") / manifest.spans as f64;
        Measured::new(id, all, format!("{alone:.1} in the spans table, the rest in what is promoted from them"))
    };
    let table = |name: &str| large.tables.iter().find(|table| table.table == name).expect("every table is listed");
    let each = |name: &str| table(name).bytes as f64 / table(name).rows.max(1) as f64;
    let made = format!("made in {:.0} s ({:.0} s of CPU)", large.seconds, large.cpu_seconds);
    let mut rich = spans(large, "G6b");
    rich.note = format!("{}; all data {made}", rich.note);
    vec![
        spans(&lean, "G6a"),
        rich,
        Measured::new("G6c", each("logs"), ""),
        Measured::new("G6d", each("metric_points"), "a stored point; histograms, with their buckets, are two"),
    ]
}
