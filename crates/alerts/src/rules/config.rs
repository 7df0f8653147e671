//! The types of rules and their configurations. WIRE 7.
//!
//! Absent keys have their default; an unknown key or a value out of bounds is an error for the user.

mod bounds;
mod fields;
mod keys;
mod values;
mod words;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::fields::{self as described, ConfigField};
use keys::Keys;
pub use keys::*;
pub use values::*;
use words::TYPES;
pub use words::{RuleWords, words};

/// A rule's type and its configuration.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the configurations are documented")]
pub enum RuleConfig {
    NewError(NewError),
    ErrorRegression(ErrorRegression),
    ErrorRate(ErrorRate),
    ErrorCount(ErrorCount),
    EndpointErrorRate(EndpointErrorRate),
    EndpointP95(EndpointLatency),
    EndpointP99(EndpointLatency),
    ApdexDrop(ApdexDrop),
    ThroughputDrop(ThroughputDrop),
    Impact(ImpactThreshold, ImpactScore),
    TaskDuration(TaskDuration),
    TaskFailureRate(TaskFailureRate),
    Metric(MetricThreshold),
    NoData(NoData),
    AiTraceCost(AiTraceCost),
    AiConversationCost(AiConversationCost),
    AiFlaggedContent(AiFlaggedContent),
    CheckDown(CheckDown),
    Query(QueryThreshold),
    Change(ChangeFound),
    IssueSpike(IssueSpike),
    SloBurn(SloBurn),
    Drops(Drops),
}

/// When a rule is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// When data arrives.
    Arrival,
    /// Periodically.
    Poll,
    /// When a monitor changes its state; not here.
    Monitor,
}

impl RuleConfig {
    /// Every type of rule, in the order of forms.
    pub const TYPES: [&str; TYPES.len()] = {
        let mut names = [""; TYPES.len()];
        let mut index = 0;
        while index < names.len() {
            names[index] = TYPES[index].name;
            index += 1;
        }
        names
    };

    /// The types whose trigger is [`Trigger::Arrival`].
    pub const ARRIVAL_TYPES: [&str; 5] =
        ["new_error", "error_regression", "ai_trace_cost", "ai_conversation_cost", "ai_flagged_content"];

    /// Parses and checks a configuration; null has every default. The error is a sentence for the user.
    pub fn parse(rule_type: &str, config: &Value) -> Result<RuleConfig, String> {
        let parsed = RuleConfig::stored(rule_type, config)?;
        described::check(&parsed.keys().fields(), &parsed.to_value())?;
        Ok(parsed)
    }

    /// Parses a stored configuration. The bounds of its fields were checked when it was stored: a release with other
    /// bounds still evaluates the rule.
    pub fn stored(rule_type: &str, config: &Value) -> Result<RuleConfig, String> {
        let parsed = RuleConfig::read(rule_type, config)?;
        match &parsed {
            RuleConfig::Query(config) => bounds::query(config)?,
            RuleConfig::IssueSpike(config) => bounds::issue_spike(config)?,
            _ => {}
        }
        Ok(parsed)
    }

