//! Explains the difference between some rows and others: `POST /api/explain`.
//!
//! ```text
//! request ─> sets (four filters) ─> sample (rows) ─> spans (those below each row) ─> columns ─> domain::explain ─> view
//! ```
//!
//! - [`sets`]: the selection, and what it is compared with. [`sample`]: rows of each set, uniform by trace id.
//! - [`columns`]: attributes by row, dictionary-encoded. [`spans`]: own time and attributes of the spans of a row.
//! - [`answer`]: the response. [`breakdown`]: own time by operation of all rows of a time.

mod answer;
mod breakdown;
mod columns;
mod defining;
mod sample;
mod sets;
mod spans;

use std::time::Instant;

use tidewatch_accounts::Project;
use tidewatch_domain::explain::{self as engine, OperationTime, SampleRates, Table};

use crate::error::QueryError;
use crate::executor::Executor;
use crate::views::explain::{ExplainLeftOutReason, ExplainMode, ExplainRequest, Explanation};
pub use breakdown::breakdown;
use columns::{Attribute, Columns};
use defining::Defining;
use sample::Sample;
use sets::Sets;
pub use sets::timed_rows;
use spans::{Below, Operation};

/// The columns of the engine, the attribute of each, and attributes that are not compared.
struct Compared {
    table: Table,
    attributes: Vec<Attribute>,
    left_out: Vec<(Attribute, ExplainLeftOutReason)>,
}

/// Rows with what was read of them.
struct Evidence {
    defining: Defining,
    sample: Sample,
    below: Below,
    is_named: bool,
}

/// What the engine found.
struct Found {
    compared: Compared,
    explanation: engine::Explanation,
    own_time: Vec<(Operation, OperationTime)>,
    failures: Vec<(String, String, u32)>,
}

/// Explains a selection. A query that is none is [`QueryError::InQuery`] (400), an end before its start
/// [`QueryError::Unprocessable`] (422), an unknown Issue [`QueryError::NotFound`] (404).
pub async fn explain(
    executor: &Executor,
    project: &Project,
    request: ExplainRequest,
) -> Result<Explanation, QueryError> {
    let started = Instant::now();
    let sets = Sets::read(executor, project.number, &request).await?;
    let sample = sample::read(executor, project.number, &sets).await?;
    let below = match sets.has_spans() {
        true => spans::read(executor, project.number, &sets, &sample, started + sets.budget).await?,
        false => Below::default(),
    };
    let (is_time, is_named) = (sets.is_time, sets.is_named);
    let evidence = Evidence { defining: sets.defining, sample, below, is_named };
    let (evidence, found) = executor.context.run_queued(move |_| evidence.explained()).await?;
    let mode = match found.explanation.mode {
        _ if is_time => ExplainMode::TimeBefore,
        engine::Mode::Excess => ExplainMode::Excess,
        engine::Mode::SameMinutes => ExplainMode::SameMinutes,
    };
    Ok(answer::answer(&evidence, found, mode))
}

impl Evidence {
    /// Runs the engine. When the spans of only some rows were read, attributes of spans below are compared among those
    /// rows, and win when they explain more.
    fn explained(self) -> (Evidence, Found) {
        let rates = self.sample.rates;
        let with_spans: Vec<usize> = self.below.rows.keys().copied().collect();
        let all: Vec<usize> = (0..self.sample.rows.len()).collect();
        let is_whole = with_spans.len() == all.len() || !self.below.is_partial;
        let mut compared = self.compared(&all, rates, is_whole);
        let mut explanation = engine::explain(&compared.table);
        if !is_whole {
            let part = with_spans.len() as f64 / all.len().max(1) as f64;
            let rates =
                SampleRates { selected: rates.selected * part, rest: rates.rest * part, before: rates.before * part };
            let inner = self.compared(&with_spans, rates, true);
            let other = engine::explain(&inner.table);
            let best = |one: &engine::Explanation| one.rows.first().map_or(0.0, |row| row.explained);
            if best(&other) > best(&explanation) {
                (compared, explanation) = (inner, other);
            }
        }
        let own_time = self.own_time();
        let failures = self.below.failures(&self.sample);
        (self, Found { compared, explanation, own_time, failures })
    }

    fn compared(&self, rows: &[usize], rates: SampleRates, with_spans: bool) -> Compared {
        let mut columns = Columns::new(&self.defining);
        let most_frequent = self.below.frequent_keys();
        for (place, &row) in rows.iter().enumerate() {
            let place = u32::try_from(place).unwrap_or(u32::MAX);
            // Attributes of spans are compared only among rows whose spans were read.
            let own = self.below.rows.get(&row).filter(|_| with_spans);
            self.sample.rows[row].add_to(&mut columns, place, own.is_some_and(|own| own.has_own), self.is_named);
            if let Some(own) = own {
                own.add_to(&mut columns, place, &most_frequent, &self.below);
            }
        }
        let sets = rows.iter().map(|&row| self.sample.rows[row].set).collect();
        columns.finish(sets, rates)
    }

    fn own_time(&self) -> Vec<(Operation, OperationTime)> {
        let found = engine::own_time(&self.below.request_times(&self.sample), self.sample.rates);
        found.into_iter().map(|time| (self.below.operation(time.operation), time)).collect()
    }
}
