//! Corrects stored AI Traces that repeat the usage of others. DECISIONS 32; docs/decisions/0021.
//!
//! [`crate::ingest::usage`] compares the requests of this run. Here the traces that it does not know whole are read from
//! the store, after a start those of the latest day, and the parts of rows whose state changed are rewritten. A crash
//! loses no correction: what it should have been follows from the stored spans.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::UInt32Type;
use tidewatch_domain::rules::ai_trace::usage::AiUsage;
use tidewatch_domain::units::DAY_NS;
use tidewatch_store::answer::Answer;
use tidewatch_store::plan::{Filter, Function, Key, Plan, Shape, Value};
use tidewatch_store::query_memory::RequestMemory;
use tidewatch_store::tables::Table;
use tidewatch_store::{Changed, Rewrite, StoreError};

use crate::ingest::usage::{Correction, Known, RowKey, Times, TraceKey, corrected, rows_of, usage_span};
use crate::lifecycle::state::Shared;
use crate::scan;

/// Traces that are read at once.
const TRACES_READ: usize = 256;
/// Spans that are read of these traces; further ones are not compared.
const SPANS_READ: usize = 200_000;
/// Traces of the latest day that are compared after a start, the rows of which are in parts.
const TRACES_AT_START_MAX: usize = 100_000;
/// Maximum time of one read.
const READ_MAX: Duration = Duration::from_secs(30);

impl Shared {
    /// Compares the traces that are not known whole with the store, and makes the corrections. Returns the number of
    /// corrected rows. What fails is tried again by the next call. Blocks.
    pub fn settle_usage(&self, stop: &dyn Fn() -> bool) -> Result<usize, StoreError> {
        let _settling = self.settling.lock();
        let mut made = 0;
        if self.usage.lock().take_start() {
            self.note_recent_usage().inspect_err(|_| self.usage.lock().put_back_start())?;
        }
        loop {
            let unread = self.usage.lock().take_unread(TRACES_READ);
            if unread.is_empty() || stop() {
                break;
            }
            match self.compare_stored(&unread) {
                Ok(count) => made += count,
                Err(error) => {
                    let mut usage = self.usage.lock();
                    unread.into_iter().for_each(|(key, times)| usage.add_unread(key, times));
                    return Err(error);
                }
            }
        }
        loop {
            let pending = self.usage.lock().pending();
            if pending.is_empty() || stop() {
                return Ok(made);
            }
            made += self.correct_parts(&pending, stop)?;
        }
    }

    /// Reads traces of one project and compares their AI Traces. Returns the number of corrected rows in memory.
    fn compare_stored(&self, traces: &[(TraceKey, Times)]) -> Result<usize, StoreError> {
        let mut stored = self.stored_spans(traces)?;
        let mut corrections = Vec::new();
        {
            let mut usage = self.usage.lock();
            for (key, _) in traces {
                corrections.extend(usage.compare_stored(*key, stored.remove(&key.1).unwrap_or_default()));
            }
        }
        let all = corrections.len();
        let left = self.state.lock().active.correct(corrections);
        let made = all - left.len();
        self.usage.lock().add_pending(left);
        Ok(made)
    }

    /// The stored spans of traces of one project, by trace.
    fn stored_spans(&self, traces: &[(TraceKey, Times)]) -> Result<HashMap<u128, Vec<Known>>, StoreError> {
        let project = traces.first().map_or(0, |((project, _), _)| *project);
        let from = traces.iter().map(|(_, (from, _))| *from).min().unwrap_or(i64::MIN);
        let to = traces.iter().map(|(_, (_, to))| *to).max().unwrap_or(i64::MAX);
        let values = traces.iter().map(|((_, trace), _)| Value::Bytes(trace.to_ne_bytes().to_vec())).collect();
        let filter = Filter::In { column: "trace_id", values };
        let read = |table, columns: &[&'static str]| {
            let shape = Shape::Rows { columns: columns.to_vec(), order: Vec::new(), limit: SPANS_READ, offset: 0 };
            let (from, to) = (from.saturating_sub(DAY_NS), to.saturating_add(DAY_NS));
            self.read(&Plan { table, projects: vec![project], from, to, filter: filter.clone(), shape })
        };
        let mut found: HashMap<u128, Vec<Known>> = HashMap::new();
        let rows = read(
            Table::AiTraces,
            &[
                "trace_id",
                "span_id",
                "parent_span_id",
                "time",
                "duration",
                "row_id",
                "operation",
                "total_tokens",
                "total_cost",
                "call_id",
                "repeats_usage",
            ],
        )?;
        let (ids, times) = (rows.id16("row_id")?, rows.i64("time")?);
        let (operations, calls, repeats) =
            (rows.text("operation")?, rows.text("call_id")?, rows.bool("repeats_usage")?);
        let (tokens, costs) = (rows.i64("total_tokens")?, rows.f64("total_cost")?);
        for row in 0..rows.rows() {
            let has_usage = tokens.get(row).is_some() || costs.get(row).is_some();
            let usage = AiUsage::new(has_usage, operations.get(row), calls.get(row));
            let key = RowKey { id: u128::from_ne_bytes(ids.at(row)), time: times.at(row) };
            let (trace, span) = span_of(&rows, row, Some(usage))?;
            let known = Known { span, row: Some((key, repeats.get(row).is_some())) };
            found.entry(trace).or_default().push(known);
        }
        // The other spans matter between AI Traces only.
        if found.is_empty() {
            return Ok(found);
        }
        let spans = read(Table::Spans, &["trace_id", "span_id", "parent_span_id", "time", "duration", "promoted"])?;
        let promoted = spans.u8("promoted")?;
        for row in 0..spans.rows() {
            const AI_TRACE: u8 = 1 << 2;
            if promoted.at(row) & AI_TRACE == 0 {
                let (trace, span) = span_of(&spans, row, None)?;
                if let Some(of_trace) = found.get_mut(&trace) {
                    of_trace.push(Known { span, row: None });
                }
            }
        }
        Ok(found)
    }

