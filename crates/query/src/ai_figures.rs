//! What is counted of AI Traces: calls, latency, tokens, costs. Absent stays absent, never zero. DECISIONS 12.

use tidewatch_store::plan::{Aggregate, Filter, Function};

use super::answer::Row;
use super::filters;

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

/// Outputs of [`aggregates`].
const COUNT: &str = "count";
const QUANTILES: &str = "quantiles";
const DURATION_SUM: &str = "duration_sum";
const TOTAL_TOKENS: &str = "total_tokens";
const INPUT_TOKENS: &str = "input_tokens";
const OUTPUT_TOKENS: &str = "output_tokens";
const COUNTED_INPUTS: &str = "counted_inputs";
const COUNTED_OUTPUTS: &str = "counted_outputs";
const TOTAL_COST: &str = "total_cost";
const ESTIMATED: &str = "estimated";
const UNPRICED: &str = "unpriced";
const ERRORS: &str = "errors";
const LAST_SEEN: &str = "last_seen";
const ROOTS: &str = "roots";
const NON_ROOTS: &str = "non_roots";
const ROWS: &str = "rows";
const TOOLS: &str = "tools";

/// The aggregates that [`Figures::read`] reads.
pub fn aggregates() -> Vec<Aggregate> {
    let present = |column| filters::not(Filter::IsNull { column });
    vec![
        Function::Weight.named(COUNT),
        Function::Quantiles { column: "duration", qs: vec![0.50, 0.95] }.named(QUANTILES),
        Function::Sum("duration").named(DURATION_SUM),
        Function::Sum("total_tokens").named(TOTAL_TOKENS).only(present("total_tokens")),
        Function::Sum("input_tokens").named(INPUT_TOKENS).only(present("input_tokens")),
        Function::Sum("output_tokens").named(OUTPUT_TOKENS).only(present("output_tokens")),
        Function::Weight.named(COUNTED_INPUTS).only(present("input_tokens")),
        Function::Weight.named(COUNTED_OUTPUTS).only(present("output_tokens")),
        Function::Sum("total_cost").named(TOTAL_COST).only(present("total_cost")),
        Function::Count.named(ESTIMATED).only(filters::is("cost_estimated").and(present("total_cost"))),
        Function::Weight.named(UNPRICED).only(model_calls().and(Filter::IsNull { column: "total_cost" })),
        Function::Weight.named(ERRORS).only(filters::is("is_error")),
        Function::Max("time").named(LAST_SEEN),
        Function::Count.named(ROOTS).only(filters::is("is_root")),
        Function::Count.named(NON_ROOTS).only(filters::is_not("is_root")),
        Function::Count.named(ROWS),
        Function::Weight.named(TOOLS).only(tool_runs()),
    ]
}

impl Figures {
    pub fn read(row: Row<'_>) -> Figures {
        Figures {
            count: row.number(COUNT),
            percentiles: row.numbers(QUANTILES).and_then(|list| list.try_into().ok()),
            duration_sum: row.number(DURATION_SUM),
            total_tokens: row.opt_number(TOTAL_TOKENS),
            input_tokens: row.opt_number(INPUT_TOKENS),
            output_tokens: row.opt_number(OUTPUT_TOKENS),
            counted_inputs: row.number(COUNTED_INPUTS),
            counted_outputs: row.number(COUNTED_OUTPUTS),
            total_cost: row.opt_number(TOTAL_COST),
            estimated: row.count(ESTIMATED),
            unpriced: row.number(UNPRICED),
            errors: row.number(ERRORS),
            last_seen: row.int(LAST_SEEN),
            has_root: row.int(ROOTS) > 0,
            has_non_root: row.int(NON_ROOTS) > 0,
            rows: row.count(ROWS),
            tools: row.number(TOOLS),
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
