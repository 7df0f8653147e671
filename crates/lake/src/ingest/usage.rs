//! AI Traces that repeat the usage of others, across requests. DECISIONS 32; docs/decisions/0021.
//!
//! The spans of one trace arrive in many requests, in any order. The spans of recent traces with AI Traces are kept here.
//! Each request is compared with them: its own rows are marked before they are stored, and earlier rows that turn out to
//! repeat others get a [`Correction`]. Rows are compared in journal order, after duplicates are known, so a retry changes
//! nothing and a replay marks its rows again.
//!
//! Memory is bounded, and lost in a restart. A trace of which earlier spans may be stored is therefore read from the
//! store once ([`Usage::take_unread`], `lifecycle::usage`), and so are the recent traces after a start. Corrections of rows
//! that are no longer in memory wait here until their parts are rewritten.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::datatypes::Int64Type;
use tidewatch_domain::model::SpanId;
use tidewatch_domain::rules::ai_trace::usage::{AiUsage, UsageSpan, repeats};
use tidewatch_domain::units::HOUR_NS;
use tidewatch_store::columns::{Rows, TableBuffer};
use tidewatch_store::tables::Table;
use xxhash_rust::xxh3::Xxh3Builder;

/// Spans of one trace that are kept; further ones are not compared.
const TRACE_SPANS_MAX: usize = 4_096;
/// Distance by which the clock of a sender may be ahead.
const CLOCK_SKEW_NS: i64 = HOUR_NS;

/// A project number and a trace id.
pub type TraceKey = (u32, u128);

/// The row of an AI Trace: caller and callee of one span may have the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RowKey {
    pub id: u128,
    /// Nanoseconds since the epoch.
    pub time: i64,
}

/// A stored row that repeats the usage of others after all, or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Correction {
    pub project: u32,
    pub row: RowKey,
    pub repeats: bool,
}

/// A span of a trace with AI Traces.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    pub span: UsageSpan,
    /// The row of an AI Trace, and whether it is stored as one that repeats others.
    pub row: Option<(RowKey, bool)>,
}

#[derive(Debug, Default)]
struct Trace {
    spans: Vec<Known>,
}

/// The traces of a request, with the indexes of its rows of AI Traces.
type Touched = HashMap<TraceKey, HashMap<RowKey, usize, Xxh3Builder>, Xxh3Builder>;

/// Times of the spans of a trace that is to be read from the store, nanoseconds since the epoch.
pub type Times = (i64, i64);

/// Spans of recent traces with AI Traces, and corrections that wait.
pub struct Usage {
    newer: HashMap<TraceKey, Trace, Xxh3Builder>,
    older: HashMap<TraceKey, Trace, Xxh3Builder>,
    /// Number of spans in `newer`.
    spans: usize,
    half: usize,
    /// All spans that were received later are known, nanoseconds since the epoch. `None` before the first request.
    complete_since: Option<i64>,
    /// When `older` was filled.
    older_until: i64,
    unread: HashMap<TraceKey, Times, Xxh3Builder>,
    pending: HashMap<(u32, RowKey), bool, Xxh3Builder>,
    /// Whether the traces of the latest day are still to be noted after the start.
    is_start: bool,
}

impl Usage {
    /// Keeps at most `most` spans; 0: compares nothing.
    pub fn new(most: usize) -> Usage {
        Usage {
            newer: HashMap::default(),
            older: HashMap::default(),
            spans: 0,
            half: most / 2,
            complete_since: None,
            older_until: i64::MIN,
            unread: HashMap::default(),
            pending: HashMap::default(),
            is_start: most > 0,
        }
    }

