//! Searches for traces: conditions on any span, and on how spans are related.
//!
//! ```text
//! condition ─cover─> spans that a match must have, latest first ─> their traces, in batches
//!           ─> all spans of a batch ─> tree ─> condition, summary
//! ```
//!
//! - A trace is the spans of the searched projects with one trace id that pass [`TraceSearch::spans`] and start within
//!   [`TraceSearch::window`]. Rows of one span (id and side) count once, with the longest duration.
//! - A search reads a bounded number of spans. [`Found::complete_after`] tells from when on it has found every trace.
//!
//! An engine needs no code for it: [`find`] asks only plans. `conformance::traces` has the model.
//!
//! A search that did not look at everything says so.

mod condition;
mod cover;
mod sample;
mod span_key;
mod summary;

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use arrow::array::RecordBatch;

use crate::plan::{Filter, Order, Plan, Shape, Value};
use crate::tables::Table;
use crate::{Answer, StoreError};

pub use condition::{SpanPath, TraceCondition};
pub use cover::is_entry;
pub use sample::{TraceSample, mixed};
pub use summary::{RootSpan, ServiceTime, TraceSummary};

use condition::Conditions;
use span_key::{SpanKey, TraceSpan};
use summary::{Span, Tree};

/// Traces of the first batch; each further batch is twice as large, up to [`BATCH_MAX`].
const BATCH_FIRST: usize = 64;
const BATCH_MAX: usize = 1024;
/// Covers of a condition that are tried; the one with the fewest spans is used.
const COVERS_MAX: usize = 4;
/// A cover with at most this number of spans is used at once.
const COVER_SMALL: usize = 1000;

/// A search for traces.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceSearch {
    /// Numbers of the projects.
    pub projects: Vec<u32>,
    /// Start of traces: `from <= start < to`, nanoseconds since the epoch.
    pub start: (i64, i64),
    /// Time range of the spans that are read, `from <= time < to`; contains `start`.
    pub window: (i64, i64),
    /// Spans that fail it are not part of their trace.
    pub spans: Filter,
    /// The condition. Without a condition on a span that a match must have, a match must have an entry span, see
    /// [`is_entry`].
    pub condition: TraceCondition,
    /// Duration from the first start to the last end, nanoseconds.
    pub duration: RangeInclusive<i64>,
    /// Bounds of the read.
    pub bounds: TraceSearchBounds,
}

/// Bounds of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceSearchBounds {
    /// Spans that meet a condition, by which traces are found; the latest are used.
    pub matches: usize,
    /// Found traces after which no further batch is read.
    pub traces: usize,
    /// Spans of traces that are read to evaluate the condition.
    pub spans: usize,
}

/// The traces that a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Latest start first; of equal starts the least id first.
    pub traces: Vec<TraceSummary>,
    /// `None`: every trace that meets the search is in `traces`. Otherwise those that start after this time are,
    /// nanoseconds since the epoch; earlier ones may be missing.
    pub complete_after: Option<i64>,
}

/// Traces by spans that a match must have, latest first, each with the time of its latest such span.
struct Candidates {
    traces: Vec<([u8; 16], i64)>,
    spans: usize,
    /// Time of the last span, when there are more.
    cut_at: Option<i64>,
}

/// Runs a search; `query` answers plans.
pub fn find(
    query: &mut dyn FnMut(&Plan) -> Result<RecordBatch, StoreError>,
    search: &TraceSearch,
) -> Result<Found, StoreError> {
    let conditions = Conditions::of(&search.condition);
    let candidates = candidates(query, search, &conditions)?;
    let (mut traces, mut spans_left) = (Vec::new(), search.bounds.spans);
    let (mut next, mut size) = (0, BATCH_FIRST);
    let mut complete_after = candidates.cut_at;
    while next < candidates.traces.len() {
        let batch = &candidates.traces[next..(next + size).min(candidates.traces.len())];
        let spans = if traces.len() < search.bounds.traces {
            read_spans(query, search, batch, spans_left)?
        } else {
            // Enough traces.
            None
        };
        let Some((spans, count)) = spans else {
            if traces.len() < search.bounds.traces && batch.len() > 1 {
                size = batch.len() / 4 + 1;
                continue;
            }
            complete_after = complete_after.max(Some(batch[0].1));
            break;
        };
        spans_left -= count;
        let matches = read_matches(query, search, batch, &conditions)?;
        for (trace, spans) in spans {
            let tree = Tree::of(spans);
            let in_range = search.start.0 <= tree.start() && tree.start() < search.start.1;
            let lasts = search.duration.contains(&tree.end().saturating_sub(tree.start()));
            if in_range && lasts && conditions.hold(&tree, &trace, &matches) {
                traces.push(tree.summary(trace));
            }
        }
        next += batch.len();
        size = (2 * size).min(BATCH_MAX);
    }
    traces.sort_by(|a, b| b.start.cmp(&a.start).then(a.trace_id.cmp(&b.trace_id)));
    Ok(Found { traces, complete_after })
}

/// The plan of spans of which a match must have one, in any order, with the column `trace_id`. For samples of traces.
pub fn spans_of_matches(search: &TraceSearch) -> Plan {
    let cover = Conditions::of(&search.condition).covers(1).into_iter().next().unwrap_or(Filter::True);
    let shape = Shape::Rows { columns: vec!["trace_id"], order: Vec::new(), limit: usize::MAX, offset: 0 };
    let range = (search.start.0.max(search.window.0), search.start.1.min(search.window.1));
    plan(search, range, search.spans.clone().and(cover).and(shortest(search)), shape)
}

