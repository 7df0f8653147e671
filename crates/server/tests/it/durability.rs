//! Acknowledged records are durable and stored once. Spec: resources, span rule 2; DECISIONS 11.

use tidewatch_store::TelemetryStore;
use tidewatch_store::tables::Table;

use crate::harness::Harness;
use crate::otlp::{JSON, PROTOBUF, gzip, span, traces, traces_json};

#[tokio::test]
async fn acknowledged_records_survive_a_crash() {
    let (mut harness, project) = Harness::with_project().await;
    harness.post_otlp("traces", &project.token, &[PROTOBUF], &traces((0..5).map(span).collect())).await.expect(200);
    let body = gzip(traces_json(8).to_string().as_bytes());
    harness.post_otlp("traces", &project.token, &[JSON, ("Content-Encoding", "gzip")], &body).await.expect(200);
    assert_eq!(harness.rows(Table::Spans), 8);
    harness.crash().await;
    assert_eq!(harness.rows(Table::Spans), 8, "replayed from the journal, JSON and protobuf alike");
    harness.crash().await;
    assert_eq!(harness.rows(Table::Spans), 8, "and again");
}

#[tokio::test]
async fn a_stop_flushes_and_the_next_start_reads_the_parts() {
    let (mut harness, project) = Harness::with_project().await;
    harness.post_otlp("traces", &project.token, &[PROTOBUF], &traces((0..5).map(span).collect())).await.expect(200);
    harness.restart().await;
    let stats = harness.app().lake.stats();
    let spans = stats.tables.iter().find(|stats| stats.table == Table::Spans).unwrap();
    assert_eq!((spans.rows, spans.memory_rows), (5, 0), "in parts, nothing left to replay");
    harness.restart().await;
    assert_eq!(harness.rows(Table::Spans), 5);
}

#[tokio::test]
async fn a_retry_stores_nothing_twice_even_after_a_crash_or_restart() {
    let (mut harness, project) = Harness::with_project().await;
    let body = traces((0..5).map(span).collect());
    for round in 0..2 {
        harness.post_otlp("traces", &project.token, &[PROTOBUF], &body).await.expect(200);
        assert_eq!(harness.rows(Table::Spans), 5, "retry {round}");
    }
    harness.crash().await;
    harness.post_otlp("traces", &project.token, &[PROTOBUF], &body).await.expect(200);
    assert_eq!(harness.rows(Table::Spans), 5, "after a crash");
    harness.restart().await;
    harness.post_otlp("traces", &project.token, &[PROTOBUF], &body).await.expect(200);
    assert_eq!(harness.rows(Table::Spans), 5, "after a restart");
    let other = harness.project("other").await;
    harness.post_otlp("traces", &other.token, &[PROTOBUF], &body).await.expect(200);
    assert_eq!(harness.rows(Table::Spans), 10, "another project's copy is its own");
}
