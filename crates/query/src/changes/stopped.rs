//! Services that no longer send anything.

use std::collections::HashMap;

use tidewatch_domain::changes::{Change, Kind};
use tidewatch_domain::units::{HOUR_NS, MINUTE_NS};
use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;

use super::found::{minute, sentence_of, text_of};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans;
use crate::time::Range;
use crate::views::changes::{ChangeCard, ChangeKind, Effect, EffectMetric};

/// Minutes within which all subjects of a service end.
const TOGETHER: u64 = 3;

/// A subject that gets no calls.
#[derive(Debug, Clone, Copy)]
pub struct Silent<'a> {
    /// Its service.
    pub service: &'a str,
    /// Its change.
    pub change: &'a Change,
}

/// Whether a change says that no call arrives.
pub fn is_silent(change: &Change) -> bool {
    change.kind == Kind::Fewer && change.after <= 0.0 && change.recovered.is_none()
}

/// The services without any request, run or AI call since the silent subjects ended: a card each.
pub async fn cards(
    executor: &Executor,
    project: u32,
    silent: &[Silent<'_>],
    end: i64,
) -> Result<Vec<ChangeCard>, QueryError> {
    let Some(first) = silent.iter().map(|one| one.change.since).min() else { return Ok(Vec::new()) };
    let range =
        Range { from: first.saturating_mul(MINUTE_NS).saturating_sub(HOUR_NS), to: end.saturating_mul(MINUTE_NS) };
    let mut last: HashMap<String, i64> = HashMap::new();
    for table in [Table::Endpoints, Table::Tasks, Table::AiTraces] {
        let (keys, latest) = (vec![Key::column("server_name")], vec![Function::Max("time").named("last")]);
        let answer = executor.run(plans::groups(table, &[project], range, Filter::True, keys, latest)).await?;
        for row in answer.rows() {
            let known = last.entry(row.text("server_name").to_owned()).or_insert(i64::MIN);
            *known = row.int("last").max(*known);
        }
    }
    let mut services: Vec<&str> = silent.iter().map(|one| one.service).filter(|name| !name.is_empty()).collect();
    services.sort_unstable();
    services.dedup();
    let mut cards = Vec::new();
    for service in services {
        let of_service = || silent.iter().filter(|one| one.service == service).map(|one| one.change);
        let Some(since) = of_service().map(|change| change.since).max() else { continue };
        let is_together = of_service().all(|change| change.since.abs_diff(since) <= TOGETHER);
        let sends = last.get(service).is_some_and(|last| last.div_euclid(MINUTE_NS) > since + TOGETHER as i64);
        if is_together && !sends {
            cards.push(card(service, since, &of_service().collect::<Vec<_>>()));
        }
    }
    // None is left that sends.
    let all_stopped = last.keys().all(|service| cards.iter().any(|card| card.service == *service));
    if all_stopped && cards.len() > 1 {
        let since = cards.iter().map(|card| card.since.clone()).max().unwrap_or_default();
        let last = silent.iter().map(|one| one.change.since).max().unwrap_or_default();
        let score = cards.iter().map(|card| card.score).sum();
        let effects = cards.iter().flat_map(|card| card.effects.clone()).collect();
        let sentence_parts = sentence_of(|clock| format!("No telemetry since {}.", clock(last)));
        let sentence = text_of(&sentence_parts);
        let (name, service) = ("all services".to_owned(), String::new());
        return Ok(vec![ChangeCard {
            name,
            service,
            since,
            score,
            effects,
            sentence,
            sentence_parts,
            ..cards.remove(0)
        }]);
    }
    Ok(cards)
}

fn card(service: &str, since: i64, changes: &[&Change]) -> ChangeCard {
    let (usual, harm) =
        changes.iter().fold((0.0, 0.0), |(usual, harm), change| (usual + change.before, harm + change.harm));
    let effect = Effect { metric: EffectMetric::Calls, before: usual, after: 0.0, since: minute(since) };
    let sentence_parts = sentence_of(|clock| format!("{service} stopped sending telemetry at {}.", clock(since)));
    ChangeCard {
        kind: ChangeKind::Service,
        name: service.to_owned(),
        exception_hash: None,
        service: service.to_owned(),
        since: minute(since),
        since_exact: changes.iter().all(|change| change.is_exact),
        version: None,
        version_relation: None,
        sentence: text_of(&sentence_parts),
        sentence_parts,
        score: harm,
        effects: vec![effect],
        slow_ms: None,
        new_issues: Vec::new(),
        suffering: Vec::new(),
        recovered: None,
    }
}
