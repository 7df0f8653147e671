//! Data directories of earlier builds, opened by this one: every answer is the same.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::server::Server;

fn directories() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/data-directories");
    let folders = std::fs::read_dir(all).expect("fixtures").map(|entry| entry.expect("a readable folder").path());
    folders.filter(|path| path.is_dir()).collect()
}

fn expected(folder: &Path) -> Value {
    let file = std::fs::File::open(folder.join("expected.json.gz")).expect("a fixture");
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    serde_json::from_str(&text).expect("JSON")
}

/// Asserts that `found` contains everything in `expected`; `found` may have newer fields.
fn assert_within(expected: &Value, found: &Value, at: &str) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, value) in expected {
                let other = found.get(key).unwrap_or_else(|| panic!("{at}: {key} is gone"));
                assert_within(value, other, &format!("{at}.{key}"));
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            assert_eq!(expected.len(), found.len(), "{at}");
            for (place, (value, other)) in expected.iter().zip(found).enumerate() {
                assert_within(value, other, &format!("{at}[{place}]"));
            }
        }
        (Value::Number(expected), Value::Number(found)) => {
            let [expected, found] = [expected, found].map(|number| number.as_f64().expect("a number"));
            // Percentiles from roll-ups of merged parts are within 1 %.
            assert!((expected - found).abs() <= expected.abs() * 0.01, "{at}: {expected} became {found}");
        }
        _ => assert_eq!(expected, found, "{at}"),
    }
}

fn compare(server: &Server, jwt: &str, recorded: &Value) {
    let project = recorded["project"].as_str().expect("an id");
    for one in recorded["answers"].as_array().expect("answers") {
        let path = one["path"].as_str().expect("a path");
        let (status, found) = server.call("POST", &format!("{path}?projectId={project}"), Some(jwt), &one["body"]);
        assert_eq!(status, 200, "{path}: {found}");
        assert_within(&one["answer"], &found, path);
    }
}

/// The number of parts of the day's metric points: two after the flushes, one after the merge.
fn parts(data: &Path) -> usize {
    let day = data.join("parts/metric_points/2026-11-19");
    std::fs::read_dir(day).expect("a day").filter(|file| file.is_ok()).count()
}

#[test]
fn a_directory_of_an_earlier_build_gives_the_same_answers() {
    for folder in directories() {
        let at = tempfile::tempdir().expect("a temporary directory");
        let unpacked =
            Command::new("tar").arg("-xzf").arg(folder.join("data.tar.gz")).arg("-C").arg(at.path()).status();
        assert!(unpacked.expect("tar runs").success());
        let data = at.path().join("data");
        let recorded = expected(&folder);
        // The rows are of days long ago: retention is off.
        let mut server = Server::start(&data, &[("TIDEWATCH_RETENTION_DAYS", "0")]);
        let login = json!({ "email": "owner@example.com", "password": "correct horse" });
        let (status, bundle) = server.call("POST", "/api/login", None, &login);
        assert_eq!(status, 200, "{bundle}");
        let jwt = bundle["token"].as_str().expect("a login").to_owned();
        compare(&server, &jwt, &recorded);
        // Replayed rows become parts beside the old ones; the parts of a past day are merged into one.
        server.stop();
        server.restart();
        let deadline = Instant::now() + Duration::from_secs(60);
        while parts(&data) > 1 {
            assert!(Instant::now() < deadline, "the day's parts are not merged after a minute");
            std::thread::park_timeout(Duration::from_millis(50));
        }
        compare(&server, &jwt, &recorded);
    }
}