/// The same search among some traces.
pub fn among(search: &TraceSearch, traces: &[[u8; 16]]) -> TraceSearch {
    let values = traces.iter().map(|trace| Value::Bytes(trace.to_vec())).collect();
    let spans = search.spans.clone().and(Filter::In { column: "trace_id", values });
    TraceSearch { spans, ..search.clone() }
}

/// Finds the traces with a span of the best cover. A trace that starts in the range has no span before it.
fn candidates(
    query: &mut dyn FnMut(&Plan) -> Result<RecordBatch, StoreError>,
    search: &TraceSearch,
    conditions: &Conditions,
) -> Result<Candidates, StoreError> {
    let mut best: Option<Candidates> = None;
    for cover in conditions.covers(COVERS_MAX) {
        let filter = cover.and(shortest(search));
        let found = spans_of_cover(query, search, filter)?;
        let is_better = best.as_ref().is_none_or(|best| {
            let rank = |one: &Candidates| (one.cut_at.is_some(), one.spans);
            rank(&found) < rank(best)
        });
        if is_better {
            best = Some(found);
        }
        if best.as_ref().is_some_and(|best| best.cut_at.is_none() && best.spans <= COVER_SMALL) {
            break;
        }
    }
    Ok(best.unwrap_or(Candidates { traces: Vec::new(), spans: 0, cut_at: None }))
}

/// No span outlasts its trace.
fn shortest(search: &TraceSearch) -> Filter {
    match *search.duration.end() {
        i64::MAX => Filter::True,
        longest => Filter::Compare { column: "duration", op: crate::plan::Op::Le, value: Value::I64(longest) },
    }
}

fn spans_of_cover(
    query: &mut dyn FnMut(&Plan) -> Result<RecordBatch, StoreError>,
    search: &TraceSearch,
    filter: Filter,
) -> Result<Candidates, StoreError> {
    let latest_first = vec![Order { column: "time", descending: true }];
    let columns = vec!["trace_id", "time"];
    let limit = search.bounds.matches.saturating_add(1);
    let shape = Shape::Rows { columns, order: latest_first, limit, offset: 0 };
    let filter = search.spans.clone().and(filter);
    let range = (search.start.0.max(search.window.0), search.window.1);
    let answer = Answer::new(query(&plan(search, range, filter, shape))?);
    let (ids, times) = (answer.id16("trace_id")?, answer.i64("time")?);
    let is_cut = answer.rows() > search.bounds.matches;
    let rows = answer.rows().min(search.bounds.matches);
    let (mut seen, mut traces) = (HashSet::new(), Vec::new());
    for row in 0..rows {
        if seen.insert(ids.at(row)) {
            traces.push((ids.at(row), times.at(row)));
        }
    }
    // Rows of the same time as the first that is left out may be missing.
    Ok(Candidates { traces, spans: rows, cut_at: is_cut.then(|| times.at(rows)) })
}

type SpansByTrace = HashMap<[u8; 16], Vec<Span>>;

/// All spans of some traces, and their number; `None` when there are more than `spans_max`.
fn read_spans(
    query: &mut dyn FnMut(&Plan) -> Result<RecordBatch, StoreError>,
    search: &TraceSearch,
    batch: &[([u8; 16], i64)],
    spans_max: usize,
) -> Result<Option<(SpansByTrace, usize)>, StoreError> {
    let limit = spans_max.saturating_add(1);
    let shape = Shape::Rows { columns: Span::COLUMNS.to_vec(), order: Vec::new(), limit, offset: 0 };
    let filter = search.spans.clone().and(of_traces(batch));
    let answer = Answer::new(query(&plan(search, search.window, filter, shape))?);
    if answer.rows() > spans_max {
        return Ok(None);
    }
    let mut spans = SpansByTrace::new();
    let ids = answer.id16("trace_id")?;
    Span::read(&answer, |row, span| spans.entry(ids.at(row)).or_default().push(span))?;
    Ok(Some((spans, answer.rows())))
}

/// The spans of some traces that meet each condition.
fn read_matches(
    query: &mut dyn FnMut(&Plan) -> Result<RecordBatch, StoreError>,
    search: &TraceSearch,
    batch: &[([u8; 16], i64)],
    conditions: &Conditions,
) -> Result<Vec<HashSet<TraceSpan>>, StoreError> {
    let mut matches = Vec::new();
    for filter in conditions.filters() {
        let columns = vec!["trace_id", "span_id", "kind"];
        let shape = Shape::Rows { columns, order: Vec::new(), limit: usize::MAX, offset: 0 };
        let filter = search.spans.clone().and(of_traces(batch)).and(filter.clone());
        let answer = Answer::new(query(&plan(search, search.window, filter, shape))?);
        let (traces, spans, kinds) = (answer.id16("trace_id")?, answer.id8("span_id")?, answer.u8("kind")?);
        let keys = (0..answer.rows()).map(|row| (traces.at(row), SpanKey::of(spans.at(row), kinds.at(row))));
        matches.push(keys.collect());
    }
    Ok(matches)
}

fn of_traces(batch: &[([u8; 16], i64)]) -> Filter {
    let values = batch.iter().map(|(trace, _)| Value::Bytes(trace.to_vec())).collect();
    Filter::In { column: "trace_id", values }
}

fn plan(search: &TraceSearch, (from, to): (i64, i64), filter: Filter, shape: Shape) -> Plan {
    Plan { table: Table::Spans, projects: search.projects.clone(), from, to, filter, shape }
}
