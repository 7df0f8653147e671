//! `docs/limits.md` says what `limits.rs` says. `UPDATE_SNAPSHOTS=1` writes it anew.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use tidewatch_server::limits;

#[test]
fn snapshot_of_the_limits() {
    let mut text = String::from(
        "# Limits\n\nMade from `crates/server/src/limits.rs` by a test (`make snapshots`). Rows in quotes are those of \
         [spec.md](spec.md), \"Limits\".\nThe OTLP body, the ingest concurrency, flushing and retention are settings: see \
         `tidewatch serve --help`.\nThe rows of reports, profiles and uploads wait for the routes they bound.\n\n| Limit | Value | Source |\n|---|---|---|\n",
    );
    for [name, value, source] in limits::table() {
        writeln!(text, "| {name} | {value} | {source} |").expect("writing to a string");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/limits.md");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &text).expect("docs can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, text, "docs/limits.md is old: run `make snapshots`");
}
