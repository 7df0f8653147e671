//! What is counted of AI Traces: calls, latency, tokens, costs. Absent stays absent, never zero. DECISIONS 12.

use tidewatch_store::plan::{Aggregate, Filter, Function};

use super::answer::Row;
use super::{ask, filters};

/// What is known about the calls of one name. Counts and sums are weighted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figures {
    pub count: f64,
    /// Nanoseconds: P50, P95.
    pub percentiles: Option<[f64; 2]>,
    pub duration_sum: f64,
    pub total_tokens: Option<f64>,
    pub input_tokens: Option<f64>,
    pub output_tokens: Option<f64>,
    pub counted_inputs: f64,
    pub counted_outputs: f64,
    pub total_cost: Option<f64>,
    pub estimated: u64,
    pub unpriced: f64,
    pub errors: f64,
    pub last_seen: i64,
    pub has_root: bool,
    pub has_non_root: bool,
    pub rows: u64,
    /// Of `count`, runs of tools.
    pub tools: f64,
}

/// Rows that are no call of a model but the run of a tool. OpenTelemetry: `gen_ai.operation.name`.
pub fn tool_runs() -> Filter {
    filters::text("operation", "execute_tool")
}

pub fn model_calls() -> Filter {
    filters::not(tool_runs())
}

/// The aggregates that [`Figures::read`] reads.
pub fn aggregates() -> Vec<Aggregate> {
    let present = |column| filters::not(Filter::IsNull { column });
    vec![
        ask::plain(Function::Weight),
        ask::plain(Function::Quantiles { column: "duration", qs: vec![0.50, 0.95] }),
        ask::plain(Function::Sum("duration")),
        ask::only(Function::Sum("total_tokens"), present("total_tokens")),
        ask::only(Function::Sum("input_tokens"), present("input_tokens")),
        ask::only(Function::Sum("output_tokens"), present("output_tokens")),
        ask::only(Function::Weight, present("input_tokens")),
        ask::only(Function::Weight, present("output_tokens")),
        ask::only(Function::Sum("total_cost"), present("total_cost")),
        ask::only(Function::Count, filters::is("cost_estimated").and(present("total_cost"))),
        ask::only(Function::Weight, model_calls().and(Filter::IsNull { column: "total_cost" })),
        ask::only(Function::Weight, filters::is("is_error")),
        ask::plain(Function::Max("time")),
        ask::only(Function::Count, filters::is("is_root")),
        ask::only(Function::Count, filters::is_not("is_root")),
        ask::plain(Function::Count),
        ask::only(Function::Weight, tool_runs()),
    ]
}

impl Figures {
    pub fn read(row: Row<'_>) -> Figures {
        Figures {
            count: row.number("agg0"),
            percentiles: row.numbers("agg1").and_then(|list| list.try_into().ok()),
            duration_sum: row.number("agg2"),
            total_tokens: row.opt_number("agg3"),
            input_tokens: row.opt_number("agg4"),
            output_tokens: row.opt_number("agg5"),
            counted_inputs: row.number("agg6"),
            counted_outputs: row.number("agg7"),
            total_cost: row.opt_number("agg8"),
            estimated: row.count("agg9"),
            unpriced: row.number("agg10"),
            errors: row.number("agg11"),
            last_seen: row.int("agg12"),
            has_root: row.int("agg13") > 0,
            has_non_root: row.int("agg14") > 0,
            rows: row.count("agg15"),
            tools: row.number("agg16"),
        }
    }

    /// Nanoseconds.
    pub fn percentile(&self, index: usize) -> f64 {
        self.percentiles.map_or(0.0, |percentiles| percentiles[index])
    }

    /// Nanoseconds.
    pub fn average(&self) -> f64 {
        if self.count > 0.0 { self.duration_sum / self.count } else { 0.0 }
    }

    /// 0 to 1.
    pub fn error_rate(&self) -> f64 {
        if self.count > 0.0 { self.errors / self.count } else { 0.0 }
    }
}
