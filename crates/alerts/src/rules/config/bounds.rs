//! Bounds of the values of configurations.

use tidewatch_query::time_windows;
use tidewatch_query::views::metrics::Aggregation;

use super::{QueryMeasure, QueryThreshold, RuleConfig};

/// Minutes that a rule may measure: a day.
const LOOKBACK_MAX: i64 = 24 * 60;
/// Patterns, terms and ids of one rule.
const LIST_MAX: usize = 100;
/// Characters of a name or a pattern.
const NAME_MAX: usize = 500;

/// The first value that is out of bounds, as a sentence.
pub(super) fn check(config: &RuleConfig) -> Result<(), String> {
    match config {
        RuleConfig::NewError(config) => strings("ignorePatterns", &config.ignore_patterns),
        RuleConfig::ErrorRegression(_) => Ok(()),
        RuleConfig::ErrorRate(config) => {
            percent("thresholdPercent", config.threshold_percent)?;
            lookback(config.lookback_minutes)?;
            count("minRequests", config.min_requests)
        }
        RuleConfig::ErrorCount(config) => {
            positive("thresholdCount", config.threshold_count)?;
            lookback(config.lookback_minutes)
        }
        RuleConfig::EndpointErrorRate(config) => {
            name("endpoint", &config.endpoint)?;
            percent("thresholdPercent", config.threshold_percent)?;
            lookback(config.lookback_minutes)?;
            count("minRequests", config.min_requests)
        }
        RuleConfig::EndpointP95(config) | RuleConfig::EndpointP99(config) => {
            name("endpoint", &config.endpoint)?;
            positive("thresholdMs", config.threshold_ms)?;
            lookback(config.lookback_minutes)
        }
        RuleConfig::ApdexDrop(config) => {
            within("thresholdApdex", config.threshold_apdex, 0.0, 1.0)?;
            lookback(config.lookback_minutes)?;
            count("minRequests", config.min_requests)
        }
        RuleConfig::ThroughputDrop(config) => {
            percent("dropPercent", config.drop_percent)?;
            lookback(config.lookback_minutes)?;
            minutes("baselineMinutes", config.baseline_minutes, 1, 7 * LOOKBACK_MAX)
        }
        RuleConfig::Impact(_, config) => count("minRequests", config.min_requests),
        RuleConfig::TaskDuration(config) => {
            name("taskName", &config.task_name)?;
            positive("thresholdMs", config.threshold_ms)?;
            lookback(config.lookback_minutes)
        }
        RuleConfig::TaskFailureRate(config) => {
            name("taskName", &config.task_name)?;
            percent("thresholdPercent", config.threshold_percent)?;
            lookback(config.lookback_minutes)?;
            count("minExecutions", config.min_executions)
        }
        RuleConfig::Metric(config) => {
            name("metricName", &config.metric_name)?;
            finite("thresholdValue", config.threshold_value)?;
            let of_table = [
                Aggregation::Avg,
                Aggregation::Max,
                Aggregation::Min,
                Aggregation::Sum,
                Aggregation::P95,
                Aggregation::P99,
                Aggregation::Last,
            ];
            if !of_table.contains(&config.aggregation) {
                return Err("aggregation is avg, max, min, sum, p95, p99 or last".to_owned());
            }
            lookback(config.lookback_minutes)
        }
        RuleConfig::NoData(config) => minutes("silenceMinutes", config.silence_minutes, 1, LOOKBACK_MAX),
        RuleConfig::AiTraceCost(config) => {
            name("traceName", &config.trace_name)?;
            positive("thresholdCost", config.threshold_cost)
        }
        RuleConfig::AiConversationCost(config) => positive("thresholdCost", config.threshold_cost),
        RuleConfig::AiFlaggedContent(config) => strings("terms", &config.terms),
        RuleConfig::CheckDown(config) if config.check_ids.len() > LIST_MAX => {
            Err(format!("checkIds has at most {LIST_MAX} ids"))
        }
        RuleConfig::CheckDown(_) => Ok(()),
        RuleConfig::Query(config) => query(config),
        RuleConfig::Change(config) => name("name", &config.name),
        RuleConfig::IssueSpike(config) => {
            if config.exception_hash != "*" {
                tidewatch_query::ids::parse_hash(&config.exception_hash).map_err(|error| error.to_string())?;
            }
            within("factor", config.factor, 1.0, 1e6)?;
            positive("minCount", config.min_count)?;
            lookback(config.lookback_minutes)?;
            minutes("baselineHours", config.baseline_hours, 1, 7 * 24)
        }
        RuleConfig::SloBurn(config) => {
            name("name", &config.name)?;
            within("objectivePercent", config.objective_percent, 50.0, 99.999)?;
            count("minRequests", config.min_requests)
        }
        RuleConfig::Drops(config) => {
            positive("thresholdCount", config.threshold_count)?;
            lookback(config.lookback_minutes)
        }
    }
}

fn query(config: &QueryThreshold) -> Result<(), String> {
    match config.rows {
        Some(kind) => {
            time_windows::parsed_query(kind, &config.query).map_err(|error| error.to_string())?;
            let table = kind.table();
            let has = |column: &str| table.columns().iter().any(|one| one.name == column);
            let is_known = match config.measure {
                QueryMeasure::Count => true,
                QueryMeasure::ErrorRate => has("is_error"),
                QueryMeasure::P50 | QueryMeasure::P95 | QueryMeasure::P99 => has("duration"),
            };
            if !is_known {
                return Err(format!("{} have no such measure", kind.noun()));
            }
        }
        None => {
            name("metricName", &config.metric_name)?;
            if config.tag_filters.len() > tidewatch_limits::METRICS_TAG_FILTERS_MAX {
                return Err(format!("tagFilters has at most {} tags", tidewatch_limits::METRICS_TAG_FILTERS_MAX));
            }
        }
    }
    finite("thresholdValue", config.threshold_value)?;
    lookback(config.lookback_minutes)?;
    minutes("forMinutes", config.for_minutes, 0, LOOKBACK_MAX)
}

fn finite(key: &str, value: f64) -> Result<(), String> {
    if value.is_finite() { Ok(()) } else { Err(format!("{key} is no number")) }
}

fn within(key: &str, value: f64, least: f64, most: f64) -> Result<(), String> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(format!("{key} is {least} to {most}")) }
}

fn positive(key: &str, value: f64) -> Result<(), String> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(format!("{key} is above 0")) }
}

fn count(key: &str, value: f64) -> Result<(), String> {
    within(key, value, 0.0, 1e12)
}

fn percent(key: &str, value: f64) -> Result<(), String> {
    if value > 0.0 { within(key, value, 0.0, 100.0) } else { Err(format!("{key} is above 0 and at most 100")) }
}

fn minutes(key: &str, value: i64, least: i64, most: i64) -> Result<(), String> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(format!("{key} is {least} to {most}")) }
}

fn lookback(value: i64) -> Result<(), String> {
    minutes("lookbackMinutes", value, 1, LOOKBACK_MAX)
}

fn name(key: &str, value: &str) -> Result<(), String> {
    let characters = value.chars().count();
    if (1..=NAME_MAX).contains(&characters) { Ok(()) } else { Err(format!("{key} has 1 to {NAME_MAX} characters")) }
}

fn strings(key: &str, values: &[String]) -> Result<(), String> {
    if values.len() > LIST_MAX {
        return Err(format!("{key} has at most {LIST_MAX} strings"));
    }
    values.iter().try_for_each(|value| name(&format!("a string of {key}"), value))
}
