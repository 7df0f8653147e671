//! Conditions on spans below those of rows: `child.` in queries.
//!
//! A plan's [`Filter::Descendant`] is replaced by the ids of the rows that have such a span, before an engine gets it:
//!
//! ```text
//! spans that pass ─> rows of their traces ─> parents of the spans in these traces ─> ids of rows above
//! ```
//!
//! The latest [`limits::TRACE_MATCHES_MAX`] spans that pass are considered, and at most [`limits::EXPLAIN_SPANS_MAX`]
//! spans of their traces are read. Answers that looked at fewer than all say so ([`incomplete::mark_spans`]).
//!
//! Invariant: the result equals that of a walk over the trees (`tests/it/child_conditions.rs`).

use std::collections::{BTreeSet, HashMap, HashSet};

use tidewatch_domain::units::{HOUR_NS, MINUTE_NS};
use tidewatch_limits as limits;
use tidewatch_store::plan::{Filter, Op, Plan, Value};
use tidewatch_store::tables::Table;

use super::unresolved::UnresolvedExecutor;
use crate::error::QueryError;
use crate::plans::{self, Window};
use crate::time::Range;
use crate::{filters, incomplete};

/// Times before a plan's range and after it in which spans below its rows are read: clocks differ, and spans follow.
const BEFORE: i64 = 5 * MINUTE_NS;
const AFTER: i64 = HOUR_NS;
/// Traces of which one plan reads spans.
const TRACES: usize = 1000;

type TraceId = [u8; 16];
type SpanId = [u8; 8];

/// A span: its trace, its id, its parent's id.
type Link = (TraceId, SpanId, SpanId);

/// The plan with every condition on descendants replaced.
pub async fn resolved(executor: &UnresolvedExecutor, mut plan: Plan) -> Result<Plan, QueryError> {
    let mut conditions = Vec::new();
    conditions_of(&plan.filter, &mut conditions);
    if conditions.is_empty() {
        return Ok(plan);
    }
    let mut found = Vec::with_capacity(conditions.len());
    for condition in conditions {
        let ids = filters::ids("row_id", rows_above(executor, &plan, &condition).await?);
        found.push((condition, ids));
    }
    plan.filter = replaced(plan.filter, &found);
    Ok(plan)
}

/// The different conditions in a filter.
fn conditions_of(filter: &Filter, conditions: &mut Vec<Filter>) {
    match filter {
        Filter::All(all) | Filter::Any(all) => all.iter().for_each(|one| conditions_of(one, conditions)),
        Filter::Not(one) => conditions_of(one, conditions),
        Filter::Descendant(condition) if !conditions.contains(condition) => conditions.push((**condition).clone()),
        _ => {}
    }
}

fn replaced(filter: Filter, found: &[(Filter, Filter)]) -> Filter {
    let each = |all: Vec<Filter>| all.into_iter().map(|one| replaced(one, found)).collect();
    match filter {
        Filter::All(all) => Filter::All(each(all)),
        Filter::Any(all) => Filter::Any(each(all)),
        Filter::Not(one) => filters::not(replaced(*one, found)),
        Filter::Descendant(condition) => {
            found.iter().find(|(known, _)| *known == *condition).map_or(Filter::never(), |(_, ids)| ids.clone())
        }
        other => other,
    }
}

/// The ids of the plan's rows with a descendant that passes the condition.
async fn rows_above(
    executor: &UnresolvedExecutor,
    plan: &Plan,
    condition: &Filter,
) -> Result<BTreeSet<[u8; 16]>, QueryError> {
    let within = Range { from: plan.from.saturating_sub(BEFORE), to: plan.to.saturating_add(AFTER) };
    let matches = matches(executor, plan, within, condition).await?;
    let traces: BTreeSet<TraceId> = matches.iter().map(|(trace, ..)| *trace).collect();
    if traces.is_empty() {
        return Ok(BTreeSet::new());
    }
    let rows = rows_of(executor, plan, traces).await?;
    let candidates: HashSet<TraceId> = rows.keys().map(|(trace, _)| *trace).collect();
    // The traces of the latest spans first: the limit leaves out the earliest.
    let mut order: Vec<TraceId> = Vec::new();
    let mut seen = HashSet::new();
    order.extend(matches.iter().map(|(trace, ..)| *trace).filter(|id| candidates.contains(id) && seen.insert(*id)));
    let (mut found, mut left) = (BTreeSet::new(), limits::EXPLAIN_SPANS_MAX);
    for part in order.chunks(TRACES) {
        let part: HashSet<TraceId> = part.iter().copied().collect();
        let Some(links) = links(executor, plan, within, &part, left).await? else {
            incomplete::mark_spans();
            break;
        };
        left -= links.len();
        let below = matches.iter().filter(|(trace, ..)| part.contains(trace));
        climb(below, &links, &rows, &mut found);
    }
    Ok(found)
}

