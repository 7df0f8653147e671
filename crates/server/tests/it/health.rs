//! Panicking threads and failing disks: the answers of the health routes, and what continues to work.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidewatch_journal::disk::RealDisk;
use tidewatch_journal::disk::hooked::{HookedDisk, Operation};
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_store::tables::Table;

use crate::client;
use crate::harness::Harness;
use crate::requests::{export, request};

/// A switch that tests turn while the disk is in use.
#[derive(Clone, Default)]
struct Switch(Arc<AtomicBool>);

impl Switch {
    fn turn(&self, on: bool) {
        self.0.store(on, Ordering::SeqCst);
    }

    fn is_on(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

async fn started(hook: impl Fn(Operation, &Path) -> io::Result<()> + Send + Sync + 'static) -> Harness {
    let disk = HookedDisk::new(Arc::new(RealDisk), hook);
    Harness::start_on(Arc::new(disk), |config| config.flush_rows = 1).await
}

fn body(trace: u64) -> Value {
    export("shop", &[request(trace, "/pay", 200, trace as f64, 5.0)])
}

/// Status and body of a health route.
async fn health(harness: &Harness, path: &str) -> (u16, Value) {
    let answer = client::send(harness.address(), "GET", path, &[], b"").await;
    (answer.status, answer.json())
}

async fn until(harness: &Harness, path: &str, status: u16) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let (found, body) = health(harness, path).await;
        if found == status {
            return body;
        }
        assert!(Instant::now() < deadline, "{path} stays {found}: {body}");
        tokio::task::yield_now().await;
    }
}

/// Scenario: writing the rows of one table always panics. Guarantee: the other tables are stored, the journal's records
/// of the rows are copied to `lost/`, and later rows are flushed.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_panic_when_they_are_written_are_set_aside_and_ingest_continues() {
    let broken = Switch::default();
    let panics = broken.clone();
    let mut harness = started(move |what, path| {
        let is_meant = what == Operation::Create && path.to_string_lossy().contains("parts/endpoints/");
        assert!(!(is_meant && panics.is_on()), "a bug of the encoder, on purpose");
        Ok(())
    })
    .await;
    let project = harness.register().await;
    broken.turn(true);
    harness.post_json("traces", &project.token, &body(1)).await.expect(200);
    let failing = until(&harness, "/readyz", 503).await;
    assert_eq!(failing, json!({"status": "failing", "problems": ["the last flush failed"]}));
    until(&harness, "/readyz", 200).await;
    broken.turn(false);
    harness.post_json("traces", &project.token, &body(2)).await.expect(200);
    harness.app().lake.flush().expect("the disk works");
    assert_eq!((harness.rows(Table::Spans), harness.rows(Table::Endpoints)), (2, 1));
    let set_aside: Vec<_> = harness
        .app()
        .ingest
        .durable_store
        .set_aside()
        .filter(|(_, count)| *count > 0)
        .map(|(reason, count)| (reason.as_str(), count))
        .collect();
    assert_eq!(set_aside, [("unencodable", 1)]);
    let kept = crate::replay::kept(harness.data());
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(kept[0].0.ends_with(".records") && contains(&kept[0].1, b"/pay"), "the export as it was received");
    assert_eq!(health(&harness, "/livez").await, (200, json!({"status": "ok"})));
    harness.restart().await;
    assert_eq!((harness.rows(Table::Spans), harness.rows(Table::Endpoints)), (2, 1), "nothing is replayed again");
    assert_eq!(harness.gave_up(), Vec::<String>::new());
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// Scenario: a few panics that no particular rows cause. Guarantee: the thread retries and succeeds after them.
#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_panics_tries_again() {
    let left = Arc::new(AtomicU32::new(3));
    let panics = left.clone();
    let mut harness = started(move |what, path| {
        let is_meant = what == Operation::Create && path.to_string_lossy().contains("/seen/");
        let is_left = |left: u32| left.checked_sub(1);
        assert!(!is_meant || panics.fetch_update(Ordering::SeqCst, Ordering::SeqCst, is_left).is_err(), "on purpose");
        Ok(())
    })
    .await;
    let project = harness.register().await;
    harness.post_json("traces", &project.token, &body(1)).await.expect(200);
    let deadline = Instant::now() + Duration::from_secs(60);
    while harness.app().lake.covered().0 == 0 {
        assert!(Instant::now() < deadline, "it does not flush");
        tokio::task::yield_now().await;
    }
    assert_eq!((left.load(Ordering::SeqCst), harness.rows(Table::Spans)), (0, 1));
    assert_eq!(health(&harness, "/livez").await.0, 200);
    assert_eq!(harness.gave_up(), Vec::<String>::new());
}

