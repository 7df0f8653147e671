//! Searches for traces, and the model: every trace, one loop per rule of [`crate::trace_search`].

use std::collections::{BTreeMap, HashMap};

use tidewatch_domain::query_language::Relation;
use tidewatch_domain::units::{HOUR_NS, SECOND_NS};

use super::dice::Dice;
use super::model::Columns;
use super::rows::{Cell, MIDNIGHT, PROJECTS, Row, random_rows};
use super::{Engine, plans, soon};
use crate::plan::Filter;
use crate::tables::Table;
use crate::trace_search::{Found, SpanPath, TraceCondition, TraceSearch, TraceSearchBounds, TraceSummary, is_entry};

/// Finds traces of random spans by random conditions, within bounds and without. Panics when an engine finds others
/// than the model, or holds an incomplete answer to be complete.
pub fn trace_searches_match_the_model(engine: &dyn Engine, seed: u64, rows: usize) {
    let mut dice = Dice::new(seed);
    let rows = spans(rows, &mut dice);
    let held = engine.open_with(Table::Spans, &rows, &mut dice);
    for _ in 0..6 {
        let search = search(&rows, &mut dice);
        let expected = model(&search, &rows);
        let find = |search: &TraceSearch| -> Found {
            let found = held.store.find_traces(&held.store.request_memory(), search, soon());
            found.unwrap_or_else(|error| panic!("{error} for {search:#?}"))
        };
        let found = find(&search);
        assert_eq!(found.complete_after, None, "{search:#?}");
        assert_same(&found.traces, &expected, &search);
        let few = |dice: &mut Dice, most: usize| 1 + dice.below(most);
        let bounds =
            TraceSearchBounds { matches: few(&mut dice, 30), traces: few(&mut dice, 4), spans: few(&mut dice, 60) };
        let bounded = TraceSearch { bounds, ..search };
        let found = find(&bounded);
        let after = found.complete_after.unwrap_or(i64::MIN);
        let ids: Vec<[u8; 16]> = found.traces.iter().map(|trace| trace.trace_id).collect();
        let known: Vec<TraceSummary> =
            expected.into_iter().filter(|trace| trace.start > after || ids.contains(&trace.trace_id)).collect();
        assert_same(&found.traces, &known, &bounded);
    }
}

fn assert_same(found: &[TraceSummary], expected: &[TraceSummary], search: &TraceSearch) {
    let without_times = |trace: &TraceSummary| {
        let mut services: Vec<(String, u64)> =
            trace.services.iter().map(|one| (one.service.clone(), one.spans)).collect();
        services.sort();
        (trace.trace_id, trace.start, trace.end, trace.root.clone(), trace.spans, trace.errors, services)
    };
    let list = |traces: &[TraceSummary]| traces.iter().map(without_times).collect::<Vec<_>>();
    assert_eq!(list(found), list(expected), "{search:#?}");
    for (found, expected) in found.iter().zip(expected) {
        for one in &expected.services {
            let own = found.services.iter().find(|other| other.service == one.service).map_or(f64::NAN, |one| one.own);
            assert!((own - one.own).abs() < 1.0, "{own} is not {one:?} of {search:#?}");
        }
    }
}

/// Random spans of few traces, most of them below others.
fn spans(count: usize, dice: &mut Dice) -> Vec<Row> {
    let mut rows = random_rows(Table::Spans, count, dice);
    let at = |name: &str| Table::Spans.column(name).expect("the column exists").0;
    let mut ids: Vec<(u8, Vec<u8>)> = Vec::new();
    for (number, row) in (1_u64..).zip(&mut rows) {
        let trace = dice.below(8) as u8;
        row[at("trace_id")] = Cell::Bytes(vec![trace; 16]);
        let id = number.to_be_bytes().to_vec();
        row[at("span_id")] = Cell::Bytes(id.clone());
        let above: Vec<&Vec<u8>> = ids.iter().filter(|(of, _)| *of == trace).map(|(_, id)| id).collect();
        let parent = match dice.below(6) {
            0 => vec![0; 8],
            1 => vec![9; 8],
            _ if above.is_empty() => vec![0; 8],
            _ => (*dice.pick(&above)).clone(),
        };
        row[at("parent_span_id")] = Cell::Bytes(parent);
        let start = MIDNIGHT + (dice.below(13) as i64 - 6) * HOUR_NS / 2 + dice.below(4) as i64 * SECOND_NS;
        row[at("time")] = Cell::I64(start);
        row[at("kind")] = Cell::U64(dice.below(6) as u64);
        ids.push((trace, id));
    }
    rows
}

