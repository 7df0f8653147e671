//! Scenario: a process that appends as fast as it can is killed (SIGKILL) at random moments, on the real disk.
//! Guarantee: every record it reported durable is replayed once, in order, and further records can be appended.
//!
//! The child process is this test binary, with the directory in `JOURNAL_CHILD`.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};
use tidewatch_journal::{AppendError, Journal, Options, Position};

const CHILD: &str = "JOURNAL_CHILD";
const ROUNDS: u64 = 12;

fn options(dir: &Path) -> Options {
    Options { segment_bytes: 256 << 10, ..Options::new(dir) }
}

fn payload(id: u64) -> Vec<u8> {
    let mut bytes = id.to_le_bytes().to_vec();
    bytes.resize(8 + (id * 37 % 3000) as usize, id as u8);
    bytes
}

/// The ids and positions of the replayed records. Asserts that each one is intact and in order.
fn replay(dir: &Path, from: Position) -> Vec<(u64, Position)> {
    let mut seen: Vec<(u64, Position)> = Vec::new();
    let each = |position, bytes: &[u8]| {
        let id = u64::from_le_bytes(bytes[..8].try_into()?);
        assert_eq!(bytes, payload(id), "record {id} is not what was appended");
        assert!(seen.last().is_none_or(|&(last, at)| last < id && at < position), "record {id} out of order");
        seen.push((id, position));
        Ok(())
    };
    let opened =
        Journal::<u64>::open(options(dir), from, each, |_, _| {}).expect("what a killed process leaves can be opened");
    assert!(opened.report.is_intact(), "{:?}", opened.report);
    seen
}

/// The child process: appends ids from `JOURNAL_FIRST` on and prints `acked <id> <position>` for each durable record,
/// until it is killed.
#[test]
fn child_appends_until_killed() {
    let Some(dir) = env::var_os(CHILD) else { return };
    let first: u64 = env::var("JOURNAL_FIRST").unwrap().parse().unwrap();
    let from = Position(env::var("JOURNAL_FROM").unwrap().parse().unwrap());
    let on_durable = |id: u64, outcome: Result<Position, AppendError>| {
        let position = outcome.unwrap();
        // A killed parent closes the pipe.
        if writeln!(stdout(), "acked {id} {position}").is_err() {
            std::process::exit(0);
        }
    };
    let opened = Journal::open(options(Path::new(&dir)), from, |_, _| Ok(()), on_durable).unwrap();
    let mut id = first;
    loop {
        let bytes = payload(id);
        match opened.journal.append(&[&bytes[..5], &bytes[5..]], id) {
            Ok(()) => id += 1,
            Err((AppendError::Full, _)) => std::thread::yield_now(),
            Err((error, _)) => panic!("{error}"),
        }
    }
}

#[test]
fn acked_records_survive_a_kill_at_any_moment() {
    let dir = tempfile::tempdir().unwrap();
    let mut from = Position(0);
    let mut first = 0;
    let mut acked_in_all = 0;
    for round in 0..ROUNDS {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "child_appends_until_killed", "--nocapture"])
            .env(CHILD, dir.path())
            .env("JOURNAL_FIRST", first.to_string())
            .env("JOURNAL_FROM", from.0.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut acked: Vec<(u64, Position)> = Vec::new();
        // Kills the child after a number of acks that differs from round to round.
        let enough = 1 + (round * 7919 % 997) as usize;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            let Some((_, numbers)) = line.split_once("acked ") else { continue };
            let Some((id, position)) = numbers.split_once(' ') else { continue };
            let Ok(position) = position.parse() else { continue };
            acked.push((id.parse().unwrap(), Position(position)));
            if acked.len() == enough {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(acked.len() >= enough, "the child ended by itself");
        acked_in_all += acked.len();

        let replayed = replay(dir.path(), from);
        let found: BTreeSet<(u64, Position)> = replayed.iter().copied().collect();
        // The last line may be cut in the middle of its position.
        let (last, whole) = acked.split_last().unwrap();
        for record in whole {
            assert!(found.contains(record), "round {round}: acked record {record:?} is lost");
        }
        assert!(replayed.iter().any(|&(id, _)| id == last.0), "round {round}: acked record {last:?} is lost");
        first = replayed.last().unwrap().0 + 1;
        // Every third round replays from a later position, as if the earlier records were stored.
        if round % 3 == 2 {
            from = replayed[replayed.len() / 2].1;
            assert_eq!(replay(dir.path(), from), replayed[replayed.len() / 2 + 1..]);
        }
    }
    assert!(acked_in_all > 1000, "{acked_in_all}");
}
