//! Measurements of the machine: fdatasync on the disk of the data, and memory bandwidth.

use std::fs::OpenOptions;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use tidewatch_bench::load::Latencies;

const FILE_BYTES: usize = 8 << 20;
const LEAST: usize = 200;

/// Latencies of overwriting `bytes` of an existing file with fdatasync.
pub fn fdatasync(folder: &Path, bytes: usize, duration: Duration) -> Latencies {
    let path = folder.join(format!("fdatasync-{}", std::process::id()));
    let file = OpenOptions::new().create(true).truncate(true).write(true).open(&path).expect("a folder to write into");
    file.write_all_at(&vec![1; FILE_BYTES], 0).and_then(|()| file.sync_all()).expect("room for the file");
    let block = vec![0x5a; bytes];
    let (begun, mut latencies, mut count) = (Instant::now(), Latencies::default(), 0);
    while count < LEAST || begun.elapsed() < duration {
        let offset = (count * bytes % FILE_BYTES) as u64;
        let start = Instant::now();
        file.write_all_at(&block, offset).and_then(|()| file.sync_data()).expect("the disk writes");
        latencies.add(start.elapsed());
        count += 1;
    }
    std::fs::remove_file(&path).ok();
    latencies.sort();
    latencies
}

/// Memory bandwidth in bytes per second.
fn memcpy(bytes: usize) -> f64 {
    let (from, mut to) = (vec![1u8; bytes], vec![0u8; bytes]);
    let (begun, mut copied) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_millis(200) {
        to.copy_from_slice(black_box(&from));
        black_box(&mut to);
        copied += bytes;
    }
    copied as f64 / begun.elapsed().as_secs_f64()
}

/// The measurements, one line each.
pub fn lines(folder: &Path, duration: Duration) -> Vec<String> {
    let mut lines: Vec<String> = [("4 KB", 4 << 10), ("64 KB", 64 << 10)]
        .into_iter()
        .map(|(name, bytes)| {
            let latencies = fdatasync(folder, bytes, duration);
            let (p50, p99) = (latencies.quantile(0.5), latencies.quantile(0.99));
            format!("bare fdatasync after {name}: p50 {p50:.2} ms, p99 {p99:.2} ms")
        })
        .collect();
    let gigabytes = |bytes| memcpy(bytes) / 1e9;
    lines.push(format!(
        "memcpy, one thread: 256 KB {:.1} GB/s, 64 MB {:.1} GB/s",
        gigabytes(256 << 10),
        gigabytes(64 << 20)
    ));
    lines
}