fn search(rows: &[Row], dice: &mut Dice) -> TraceSearch {
    let from = MIDNIGHT - dice.below(4) as i64 * HOUR_NS;
    let to = from + (1 + dice.below(6) as i64) * HOUR_NS;
    let duration = match dice.below(3) {
        0 => SECOND_NS..=i64::MAX,
        1 => 0..=2 * HOUR_NS,
        _ => 0..=i64::MAX,
    };
    TraceSearch {
        projects: if dice.once_in(2) { PROJECTS.to_vec() } else { vec![*dice.pick(&PROJECTS)] },
        start: (from, to),
        window: (from - HOUR_NS, to + HOUR_NS),
        spans: if dice.once_in(3) { plans::filter(Table::Spans, rows, 1, dice) } else { Filter::True },
        condition: condition(rows, 2, dice),
        duration,
        bounds: TraceSearchBounds { matches: usize::MAX, traces: usize::MAX, spans: usize::MAX },
    }
}

fn condition(rows: &[Row], depth: usize, dice: &mut Dice) -> TraceCondition {
    let filter = |dice: &mut Dice| match dice.below(4) {
        0 => Filter::True,
        _ => plans::filter(Table::Spans, rows, 1, dice),
    };
    match dice.below(if depth == 0 { 4 } else { 7 }) {
        4 => TraceCondition::All((0..dice.below(3)).map(|_| condition(rows, depth - 1, dice)).collect()),
        5 => TraceCondition::Any((0..1 + dice.below(2)).map(|_| condition(rows, depth - 1, dice)).collect()),
        6 => TraceCondition::Not(Box::new(condition(rows, depth - 1, dice))),
        length => {
            let first = filter(dice);
            let rest = (0..length.saturating_sub(1)).map(|_| {
                let relation = if dice.once_in(2) { Relation::Child } else { Relation::Descendant };
                (relation, filter(dice))
            });
            let rest = rest.collect();
            TraceCondition::Spans(SpanPath { first, rest })
        }
    }
}

/// The spans of one trace.
struct Trace<'r> {
    rows: Vec<&'r Row>,
    parents: Vec<Option<usize>>,
}

fn cell<'r>(row: &'r Row, name: &str) -> &'r Cell {
    &row[Table::Spans.column(name).expect("the column exists").0]
}

fn number(row: &Row, name: &str) -> i64 {
    match cell(row, name) {
        Cell::I64(number) => *number,
        Cell::U64(number) => *number as i64,
        other => panic!("{other:?} is no number"),
    }
}

fn bytes<const N: usize>(row: &Row, name: &str) -> [u8; N] {
    match cell(row, name) {
        Cell::Bytes(bytes) => bytes.as_slice().try_into().expect("an id of this size"),
        other => panic!("{other:?} is no id"),
    }
}

fn text(row: &Row, name: &str) -> String {
    match cell(row, name) {
        Cell::Text(text) => text.clone(),
        other => panic!("{other:?} is no text"),
    }
}

fn passes(filter: &Filter, row: &Row) -> bool {
    Columns(Table::Spans).passes(filter, row)
}

fn end(row: &Row) -> i64 {
    number(row, "time") + number(row, "duration").max(0)
}

fn model(search: &TraceSearch, rows: &[Row]) -> Vec<TraceSummary> {
    let mut traces: BTreeMap<[u8; 16], Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let time = number(row, "time");
        let is_searched = search.projects.iter().any(|project| i64::from(*project) == number(row, "project"));
        if is_searched && search.window.0 <= time && time < search.window.1 && passes(&search.spans, row) {
            traces.entry(bytes(row, "trace_id")).or_default().push(row);
        }
    }
    let mut found: Vec<TraceSummary> = Vec::new();
    for (id, rows) in traces {
        let trace = Trace::of(rows);
        let start = trace.rows.iter().map(|row| number(row, "time")).min().expect("a trace has spans");
        let end = trace.rows.iter().map(|row| end(row)).max().expect("a trace has spans");
        let needs_entry = !needs_span(&search.condition);
        let has_entry = trace.rows.iter().any(|row| passes(&is_entry(), row));
        if search.start.0 <= start
            && start < search.start.1
            && search.duration.contains(&(end - start))
            && (has_entry || !needs_entry)
            && trace.meets(&search.condition)
        {
            found.push(trace.summary(id, start, end));
        }
    }
    found.sort_by_key(|trace| (-trace.start, trace.trace_id));
    found
}

/// Whether a match must have a span that passes a filter.
fn needs_span(condition: &TraceCondition) -> bool {
    match condition {
        TraceCondition::All(all) => all.iter().any(needs_span),
        TraceCondition::Any(any) => any.iter().all(needs_span),
        TraceCondition::Not(_) => false,
        TraceCondition::Spans(path) => {
            path.first != Filter::True || path.rest.iter().any(|(_, filter)| *filter != Filter::True)
        }
    }
}