    /// Sets the column `repeats_usage` in the rows of records that are no duplicates. Returns the corrections of rows that
    /// earlier requests brought.
    pub fn settle(
        &mut self,
        rows: &mut Rows,
        received_ns: i64,
        is_duplicate: impl Fn(usize) -> bool,
    ) -> Vec<Correction> {
        self.complete_since.get_or_insert(received_ns);
        if self.half == 0 || (rows.ai_usage.is_empty() && self.newer.is_empty() && self.older.is_empty()) {
            return Vec::new();
        }
        let project = rows.project;
        let mut touched = Touched::default();
        for table in rows.tables.iter().filter(|table| table.buffer.table() == Table::AiTraces) {
            if table.buffer.rows() != rows.ai_usage.len() {
                continue;
            }
            for (row, (trace, known)) in ai_spans(&table.buffer, &rows.ai_usage).into_iter().enumerate() {
                if !is_duplicate(table.records[row] as usize) {
                    let key = (project, trace);
                    if self.add(key, known, received_ns) {
                        let new = touched.entry(key).or_default();
                        new.extend(known.row.map(|(of, _)| (of, row)));
                    }
                }
            }
        }
        self.add_others(rows, &mut touched, received_ns, is_duplicate);
        let mut corrections = Vec::new();
        let mut marks = Vec::new();
        for (key, new) in touched {
            let Some(trace) = self.newer.get_mut(&key).or_else(|| self.older.get_mut(&key)) else { continue };
            let earlier = compare(trace).into_iter().filter(|(row, _)| !new.contains_key(row));
            corrections.extend(earlier.map(|(row, repeats)| Correction { project, row, repeats }));
            let of_trace = trace.spans.iter().filter_map(|known| known.row);
            marks.extend(of_trace.filter_map(|(row, repeats)| Some((*new.get(&row)?, repeats))));
            self.note_unread(key);
        }
        for table in rows.tables.iter_mut().filter(|table| table.buffer.table() == Table::AiTraces) {
            for (row, repeats) in &marks {
                table.buffer.set_optional_bool("repeats_usage", *row, repeats.then_some(true));
            }
        }
        corrections
    }

    /// Adds the spans of known traces that are no AI Traces.
    fn add_others(
        &mut self,
        rows: &Rows,
        touched: &mut Touched,
        received_ns: i64,
        is_duplicate: impl Fn(usize) -> bool,
    ) {
        for table in rows.tables.iter().filter(|table| table.buffer.table() == Table::Spans) {
            let buffer = &table.buffer;
            let Some(traces) = buffer.id16s("trace_id") else { continue };
            let Some((ids, parents)) = buffer.id8s("span_id").zip(buffer.id8s("parent_span_id")) else { continue };
            let Some((starts, durations)) = buffer.i64("time").zip(buffer.i64("duration")) else { continue };
            let promoted = buffer.u8s("promoted").unwrap_or_default();
            let mut latest = None;
            for (row, trace) in traces.iter().enumerate() {
                let key = (rows.project, *trace);
                let is_known = match latest {
                    Some((known, is_known)) if known == key => is_known,
                    _ => self.newer.contains_key(&key) || self.older.contains_key(&key),
                };
                latest = Some((key, is_known));
                let is_ai = promoted.get(row).is_some_and(|bits| bits & AI_TRACE != 0);
                if is_known && !is_ai && !is_duplicate(table.records[row] as usize) {
                    let span = usage_span((ids[row], parents[row]), (starts[row], durations[row]), None);
                    if self.add(key, Known { span, row: None }, received_ns) {
                        touched.entry(key).or_default();
                    }
                }
            }
        }
    }