/// The latest spans that have a parent and pass the condition, the latest first.
async fn matches(
    executor: &UnresolvedExecutor,
    plan: &Plan,
    within: Range,
    condition: &Filter,
) -> Result<Vec<Link>, QueryError> {
    let has_parent = Filter::Compare { column: "parent_span_id", op: Op::Ne, value: Value::Bytes(vec![0; 8]) };
    let filter = condition.clone().and(has_parent);
    let order = vec![plans::descending("time")];
    let window = Window::first(limits::TRACE_MATCHES_MAX + 1);
    let plan = plans::rows(Table::Spans, &plan.projects, within, filter, LINK.to_vec(), order, window);
    let answer = executor.run(plan).await?;
    if answer.len() > limits::TRACE_MATCHES_MAX {
        incomplete::mark_spans();
    }
    Ok(answer.rows().take(limits::TRACE_MATCHES_MAX).map(link).collect())
}

/// The columns of a [`Link`].
const LINK: [&str; 3] = ["trace_id", "span_id", "parent_span_id"];

fn link(row: crate::answer::Row<'_>) -> Link {
    (row.id16("trace_id"), row.span_id("span_id").0, row.span_id("parent_span_id").0)
}

/// The ids of the plan's rows in these traces, by trace and span.
async fn rows_of(
    executor: &UnresolvedExecutor,
    plan: &Plan,
    traces: BTreeSet<TraceId>,
) -> Result<HashMap<(TraceId, SpanId), Vec<[u8; 16]>>, QueryError> {
    let (range, filter) = (Range { from: plan.from, to: plan.to }, filters::ids("trace_id", traces));
    let columns = vec!["trace_id", "span_id", "row_id"];
    let window = Window::first(usize::MAX);
    let rows = plans::rows(plan.table, &plan.projects, range, filter, columns, vec![], window);
    let add = |rows: &mut HashMap<_, Vec<_>>, answer: &crate::answer::Answer| {
        for row in answer.rows() {
            let at = (row.id16("trace_id"), row.span_id("span_id").0);
            rows.entry(at).or_default().push(row.id16("row_id"));
        }
        true
    };
    executor.read(rows, HashMap::new(), add).await
}

/// The spans of these traces, sorted; `None` when there are more than `spans_max`.
async fn links(
    executor: &UnresolvedExecutor,
    plan: &Plan,
    within: Range,
    traces: &HashSet<TraceId>,
    spans_max: usize,
) -> Result<Option<Vec<Link>>, QueryError> {
    let (filter, window) = (filters::ids("trace_id", traces.iter().copied()), Window::first(usize::MAX));
    let plan = plans::rows(Table::Spans, &plan.projects, within, filter, LINK.to_vec(), vec![], window);
    let read = move |links: &mut Vec<Link>, answer: &crate::answer::Answer| {
        links.extend(answer.rows().map(link));
        links.len() <= spans_max
    };
    let mut links = executor.read(plan, Vec::new(), read).await?;
    links.sort_unstable();
    Ok((links.len() <= spans_max).then_some(links))
}

/// Adds the rows at the ancestors of these spans. Spans may share an id, and parents may form a circle.
fn climb<'l>(
    below: impl Iterator<Item = &'l Link>,
    links: &[Link],
    rows: &HashMap<(TraceId, SpanId), Vec<[u8; 16]>>,
    found: &mut BTreeSet<[u8; 16]>,
) {
    let mut seen = HashSet::new();
    let mut pending: Vec<(TraceId, SpanId)> = below.map(|&(trace, _, parent)| (trace, parent)).collect();
    while let Some((trace, span)) = pending.pop() {
        if span == [0; 8] || !seen.insert((trace, span)) {
            continue;
        }
        found.extend(rows.get(&(trace, span)).into_iter().flatten());
        let first = links.partition_point(|(of, id, _)| (*of, *id) < (trace, span));
        let same = links[first..].iter().take_while(|(of, id, _)| (*of, *id) == (trace, span));
        pending.extend(same.map(|&(.., parent)| (trace, parent)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(byte: u8) -> SpanId {
        [byte; 8]
    }

    // docs/use/query-language.md: `child.` is any span below.
    #[test]
    fn rows_above_a_span_are_found_in_circles_and_with_shared_ids() {
        let trace = [1; 16];
        // 1 > 2 > 3; 4 and 5 are parents of each other; 6 is the id of a caller and of the callee.
        let mut links = [(2, 1), (3, 2), (1, 0), (4, 5), (5, 4), (6, 1), (6, 3)].map(|(span, parent)| {
            let link: Link = (trace, id(span), id(parent));
            link
        });
        links.sort_unstable();
        let rows: HashMap<(TraceId, SpanId), Vec<[u8; 16]>> =
            (1..=6).map(|span| ((trace, id(span)), vec![[span; 16]])).collect();
        let above = |span: u8, parent: u8| {
            let mut found = BTreeSet::new();
            climb([(trace, id(span), id(parent))].iter(), &links, &rows, &mut found);
            found.into_iter().map(|row| row[0]).collect::<Vec<u8>>()
        };
        assert_eq!(above(3, 2), [1, 2], "not the span itself");
        assert!(above(1, 0).is_empty());
        assert_eq!(above(4, 5), [4, 5]);
        assert_eq!(above(9, 6), [1, 2, 3, 6]);
        assert!(above(9, 8).is_empty(), "the parent is not stored");
    }
}
