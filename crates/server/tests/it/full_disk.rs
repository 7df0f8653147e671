//! A full disk: 503 with Retry-After, no acknowledged record is lost, and the server recovers when space is available.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use tidewatch_journal::disk::{Disk, DiskFile, DiskLock, RealDisk};
use tidewatch_store::tables::Table;

use crate::harness::Harness;
use crate::requests::{export, request};

/// The real disk until it is full; then every write fails with `ENOSPC`.
#[derive(Clone, Default)]
struct Filling {
    full: Arc<AtomicBool>,
}

struct FillingFile {
    file: Box<dyn DiskFile>,
    full: Arc<AtomicBool>,
}

fn space(full: &AtomicBool) -> io::Result<()> {
    if full.load(Ordering::SeqCst) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
}

impl Filling {
    fn file(&self, file: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        Box::new(FillingFile { file, full: self.full.clone() })
    }
}

impl Disk for Filling {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        space(&self.full)?;
        Ok(self.file(RealDisk.create(path)?))
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(self.file(RealDisk.open(path)?))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_dir_all(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_dir(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
        RealDisk.list(dir)
    }
    fn list_dirs(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        RealDisk.list_dirs(dir)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        RealDisk.sync_dir(dir)
    }
    fn exists(&self, path: &Path) -> bool {
        RealDisk.exists(path)
    }
    fn lock(&self, path: &Path) -> io::Result<DiskLock> {
        RealDisk.lock(path)
    }
}

impl DiskFile for FillingFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        space(&self.full)?;
        self.file.write_at(bytes, offset)
    }
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(into, offset)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }
}

/// Spec: client behaviour, "retry 503 with Retry-After"; OTLP.md, row "Retryable".
#[tokio::test]
async fn a_full_disk_refuses_exports_and_loses_nothing() {
    let disk = Filling::default();
    let mut harness = Harness::start_on(Arc::new(disk.clone()), |_| {}).await;
    let project = harness.register().await;
    let body = |trace: u64| export("shop", &[request(trace, "/pay", 200, trace as f64, 5.0)]);

    harness.post_json("traces", &project.token, &body(1)).await.expect(200);
    disk.full.store(true, Ordering::SeqCst);
    let refused = harness.post_json("traces", &project.token, &body(2)).await.expect(503);
    let wait: u64 = refused.header("retry-after").expect("Retry-After").parse().expect("seconds");
    assert!(wait >= 1, "no thundering herd");
    assert_eq!(refused.json()["code"], 14, "google.rpc UNAVAILABLE: {}", refused.json());
    assert_eq!(harness.rows(Table::Spans), 1, "what was acknowledged is still read");
    assert!(harness.app().lake.flush().is_err(), "a flush cannot write either, and says so");
    assert_eq!(harness.rows(Table::Spans), 1, "and loses nothing");

    disk.full.store(false, Ordering::SeqCst);
    harness.post_json("traces", &project.token, &body(2)).await.expect(200);
    harness.post_json("traces", &project.token, &body(3)).await.expect(200);
    assert_eq!(harness.rows(Table::Spans), 3);
    let drops =
        harness.query_json(&project, "/api/drops", json!({ "fromDate": "2020-01-01T00:00:00Z", "toDate": null })).await;
    let overloaded = drops["requests"].as_array().expect("requests").iter().any(|row| row["reason"] == "overloaded");
    assert!(overloaded, "the refusal is counted: {drops}");
    harness.crash().await;
    assert_eq!(harness.rows(Table::Spans), 3, "and after a crash");
}

/// Scenario: the server is killed on a full disk and started again, and its journal fills more memtables than may wait
/// for a flush. Guarantee: it starts and answers, and all rows are flushed when space is available.
#[tokio::test]
async fn a_start_on_a_full_disk_does_not_wait_for_flushes() {
    let disk = Filling::default();
    let mut harness = Harness::start_on(Arc::new(disk.clone()), |_| {}).await;
    let project = harness.register().await;
    for trace in 1..=12 {
        let body = export("shop", &[request(trace, "/pay", 200, trace as f64, 5.0)]);
        harness.post_json("traces", &project.token, &body).await.expect(200);
    }
    disk.full.store(true, Ordering::SeqCst);
    // Each replayed record fills a memtable.
    harness.change(|config| config.flush_rows = 1);
    harness.crash().await;
    assert_eq!(harness.rows(Table::Spans), 12, "it started, and answers");
    let body = export("shop", &[request(13, "/pay", 200, 13.0, 5.0)]);
    let refused = harness.post_json("traces", &project.token, &body).await.expect(503);
    assert!(refused.json()["message"].as_str().expect("a sentence").contains("cannot write to its disk"));

    disk.full.store(false, Ordering::SeqCst);
    harness.app().lake.flush().expect("there is space");
    harness.post_json("traces", &project.token, &body).await.expect(200);
    harness.crash().await;
    assert_eq!(harness.rows(Table::Spans), 13);
}

/// A demo load retries like other senders for a while, then fails with a message.
#[tokio::test]
async fn a_demo_load_on_a_full_disk_fails_and_can_be_repeated() {
    let disk = Filling::default();
    let mut harness = Harness::start_on(Arc::new(disk.clone()), |_| {}).await;
    harness.register().await;
    let projects = harness.api("GET", "/api/projects", &json!(null)).await.expect(200).json();
    let path = format!("/api/organizations/{}/demo", projects[0]["organizationId"]);
    disk.full.store(true, Ordering::SeqCst);
    harness.api("POST", &path, &json!({ "historyMinutes": 1 })).await.expect(202);
    let ended = async |harness: &Harness| loop {
        let found = harness.api("GET", &path, &json!(null)).await.expect(200).json();
        if found["state"] != "loading" {
            return found;
        }
    };
    let failed = ended(&harness).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert_eq!(failed["message"], "no space left on the server's disk");
    assert!(harness.app().ingest.refusals() >= 2, "each attempt is counted");
    disk.full.store(false, Ordering::SeqCst);
    let anew = harness.api("POST", &path, &json!({ "historyMinutes": 1 })).await.expect(202).json();
    assert_ne!(anew["projectId"], failed["projectId"]);
    assert_eq!(ended(&harness).await["state"], "loaded");
}
