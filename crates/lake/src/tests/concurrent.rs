//! Readers run concurrently with a writer, flushes and merges: every row is visible exactly once, from the moment it
//! was applied.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tidewatch_journal::Position;

use super::support::*;
use tidewatch_store::columns::NO_KEY;

const REQUESTS: u64 = 120;

#[test]
fn concurrent_readers_return_every_row_once() {
    let bench = Bench::new(11);
    let lake = bench.open();
    // Requests that may be visible, and requests that must be.
    let (begun, applied) = (AtomicU64::new(0), AtomicU64::new(0));
    let is_done = || applied.load(Ordering::SeqCst) == REQUESTS;
    thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1..=REQUESTS {
                begun.store(n, Ordering::SeqCst);
                let (trace, number) = ((n / 200) as u8 + 1, (n % 200) as u8 + 1);
                lake.apply(Position(n), NO_KEY, TODAY_NS, request(1, &[span(trace, number, TODAY_NS + n as i64)]));
                applied.store(n, Ordering::SeqCst);
                if n % 8 == 0 {
                    lake.flush().unwrap();
                }
            }
        });
        scope.spawn(|| {
            while !is_done() {
                lake.merge(TODAY_NS).unwrap();
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_done() {
                    let least = applied.load(Ordering::SeqCst);
                    let mut spans = stored_spans(&lake);
                    let most = begun.load(Ordering::SeqCst);
                    let seen = spans.len() as u64;
                    assert!((least..=most).contains(&seen), "{least} applied, {seen} seen, {most} begun");
                    spans.dedup();
                    assert_eq!(spans.len() as u64, seen);
                }
            });
        }
    });
    assert_eq!(stored_spans(&lake).len() as u64, REQUESTS);
    lake.merge(TODAY_NS).unwrap();
    assert_eq!(stored_spans(&lake).len() as u64, REQUESTS);
}
