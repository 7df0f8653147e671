//! What was received and what became of it: the counts that the ingest pipeline keeps per minute.

use std::collections::BTreeMap;

use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::ask::{self, Ask, Window};
use super::filters;
use super::time::{self, DAY, HOUR, MINUTE, Range};
use super::views::drops::*;
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// Minutes drawn at most.
const MINUTES_MAX: i64 = 2000;

/// `POST /api/drops`. `last_refusal` gets a signal and a reason, and returns the sentence that the last refused sender
/// received, and when: nanoseconds since the epoch.
pub async fn read(
    ask: &Ask,
    project: &Project,
    request: DropsRequest,
    unpromoted_ai_spans: u64,
    last_refusal: impl Fn(&str, &str) -> Option<(String, i64)>,
) -> Result<Drops, QueryError> {
    let now = ask.context.clock.now_ns();
    let asked = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    // Counts are kept by the start of their minute.
    let range = Range { from: asked.from.saturating_sub(asked.from.rem_euclid(MINUTE)), to: asked.to };
    let recent = Range { from: range.from.max(range.to.saturating_sub(MINUTES_MAX * MINUTE)), to: range.to };
    let (totals, minutes, last_span) = tokio::try_join!(
        counts(ask, project.number, range, false),
        counts(ask, project.number, recent, true),
        last_span(ask, project.number, now),
    )?;
    let mut drops =
        Drops { data: vec![], requests: vec![], kept: vec![], series: vec![], unpromoted_ai_spans, last_span };
    for (key, count) in totals {
        let Counted { signal, outcome, reason, .. } = key;
        match outcome.as_str() {
            "kept" => drops.kept.push(KeptCount { signal, count }),
            "dropped" | "trimmed" => drops.data.push(DropCount { signal, reason, count }),
            _ => {
                if outcome == "rejected" {
                    drops.data.push(DropCount { signal: signal.clone(), reason: reason.clone(), count });
                }
                let last = last_refusal(&signal, &reason);
                let (last_message, last_at) = last.map(|(message, at_ns)| (message, time::show(at_ns))).unzip();
                drops.requests.push(RequestCount { signal, outcome, reason, count, last_message, last_at });
            }
        }
    }
    drops.series = minutes
        .into_iter()
        .map(|(Counted { minute, signal, outcome, reason }, count)| DropPoint {
            timestamp: time::show(minute),
            signal,
            outcome,
            reason,
            count,
        })
        .collect();
    Ok(drops)
}

/// What a figure is of; `minute` is 0 in totals.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Counted {
    minute: i64,
    signal: String,
    outcome: String,
    reason: String,
}

async fn counts(ask: &Ask, project: u32, range: Range, by_minute: bool) -> Result<BTreeMap<Counted, u64>, QueryError> {
    let mut keys = ["signal", "outcome", "reason"].map(Key::column).to_vec();
    if by_minute {
        keys.push(Key::column("time"));
    }
    let aggregates = vec![Function::Sum("count").named("count")];
    // Bytes are counted for quotas, senders for `services.rs`.
    let filter = filters::not(filters::texts("outcome", &["bytes", "sent"].map(str::to_owned)));
    let plan = ask::groups(Table::IngestCounts, &[project], range, filter, keys, aggregates);
    let counted = |row: Row<'_>| {
        let key = Counted {
            minute: if by_minute { row.int("time") } else { 0 },
            signal: row.text("signal").to_owned(),
            outcome: row.text("outcome").to_owned(),
            reason: row.text("reason").to_owned(),
        };
        (key, row.count("count"))
    };
    Ok(ask.ask(plan).await?.rows().map(counted).collect())
}

/// The span that started last. Looks near now first: the Connect page asks every two seconds.
async fn last_span(ask: &Ask, project: u32, now_ns: i64) -> Result<Option<LastSpan>, QueryError> {
    for back in [HOUR, DAY, 31 * DAY] {
        if let Some(found) = last_since(ask, project, now_ns.saturating_sub(back)).await? {
            return Ok(Some(found));
        }
    }
    last_since(ask, project, i64::MIN).await
}

async fn last_since(ask: &Ask, project: u32, from: i64) -> Result<Option<LastSpan>, QueryError> {
    let columns = vec!["name", "server_name", "trace_id", "time"];
    let order = vec![ask::descending("time")];
    let range = Range { from, to: i64::MAX };
    let plan = ask::rows(Table::Spans, &[project], range, Filter::True, columns, order, Window::first(1));
    let answer = ask.ask(plan).await?;
    Ok(answer.first().map(|row| LastSpan {
        name: row.text("name").to_owned(),
        service_name: row.text("server_name").to_owned(),
        trace_id: row.trace_id("trace_id").to_string(),
        received_at: time::show(row.int("time")),
    }))
}
