//! AI Traces by model, provider, user, prompt, service and conversation, and tokens by kind, over the API.

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{CLIENT, Made, column, made};

fn call(id: u64, model: &str, provider: &str) -> Made {
    made(id, id, CLIENT, "chat", id as f64, 100.0)
        .with("gen_ai.request.model", model)
        .with("gen_ai.provider.name", provider)
        .with("gen_ai.operation.name", "chat")
}

/// Three calls of two models, by two users in two conversations, and one call without any of that.
async fn assistants() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let spans = [
        call(1, "large", "acme")
            .with("gen_ai.prompt.name", "support")
            .with("user.id", "ann")
            .with("gen_ai.conversation.id", "talk-1")
            .with_int("gen_ai.usage.input_tokens", 100)
            .with_int("gen_ai.usage.cache_read.input_tokens", 60)
            .with_int("gen_ai.usage.output_tokens", 30)
            .with_int("gen_ai.usage.reasoning.output_tokens", 10)
            .with("gen_ai.usage.total_cost", "0.5"),
        call(2, "small", "acme")
            .with("gen_ai.prompt.name", "title")
            .with("enduser.id", "ann")
            .with("gen_ai.conversation.id", "talk-1")
            .with_int("gen_ai.usage.input_tokens", 20)
            .with("gen_ai.usage.total_cost", "0.25"),
        call(3, "large", "basic")
            .with("gen_ai.prompt.name", "support")
            .with("user.id", "bob")
            .with("gen_ai.conversation.id", "talk-2")
            .with("gen_ai.usage.total_cost", "1")
            .failed(),
        made(4, 4, CLIENT, "chat", 4.0, 100.0).with("gen_ai.operation.name", "chat"),
    ];
    harness.send(&project, &spans).await;
    (harness, project)
}

async fn groups(harness: &Harness, project: &Project, by: &str) -> Value {
    let body = json!({ "groupBy": by, "orderBy": "trace_name", "sortDirection": "asc" });
    harness.query_json(project, "/api/ai-traces/grouped", body).await
}

// UX 4.1: group by model, provider, user, prompt name, service, conversation.
#[tokio::test]
async fn calls_are_grouped_by_what_the_request_says() {
    let (harness, project) = assistants().await;
    for (by, names, counts) in [
        ("name", vec!["chat"], vec![4]),
        ("model", vec!["", "large", "small"], vec![1, 2, 1]),
        ("provider", vec!["", "acme", "basic"], vec![1, 2, 1]),
        ("user", vec!["", "ann", "bob"], vec![1, 2, 1]),
        ("prompt", vec!["", "support", "title"], vec![1, 2, 1]),
    ] {
        let found = groups(&harness, &project, by).await;
        assert_eq!(column(&found, "traceName"), names, "{by}");
        let counts: Vec<Value> = counts.into_iter().map(|count| json!(count)).collect();
        assert_eq!(column(&found, "count"), counts.iter().collect::<Vec<_>>(), "{by}");
        // Each group has its own trend, the group without a value too.
        for row in found["data"].as_array().expect("a list") {
            let trend = row["trend"].as_array().expect("a list").iter();
            let counted: u64 = trend.filter_map(|point| point["count"].as_u64()).sum();
            assert_eq!(json!(counted), row["count"], "{by} {row}");
        }
    }
    let by_service = groups(&harness, &project, "service").await;
    assert_eq!((by_service["pagination"]["total"].as_u64(), &by_service["data"][0]["count"]), (Some(1), &json!(4)));
    let by_conversation = groups(&harness, &project, "conversation").await;
    // A call without a conversation is in that of its trace.
    assert_eq!(column(&by_conversation, "traceName")[1..], ["talk-1", "talk-2"]);

    let by_model = groups(&harness, &project, "model").await;
    let (none, large) = (&by_model["data"][0], &by_model["data"][1]);
    assert_eq!(
        (&large["totalCost"], &large["errorCount"], &large["models"]),
        (&json!(1.5), &json!(1), &json!(["large"]))
    );
    assert_eq!(
        ["inputTokens", "outputTokens", "cachedTokens", "reasoningTokens"].map(|kind| large[kind].clone()),
        [100, 30, 60, 10].map(|tokens| json!(tokens))
    );
    assert_eq!(
        ["inputTokens", "outputTokens", "cachedTokens", "reasoningTokens"].map(|kind| none[kind].clone()),
        [Value::Null, Value::Null, Value::Null, Value::Null],
        "absent is not zero"
    );
    harness.query(&project, "/api/ai-traces/grouped", json!({ "groupBy": "colour" })).await.expect(400);
}

/// The sum of the points of each line of a chart.
fn sums(chart: &Value) -> Vec<(String, f64)> {
    let names = chart["traces"].as_array().expect("a list").iter().filter_map(Value::as_str);
    let sum = |name: &str| {
        let points = chart["series"].as_array().expect("a list").iter();
        points.filter(|point| point["trace"] == name).filter_map(|point| point["value"].as_f64()).sum()
    };
    names.map(|name| (name.to_owned(), sum(name))).collect()
}

#[tokio::test]
async fn charts_are_stacked_by_model_and_by_kind_of_token() {
    let (harness, project) = assistants().await;
    let chart = async |body: Value| harness.query_json(&project, "/api/ai-traces/chart", body).await;
    let line = |name: &str, value: f64| (name.to_owned(), value);

    let cost = chart(json!({ "metricType": "cost", "groupBy": "model" })).await;
    assert_eq!(sums(&cost)[..2], [line("large", 1.5), line("small", 0.25)]);
    let calls = chart(json!({ "metricType": "count", "groupBy": "prompt" })).await;
    let mut calls = sums(&calls);
    calls.sort_by(|left, right| left.0.cmp(&right.0));
    assert_eq!(calls, [line("", 1.0), line("support", 2.0), line("title", 1.0)]);
    let one = chart(json!({ "metricType": "count", "groupBy": "user", "trace": "ann" })).await;
    assert_eq!(sums(&one), [line("ann", 2.0)]);

    // Cached tokens are some of the input, those of reasoning some of the output: no token is in two lines.
    let kinds = chart(json!({ "metricType": "token_kinds" })).await;
    assert_eq!(
        sums(&kinds),
        [line("input", 60.0), line("cached", 60.0), line("output", 20.0), line("reasoning", 10.0)]
    );
    let of_small = chart(json!({ "metricType": "token_kinds", "groupBy": "model", "trace": "small" })).await;
    assert_eq!(sums(&of_small), [line("input", 20.0)]);
}

/// Scenario: more models than lines. Guarantee: the others, and calls without a model, are in one line.
#[tokio::test]
async fn the_smallest_models_and_calls_without_one_are_other() {
    let (harness, project) = Harness::with_project().await;
    let mut spans: Vec<Made> = Vec::new();
    for model in 1..=7_u64 {
        for copy in 0..model {
            spans.push(call(model * 10 + copy, &format!("model-{model}"), "acme"));
        }
    }
    spans.push(made(99, 99, CLIENT, "chat", 9.0, 100.0).with("gen_ai.operation.name", "chat"));
    harness.send(&project, &spans).await;
    let body = json!({ "metricType": "count", "groupBy": "model" });
    let chart = harness.query_json(&project, "/api/ai-traces/chart", body).await;
    let expected = [("model-7", 7.0), ("model-6", 6.0), ("model-5", 5.0), ("model-4", 4.0), ("model-3", 3.0)];
    let expected = expected.into_iter().chain([("Other", 4.0)]).map(|(name, value)| (name.to_owned(), value));
    assert_eq!(sums(&chart), expected.collect::<Vec<_>>());
}
