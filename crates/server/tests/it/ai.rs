//! AI Traces over the API: calls, groups by cost, and a call with its conversation.

use serde_json::{Value, json};

use crate::harness::{Harness, Project, text};
use crate::requests::{CLIENT, Made, column, made, request};

fn call(trace: u64, span: u64, name: &str, model: &str) -> Made {
    made(trace, span, CLIENT, name, span as f64, 100.0)
        .with("gen_ai.request.model", model)
        .with("gen_ai.provider.name", "openai")
        .with("gen_ai.operation.name", "chat")
}

async fn assistant() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let messages = json!([{ "role": "user", "content": "What is a tide?" }]).to_string();
    let spans = [
        request(1, "/ask", 200, 0.0, 500.0),
        call(1, 2, "chat", "unheard-of")
            .parent(1)
            .with_int("gen_ai.usage.input_tokens", 100)
            .with_int("gen_ai.usage.output_tokens", 20)
            .with("gen_ai.usage.total_cost", "0.5")
            .with("gen_ai.input.messages", &messages)
            .with("gen_ai.completion", "The sea, breathing."),
        call(3, 3, "chat", "unheard-of-too").failed(),
        call(4, 4, "cheap", "unheard-of").with("gen_ai.usage.total_cost", "0.01"),
    ];
    harness.send(&project, &spans).await;
    (harness, project)
}

#[tokio::test]
async fn unknown_fields_of_calls_are_null() {
    let (harness, project) = assistant().await;
    let list = harness.query_json(&project, "/api/ai-traces", json!({ "sortDirection": "asc" })).await;
    let first = &list["data"][0];
    assert_eq!(
        (&first["traceName"], &first["model"], &first["provider"]),
        (&json!("chat"), &json!("unheard-of"), &json!("openai"))
    );
    assert_eq!(
        (&first["inputTokens"], &first["outputTokens"], &first["totalTokens"]),
        (&json!(100), &json!(20), &json!(120))
    );
    assert_eq!(
        (&first["totalCost"], &first["costEstimated"], &first["isRoot"]),
        (&json!(0.5), &json!(false), &json!(false))
    );
    let second = &list["data"][1];
    assert_eq!(
        (&second["inputTokens"], &second["totalCost"], &second["isError"]),
        (&Value::Null, &Value::Null, &json!(true))
    );
    let found = harness.query_json(&project, "/api/ai-traces", json!({ "search": "HEARD-of-too" })).await;
    assert_eq!(found["pagination"]["total"], 1, "by model");
}

/// Scenario: prices are edited, and the journal is replayed. Guarantee: costs do not change.
#[tokio::test]
async fn a_replay_computes_costs_with_the_prices_at_receipt() {
    let (mut harness, project) = Harness::with_project().await;
    let prices = harness.data().join("ai-prices.json");
    let price = |dollars: u32| {
        let entry = json!([{ "model": "own", "from": "2020-01-01", "input": dollars, "output": dollars }]);
        std::fs::write(&prices, entry.to_string()).expect("it can be written");
    };
    price(1);
    harness.restart().await;
    let usage = |call: Made| {
        call.with_int("gen_ai.usage.input_tokens", 1_000_000).with_int("gen_ai.usage.output_tokens", 1_000_000)
    };
    harness.send(&project, &[usage(call(1, 2, "before", "own"))]).await;
    price(50);
    harness.crash().await;
    harness.send(&project, &[usage(call(3, 4, "after", "own"))]).await;
    let list = harness.query_json(&project, "/api/ai-traces", json!({ "sortDirection": "asc" })).await;
    let cost = |row: usize| (text(&list["data"][row]["traceName"]), list["data"][row]["totalCost"].clone());
    assert_eq!([cost(0), cost(1)], [("before".to_owned(), json!(2.0)), ("after".to_owned(), json!(100.0))]);
}

// Spec: entity rows, "Default ranking": total cost; DECISIONS 12: unpriced calls are counted, never as cost 0.
#[tokio::test]
async fn groups_are_ranked_by_cost() {
    let (harness, project) = assistant().await;
    let groups = harness.query_json(&project, "/api/ai-traces/grouped", json!({})).await;
    assert_eq!(column(&groups, "traceName"), ["chat", "cheap"]);
    let chat = &groups["data"][0];
    assert_eq!((&chat["count"], &chat["totalCost"], &chat["unpricedCount"]), (&json!(2), &json!(0.5), &json!(1)));
    assert_eq!(
        (&chat["totalTokens"], &chat["avgInputTokens"], &chat["estimatedCost"]),
        (&json!(120), &json!(100.0), &json!(false))
    );
    assert_eq!(chat["models"], json!(["unheard-of", "unheard-of-too"]));
    assert_eq!((&chat["errorCount"], &chat["hasRoot"], &chat["hasNonRoot"]), (&json!(1), &json!(true), &json!(true)));
    assert_eq!(groups["data"][1]["totalTokens"], Value::Null);

    let page = harness.query_json(&project, "/api/ai-traces/trace?trace=chat", json!({})).await;
    assert_eq!((&page["stats"]["count"], &page["stats"]["errorRate"]), (&json!(2), &json!(0.5)));
    let chart = harness.query_json(&project, "/api/ai-traces/chart", json!({ "metricType": "cost" })).await;
    assert_eq!(chart["traces"], json!(["chat", "cheap"]));
}