/// Scenario: a thread panics repeatedly. Guarantee: the process ends, and until then `/livez` names the thread.
#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_keeps_panicking_ends_the_process() {
    let broken = Switch::default();
    let panics = broken.clone();
    let mut harness = started(move |what, path| {
        let is_meant = what == Operation::Create && path.to_string_lossy().contains("/seen/");
        assert!(!(is_meant && panics.is_on()), "on purpose");
        Ok(())
    })
    .await;
    let project = harness.register().await;
    broken.turn(true);
    harness.post_json("traces", &project.token, &body(1)).await.expect(200);
    let failing = until(&harness, "/livez", 503).await;
    assert_eq!(failing["problems"], json!(["thread lake-flush has ended by a panic"]));
    assert_eq!(health(&harness, "/readyz").await.0, 503);
    assert_eq!(harness.gave_up(), ["thread lake-flush has panicked 5 times in a row"]);
    broken.turn(false);
    harness.crash().await;
    assert_eq!(harness.rows(Table::Spans), 1, "the next start has it");
    assert_eq!(health(&harness, "/livez").await.0, 200);
}

/// The journal's thread is not restarted: a record may be durable with only half of its rows in memory.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_of_the_journals_thread_ends_the_process() {
    let broken = Switch::default();
    let panics = broken.clone();
    let mut harness = started(move |what, path| {
        let is_meant = what == Operation::Write && path.to_string_lossy().contains("/journal/");
        assert!(!(is_meant && panics.is_on()), "on purpose");
        Ok(())
    })
    .await;
    let project = harness.register().await;
    harness.post_json("traces", &project.token, &body(1)).await.expect(200);
    broken.turn(true);
    harness.post_json("traces", &project.token, &body(2)).await.expect(503);
    let failing = until(&harness, "/livez", 503).await;
    assert_eq!(failing["problems"], json!(["thread journal has ended by a panic"]));
    assert_eq!(harness.gave_up(), ["the journal's thread has panicked"]);
    broken.turn(false);
    harness.crash().await;
    harness.post_json("traces", &project.token, &body(2)).await.expect(200);
    assert_eq!(harness.rows(Table::Spans), 2);
}

/// Threads that store nothing have heartbeats too. A missing one is named by `/livez`, which still responds with 200.
#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_stores_nothing_is_named_when_it_is_missing() {
    let harness = Harness::start_with(|config| {
        config.mail.mail_dir = Some(config.data_dir.join("mails"));
        config.mail.smtp_from = Some("tidewatch@example.com".to_owned());
        config.traces_endpoint = Some("http://127.0.0.1:1/v1/traces".to_owned());
    })
    .await;
    // A thread adds its name when it starts.
    let names = || {
        let heartbeats = harness.app().process.background.heartbeats();
        let mut names: Vec<&str> = heartbeats.iter().map(|heartbeat| heartbeat.name()).collect();
        names.sort_unstable();
        names.join(" ")
    };
    let all = "incidents mail monitors notifications oncall own-traces regroup reload rules rules-on-arrival symbols \
               symbols-again";
    for _ in 0..1000 {
        if names() == all {
            break;
        }
        client::arrive().await;
    }
    assert_eq!(names(), all);
    assert_eq!(health(&harness, "/livez").await, (200, json!({"status": "ok"})));
    let broken = Heartbeat::new("broken");
    harness.app().process.background.add(&broken);
    broken.end_by_panic();
    let degraded = json!({"status": "degraded", "problems": ["thread broken has ended by a panic"]});
    assert_eq!(health(&harness, "/livez").await, (200, degraded));
    assert_eq!(health(&harness, "/readyz").await, (200, json!({"status": "ok"})));
}

/// `/readyz` fails while the journal cannot be written, and recovers without a restart.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_store_is_not_ready() {
    let full = Switch::default();
    let is_full = full.clone();
    let mut harness = started(move |what, _| match what {
        Operation::Create | Operation::Write if is_full.is_on() => Err(io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    })
    .await;
    let project = harness.register().await;
    assert_eq!(health(&harness, "/readyz").await, (200, json!({"status": "ok"})));
    full.turn(true);
    harness.post_json("traces", &project.token, &body(1)).await.expect(503);
    let (status, failing) = health(&harness, "/readyz").await;
    assert_eq!((status, &failing["problems"]), (503, &json!(["the journal cannot be written"])));
    assert_eq!(health(&harness, "/livez").await.0, 200, "a restart would not help");
    full.turn(false);
    until(&harness, "/readyz", 200).await;
    harness.post_json("traces", &project.token, &body(1)).await.expect(200);
}
