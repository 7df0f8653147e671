//! Outcomes of received requests and records: the counts that the ingest pipeline stores per minute.

use std::collections::BTreeMap;

use tidewatch_domain::units::{DAY_NS, HOUR_NS, MINUTE_NS};
use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::executor::Executor;
use super::filters;
use super::plans::{self, Window};
use super::time::{self, Range};
use super::views::drops::*;
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// Maximum minutes in the series.
const MINUTES_MAX: i64 = 2000;

/// `POST /api/drops`. `last_refusal` takes a signal and a reason, and returns the message of the last refusal and its
/// time, nanoseconds since the epoch.
pub async fn read(
    executor: &Executor,
    project: &Project,
    request: DropsRequest,
    unpromoted_ai_spans: u64,
    last_refusal: impl Fn(&str, &str) -> Option<(String, i64)>,
) -> Result<Drops, QueryError> {
    let now = executor.context.clock.now_ns();
    let requested = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    // The time of a count is the start of its minute.
    let range = Range { from: requested.from.saturating_sub(requested.from.rem_euclid(MINUTE_NS)), to: requested.to };
    let recent = Range { from: range.from.max(range.to.saturating_sub(MINUTES_MAX * MINUTE_NS)), to: range.to };
    let (totals, minutes, last_span) = tokio::try_join!(
        counts(executor, project.number, range, false),
        counts(executor, project.number, recent, true),
        last_span(executor, project.number, now),
    )?;
    let mut drops =
        Drops { data: vec![], requests: vec![], kept: vec![], series: vec![], unpromoted_ai_spans, last_span };
    for (key, count) in totals {
        let CountKey { signal, outcome, reason, .. } = key;
        match outcome.as_str() {
            "kept" => drops.kept.push(KeptCount { signal, count }),
            "dropped" | "trimmed" => drops.data.push(DropCount { signal, reason, count }),
            _ => {
                if outcome == "rejected" {
                    drops.data.push(DropCount { signal: signal.clone(), reason: reason.clone(), count });
                }
                let last = last_refusal(&signal, &reason);
                let (last_message, last_at) = last.map(|(message, at_ns)| (message, time::to_rfc3339(at_ns))).unzip();
                drops.requests.push(RequestCount { signal, outcome, reason, count, last_message, last_at });
            }
        }
    }
    drops.series = minutes
        .into_iter()
        .map(|(CountKey { minute, signal, outcome, reason }, count)| DropPoint {
            timestamp: time::to_rfc3339(minute),
            signal,
            outcome,
            reason,
            count,
        })
        .collect();
    Ok(drops)
}

/// The key of a count. `minute`: nanoseconds since the epoch, 0 in totals.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct CountKey {
    minute: i64,
    signal: String,
    outcome: String,
    reason: String,
}

async fn counts(
    executor: &Executor,
    project: u32,
    range: Range,
    by_minute: bool,
) -> Result<BTreeMap<CountKey, u64>, QueryError> {
    let mut keys = ["signal", "outcome", "reason"].map(Key::column).to_vec();
    if by_minute {
        keys.push(Key::column("time"));
    }
    let aggregates = vec![Function::Sum("count").named("count")];
    // Bytes are counted for quotas, and senders for `services.rs`.
    let filter = filters::not(filters::strings("outcome", &["bytes", "sent"].map(str::to_owned)));
    let plan = plans::groups(Table::IngestCounts, &[project], range, filter, keys, aggregates);
    let entry = |row: Row<'_>| {
        let key = CountKey {
            minute: if by_minute { row.int("time") } else { 0 },
            signal: row.text("signal").to_owned(),
            outcome: row.text("outcome").to_owned(),
            reason: row.text("reason").to_owned(),
        };
        (key, row.count("count"))
    };
    Ok(executor.run(plan).await?.rows().map(entry).collect())
}

/// The span that started last. Reads the latest hour first, because the Connect page sends a request every two seconds.
async fn last_span(executor: &Executor, project: u32, now_ns: i64) -> Result<Option<LastSpan>, QueryError> {
    for back in [HOUR_NS, DAY_NS, 31 * DAY_NS] {
        if let Some(found) = last_since(executor, project, now_ns.saturating_sub(back)).await? {
            return Ok(Some(found));
        }
    }
    last_since(executor, project, i64::MIN).await
}

async fn last_since(executor: &Executor, project: u32, from: i64) -> Result<Option<LastSpan>, QueryError> {
    let columns = vec!["name", "server_name", "trace_id", "time"];
    let order = vec![plans::descending("time")];
    let range = Range { from, to: i64::MAX };
    let plan = plans::rows(Table::Spans, &[project], range, Filter::True, columns, order, Window::first(1));
    let answer = executor.run(plan).await?;
    Ok(answer.first().map(|row| LastSpan {
        name: row.text("name").to_owned(),
        service_name: row.text("server_name").to_owned(),
        trace_id: row.trace_id("trace_id").to_string(),
        received_at: time::to_rfc3339(row.int("time")),
    }))
}