    /// Adds a span. False when its trace has too many.
    fn add(&mut self, key: TraceKey, known: Known, received_ns: i64) -> bool {
        if self.spans >= self.half {
            self.older = std::mem::take(&mut self.newer);
            self.spans = 0;
            // Spans that were received before the older half was filled are forgotten.
            let forgotten = std::mem::replace(&mut self.older_until, received_ns);
            self.complete_since = self.complete_since.max(Some(forgotten));
        }
        let trace = match self.newer.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let before = self.older.remove(&key).unwrap_or_default();
                self.spans += before.spans.len();
                entry.insert(before)
            }
        };
        if trace.spans.len() >= TRACE_SPANS_MAX {
            return false;
        }
        trace.spans.push(known);
        self.spans += 1;
        true
    }

    /// Notes a trace to be read from the store if spans of it may be stored that are not known: it began before the time
    /// since which all are known, or a parent is missing.
    fn note_unread(&mut self, key: TraceKey) {
        let Some(trace) = self.newer.get(&key).or_else(|| self.older.get(&key)) else { return };
        let start = trace.spans.iter().map(|known| known.span.start_ns).min().unwrap_or(i64::MAX);
        let end = trace.spans.iter().map(|known| known.span.end_ns).max().unwrap_or(i64::MIN);
        let complete_since = self.complete_since.unwrap_or(i64::MAX);
        let may_be_stored = start < complete_since.saturating_add(CLOCK_SKEW_NS);
        if may_be_stored || is_open(trace) {
            self.unread.insert(key, (start, end));
        }
    }

    /// Whether this is the first call since the start.
    pub fn take_start(&mut self) -> bool {
        std::mem::take(&mut self.is_start)
    }

    /// Makes the next call of [`Usage::take_start`] the first one again.
    pub fn put_back_start(&mut self) {
        self.is_start = true;
    }

    /// Notes a trace to be read from the store.
    pub fn add_unread(&mut self, key: TraceKey, times: Times) {
        self.unread.entry(key).or_insert(times);
    }

    /// Takes up to `most` traces of one project that are to be read from the store.
    pub fn take_unread(&mut self, most: usize) -> Vec<(TraceKey, Times)> {
        let Some(project) = self.unread.keys().next().map(|(project, _)| *project) else { return Vec::new() };
        let of_project = self.unread.iter().filter(|((of, _), _)| *of == project);
        let taken: Vec<_> = of_project.take(most).map(|(key, times)| (*key, *times)).collect();
        for (key, _) in &taken {
            self.unread.remove(key);
        }
        taken
    }

    /// Compares the spans of a trace that the store has, together with the known ones. Returns the corrections.
    pub fn compare_stored(&mut self, key: TraceKey, stored: Vec<Known>) -> Vec<Correction> {
        let mut all = Trace { spans: stored };
        let known = self.newer.get(&key).or_else(|| self.older.get(&key));
        for known in known.map_or(&[][..], |trace| trace.spans.as_slice()) {
            let is_same = |other: &&mut Known| match (known.row, other.row) {
                (Some((row, _)), Some((other, _))) => row == other,
                (None, None) => known.span.span_id == other.span.span_id,
                _ => false,
            };
            // The known state of a row is newer than the stored one.
            match all.spans.iter_mut().find(is_same) {
                Some(same) => *same = *known,
                None => all.spans.push(*known),
            }
        }
        for known in &mut all.spans {
            if let Some((row, repeats)) = &mut known.row
                && let Some(pending) = self.pending.get(&(key.0, *row))
            {
                *repeats = *pending;
            }
        }
        let changed = compare(&mut all);
        if let Some(trace) = self.newer.get_mut(&key).or_else(|| self.older.get_mut(&key)) {
            let (before, after) = (trace.spans.len(), all.spans.len().min(TRACE_SPANS_MAX));
            all.spans.truncate(TRACE_SPANS_MAX);
            *trace = all;
            if self.newer.contains_key(&key) {
                self.spans += after.saturating_sub(before);
            }
        } else if all.spans.len() <= self.half.saturating_sub(self.spans) && is_open(&all) {
            // A span that is no AI Trace may still connect what is stored.
            self.spans += all.spans.len();
            self.newer.insert(key, all);
        }
        changed.into_iter().map(|(row, repeats)| Correction { project: key.0, row, repeats }).collect()
    }

    /// Adds corrections of rows that are no longer in memory.
    pub fn add_pending(&mut self, corrections: Vec<Correction>) {
        for Correction { project, row, repeats } in corrections {
            self.pending.insert((project, row), repeats);
        }
    }

    /// The corrections of rows of one project that wait; empty when none does.
    pub fn pending(&self) -> Vec<Correction> {
        let Some(project) = self.pending.keys().next().map(|(project, _)| *project) else { return Vec::new() };
        let of_project = self.pending.iter().filter(|((of, _), _)| *of == project);
        of_project.map(|((_, row), repeats)| Correction { project, row: *row, repeats: *repeats }).collect()
    }

    /// Removes corrections that were made, unless they changed meanwhile.
    pub fn corrected(&mut self, made: &[Correction]) {
        for Correction { project, row, repeats } in made {
            if self.pending.get(&(*project, *row)) == Some(repeats) {
                self.pending.remove(&(*project, *row));
            }
        }
    }
}

/// A trace with more spans is not searched for missing parents.
const OPEN_SPANS_MAX: usize = 512;