impl<'r> Trace<'r> {
    fn of(rows: Vec<&'r Row>) -> Trace<'r> {
        let by_id: HashMap<[u8; 8], usize> =
            rows.iter().enumerate().map(|(place, row)| (bytes(row, "span_id"), place)).collect();
        let parents = rows.iter().map(|row| by_id.get(&bytes::<8>(row, "parent_span_id")).copied()).collect();
        Trace { rows, parents }
    }

    fn meets(&self, condition: &TraceCondition) -> bool {
        match condition {
            TraceCondition::All(all) => all.iter().all(|one| self.meets(one)),
            TraceCondition::Any(any) => any.iter().any(|one| self.meets(one)),
            TraceCondition::Not(one) => !self.meets(one),
            TraceCondition::Spans(SpanPath { first, rest }) => {
                (0..self.rows.len()).any(|span| self.passes(first, span) && self.continues(span, rest))
            }
        }
    }

    fn passes(&self, filter: &Filter, span: usize) -> bool {
        passes(filter, self.rows[span])
    }

    fn continues(&self, from: usize, rest: &[(Relation, Filter)]) -> bool {
        let Some(((relation, filter), rest)) = rest.split_first() else { return true };
        (0..self.rows.len()).any(|span| {
            let is_related = match relation {
                Relation::Child => self.parents[span] == Some(from),
                Relation::Descendant => self.is_below(span, from),
            };
            is_related && self.passes(filter, span) && self.continues(span, rest)
        })
    }

    fn is_below(&self, span: usize, above: usize) -> bool {
        self.parents[span].is_some_and(|parent| parent == above || self.is_below(parent, above))
    }

    fn summary(&self, trace_id: [u8; 16], start: i64, end: i64) -> TraceSummary {
        let tops = self.rows.iter().zip(&self.parents).filter(|(_, parent)| parent.is_none()).map(|(row, _)| *row);
        let is_orphan = |row: &Row| bytes::<8>(row, "parent_span_id") != [0; 8];
        let root = tops
            .min_by_key(|row| (is_orphan(row), number(row, "time"), bytes::<8>(row, "span_id")))
            .expect("no circles");
        let is_error = |row: &&&Row| number(row, "status") == 2 || number(row, "http_status") >= 500;
        let mut services: BTreeMap<String, (u64, f64)> = BTreeMap::new();
        for (place, row) in self.rows.iter().enumerate() {
            let time = services.entry(text(row, "server_name")).or_default();
            time.0 += 1;
            time.1 += self.own_time(place);
        }
        let service_time = |(service, (spans, own))| crate::trace_search::ServiceTime { service, spans, own };
        TraceSummary {
            trace_id,
            start,
            end,
            root: crate::trace_search::RootSpan {
                span_id: bytes(root, "span_id"),
                has_missing_parent: is_orphan(root),
                name: text(root, "name"),
                service: text(root, "server_name"),
                kind: number(root, "kind") as u8,
                http_status: number(root, "http_status") as i16,
                duration: number(root, "duration").max(0),
            },
            spans: self.rows.len() as u64,
            errors: self.rows.iter().filter(is_error).count() as u64,
            services: services.into_iter().map(service_time).collect(),
        }
    }

    /// Between two moments at which any span starts or ends, the share of a span is that of its parent, divided by the
    /// number of the parent's running children.
    fn own_time(&self, span: usize) -> f64 {
        let mut moments: Vec<i64> = self.rows.iter().flat_map(|row| [number(row, "time"), end(row)]).collect();
        moments.sort_unstable();
        moments.dedup();
        let pieces = moments.windows(2).map(|piece| {
            let has_child =
                (0..self.rows.len()).any(|child| self.parents[child] == Some(span) && self.runs(child, piece[0]));
            if has_child { 0.0 } else { (piece[1] - piece[0]) as f64 * self.share(span, piece[0]) }
        });
        pieces.sum()
    }

    fn runs(&self, span: usize, at: i64) -> bool {
        number(self.rows[span], "time") <= at && at < end(self.rows[span])
    }

    fn share(&self, span: usize, at: i64) -> f64 {
        if !self.runs(span, at) {
            return 0.0;
        }
        let begins_after = |parent: &usize| number(self.rows[span], "time") >= end(self.rows[*parent]);
        let Some(parent) = self.parents[span].filter(|parent| !begins_after(parent)) else { return 1.0 };
        let running =
            (0..self.rows.len()).filter(|child| self.parents[*child] == Some(parent) && self.runs(*child, at));
        self.share(parent, at) / running.count() as f64
    }
}
