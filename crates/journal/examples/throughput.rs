//! Measures append throughput: `throughput DIR [RECORD_BYTES] [SENDERS] [SECONDS]`.
//!
//! Each sender waits until its record is durable before it appends the next, as a request waits for its response.
#![expect(clippy::print_stdout, reason = "its output is the result")]

use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tidewatch_journal::{AppendError, Journal, Options, Position};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().ok_or("usage: throughput DIR [RECORD_BYTES] [SENDERS] [SECONDS]")?;
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |text| text.parse::<u64>());
    let (record_bytes, senders, seconds) = (number(50_000)?, number(16)?, number(5)?);

    let on_durable = |sender: SyncSender<Result<Position, AppendError>>, outcome| {
        // The sender may have ended.
        let _ = sender.try_send(outcome);
    };
    let opened = Journal::open(Options::new(dir), Position(0), |_, _| Ok(()), on_durable)?;
    let journal = &opened.journal;
    let record = vec![0x5a; record_bytes as usize];
    let begun = Instant::now();
    let mut latencies: Vec<Duration> = std::thread::scope(|scope| {
        let run = || {
            let mut latencies = Vec::new();
            let (sender, receiver) = sync_channel(1);
            while begun.elapsed() < Duration::from_secs(seconds) {
                let offered = Instant::now();
                match journal.append(&[&record], sender.clone()) {
                    Ok(()) => {}
                    Err(_) => {
                        // Full: treat everything so far as stored.
                        let _ = journal.trim(journal.durable_position());
                        continue;
                    }
                }
                let Ok(Ok(_)) = receiver.recv() else { break };
                latencies.push(offered.elapsed());
            }
            latencies
        };
        let threads: Vec<_> = (0..senders).map(|_| scope.spawn(run)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    latencies.sort();
    let at = |part: f64| latencies.get((latencies.len() as f64 * part) as usize).copied().unwrap_or_default();
    let elapsed = begun.elapsed().as_secs_f64();
    let records = latencies.len() as f64;
    println!(
        "{record_bytes} B x {senders} senders: {:.0} records/s, {:.1} MB/s, p50 {:?}, p99 {:?}",
        records / elapsed,
        records * record_bytes as f64 / elapsed / 1e6,
        at(0.5),
        at(0.99)
    );
    Ok(())
}
