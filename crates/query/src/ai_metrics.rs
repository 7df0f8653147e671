//! Metrics of AI Traces: tokens and costs, which are absent rather than zero. DECISIONS 12.

use tidewatch_domain::units::MINUTE_NS;
use tidewatch_store::plan::{Aggregate, Filter, Function};

use super::answer::Row;
use super::chart::{Lines, Point};
use super::executor::Executor;
use super::filters;
use super::plans;
use super::time::{Buckets, Range, effective_minutes};
use crate::error::QueryError;
use tidewatch_limits as limits;
use tidewatch_store::tables::Table;

/// Metrics that only AI Traces have, of counted rows. Counts and sums are weighted; sums are `None` when no row has a
/// value.
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

const CACHED_TOKENS: &str = "cached_tokens";
const REASONING_TOKENS: &str = "reasoning_tokens";

/// Rows that are tool runs. OpenTelemetry: `gen_ai.operation.name`.
pub fn tool_runs() -> Filter {
    filters::text("operation", "execute_tool")
}

/// Rows that are not tool runs.
pub fn model_calls() -> Filter {
    filters::not(tool_runs())
}

/// Rows whose usage repeats that of no other row. All sums are over these. DECISIONS 32.
pub fn counted() -> Filter {
    Filter::IsNull { column: "repeats_usage" }
}

/// Counted rows with a value in a column.
pub fn counted_with(column: &'static str) -> Filter {
    filters::not(Filter::IsNull { column }).and(counted())
}

/// Sums of tokens that are included in those of input and output. Roll-ups do not have them.
pub fn parts_of_tokens() -> [Aggregate; 2] {
    [CACHED_TOKENS, REASONING_TOKENS].map(|column| Function::Sum(column).named(column).only(counted_with(column)))
}

/// Reads the outputs of [`parts_of_tokens`]: cached input tokens, output tokens of reasoning.
pub fn read_parts_of_tokens(row: Row<'_>) -> [Option<f64>; 2] {
    [row.opt_number(CACHED_TOKENS), row.opt_number(REASONING_TOKENS)]
}

/// A sum of tokens as a whole number.
pub fn tokens(sum: Option<f64>) -> Option<i64> {
    sum.map(|sum| sum.round() as i64)
}

/// Names of the lines of [`token_kinds`].
const KINDS: [&str; 4] = ["input", "cached", "output", "reasoning"];

/// A chart of tokens with a line for each kind that has any. No token is in two lines.
pub async fn token_kinds(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
    interval_minutes: Option<i64>,
) -> Result<Lines, QueryError> {
    let interval_minutes = effective_minutes(interval_minutes, range, limits::METRICS_POINTS_MAX);
    let buckets = Buckets::over(range, interval_minutes * MINUTE_NS);
    let sums =
        [INPUT_TOKENS, OUTPUT_TOKENS].map(|column| Function::Sum(column).named(column).only(counted_with(column)));
    let aggregates = sums.into_iter().chain(parts_of_tokens()).collect();
    let keys = vec![plans::bucket(&buckets)];
    let answer = executor.run(plans::groups(Table::AiTraces, &[project], range, filter, keys, aggregates)).await?;
    let mut points = Vec::new();
    for row in answer.rows() {
        let [cached, reasoning] = read_parts_of_tokens(row).map(|sum| sum.unwrap_or(0.0));
        // Some SDKs do not include cached tokens in those of the input.
        let input = (row.opt_number(INPUT_TOKENS).unwrap_or(0.0) - cached).max(0.0);
        let output = (row.opt_number(OUTPUT_TOKENS).unwrap_or(0.0) - reasoning).max(0.0);
        let values = KINDS.into_iter().zip([input, cached, output, reasoning]).filter(|(_, value)| *value > 0.0);
        let start = row.int(plans::BUCKET);
        points.extend(values.map(|(kind, value)| Point { start, name: kind.to_owned(), value }));
    }
    points.sort_by_key(|point| point.start);
    let names = KINDS.into_iter().filter(|kind| points.iter().any(|point| point.name == **kind));
    Ok(Lines { names: names.map(str::to_owned).collect(), points, interval_minutes })
}

/// The aggregates that [`AiMetrics::read`] reads.
pub fn aggregates() -> Vec<Aggregate> {
    vec![
        Function::Sum("total_tokens").named(TOTAL_TOKENS).only(counted_with("total_tokens")),
        Function::Sum("input_tokens").named(INPUT_TOKENS).only(counted_with("input_tokens")),
        Function::Sum("output_tokens").named(OUTPUT_TOKENS).only(counted_with("output_tokens")),
        Function::Weight.named(COUNTED_INPUTS).only(counted_with("input_tokens")),
        Function::Weight.named(COUNTED_OUTPUTS).only(counted_with("output_tokens")),
        Function::Sum("total_cost").named(TOTAL_COST).only(counted_with("total_cost")),
        Function::Count.named(ESTIMATED).only(filters::is("cost_estimated").and(counted_with("total_cost"))),
        Function::Weight
            .named(UNPRICED)
            .only(model_calls().and(Filter::IsNull { column: "total_cost" }).and(counted())),
        Function::Weight.named(TOOLS).only(tool_runs().and(counted())),
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
