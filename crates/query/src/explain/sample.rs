//! Rows of each set, sampled by trace id.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use tidewatch_domain::explain::{SampleRates, Set};
use tidewatch_domain::wire;
use tidewatch_limits as limits;
use tidewatch_store::tables::Table;
use tidewatch_store::trace_search::mixed;

use super::columns::Columns;
use super::defining;
use super::sets::Sets;
use crate::answer::Row;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans::{self, Window};
use crate::views::explain::ExplainScope;

/// Columns of a row, as far as its table has them.
const COLUMNS: &[&str] = &[
    "time",
    "trace_id",
    "span_id",
    "attributes",
    "server_name",
    "app_version",
    "name",
    "resource",
    "scope",
    "scope_version",
    "scope_attributes",
    "event_name",
];

/// The sampled rows.
pub struct Sample {
    /// Sorted by set, then by the hash of the trace id.
    pub rows: Vec<Sampled>,
    /// The fraction of rows that was sampled.
    pub rates: SampleRates,
    /// Rows that pass: selected, other ones of the same minutes, and before.
    pub counts: [u64; 3],
}

/// A sampled row.
pub struct Sampled {
    order: (u64, i64, [u8; 8]),
    /// The set.
    pub set: Set,
    /// The trace; zeros when unknown.
    pub trace: [u8; 16],
    /// The span; zeros when unknown.
    pub span: [u8; 8],
    name: String,
    /// Attributes by scope, encoded.
    encoded: Vec<(ExplainScope, Vec<u8>)>,
    /// Attributes that are columns.
    strings: Vec<(ExplainScope, &'static str, String)>,
}

impl PartialEq for Sampled {
    fn eq(&self, other: &Sampled) -> bool {
        self.order == other.order
    }
}

impl Eq for Sampled {}

impl PartialOrd for Sampled {
    fn partial_cmp(&self, other: &Sampled) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sampled {
    fn cmp(&self, other: &Sampled) -> Ordering {
        self.order.cmp(&other.order)
    }
}

/// The rows with the least hashes of their trace ids: a uniform sample of traces.
#[derive(Default)]
struct Reservoir {
    kept: BinaryHeap<Sampled>,
    seen: u64,
}

impl Reservoir {
    fn offer(&mut self, row: Row<'_>, table: Table, set: Set, limit: usize) {
        self.seen += 1;
        let (trace, time) = (row.id16("trace_id"), row.int("time"));
        let span = row.span_id("span_id").0;
        let hashed = if trace == [0; 16] { u128::from(time as u64) } else { u128::from_le_bytes(trace) };
        let order = (mixed(hashed), time, span);
        if self.kept.len() >= limit {
            if self.kept.peek().is_none_or(|last| last.order <= order) {
                return;
            }
            self.kept.pop();
        }
        self.kept.push(Sampled::read(row, table, set, order, trace, span));
    }