    /// Parses a configuration without a check of its values.
    fn read(rule_type: &str, config: &Value) -> Result<RuleConfig, String> {
        fn of<T: DeserializeOwned>(config: &Value) -> Result<T, String> {
            let config = if config.is_null() { Value::Object(serde_json::Map::new()) } else { config.clone() };
            serde_json::from_value(config).map_err(|error| format!("config: {error}"))
        }
        Ok(match rule_type {
            "new_error" => RuleConfig::NewError(of(config)?),
            "error_regression" => RuleConfig::ErrorRegression(of(config)?),
            "error_rate_threshold" => RuleConfig::ErrorRate(of(config)?),
            "error_count_threshold" => RuleConfig::ErrorCount(of(config)?),
            "endpoint_error_rate" => RuleConfig::EndpointErrorRate(of(config)?),
            "endpoint_p95_threshold" => RuleConfig::EndpointP95(of(config)?),
            "endpoint_p99_threshold" => RuleConfig::EndpointP99(of(config)?),
            "apdex_drop" => RuleConfig::ApdexDrop(of(config)?),
            "throughput_drop" => RuleConfig::ThroughputDrop(of(config)?),
            "impact_score_critical" => RuleConfig::Impact(ImpactThreshold::Critical, of(config)?),
            "impact_score_high" => RuleConfig::Impact(ImpactThreshold::High, of(config)?),
            "impact_score_medium" => RuleConfig::Impact(ImpactThreshold::Medium, of(config)?),
            "task_duration_threshold" => RuleConfig::TaskDuration(of(config)?),
            "task_failure_rate" => RuleConfig::TaskFailureRate(of(config)?),
            "metric_threshold" => RuleConfig::Metric(of(config)?),
            "no_data" => RuleConfig::NoData(of(config)?),
            "ai_trace_cost" => RuleConfig::AiTraceCost(of(config)?),
            "ai_conversation_cost" => RuleConfig::AiConversationCost(of(config)?),
            "ai_flagged_content" => RuleConfig::AiFlaggedContent(of(config)?),
            "check_down" => RuleConfig::CheckDown(of(config)?),
            "query_threshold" => RuleConfig::Query(of(config)?),
            "change" => RuleConfig::Change(of(config)?),
            "issue_spike" => RuleConfig::IssueSpike(of(config)?),
            "slo_burn" => RuleConfig::SloBurn(of(config)?),
            "drops" => RuleConfig::Drops(of(config)?),
            other => return Err(format!("ruleType {other} is unknown")),
        })
    }

    /// The fields of a type with their defaults.
    pub fn fields(rule_type: &str) -> Result<Vec<ConfigField>, String> {
        let defaults = RuleConfig::read(rule_type, &Value::Null)?;
        Ok(described::with_defaults(defaults.keys().fields(), &defaults.to_value()))
    }

    /// The configuration with every key, for storage.
    pub fn to_value(&self) -> Value {
        self.keys().to_value()
    }

    fn keys(&self) -> &dyn Keys {
        match self {
            RuleConfig::NewError(config) => config,
            RuleConfig::ErrorRegression(config) => config,
            RuleConfig::ErrorRate(config) => config,
            RuleConfig::ErrorCount(config) => config,
            RuleConfig::EndpointErrorRate(config) => config,
            RuleConfig::EndpointP95(config) | RuleConfig::EndpointP99(config) => config,
            RuleConfig::ApdexDrop(config) => config,
            RuleConfig::ThroughputDrop(config) => config,
            RuleConfig::Impact(_, config) => config,
            RuleConfig::TaskDuration(config) => config,
            RuleConfig::TaskFailureRate(config) => config,
            RuleConfig::Metric(config) => config,
            RuleConfig::NoData(config) => config,
            RuleConfig::AiTraceCost(config) => config,
            RuleConfig::AiConversationCost(config) => config,
            RuleConfig::AiFlaggedContent(config) => config,
            RuleConfig::CheckDown(config) => config,
            RuleConfig::Query(config) => config,
            RuleConfig::Change(config) => config,
            RuleConfig::IssueSpike(config) => config,
            RuleConfig::SloBurn(config) => config,
            RuleConfig::Drops(config) => config,
        }
    }

    /// When the rule is evaluated.
    pub fn trigger(&self) -> Trigger {
        match self {
            RuleConfig::NewError(_)
            | RuleConfig::ErrorRegression(_)
            | RuleConfig::AiTraceCost(_)
            | RuleConfig::AiConversationCost(_)
            | RuleConfig::AiFlaggedContent(_) => Trigger::Arrival,
            RuleConfig::CheckDown(_) => Trigger::Monitor,
            _ => Trigger::Poll,
        }
    }