    fn read(&self, plan: &Plan) -> Result<Answer, StoreError> {
        let sources = self.state.lock().sources(plan);
        let memory = RequestMemory::new(&self.query_memory);
        let rows_min = self.options.rollups.query_rows_min;
        scan::run_with_rollups(plan, &sources, Instant::now() + READ_MAX, rows_min, &memory).map(Answer::new)
    }

    /// Rewrites the parts of rows of one project. Returns the number of corrected rows.
    fn correct_parts(&self, corrections: &[Correction], stop: &dyn Fn() -> bool) -> Result<usize, StoreError> {
        let project = corrections.first().map_or(0, |correction| correction.project);
        let since_ns = corrections.iter().map(|correction| correction.row.time).min().unwrap_or(i64::MAX);
        let which = Rewrite { table: Table::AiTraces, project, since_ns };
        let mut made = 0;
        self.rewrite(which, stop, &mut |batch| {
            let changed = changes(batch, project, corrections)?;
            made += changed.as_ref().map_or(0, |changed| changed.to.num_rows());
            Ok(changed)
        })?;
        if !stop() {
            self.usage.lock().corrected(corrections);
        }
        Ok(made)
    }

    /// Notes the traces of the latest stored day with more than one AI Trace, to be compared: a crash may have lost their
    /// corrections.
    fn note_recent_usage(&self) -> Result<(), StoreError> {
        let parts = self.state.lock().parts[Table::AiTraces as usize].clone();
        let Some(latest) = parts.iter().map(|part| part.facts.time_max).max() else { return Ok(()) };
        let from = latest.saturating_sub(DAY_NS);
        let recent = parts.iter().filter(|part| part.facts.time_max >= from);
        let projects = recent.flat_map(|part| part.facts.project_min..=part.facts.project_max);
        let mut projects: Vec<u32> = projects.collect();
        projects.sort_unstable();
        projects.dedup();
        const COUNT: &str = "count";
        const FIRST: &str = "first";
        const LAST: &str = "last";
        let shape = Shape::Groups {
            keys: ["project", "trace_id"].map(Key::column).to_vec(),
            aggregates: vec![
                Function::Count.named(COUNT),
                Function::Min("time").named(FIRST),
                Function::Max("time").named(LAST),
            ],
            order: Vec::new(),
            limit: usize::MAX,
            offset: 0,
        };
        let plan = Plan { table: Table::AiTraces, projects, from, to: i64::MAX, filter: Filter::True, shape };
        let traces = self.read(&plan)?;
        let (projects, ids) = (traces.u32("project")?, traces.id16("trace_id")?);
        let (counts, first, last) = (traces.u64(COUNT)?, traces.i64(FIRST)?, traces.i64(LAST)?);
        let mut usage = self.usage.lock();
        let several = (0..traces.rows()).filter(|row| counts.at(*row) > 1).take(TRACES_AT_START_MAX);
        for row in several {
            let key = (projects.at(row), u128::from_ne_bytes(ids.at(row)));
            usage.add_unread(key, (first.at(row), last.at(row)));
        }
        Ok(())
    }
}

fn span_of(
    rows: &Answer,
    row: usize,
    usage: Option<AiUsage>,
) -> Result<(u128, tidewatch_domain::rules::ai_trace::usage::UsageSpan), StoreError> {
    let id = |name| Ok::<u64, StoreError>(u64::from_ne_bytes(rows.id8(name)?.at(row)));
    let times = (rows.i64("time")?.at(row), rows.i64("duration")?.at(row));
    let trace = u128::from_ne_bytes(rows.id16("trace_id")?.at(row));
    Ok((trace, usage_span((id("span_id")?, id("parent_span_id")?), times, usage)))
}

/// The corrected rows of a batch, which may have rows of other projects.
fn changes(batch: &RecordBatch, project: u32, corrections: &[Correction]) -> Result<Option<Changed>, StoreError> {
    let projects = batch.column_by_name("project").and_then(|column| column.as_primitive_opt::<UInt32Type>());
    let is_of_project = |row: usize| projects.is_some_and(|projects| projects.value(row) == project);
    let mut is_changed = vec![false; batch.num_rows()];
    let repeats = batch.column_by_name("repeats_usage").and_then(|column| column.as_boolean_opt());
    for (row, correction) in rows_of(batch, corrections) {
        let stored = repeats.is_some_and(|repeats| repeats.is_valid(row));
        is_changed[row] = is_of_project(row) && stored != correction.repeats;
    }
    if !is_changed.contains(&true) {
        return Ok(None);
    }
    let rows = BooleanArray::from(is_changed);
    let chosen = filter_record_batch(batch, &rows).map_err(StoreError::internal("correct AI Traces"))?;
    let to = corrected(&chosen, &mut corrections.to_vec());
    Ok(to.map(|to| Changed { rows, to }))
}
