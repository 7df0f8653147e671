//! The severity of a rule without one of its own, by type and value. WIRE 7.
//!
//! | rule | critical |
//! |---|---|
//! | new and regressed errors, no data | always |
//! | rates, latency, duration | from 2 times the threshold |
//! | counts | from 5 times the threshold |
//! | Apdex | below 0.5 |
//! | drop of throughput | from 80 % |
//! | metric, query | more than 20 % beyond the threshold |
//! | cost | from 3 times the threshold |
//! | impact | level critical |
//! | spike | from 5 times the factor |
//! | error budget | the fast pair of windows |

use super::config::{ImpactThreshold, RuleConfig};
use crate::channels::Severity;

/// The severity of a value that breaches.
pub fn automatic(config: &RuleConfig, value: f64) -> Severity {
    let times = |factor: f64| config.threshold().is_some_and(|threshold| value >= factor * threshold);
    let is_critical = match config {
        RuleConfig::NewError(_)
        | RuleConfig::ErrorRegression(_)
        | RuleConfig::NoData(_)
        | RuleConfig::CheckDown(_)
        | RuleConfig::Impact(ImpactThreshold::Critical, _) => true,
        RuleConfig::ErrorRate(_)
        | RuleConfig::EndpointErrorRate(_)
        | RuleConfig::EndpointP95(_)
        | RuleConfig::EndpointP99(_)
        | RuleConfig::TaskDuration(_)
        | RuleConfig::TaskFailureRate(_) => times(2.0),
        RuleConfig::ErrorCount(_) | RuleConfig::Drops(_) | RuleConfig::IssueSpike(_) => times(5.0),
        RuleConfig::ApdexDrop(_) => value < 0.5,
        RuleConfig::ThroughputDrop(_) => value >= 80.0,
        RuleConfig::Metric(config) => deviates(value, config.threshold_value),
        RuleConfig::Query(config) => deviates(value, config.threshold_value),
        RuleConfig::AiTraceCost(_) | RuleConfig::AiConversationCost(_) => times(3.0),
        // The measured value says it.
        RuleConfig::SloBurn(_) => value >= FAST_BURN,
        RuleConfig::Impact(..) | RuleConfig::AiFlaggedContent(_) | RuleConfig::Change(_) => false,
    };
    if is_critical { Severity::Critical } else { Severity::Warning }
}

/// Burn rate of an error budget that is spent in two days, as a multiple of the sustainable rate. SRE workbook,
/// "Alerting on SLOs".
pub const FAST_BURN: f64 = 14.4;
/// Likewise, spent in five days.
pub const SLOW_BURN: f64 = 6.0;

fn deviates(value: f64, threshold: f64) -> bool {
    (value - threshold).abs() > 0.2 * threshold.abs()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // WIRE 7: "Auto severity".
    #[test]
    fn severities_are_those_of_the_table() {
        let (warning, critical) = (Severity::Warning, Severity::Critical);
        for (rule_type, value, expected) in [
            ("new_error", 1.0, critical),
            ("error_regression", 1.0, critical),
            ("no_data", 10.0, critical),
            ("error_rate_threshold", 9.9, warning),
            ("error_rate_threshold", 10.0, critical),
            ("endpoint_error_rate", 4.0, critical),
            ("endpoint_p95_threshold", 999.0, warning),
            ("endpoint_p99_threshold", 1000.0, critical),
            ("error_count_threshold", 499.0, warning),
            ("error_count_threshold", 500.0, critical),
            ("apdex_drop", 0.5, warning),
            ("apdex_drop", 0.49, critical),
            ("throughput_drop", 79.0, warning),
            ("throughput_drop", 80.0, critical),
            ("ai_trace_cost", 1.4, warning),
            ("ai_trace_cost", 1.5, critical),
            ("impact_score_critical", 0.75, critical),
            ("impact_score_high", 0.75, warning),
            ("task_failure_rate", 20.0, critical),
            ("slo_burn", 6.5, warning),
            ("slo_burn", 14.4, critical),
            ("ai_flagged_content", 1.0, warning),
            ("change", 1.0, warning),
        ] {
            let config = RuleConfig::parse(rule_type, &json!({})).expect(rule_type);
            assert_eq!(automatic(&config, value), expected, "{rule_type} {value}");
        }
        let metric = json!({ "metricName": "cpu", "thresholdValue": 10.0 });
        let metric = RuleConfig::parse("metric_threshold", &metric).expect("right");
        assert_eq!(automatic(&metric, 12.0), warning);
        assert_eq!(automatic(&metric, 12.1), critical);
    }
}
