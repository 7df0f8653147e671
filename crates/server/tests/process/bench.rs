//! The load tool: a server answers queries from the data of `bench fill`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::server::Server;

fn bench(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tidewatch")).arg("bench").args(words).output().expect("the binary runs")
}

/// Guarantee: every read of the list that `bench fill` writes finds data with the account that it prints.
#[test]
fn every_read_of_filled_data_finds_some() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let place = data.to_str().expect("text");
    let filled = bench(&["fill", "--data-dir", place, "--spans", "40000", "--days", "3"]);
    let said = String::from_utf8_lossy(&filled.stdout);
    assert!(filled.status.success(), "{said}{}", String::from_utf8_lossy(&filled.stderr));
    let (_, login) = said.split_once("sign in as ").expect("a login");
    let (email, password) = login.trim().split_once(" with the password ").expect("a login");
    let server = Server::start(&data, &[("TIDEWATCH_RETENTION_DAYS", "0")]);
    let reads = data.join("bench-reads.json");
    let login = ["--email", email, "--password", password];
    let list = ["query", "--url", &server.base, "--json", "--repeat", "1", "--warm-up", "0", "--reads", path(&reads)];
    let output = bench(&[&list[..], &login].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(answers.len() > 10, "{answers:?}");
    for answer in answers {
        // Rare values, calls of one user or endpoint on each day, changes and completions have short answers in a
        // small data set. An empty list takes about a hundred bytes.
        let name = answer["name"].as_str().expect("a name");
        let is_rare = ["rare", "heatmap", "explain", "what changed", "trace search", "completion"]
            .iter()
            .any(|word| name.contains(word));
        assert!(answer["status"] == 200 && (is_rare || answer["bytes"].as_u64() > Some(200)), "{answer}");
    }
}

fn path(path: &Path) -> &str {
    path.to_str().expect("text")
}
