//! The spans of sampled rows: the own time of operations, and the attributes of the spans below.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use tidewatch_domain::explain::{RequestTime, Set, Span, own_times};
use tidewatch_domain::model::SpanKind;
use tidewatch_domain::query_language::{Comparison, Expr, Field, Literal};
use tidewatch_domain::units::{HOUR_NS, MINUTE_NS};
use tidewatch_domain::wire;
use tidewatch_limits as limits;
use tidewatch_store::tables::Table;

use super::columns::Columns;
use super::defining;
use super::sample::Sample;
use super::sets::Sets;
use super::stored::{Operation, Stored};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::plans::{self, Window};
use crate::time::Range;
use crate::views::explain::ExplainScope;

/// Times before the first row and after the last in which spans of their traces are read.
const BEFORE: i64 = 5 * MINUTE_NS;
const AFTER: i64 = HOUR_NS;
/// Keys of spans below that are compared, the most frequent first.
const CHILD_KEYS: usize = 20;
/// Facts about the spans of rows.
#[derive(Default)]
pub struct Below {
    /// By the place of a sampled row.
    pub rows: BTreeMap<usize, OwnSpans>,
    /// The spans of some rows were not read.
    pub is_partial: bool,
    operations: Interned<Operation>,
    /// By the number of an operation: the attributes that its name has, with their values.
    named_by: Vec<Vec<(&'static str, String)>>,
    keys: Interned<(String, String)>,
    key_counts: Vec<u32>,
    strings: Interned<String>,
    text_bytes: usize,
}

/// A value that tells how selected rows failed.
pub struct Failure {
    /// The failed call below the rows; `None`: the rows themselves.
    pub call: Option<Operation>,
    /// Key of the attribute.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Sampled rows with it.
    pub count: u32,
}

/// Facts about the spans of one row.
#[derive(Default)]
pub struct OwnSpans {
    /// The row's own span was found.
    pub has_own: bool,
    /// The operation of the row's own span.
    pub operation: Option<u32>,
    /// Nanoseconds by operation, each operation once.
    pub operations: Vec<(u32, f64)>,
    /// Failures of the row's own span: attributes and values.
    pub failures: Vec<(String, String)>,
    /// The deepest failed call below the row: its operation, attributes and values.
    failed_call: Option<(u32, Vec<(&'static str, String)>)>,
    resource: Vec<u8>,
    scope: [String; 2],
    /// Keys and strings of the spans below.
    children: Vec<(u32, u32)>,
}

/// Values by number.
struct Interned<T> {
    values: Vec<T>,
    places: HashMap<T, u32>,
}

impl<T> Default for Interned<T> {
    fn default() -> Interned<T> {
        Interned { values: Vec::new(), places: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    fn number(&mut self, value: T) -> u32 {
        if let Some(place) = self.places.get(&value) {
            return *place;
        }
        let next = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.push(value.clone());
        self.places.insert(value, next);
        next
    }
}

/// Reads the spans of the sampled rows: of the first ones always, of the others while time is left.
pub async fn read(
    executor: &Executor,
    project: u32,
    sets: &Sets,
    sample: &Sample,
    until: Instant,
) -> Result<Below, QueryError> {
    // The spans below a selected row are mostly of other services.
    let executor = &executor.unfiltered();
    let total = sample.rows.len();
    let mut fraction = (limits::EXPLAIN_FIRST_REQUESTS as f64 / total.max(1) as f64).min(1.0);
    let (mut below, mut done, mut spans_left) = (Below::default(), 0.0, limits::EXPLAIN_SPANS_MAX);
    while done < 1.0 {
        let started = Instant::now();
        let wanted = places(sample, done, fraction);
        let Some(spans) = spans_of(executor, project, sets, sample, &wanted, spans_left).await? else {
            if done > 0.0 || fraction * (total as f64) < 2.0 {
                break;
            }
            // Too many spans: a smaller part of the rows, so that it is uniform.
            fraction /= 4.0;
            continue;
        };
        spans_left -= spans.len();
        let own: Vec<(usize, [u8; 16], [u8; 8])> =
            wanted.iter().map(|&place| (place, sample.rows[place].trace, sample.rows[place].span)).collect();
        below = executor.context.run_queued(move |_| below.with(own, spans)).await?;
        done = fraction;
        let expected = started.elapsed().mul_f64((1.0 - done) / done);
        if done < 1.0 && Instant::now() + expected > until {
            break;
        }
        fraction = 1.0;
    }
    below.is_partial = done < 1.0;
    Ok(below)
}

/// The same part of every set, by places of rows.
fn places(sample: &Sample, from: f64, to: f64) -> Vec<usize> {
    let part = |range: std::ops::Range<usize>| {
        let at = |fraction: f64| range.start + (range.len() as f64 * fraction).round() as usize;
        at(from)..at(to)
    };
    sample.parts().into_iter().flat_map(part).collect()
}

/// The spans of the traces of these rows; `None` when there are more than `spans_max`.
async fn spans_of(
    executor: &Executor,
    project: u32,
    sets: &Sets,
    sample: &Sample,
    wanted: &[usize],
    spans_max: usize,
) -> Result<Option<Vec<Stored>>, QueryError> {
    let of_rows = wanted.iter().map(|&place| &sample.rows[place]).filter(|row| row.trace != [0; 16]);
    let own: Arc<HashSet<([u8; 16], [u8; 8])>> = Arc::new(of_rows.clone().map(|row| (row.trace, row.span)).collect());
    let traces: BTreeSet<[u8; 16]> = of_rows.map(|row| row.trace).collect();
    if traces.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let first = sets.before.map_or(sets.on.from, |before| before.from);
    let range = Range { from: first.saturating_sub(BEFORE), to: sets.on.to.saturating_add(AFTER) };
    let columns = vec![
        "trace_id",
        "span_id",
        "parent_span_id",
        "time",
        "duration",
        "kind",
        "status",
        "is_error",
        "name",
        "server_name",
        "attributes",
        "resource",
        "scope",
        "scope_version",
    ];
    // Two threads read a half of the rows each.
    let middle = median_time(sample, wanted).clamp(range.from, range.to);
    let half = |range: Range| {
        let filter = filters::ids("trace_id", traces.iter().copied());
        let window = Window::first(usize::MAX);
        let plan = plans::rows(Table::Spans, &[project], range, filter, columns.clone(), vec![], window);
        let own = Arc::clone(&own);
        executor.read(plan, Vec::new(), move |spans: &mut Vec<Stored>, answer: &crate::answer::Answer| {
            spans.extend(answer.rows().map(|row| Stored::read(row, &own)));
            spans.len() <= spans_max
        })
    };
    let (mut spans, later) =
        tokio::try_join!(half(Range { to: middle, ..range }), half(Range { from: middle, ..range }))?;
    spans.extend(later);
    Ok((spans.len() <= spans_max).then_some(spans))
}

/// The time that half of the rows precede; 0 without rows.
fn median_time(sample: &Sample, wanted: &[usize]) -> i64 {
    let mut times: Vec<i64> = wanted.iter().map(|&place| sample.rows[place].time()).collect();
    let middle = times.len() / 2;
    if times.is_empty() { 0 } else { *times.select_nth_unstable(middle).1 }
}

impl Below {
    /// The operation of a number.
    pub fn operation(&self, number: u32) -> Operation {
        self.operations.values[number as usize].clone()
    }

    /// The own times of the rows whose spans were read.
    pub fn request_times(&self, sample: &Sample) -> Vec<RequestTime> {
        let measured = self.rows.iter().filter(|(_, own)| !own.operations.is_empty());
        let of = |(&row, own): (&usize, &OwnSpans)| RequestTime {
            set: sample.rows[row].set,
            operations: own.operations.clone(),
        };
        measured.map(of).collect()
    }

    /// The condition in the query language that finds the spans of an operation.
    pub fn condition(&self, number: u32) -> String {
        let operation = &self.operations.values[number as usize];
        let equal = |(key, value): (&str, &str)| Expr::Compare {
            field: Field::named(key),
            comparison: Comparison::Equals,
            literal: Literal::quoted(value),
        };
        let service = (!operation.service.is_empty()).then_some(("service", operation.service.as_str()));
        let named_by = self.named_by[number as usize].iter().map(|(key, value)| (*key, value.as_str()));
        Expr::All(service.into_iter().chain(named_by).map(equal).collect()).to_string()
    }

    /// Failures of the selected rows, most first; at most ten. Of rows whose spans were read, the deepest failed call too.
    pub fn failures(&self, sample: &Sample) -> Vec<Failure> {
        const ROWS_MAX: usize = 10;
        let mut counts: BTreeMap<(Option<u32>, String, String), u32> = BTreeMap::new();
        for (place, row) in sample.rows.iter().enumerate().filter(|(_, row)| row.set == Set::Selected) {
            let mut found: BTreeSet<(Option<u32>, String, String)> =
                row.failures().into_iter().map(|(key, value)| (None, key, value)).collect();
            if let Some(own) = self.rows.get(&place) {
                found.extend(own.failures.iter().cloned().map(|(key, value)| (None, key, value)));
                if let Some((call, pairs)) = &own.failed_call {
                    found.extend(pairs.iter().map(|(key, value)| (Some(*call), (*key).to_owned(), value.clone())));
                }
            }
            found.into_iter().for_each(|one| *counts.entry(one).or_default() += 1);
        }
        let mut rows: Vec<Failure> = counts
            .into_iter()
            .map(|((call, key, value), count)| Failure {
                call: call.map(|number| self.operation(number)),
                key,
                value,
                count,
            })
            .collect();
        rows.sort_by(|a, b| {
            let name = |of: &Failure| of.call.as_ref().map(|call| (call.service.clone(), call.name.clone()));
            b.count.cmp(&a.count).then_with(|| (name(a), &a.key, &a.value).cmp(&(name(b), &b.key, &b.value)))
        });
        rows.truncate(ROWS_MAX);
        rows
    }

    /// The keys of spans below that most spans have.
    pub fn frequent_keys(&self) -> HashSet<u32> {
        let mut keys: Vec<u32> = (0..u32::try_from(self.key_counts.len()).unwrap_or(u32::MAX)).collect();
        keys.sort_by_key(|&key| {
            (std::cmp::Reverse(self.key_counts[key as usize]), self.keys.values[key as usize].clone())
        });
        keys.into_iter().take(CHILD_KEYS).collect()
    }

    /// Adds rows: their places, traces and spans; and the spans of their traces.
    fn with(mut self, rows: Vec<(usize, [u8; 16], [u8; 8])>, spans: Vec<Stored>) -> Below {
        let mut traces: HashMap<[u8; 16], Vec<usize>> = HashMap::new();
        for (place, span) in spans.iter().enumerate() {
            traces.entry(span.trace).or_default().push(place);
        }
        for (row, trace, span) in rows {
            let of_trace = traces.get(&trace).map_or(&[][..], Vec::as_slice);
            let own = self.own(&spans, of_trace, span);
            self.rows.insert(row, own);
        }
        self
    }

    /// Facts of a trace's spans about the row with the span `id`.
    fn own(&mut self, spans: &[Stored], of_trace: &[usize], id: [u8; 8]) -> OwnSpans {
        // Caller and callee may share an id: the row is the callee's.
        let is_server = |place: usize| SpanKind::from_number(spans[place].kind.into()).is_server_side();
        let candidates = of_trace.iter().copied().filter(|&place| spans[place].span == id);
        let Some(root) = candidates.max_by_key(|&place| is_server(place)) else { return OwnSpans::default() };
        let mut children: HashMap<[u8; 8], Vec<usize>> = HashMap::new();
        for &place in of_trace {
            children.entry(spans[place].parent).or_default().push(place);
        }
        // The span of the row first, and every parent before its children.
        let (mut tree, mut seen) = (vec![(root, None)], HashSet::from([root]));
        let mut next = 0;
        while let Some(&(place, _)) = tree.get(next) {
            for &child in children.get(&spans[place].span).map_or(&[][..], Vec::as_slice) {
                if seen.insert(child) {
                    tree.push((child, Some(next)));
                }
            }
            next += 1;
        }
        let nodes: Vec<Span> = tree
            .iter()
            .map(|&(place, parent)| Span { parent, start: spans[place].start, end: spans[place].end })
            .collect();
        let mut operations: BTreeMap<u32, f64> = BTreeMap::new();
        for (&(place, _), time) in tree.iter().zip(own_times(&nodes)) {
            *operations.entry(self.operation_number(&spans[place])).or_default() += time;
        }
        let mut cells = Vec::new();
        for &(place, _) in &tree[1..] {
            self.add_child(&spans[place], &mut cells);
        }
        cells.sort_unstable();
        cells.dedup();
        let own = &spans[root];
        let (resource, scope) = own.own.clone().unwrap_or_default();
        let mut failures = Vec::new();
        wire::for_each_attribute_text(&own.attributes, |key, value| {
            if defining::is_failure(key, &value) {
                failures.push((key.to_owned(), value.into_owned()));
            }
        });
        let failed_call = deepest_failed(&tree, spans).map(|place| {
            let call = &spans[place];
            (self.operation_number(call), call.failed_call())
        });
        let operations = operations.into_iter().collect();
        let operation = Some(self.operation_number(own));
        let has_own = own.own.is_some();
        OwnSpans { has_own, operation, operations, failures, failed_call, resource, scope, children: cells }
    }

    fn operation_number(&mut self, span: &Stored) -> u32 {
        let (operation, named_by) = span.operation();
        let number = self.operations.number(operation);
        if number as usize == self.named_by.len() {
            self.named_by.push(named_by);
        }
        number
    }

    fn add_child(&mut self, span: &Stored, cells: &mut Vec<(u32, u32)>) {
        let mut add = |key: &str, text: &str| {
            if text.len() > limits::EXPLAIN_VALUE_BYTES_MAX || self.text_bytes > limits::EXPLAIN_BYTES_MAX {
                return;
            }
            let key = self.keys.number((span.service.clone(), key.to_owned()));
            self.key_counts.resize(self.keys.values.len(), 0);
            self.key_counts[key as usize] += 1;
            let known = self.strings.values.len();
            let number = self.strings.number(text.to_owned());
            if number as usize == known {
                self.text_bytes += text.len();
            }
            cells.push((key, number));
        };
        add("name", &span.name);
        wire::for_each_attribute_text(&span.attributes, |key, value| add(key, &value));
    }
}

/// The failed span below the first one that is deepest; of equally deep ones the first to end. A tree has every parent
/// before its children, with the place of the parent in the tree.
fn deepest_failed(tree: &[(usize, Option<usize>)], spans: &[Stored]) -> Option<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(tree.len());
    for (_, parent) in tree {
        depths.push(parent.map_or(0, |parent| depths[parent] + 1));
    }
    let failed = tree.iter().zip(depths).skip(1).filter(|((place, _), _)| spans[*place].is_failed);
    let deepest = failed.max_by_key(|((place, _), depth)| (*depth, std::cmp::Reverse(spans[*place].end)))?;
    Some(deepest.0.0)
}

impl OwnSpans {
    /// Adds the attributes of the row's own span that the row lacks, and those of the spans below with these keys.
    pub fn add_to(&self, columns: &mut Columns<'_>, row: u32, keys: &HashSet<u32>, below: &Below) {
        if self.has_own {
            columns.add_encoded(row, ExplainScope::Resource, "", &self.resource);
            for (key, text) in ["name", "version"].into_iter().zip(&self.scope) {
                if !text.is_empty() {
                    columns.add_text(row, ExplainScope::Scope, "", key, text);
                }
            }
        }
        for (key, text) in self.children.iter().filter(|(key, _)| keys.contains(key)) {
            let (service, key) = &below.keys.values[*key as usize];
            columns.add_text(row, ExplainScope::Child, service, key, &below.strings.values[*text as usize]);
        }
    }
}
