use serde_json::json;

use super::*;

// WIRE 7: keys and defaults of each type.
#[test]
fn absent_keys_have_the_defaults_of_the_table() {
    for (rule_type, expected) in [
        ("new_error", json!({ "ignorePatterns": [] })),
        ("error_regression", json!({})),
        ("error_rate_threshold", json!({ "thresholdPercent": 5.0, "lookbackMinutes": 5, "minRequests": 10.0 })),
        ("error_count_threshold", json!({ "thresholdCount": 100.0, "lookbackMinutes": 60 })),
        (
            "endpoint_error_rate",
            json!({ "endpoint": "*", "thresholdPercent": 2.0, "lookbackMinutes": 10, "minRequests": 20.0 }),
        ),
        ("endpoint_p95_threshold", json!({ "endpoint": "*", "thresholdMs": 500.0, "lookbackMinutes": 5 })),
        ("endpoint_p99_threshold", json!({ "endpoint": "*", "thresholdMs": 500.0, "lookbackMinutes": 5 })),
        ("apdex_drop", json!({ "thresholdApdex": 0.85, "lookbackMinutes": 15, "minRequests": 50.0 })),
        ("throughput_drop", json!({ "dropPercent": 50.0, "lookbackMinutes": 15, "baselineMinutes": 60 })),
        ("impact_score_high", json!({ "minRequests": 50.0 })),
        ("task_duration_threshold", json!({ "taskName": "*", "thresholdMs": 30000.0, "lookbackMinutes": 30 })),
        (
            "task_failure_rate",
            json!({ "taskName": "*", "thresholdPercent": 10.0, "lookbackMinutes": 60, "minExecutions": 5.0 }),
        ),
        ("no_data", json!({ "dataType": "any", "silenceMinutes": 10 })),
        ("ai_trace_cost", json!({ "traceName": "*", "thresholdCost": 0.5 })),
        ("ai_flagged_content", json!({ "terms": [] })),
        ("drops", json!({ "thresholdCount": 1.0, "lookbackMinutes": 5 })),
    ] {
        for absent in [json!({}), Value::Null] {
            let config = RuleConfig::parse(rule_type, &absent).expect(rule_type);
            assert_eq!(config.to_value(), expected, "{rule_type}");
            assert_eq!(RuleConfig::parse(rule_type, &expected), Ok(config), "{rule_type}");
        }
    }
}

#[test]
fn every_type_is_parsed_and_prints_itself() {
    for rule_type in RuleConfig::TYPES {
        let config = match rule_type {
            "metric_threshold" => json!({ "metricName": "cpu" }),
            "query_threshold" => json!({ "rows": "log", "query": "level:error" }),
            _ => json!({}),
        };
        let parsed = RuleConfig::parse(rule_type, &config).expect(rule_type);
        assert_eq!(parsed.trigger() == Trigger::Arrival, RuleConfig::ARRIVAL_TYPES.contains(&rule_type), "{rule_type}");
        assert_eq!(RuleConfig::parse(rule_type, &parsed.to_value()), Ok(parsed), "{rule_type}");
    }
}

#[test]
fn wrong_configurations_are_refused_with_a_sentence() {
    for (rule_type, config, expected) in [
        ("unknown", json!({}), "ruleType unknown is unknown"),
        ("no_data", json!([1]), "config: "),
        ("no_data", json!({ "silence": 3 }), "config: unknown field"),
        ("no_data", json!({ "silenceMinutes": 0 }), "silenceMinutes is 1 to 1440"),
        ("no_data", json!({ "dataType": "logs" }), "config: unknown variant"),
        ("error_rate_threshold", json!({ "thresholdPercent": 101 }), "thresholdPercent is above 0 and at most 100"),
        ("error_rate_threshold", json!({ "thresholdPercent": 0 }), "thresholdPercent is above 0"),
        ("error_rate_threshold", json!({ "thresholdPercent": "5" }), "config: invalid type"),
        ("error_rate_threshold", json!({ "lookbackMinutes": 1441 }), "lookbackMinutes is 1 to 1440"),
        ("metric_threshold", json!({}), "metricName has 1 to 500 characters"),
        ("metric_threshold", json!({ "metricName": "a", "aggregation": "rate" }), "aggregation is avg"),
        ("metric_threshold", json!({ "metricName": "a", "operator": "ne" }), "config: unknown variant"),
        ("query_threshold", json!({}), "metricName has"),
        ("query_threshold", json!({ "rows": "log", "query": "level:" }), "the query is wrong"),
        ("query_threshold", json!({ "rows": "log", "measure": "p95" }), "log records have no such measure"),
        ("issue_spike", json!({ "exceptionHash": "xyz" }), ""),
        ("slo_burn", json!({ "objectivePercent": 100 }), "objectivePercent is 50 to 99.999"),
        ("apdex_drop", json!({ "thresholdApdex": 1.5 }), "thresholdApdex is 0 to 1"),
        ("new_error", json!({ "ignorePatterns": [""] }), "an entry of ignorePatterns has 1 to 500"),
    ] {
        let error = RuleConfig::parse(rule_type, &config).expect_err(rule_type);
        assert!(error.starts_with(expected), "{rule_type} {config}: {error}");
    }
}

#[test]
fn names_and_titles_match_patterns() {
    for (pattern, name, expected) in [
        ("*", "GET /cart", true),
        ("GET /cart", "GET /cart", true),
        ("GET /cart", "GET /carts", false),
        ("GET *", "GET /cart", true),
        ("* /cart*", "POST /cart/1", true),
        ("POST *", "GET /cart", false),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
    let rule = NewError { ignore_patterns: vec!["timeout".to_owned(), "AbortError: *".to_owned()] };
    for (title, expected) in [
        ("SocketTimeout: it took too long", true),
        ("AbortError: the user left", true),
        ("Error: AbortError", false),
        ("TypeError: x is null", false),
    ] {
        assert_eq!(rule.ignores(title), expected, "{title}");
    }
}

#[test]
fn stored_rules_outlast_a_change_of_bounds() {
    let config = json!({ "metricName": " ", "thresholdValue": 1.0 });
    assert!(RuleConfig::parse("metric_threshold", &config).is_err());
    assert!(RuleConfig::stored("metric_threshold", &config).is_ok());
}