/// Bit of the column `promoted` of spans.
const AI_TRACE: u8 = 1 << 2;

/// Whether the parent of a span is missing. False for a trace with too many spans to look for it.
fn is_open(trace: &Trace) -> bool {
    let is_missing = |known: &Known| {
        let parent = known.span.parent;
        !parent.is_none() && !trace.spans.iter().any(|other| other.span.span_id == parent)
    };
    trace.spans.len() <= OPEN_SPANS_MAX && trace.spans.iter().any(is_missing)
}

/// Compares the spans of a trace. Returns the rows whose state changed, with the new one.
fn compare(trace: &mut Trace) -> Vec<(RowKey, bool)> {
    let spans: Vec<UsageSpan> = trace.spans.iter().map(|known| known.span).collect();
    let mut changed = Vec::new();
    for (known, repeats) in trace.spans.iter_mut().zip(repeats(&spans)) {
        if let Some((row, stored)) = &mut known.row
            && *stored != repeats
        {
            *stored = repeats;
            changed.push((*row, repeats));
        }
    }
    changed
}

/// A span by its id, its parent's, its start and its duration.
pub fn usage_span((id, parent): (u64, u64), (start_ns, duration): (i64, i64), ai: Option<AiUsage>) -> UsageSpan {
    UsageSpan {
        span_id: SpanId(id.to_ne_bytes()),
        parent: SpanId(parent.to_ne_bytes()),
        start_ns,
        end_ns: start_ns.saturating_add(duration),
        ai,
    }
}

/// The AI Traces of a request, by row, with their traces. No row counts as one that repeats others yet.
fn ai_spans(buffer: &TableBuffer, usage: &[AiUsage]) -> Vec<(u128, Known)> {
    let columns = || {
        let (traces, rows) = (buffer.id16s("trace_id")?, buffer.id16s("row_id")?);
        let (ids, parents) = (buffer.id8s("span_id")?, buffer.id8s("parent_span_id")?);
        let (starts, durations) = (buffer.i64("time")?, buffer.i64("duration")?);
        let span = |(row, usage): (usize, &AiUsage)| {
            let span = usage_span((ids[row], parents[row]), (starts[row], durations[row]), Some(*usage));
            let key = RowKey { id: rows[row], time: starts[row] };
            // The rules have marked the row by its own request; it is marked again by all that is known.
            (traces[row], Known { span, row: Some((key, false)) })
        };
        Some(usage.iter().enumerate().map(span).collect())
    };
    columns().unwrap_or_default()
}

/// The batch of AI Traces with the corrections of its rows, which are removed; `None` when it has none of them.
pub fn corrected(batch: &RecordBatch, corrections: &mut Vec<Correction>) -> Option<RecordBatch> {
    let place = batch.schema_ref().index_of("repeats_usage").ok()?;
    let found = rows_of(batch, corrections);
    if found.is_empty() {
        return None;
    }
    let mut values: Vec<Option<bool>> = batch.column(place).as_boolean_opt()?.iter().collect();
    for (row, correction) in &found {
        values[*row] = correction.repeats.then_some(true);
    }
    let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
    columns[place] = Arc::new(BooleanArray::from(values));
    let changed = RecordBatch::try_new(batch.schema(), columns).ok()?;
    corrections.retain(|correction| !found.iter().any(|(_, made)| made == correction));
    Some(changed)
}

/// The rows of a batch of AI Traces that have a correction.
pub fn rows_of(batch: &RecordBatch, corrections: &[Correction]) -> Vec<(usize, Correction)> {
    let by_row: HashMap<RowKey, &Correction> =
        corrections.iter().map(|correction| (correction.row, correction)).collect();
    let columns = || {
        let ids = batch.column_by_name("row_id")?.as_fixed_size_binary_opt()?;
        let times = batch.column_by_name("time")?.as_primitive_opt::<Int64Type>()?;
        let found = (0..batch.num_rows()).filter_map(|row| {
            let id = u128::from_ne_bytes(ids.value(row).try_into().ok()?);
            let correction = by_row.get(&RowKey { id, time: times.value(row) })?;
            Some((row, **correction))
        });
        Some(found.collect())
    };
    columns().unwrap_or_default()
}