    /// Minutes that one evaluation measures.
    pub fn lookback_minutes(&self) -> i64 {
        match self {
            RuleConfig::ErrorRate(config) => config.lookback_minutes,
            RuleConfig::ErrorCount(config) => config.lookback_minutes,
            RuleConfig::EndpointErrorRate(config) => config.lookback_minutes,
            RuleConfig::EndpointP95(config) | RuleConfig::EndpointP99(config) => config.lookback_minutes,
            RuleConfig::ApdexDrop(config) => config.lookback_minutes,
            RuleConfig::ThroughputDrop(config) => config.lookback_minutes,
            RuleConfig::Impact(..) => 24 * 60,
            RuleConfig::TaskDuration(config) => config.lookback_minutes,
            RuleConfig::TaskFailureRate(config) => config.lookback_minutes,
            RuleConfig::Metric(config) => config.lookback_minutes,
            RuleConfig::NoData(config) => config.silence_minutes,
            RuleConfig::Query(config) => config.lookback_minutes,
            RuleConfig::IssueSpike(config) => config.lookback_minutes,
            RuleConfig::Drops(config) => config.lookback_minutes,
            RuleConfig::SloBurn(_) => 5,
            RuleConfig::Change(_)
            | RuleConfig::NewError(_)
            | RuleConfig::ErrorRegression(_)
            | RuleConfig::AiTraceCost(_)
            | RuleConfig::AiConversationCost(_)
            | RuleConfig::AiFlaggedContent(_)
            | RuleConfig::CheckDown(_) => 60,
        }
    }

    /// Whether the rule fires because something is missing: a server that was down, or whose clock jumped, misses it
    /// too.
    pub fn is_of_absence(&self) -> bool {
        matches!(self, RuleConfig::NoData(_) | RuleConfig::ThroughputDrop(_))
    }

    /// Minutes for which the condition is true before the rule fires.
    pub fn for_minutes(&self) -> i64 {
        if let RuleConfig::Query(config) = self { config.for_minutes } else { 0 }
    }

    /// The value beyond which the rule fires, in the unit of its values; `None` for rules without one.
    pub fn threshold(&self) -> Option<f64> {
        Some(match self {
            RuleConfig::ErrorRate(config) => config.threshold_percent,
            RuleConfig::ErrorCount(config) => config.threshold_count,
            RuleConfig::EndpointErrorRate(config) => config.threshold_percent,
            RuleConfig::EndpointP95(config) | RuleConfig::EndpointP99(config) => config.threshold_ms,
            RuleConfig::ApdexDrop(config) => config.threshold_apdex,
            RuleConfig::ThroughputDrop(config) => config.drop_percent,
            RuleConfig::Impact(level, _) => level.score(),
            RuleConfig::TaskDuration(config) => config.threshold_ms,
            RuleConfig::TaskFailureRate(config) => config.threshold_percent,
            RuleConfig::Metric(config) => config.threshold_value,
            RuleConfig::NoData(config) => config.silence_minutes as f64,
            RuleConfig::AiTraceCost(config) => config.threshold_cost,
            RuleConfig::AiConversationCost(config) => config.threshold_cost,
            RuleConfig::Query(config) => config.threshold_value,
            RuleConfig::IssueSpike(config) => config.factor,
            RuleConfig::SloBurn(_) => 1.0,
            RuleConfig::Drops(config) => config.threshold_count,
            RuleConfig::NewError(_)
            | RuleConfig::ErrorRegression(_)
            | RuleConfig::AiFlaggedContent(_)
            | RuleConfig::CheckDown(_)
            | RuleConfig::Change(_) => return None,
        })
    }

    /// The unit of the values: `%`, `ms`, `min`, `USD`, `x`, or empty.
    pub fn unit(&self) -> &'static str {
        match self {
            RuleConfig::ErrorRate(_)
            | RuleConfig::EndpointErrorRate(_)
            | RuleConfig::ThroughputDrop(_)
            | RuleConfig::TaskFailureRate(_) => "%",
            RuleConfig::EndpointP95(_) | RuleConfig::EndpointP99(_) | RuleConfig::TaskDuration(_) => "ms",
            RuleConfig::NoData(_) => "min",
            RuleConfig::AiTraceCost(_) | RuleConfig::AiConversationCost(_) => "USD",
            RuleConfig::IssueSpike(_) | RuleConfig::SloBurn(_) => "x",
            RuleConfig::Query(config) if config.rows.is_some() => match config.measure {
                QueryMeasure::Count => "",
                QueryMeasure::ErrorRate => "%",
                QueryMeasure::P50 | QueryMeasure::P95 | QueryMeasure::P99 => "ms",
            },
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests;