    fn rate(&self) -> f64 {
        if self.seen == 0 { 1.0 } else { self.kept.len() as f64 / self.seen as f64 }
    }
}

/// Samples the rows of every set.
pub async fn read(executor: &Executor, project: u32, sets: &Sets) -> Result<Sample, QueryError> {
    let mut reservoirs = [Reservoir::default(), Reservoir::default(), Reservoir::default()];
    let table = sets.table;
    let columns: Vec<&'static str> = COLUMNS.iter().copied().filter(|column| table.column(column).is_some()).collect();
    for (range, filter, set) in sets.each() {
        let (place, limit) = match set {
            Set::Selected => (0, limits::EXPLAIN_SELECTED_MAX),
            Set::Rest => (1, limits::EXPLAIN_REST_MAX),
            _ => (2, limits::EXPLAIN_BEFORE_MAX),
        };
        let window = Window::first(usize::MAX);
        let plan = plans::rows(table, &[project], range, filter, columns.clone(), vec![], window);
        let reservoir = std::mem::take(&mut reservoirs[place]);
        reservoirs[place] = executor
            .read(plan, reservoir, move |reservoir, answer| {
                answer.rows().for_each(|row| reservoir.offer(row, table, set, limit));
                true
            })
            .await?;
    }
    let counts = [0, 1, 2].map(|place| reservoirs[place].seen);
    let [selected, rest, before] = [0, 1, 2].map(|place| reservoirs[place].rate());
    let rows = reservoirs.into_iter().flat_map(|reservoir| reservoir.kept.into_sorted_vec()).collect();
    Ok(Sample { rows, rates: SampleRates { selected, rest, before }, counts })
}

impl Sampled {
    fn read(
        row: Row<'_>,
        table: Table,
        set: Set,
        order: (u64, i64, [u8; 8]),
        trace: [u8; 16],
        span: [u8; 8],
    ) -> Sampled {
        let has = |column: &str| table.column(column).is_some();
        let encoded = [
            (ExplainScope::Record, "attributes"),
            (ExplainScope::Resource, "resource"),
            (ExplainScope::Scope, "scope_attributes"),
        ];
        let strings = [
            (ExplainScope::Resource, "service.name", "server_name"),
            (ExplainScope::Resource, "service.version", "app_version"),
            (ExplainScope::Scope, "name", "scope"),
            (ExplainScope::Scope, "version", "scope_version"),
            (ExplainScope::Record, "event.name", "event_name"),
        ];
        let encoded = encoded.into_iter().filter(|(_, column)| has(column));
        let strings = strings.into_iter().filter(|(.., column)| has(column));
        Sampled {
            order,
            set,
            trace,
            span,
            name: if has("name") { row.text("name").to_owned() } else { String::new() },
            encoded: encoded.map(|(scope, column)| (scope, row.bytes(column).to_vec())).collect(),
            strings: strings
                .map(|(scope, key, column)| (scope, key, row.text(column).to_owned()))
                .filter(|(.., text)| !text.is_empty())
                .collect(),
        }
    }

    /// Adds the row's attributes; those of its span are added by [`super::spans::OwnSpans::add_to`].
    pub fn add_to(&self, columns: &mut Columns<'_>, place: u32, has_own_span: bool, is_named: bool) {
        for (scope, encoded) in &self.encoded {
            // The span has the same attributes as its row.
            if !has_own_span || *scope == ExplainScope::Record {
                columns.add_encoded(place, *scope, "", encoded);
            }
        }
        for (scope, key, text) in &self.strings {
            columns.add_text(place, *scope, "", key, text);
        }
        if !is_named && !self.name.is_empty() {
            columns.add_text(place, ExplainScope::Record, "", "name", &self.name);
        }
    }
}

impl Sampled {
    /// Start, nanoseconds since the epoch.
    pub fn time(&self) -> i64 {
        self.order.1
    }

    /// Failures of the row: attributes and values.
    pub fn failures(&self) -> BTreeSet<(String, String)> {
        let mut found = BTreeSet::new();
        for (_, encoded) in &self.encoded {
            wire::for_each_attribute_text(encoded, |key, value| {
                if defining::is_failure(key, &value) {
                    found.insert((key.to_owned(), value.into_owned()));
                }
            });
        }
        found
    }
}

impl Sample {
    /// At most `rows` of each set's part; they are uniform by trace id too.
    pub fn at_most(mut self, rows: usize) -> Sample {
        let [selected, rest, before] = self.parts();
        let is_kept = |place: usize| {
            [&selected, &rest, &before].into_iter().any(|part| part.contains(&place) && place - part.start < rows)
        };
        let mut place = 0;
        self.rows.retain(|_| {
            place += 1;
            is_kept(place - 1)
        });
        self
    }

    /// The position of the first row of each set's part of `rows`: parts have the same order of traces.
    pub fn parts(&self) -> [std::ops::Range<usize>; 3] {
        let part = |set: Set| match set {
            Set::Selected => 0,
            Set::Rest => 1,
            _ => 2,
        };
        let start = |wanted: usize| self.rows.partition_point(|row| part(row.set) < wanted);
        [start(0)..start(1), start(1)..start(2), start(2)..self.rows.len()]
    }
}
