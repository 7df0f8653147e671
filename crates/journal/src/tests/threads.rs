//! The journal with its writer thread: order, draining, shutdown.

use super::small;
use crate::disk::sim::SimDisk;
use crate::{AppendError, Journal, OpenError, Options, Position};
use std::sync::mpsc;
use std::thread;

#[test]
fn records_of_many_threads_complete_in_the_order_of_their_positions() {
    let dir = tempfile::tempdir().unwrap();
    let (sender, receiver) = mpsc::channel();
    let on_durable = move |id: u64, outcome: Result<Position, AppendError>| {
        sender.send((outcome.unwrap(), id)).unwrap();
    };
    let opened = Journal::open(Options::new(dir.path()), Position(0), |_, _| Ok(()), on_durable).unwrap();
    let journal = &opened.journal;
    thread::scope(|scope| {
        for sender in 0..4u64 {
            scope.spawn(move || {
                for number in 0..250u64 {
                    let id = sender * 1000 + number;
                    journal.append(&[&id.to_le_bytes(), &[7; 100]], id).unwrap();
                }
            });
        }
    });
    journal.shutdown();
    drop(opened);
    let completed: Vec<(Position, u64)> = receiver.iter().collect();
    assert_eq!(completed.len(), 1000);
    assert!(completed.is_sorted());
    for sender in 0..4 {
        let numbers: Vec<u64> = completed.iter().map(|(_, id)| *id).filter(|id| id / 1000 == sender).collect();
        assert!(numbers.is_sorted(), "records of one thread keep their order");
    }

    let mut replayed = Vec::new();
    let replay = |position, payload: &[u8]| {
        replayed.push((position, u64::from_le_bytes(payload[..8].try_into()?)));
        Ok(())
    };
    Journal::<u64>::open(Options::new(dir.path()), Position(0), replay, |_, _| {}).unwrap();
    assert_eq!(replayed, completed);
}

#[test]
fn shutdown_commits_queued_records_and_refuses_later_ones() {
    let disk = SimDisk::new(1);
    let (sender, receiver) = mpsc::channel();
    let opened =
        Journal::open(small(&disk), Position(0), |_, _| Ok(()), move |id, _| sender.send(id).unwrap()).unwrap();
    for id in 0..100 {
        opened.journal.append(&[b"record"], id).unwrap();
    }
    opened.journal.shutdown();
    assert_eq!(receiver.iter().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    assert_eq!(opened.journal.append(&[b"late"], 7), Err((AppendError::Closed, 7)));
    opened.journal.shutdown();
}

/// Scenario: `on_durable` panics. Guarantee: the journal closes instead of silently dropping records.
#[test]
fn a_panic_of_the_caller_closes_the_journal() {
    let disk = SimDisk::new(1);
    let on_durable = |(), _| panic!("a bug of the caller, on purpose");
    let opened = Journal::open(small(&disk), Position(0), |_, _| Ok(()), on_durable).unwrap();
    // Appends succeed or fail with `Full` until the thread has ended.
    while opened.journal.append(&[b"record"], ()) != Err((AppendError::Closed, ())) {
        thread::yield_now();
    }
}

#[test]
fn an_error_of_replay_aborts_the_opening_and_releases_the_lock() {
    let disk = SimDisk::new(1);
    let open = || Journal::<()>::open(small(&disk), Position(0), |_, _| Err("no".into()), |_, _| {});
    open().unwrap().journal.append(&[b"record"], ()).unwrap();
    let error = open().err().unwrap();
    assert!(matches!(error, OpenError::Replay { position: Position(22), .. }), "{error}");
    let error = open().err().unwrap();
    assert!(matches!(error, OpenError::Replay { .. }), "{error}");
}