#[tokio::test]
async fn one_call_comes_with_its_conversation() {
    let (harness, project) = assistant().await;
    let list = harness.query_json(&project, "/api/ai-traces", json!({ "sortDirection": "asc" })).await;
    let detail = async |row: &Value| {
        let path = format!("/api/ai-traces/{}", text(&row["id"]));
        harness.query_json(&project, &path, json!({ "recordedAt": row["recordedAt"] })).await
    };
    let found = detail(&list["data"][0]).await;
    let messages = json!([
        { "role": "user", "content": "What is a tide?" },
        { "role": "assistant", "content": "The sea, breathing." },
    ]);
    assert_eq!(found["conversation"]["messages"], messages);
    assert_eq!(found["conversation"]["output"], "The sea, breathing.");
    assert_eq!(found["spans"][1]["isAiTrace"], true);
    assert_eq!(found["spans"][1]["entityName"], "chat");
    assert_eq!(detail(&list["data"][1]).await["conversation"], Value::Null);
}

// A tool run is not a model call: it does not count as unpriced, and can be excluded.
#[tokio::test]
async fn tool_runs_are_distinguished_from_model_calls() {
    let (harness, project) = Harness::with_project().await;
    let tool = |span: u64| {
        made(span, span, 1, "execute_tool find_order", span as f64, 10.0)
            .with("gen_ai.operation.name", "execute_tool")
            .with("gen_ai.conversation.id", "talk-1")
    };
    let spans = [
        call(1, 1, "chat", "unheard-of").with("gen_ai.conversation.id", "talk-1"),
        call(2, 2, "chat", "unheard-of").with("gen_ai.conversation.id", "talk-2"),
        tool(3),
        tool(4),
    ];
    harness.send(&project, &spans).await;
    let groups = |calls: &'static str| {
        let (harness, project) = (&harness, &project);
        async move {
            let body = json!({ "calls": calls, "orderBy": "trace_name", "sortDirection": "asc" });
            harness.query_json(project, "/api/ai-traces/grouped", body).await
        }
    };
    let all = groups("all").await;
    assert_eq!(column(&all, "traceName"), ["chat", "execute_tool find_order"]);
    assert_eq!(column(&all, "toolCount"), [&json!(0), &json!(2)]);
    assert_eq!(column(&all, "unpricedCount"), [&json!(2), &json!(0)], "only calls of models can be unpriced");
    assert_eq!(column(&groups("model").await, "traceName"), ["chat"]);
    assert_eq!(column(&groups("tool").await, "traceName"), ["execute_tool find_order"]);

    let page = harness.query_json(&project, "/api/ai-traces/trace?trace=execute_tool%20find_order", json!({})).await;
    assert_eq!((&page["stats"]["count"], &page["stats"]["toolCount"]), (&json!(2), &json!(2)));
    let body = json!({ "metricType": "count", "calls": "model" });
    let chart = harness.query_json(&project, "/api/ai-traces/chart", body).await;
    assert_eq!(chart["traces"], json!(["chat"]));
    let range = "from=2026-06-01T00:00:00Z&to=2026-06-02T00:00:00Z";
    let overview = harness.got(&project, &format!("/api/dashboard/overview?{range}")).await;
    assert_eq!(overview["counts"]["aiTraces"], 2);

    let body = json!({ "conversationId": "talk-1", "sortDirection": "asc" });
    let talk = harness.query_json(&project, "/api/ai-traces", body).await;
    assert_eq!(column(&talk, "traceName"), ["chat", "execute_tool find_order", "execute_tool find_order"]);
    harness.query(&project, "/api/ai-traces", json!({ "calls": "both" })).await.expect(400);
}

// DECISIONS 26: promoted where the project enables it, suggested otherwise. A replay decides as the live server did.
#[tokio::test]
async fn model_calls_of_other_conventions_are_promoted_by_a_setting() {
    let (mut harness, project) = Harness::with_project().await;
    let call = |trace: u64| {
        made(trace, trace, 1, "ChatOpenAI", 1.0, 100.0)
            .with("openinference.span.kind", "LLM")
            .with("llm.model_name", "unheard-of")
            .with("llm.cost.total", "0.25")
            .with("session.id", "thread-7")
            .with_int("llm.token_count.prompt", 21)
            .with_int("llm.token_count.completion", 9)
            .with("llm.input_messages.0.message.role", "user")
            .with("llm.input_messages.0.message.content", "What is a tide?")
    };
    let hint = async |harness: &Harness| {
        let body = json!({ "fromDate": Value::Null, "toDate": Value::Null });
        harness.query_json(&project, "/api/drops", body).await["unpromotedAiSpans"].clone()
    };
    harness.send(&project, &[call(1).parent(99)]).await;
    assert_eq!(hint(&harness).await, 1);
    assert_eq!(harness.query_json(&project, "/api/ai-traces", json!({})).await["pagination"]["total"], 0);

    let path = format!("/api/projects?projectId={}", project.id);
    let changed = harness.api("PUT", &path, &json!({ "aiConventions": true })).await.expect(200).json();
    assert_eq!(changed["settings"]["aiConventions"], true);
    harness.send(&project, &[call(2)]).await;
    assert_eq!(hint(&harness).await, 1, "what is promoted needs no suggestion");
    harness.api("PUT", &path, &json!({ "aiConventions": false })).await.expect(200);
    harness.crash().await;
    let list = harness.query_json(&project, "/api/ai-traces", json!({})).await;
    let row = &list["data"][0];
    assert_eq!((list["pagination"]["total"].as_i64(), &row["model"]), (Some(1), &json!("unheard-of")));
    assert_eq!(
        (&row["totalTokens"], &row["totalCost"], &row["conversationId"]),
        (&json!(30), &json!(0.25), &json!("thread-7"))
    );
    let path = format!("/api/ai-traces/{}", text(&row["id"]));
    let detail = harness.query_json(&project, &path, json!({ "recordedAt": row["recordedAt"] })).await;
    assert!(detail.to_string().contains("What is a tide?"), "{detail}");
}
