//! Words of the types of rules.

/// A type of rule in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleWords {
    /// Name in requests.
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Subject of the rules of this type.
    pub group: &'static str,
    /// Condition, in a sentence.
    pub about: &'static str,
}

const fn of(group: &'static str, name: &'static str, label: &'static str, about: &'static str) -> RuleWords {
    RuleWords { name, label, group, about }
}

/// The types, in the order of forms.
pub(super) const TYPES: [RuleWords; 25] = [
    of("Issues", "new_error", "New issue", "An issue occurs for the first time, or again after it was archived."),
    of("Issues", "error_regression", "Issue is back", "An issue occurs again after it was resolved or archived."),
    of("Issues", "issue_spike", "Issue spike", "An issue occurs more often than usual."),
    of(
        "Issues",
        "error_count_threshold",
        "Exceptions",
        "Exceptions of all issues reach a number. Captured messages are not counted.",
    ),
    of(
        "Endpoints",
        "error_rate_threshold",
        "Error rate",
        "The share of the project's requests with a status of 500 and above.",
    ),
    of(
        "Endpoints",
        "endpoint_error_rate",
        "Error rate of an endpoint",
        "The share of an endpoint's requests with a status of 500 and above.",
    ),
    of(
        "Endpoints",
        "endpoint_p95_threshold",
        "P95 of an endpoint",
        "The P95 of an endpoint's durations reaches a threshold.",
    ),
    of(
        "Endpoints",
        "endpoint_p99_threshold",
        "P99 of an endpoint",
        "The P99 of an endpoint's durations reaches a threshold.",
    ),
    of("Endpoints", "apdex_drop", "Apdex drops", "The Apdex of the project falls below a threshold (750 and 1500 ms)."),
    of("Endpoints", "throughput_drop", "Throughput drops", "The project gets fewer requests than just before."),
    of(
        "Endpoints",
        "impact_score_critical",
        "Impact becomes critical",
        "The impact of an endpoint over 24 hours rises to 0.75 or more. It fires when the level changes only.",
    ),
    of(
        "Endpoints",
        "impact_score_high",
        "Impact becomes high",
        "The impact of an endpoint over 24 hours rises to 0.50 or more. It fires when the level changes only.",
    ),
    of(
        "Endpoints",
        "impact_score_medium",
        "Impact becomes medium",
        "The impact of an endpoint over 24 hours rises to 0.25 or more. It fires when the level changes only.",
    ),
    of(
        "Endpoints",
        "slo_burn",
        "Error budget burns",
        "An objective is missed fast: 14.4 times the sustainable rate over 1 hour and 5 minutes, or 6 times over 6 hours and 30 minutes.",
    ),
    of("Tasks", "task_failure_rate", "Failure rate of a task", "The failed share of a task's runs."),
    of("Tasks", "task_duration_threshold", "Duration of a task", "The P95 of a task's durations reaches a threshold."),
    of("AI", "ai_trace_cost", "Cost of an AI call", "One AI call costs as much as a threshold."),
    of(
        "AI",
        "ai_conversation_cost",
        "Cost of a conversation",
        "The calls of a conversation in 24 hours cost as much as a threshold.",
    ),
    of("AI", "ai_flagged_content", "Flagged content", "An AI call has a term of the project's word lists."),
    of("Anything", "metric_threshold", "Metric", "A metric is beyond a threshold. Without points it does not fire."),
    of(
        "Anything",
        "query_threshold",
        "Search",
        "The rows that a search finds, or a metric with tags, are beyond a threshold for some minutes.",
    ),
    of(
        "Anything",
        "change",
        "Change for the worse",
        "What the Overview lists under changes: slower, failing, silent or dearer than before.",
    ),
    of("Anything", "no_data", "No data", "The project has sent data before and is silent."),
    of("Anything", "drops", "Data is refused", "The server refuses requests of the project or drops its records."),
    of("Anything", "check_down", "Monitor is down", "A monitor of the project is down, and when it is up again."),
];

/// The types in words, in the order of forms.
pub fn words() -> &'static [RuleWords] {
    &TYPES
}
