//! Metrics of AI Traces: tokens and costs, which are absent rather than zero. DECISIONS 12.

use tidewatch_store::plan::{Aggregate, Filter, Function};

use super::answer::Row;
use super::filters;

/// Metrics that only AI Traces have. Counts and sums are weighted; sums are `None` when no row has a value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AiMetrics {
    /// Sum of all tokens.
    pub total_tokens: Option<f64>,
    /// Sum of input tokens.
    pub input_tokens: Option<f64>,
    /// Sum of output tokens.
    pub output_tokens: Option<f64>,
    /// Rows with a number of input tokens.
    pub counted_inputs: f64,
    /// Rows with a number of output tokens.
    pub counted_outputs: f64,
    /// Sum of costs, US dollars.
    pub total_cost: Option<f64>,
    /// Number of stored rows whose cost comes from the price table, unweighted.
    pub estimated: u64,
    /// Number of model calls without a cost.
    pub unpriced: f64,
    /// Number of tool runs.
    pub tools: f64,
}

/// Output columns of [`aggregates`].
const TOTAL_TOKENS: &str = "total_tokens";
const INPUT_TOKENS: &str = "input_tokens";
const OUTPUT_TOKENS: &str = "output_tokens";
const COUNTED_INPUTS: &str = "counted_inputs";
const COUNTED_OUTPUTS: &str = "counted_outputs";
const TOTAL_COST: &str = "total_cost";
const ESTIMATED: &str = "estimated";
const UNPRICED: &str = "unpriced";
const TOOLS: &str = "tools";

/// Rows that are tool runs. OpenTelemetry: `gen_ai.operation.name`.
pub fn tool_runs() -> Filter {
    filters::text("operation", "execute_tool")
}

/// Rows that are not tool runs.
pub fn model_calls() -> Filter {
    filters::not(tool_runs())
}

/// The aggregates that [`AiMetrics::read`] reads.
pub fn aggregates() -> Vec<Aggregate> {
    let present = |column| filters::not(Filter::IsNull { column });
    vec![
        Function::Sum("total_tokens").named(TOTAL_TOKENS).only(present("total_tokens")),
        Function::Sum("input_tokens").named(INPUT_TOKENS).only(present("input_tokens")),
        Function::Sum("output_tokens").named(OUTPUT_TOKENS).only(present("output_tokens")),
        Function::Weight.named(COUNTED_INPUTS).only(present("input_tokens")),
        Function::Weight.named(COUNTED_OUTPUTS).only(present("output_tokens")),
        Function::Sum("total_cost").named(TOTAL_COST).only(present("total_cost")),
        Function::Count.named(ESTIMATED).only(filters::is("cost_estimated").and(present("total_cost"))),
        Function::Weight.named(UNPRICED).only(model_calls().and(Filter::IsNull { column: "total_cost" })),
        Function::Weight.named(TOOLS).only(tool_runs()),
    ]
}

impl AiMetrics {
    /// Reads the outputs of [`aggregates`].
    pub fn read(row: Row<'_>) -> AiMetrics {
        AiMetrics {
            total_tokens: row.opt_number(TOTAL_TOKENS),
            input_tokens: row.opt_number(INPUT_TOKENS),
            output_tokens: row.opt_number(OUTPUT_TOKENS),
            counted_inputs: row.number(COUNTED_INPUTS),
            counted_outputs: row.number(COUNTED_OUTPUTS),
            total_cost: row.opt_number(TOTAL_COST),
            estimated: row.count(ESTIMATED),
            unpriced: row.number(UNPRICED),
            tools: row.number(TOOLS),
        }
    }
}
