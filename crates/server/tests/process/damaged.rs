//! Flipped bits in files that only a check or a start can detect.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;

use super::server::Server;

fn tidewatch(words: &[&str], data: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidewatch"));
    command.args(words).arg("--data-dir").arg(data).output().expect("the binary runs")
}

#[track_caller]
fn fails(output: &Output, why: &str) {
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() && said.contains(why), "{why}: {said}");
}

fn flip(path: &Path, place: usize) {
    let mut bytes = std::fs::read(path).expect("a file");
    bytes[place] ^= 1;
    std::fs::write(path, bytes).expect("the file is written");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Guarantee: a check of a backup detects a flipped bit in any of its files and names the file.
#[test]
fn a_check_of_a_backup_compares_every_file_with_the_manifest() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (data, backup) = (folder.path().join("data"), folder.path().join("backup"));
    let mut server = Server::start(&data, &[]);
    server.register();
    let target = backup.to_str().expect("text");
    assert!(tidewatch(&["backup", target, "--with-secrets"], &data).status.success());
    assert!(tidewatch(&["check"], &backup).status.success());
    let all = files(&backup);
    assert!(all.len() > 5, "{all:?}");
    for file in all.iter().filter(|file| std::fs::metadata(file).expect("a file").len() > 0) {
        let last = std::fs::read(file).expect("a file").len() - 1;
        flip(file, last);
        fails(&tidewatch(&["check"], &backup), &file.file_name().expect("a name").to_string_lossy());
        flip(file, last);
    }
    assert!(tidewatch(&["check"], &backup).status.success(), "as it was");
}

/// SQLite treats a damaged log as one that ends there: the server would start without an account.
#[test]
fn a_start_refuses_accounts_whose_log_is_damaged() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let mut server = Server::start(&data, &[]);
    let account = server.register();
    for name in ["One", "Two", "Three"] {
        assert_eq!(server.call("PUT", "/api/me", Some(&account.jwt), &json!({ "name": name })).0, 200);
    }
    server.kill();
    let log = data.join("control.sqlite-wal");
    let middle = std::fs::metadata(&log).expect("a log").len() as usize / 2;
    for place in [0, middle] {
        flip(&log, place);
        let why = "control.sqlite-wal is damaged";
        fails(&tidewatch(&["serve", "--listen", "127.0.0.1:0", "--retention-days", "0"], &data), why);
        fails(&tidewatch(&["check"], &data), why);
        flip(&log, place);
    }
    server.restart();
    let (status, bundle) = server.call("GET", "/api/me/login-bundle", Some(&account.jwt), &json!({}));
    assert_eq!((status, &bundle["user"]["name"]), (200, &json!("Three")), "the refused starts changed nothing");
}

/// Damage in the last transactions of SQLite's log looks like a power failure. A server that was just set up would
/// start without an account, with telemetry that nobody can read.
#[test]
fn a_start_refuses_telemetry_without_any_account() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let mut server = Server::start(&data, &[]);
    server.kill();
    let (control, log) = (data.join("control.sqlite"), data.join("control.sqlite-wal"));
    // An empty log counts as no log.
    let read = || [&control, &log].map(|path| std::fs::read(path).ok().filter(|file| path != &log || !file.is_empty()));
    let write = |files: &[Option<Vec<u8>>; 2]| {
        for (path, bytes) in [&control, &log].into_iter().zip(files) {
            match bytes {
                Some(bytes) => std::fs::write(path, bytes).expect("the file is written"),
                None => drop(std::fs::remove_file(path)),
            }
        }
    };
    let before = read();
    // Without accounts and telemetry the start succeeds.
    server.restart();
    let account = server.register();
    let body = json!({"resourceSpans": [{"scopeSpans": [{"spans": [{
        "traceId": "0102030405060708090a0b0c0d0e0f10", "spanId": "0102030405060708", "name": "GET /a", "kind": 2,
        "startTimeUnixNano": "1760000000000000000", "endTimeUnixNano": "1760000000000000000",
    }]}]}]});
    let (status, answer) = server.call("POST", "/api/otel/v1/traces", Some(&account.project_token), &body);
    assert_eq!(status, 200, "{answer}");
    server.kill();
    let whole = read();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--retention-days", "0"];
    let why = "control.sqlite has no account, but there is telemetry of projects beside it";
    for lost in [before, [whole[0].clone(), None], [Some(Vec::new()), None], [None, None]] {
        write(&lost);
        fails(&tidewatch(&serve, &data), &format!("{why}; nothing was changed"));
        fails(&tidewatch(&["check"], &data), why);
        assert!(read() == lost, "the refused start changed nothing");
    }
    write(&whole);
    server.restart();
    let (status, _) = server.call("GET", "/api/me/login-bundle", Some(&account.jwt), &json!({}));
    assert_eq!(status, 200);
}

/// Guarantee: a check detects damage that a start ignores because it has another copy or does not need the file.
#[test]
fn a_check_finds_damage_that_a_start_ignores() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let mut server = Server::start(&data, &[]);
    server.register();
    server.stop();
    assert!(tidewatch(&["check"], &data).status.success());
    for (place, folder, extension) in [
        (20, "journal", "segment"),
        (2048 + 20, "journal", "segment"),
        (1000, "journal", "segment"),
        (200, "ai-prices", "json"),
    ] {
        let is_wanted = |path: &PathBuf| path.extension().is_some_and(|found| found == extension);
        let path = files(&data.join(folder)).into_iter().find(is_wanted).expect("a file");
        flip(&path, place);
        fails(&tidewatch(&["check"], &data), &path.file_name().expect("a name").to_string_lossy());
        flip(&path, place);
    }
    assert!(tidewatch(&["check"], &data).status.success(), "as it was");
}
