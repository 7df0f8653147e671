//! Conversations and users of AI Traces over the API: lists, the turns of a conversation, flags.

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{CLIENT, Made, NOON_NS, column, made, resource};

const INTERNAL: u8 = 1;

fn call(trace: u64, span: u64, talk: &str) -> Made {
    made(trace, span, CLIENT, "chat", span as f64, 100.0)
        .with("gen_ai.request.model", "large")
        .with("gen_ai.operation.name", "chat")
        .with("gen_ai.conversation.id", talk)
}

fn messages(all: &[(&str, &str)]) -> String {
    let message = |(role, text): &(&str, &str)| json!({ "role": role, "parts": [{ "type": "text", "content": text }] });
    Value::Array(all.iter().map(message).collect()).to_string()
}

/// A conversation of two turns, the first with the run of a tool that calls a database; another one, of another user.
async fn talks() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let question = [("system", "Be brief."), ("user", "Where is my order?")];
    let tool_call = json!([{ "role": "assistant", "parts": [
        { "type": "tool_call", "name": "find_order", "arguments": { "id": 7 } }
    ] }]);
    let again = json!([
        { "role": "system", "parts": [{ "type": "text", "content": "Be brief." }] },
        { "role": "user", "parts": [{ "type": "text", "content": "Where is my order?" }] },
        tool_call[0],
        { "role": "tool", "parts": [{ "type": "text", "content": "on its way" }] },
    ]);
    let spans = [
        made(1, 1, INTERNAL, "invoke_agent", 1.0, 900.0),
        call(1, 2, "talk-1")
            .parent(1)
            .with("user.id", "ann")
            .with_int("gen_ai.usage.input_tokens", 10)
            .with_int("gen_ai.usage.output_tokens", 5)
            .with("gen_ai.usage.total_cost", "0.25")
            .with("gen_ai.input.messages", &messages(&question))
            .with("gen_ai.output.messages", &tool_call.to_string()),
        made(1, 3, INTERNAL, "execute_tool find_order", 3.0, 50.0)
            .parent(1)
            .with("gen_ai.operation.name", "execute_tool")
            .with("gen_ai.tool.name", "find_order")
            .with("gen_ai.tool.call.arguments", "{\"id\":7}")
            .with("gen_ai.tool.call.result", "on its way")
            .failed(),
        made(1, 4, CLIENT, "SELECT orders", 4.0, 20.0).parent(3),
        call(1, 5, "talk-1")
            .parent(1)
            .with("user.id", "ann")
            .with_int("gen_ai.usage.input_tokens", 30)
            .with("gen_ai.usage.total_cost", "0.5")
            .with("gen_ai.input.messages", &again.to_string())
            .with("gen_ai.output.messages", &messages(&[("assistant", "It is on its way.")]))
            .with("gen_ai.response.finish_reasons", "length"),
        call(2, 6, "talk-2").with("user.id", "bob").with("gen_ai.usage.total_cost", "2").failed(),
    ];
    harness.send(&project, &spans).await;
    (harness, project)
}

// WIRE 8.3: `POST /api/ai-conversations/grouped`.
#[tokio::test]
async fn conversations_are_listed_with_their_sums() {
    let (harness, project) = talks().await;
    let list = async |body: Value| harness.query_json(&project, "/api/ai-conversations/grouped", body).await;
    let all = list(json!({ "orderBy": "first_seen", "sortDirection": "asc" })).await;
    let ids = column(&all, "conversationId");
    // The run of the tool names no conversation: it is in that of its trace.
    assert_eq!((ids[0], ids.len(), &all["pagination"]["total"]), (&json!("talk-1"), 3, &json!(3)));
    let first = &all["data"][0];
    assert_eq!(
        (&first["traceName"], &first["userId"], &first["models"]),
        (&json!("chat"), &json!("ann"), &json!(["large"]))
    );
    assert_eq!((&first["count"], &first["errorCount"], &first["flaggedCount"]), (&json!(2), &json!(0), &json!(1)));
    assert_eq!(
        (&first["inputTokens"], &first["outputTokens"], &first["cachedTokens"], &first["totalCost"]),
        (&json!(40), &json!(5), &Value::Null, &json!(0.75))
    );
    assert!(first["firstSeen"].as_str() < first["lastSeen"].as_str(), "{first}");

    let by_cost = list(json!({ "orderBy": "total_cost", "calls": "model" })).await;
    assert_eq!(column(&by_cost, "conversationId"), ["talk-2", "talk-1"]);
    let second = list(json!({ "orderBy": "total_cost", "pagination": { "page": 2, "pageSize": 1 } })).await;
    assert_eq!(
        (column(&second, "conversationId"), &second["pagination"]["total"]),
        (vec![&json!("talk-1")], &json!(3))
    );
    for (search, expected) in [("ANN", vec!["talk-1"]), ("talk-2", vec!["talk-2"]), ("nothing", vec![])] {
        assert_eq!(column(&list(json!({ "search": search })).await, "conversationId"), expected, "{search}");
    }
    let found = list(json!({ "query": "user:bob" })).await;
    assert_eq!(column(&found, "conversationId"), ["talk-2"]);
    let flagged = list(json!({ "flags": ["truncated"] })).await;
    assert_eq!(column(&flagged, "conversationId"), ["talk-1"]);
}

// WIRE 8.3: `POST /api/ai-users/grouped`.
#[tokio::test]
async fn users_are_listed_by_cost() {
    let (harness, project) = talks().await;
    let list = async |body: Value| harness.query_json(&project, "/api/ai-users/grouped", body).await;
    let all = list(json!({})).await;
    assert_eq!(column(&all, "userId"), ["bob", "ann"]);
    assert_eq!(column(&all, "totalCost"), [2.0, 0.75]);
    assert_eq!(column(&all, "conversationCount"), [1, 1]);
    assert_eq!(column(&all, "errorCount"), [1, 0]);
    assert_eq!(all["pagination"]["total"], 2, "calls without a user are no user");
    assert_eq!(column(&list(json!({ "search": "AN" })).await, "userId"), ["ann"]);
    let by_count = list(json!({ "orderBy": "count", "pagination": { "page": 1, "pageSize": 1 } })).await;
    assert_eq!(column(&by_count, "userId"), ["ann"]);
}

// WIRE 8.3: `POST /api/ai-conversations/conversation`. OpenTelemetry: `execute_tool` beside `chat` below `invoke_agent`.
#[tokio::test]
async fn a_conversation_has_its_turns_with_new_messages_and_tools() {
    let (harness, project) = talks().await;
    let read = async |body: Value| harness.query(&project, "/api/ai-conversations/conversation", body).await;
    let found = read(json!({ "conversationId": "talk-1" })).await.expect(200).json();
    assert_eq!((&found["conversation"]["totalCost"], &found["conversation"]["userId"]), (&json!(0.75), &json!("ann")));
    assert_eq!((&found["pagination"]["total"], &found["isPartial"]), (&json!(2), &json!(false)));
    let [first, second] = [&found["data"][0], &found["data"][1]];

    assert_eq!((&first["call"]["totalCost"], &first["call"]["inputTokens"]), (&json!(0.25), &json!(10)));
    let of = |turn: &Value, field: &str| -> Vec<Value> {
        turn["messages"].as_array().expect("a list").iter().map(|message| message[field].clone()).collect()
    };
    assert_eq!(of(first, "role"), ["system", "user", "assistant"]);
    assert_eq!(of(first, "isOutput"), [false, false, true]);
    assert_eq!(first["messages"][2]["toolCalls"][0]["name"], "find_order");
    // The run of the tool, and the statement below it.
    let tools: Vec<_> = first["tools"].as_array().expect("a list").iter().collect();
    assert_eq!(tools.len(), 2);
    assert_eq!(
        (&tools[0]["kind"], &tools[0]["toolName"], &tools[0]["depth"]),
        (&json!("tool"), &json!("find_order"), &json!(0))
    );
    assert_eq!((&tools[0]["arguments"], &tools[0]["result"]), (&json!("{\"id\":7}"), &json!("on its way")));
    assert_eq!((&tools[0]["isError"], &tools[0]["flags"]), (&json!(true), &json!(["tool_error"])));
    assert_eq!(
        (&tools[1]["kind"], &tools[1]["name"], &tools[1]["depth"]),
        (&json!("span"), &json!("SELECT orders"), &json!(1))
    );

    // The second call sends the first three messages again: only the others are shown.
    assert_eq!(second["repeatedMessages"], 3);
    assert_eq!(of(second, "content"), ["on its way", "It is on its way."]);
    assert_eq!((&second["call"]["flags"], &second["call"]["flagged"]), (&json!(["truncated"]), &json!(true)));
    assert_eq!(second["tools"], json!([]));

    let page = read(json!({ "conversationId": "talk-1", "pagination": { "page": 2, "pageSize": 1 } })).await.json();
    assert_eq!((page["data"].as_array().map(Vec::len), &page["data"][0]["call"]["totalCost"]), (Some(1), &json!(0.5)));
    read(json!({ "conversationId": "no such" })).await.expect(404);
    read(json!({})).await.expect(400);
    let earlier =
        json!({ "conversationId": "talk-1", "fromDate": "2020-01-01T00:00:00Z", "toDate": "2020-01-02T00:00:00Z" });
    read(earlier).await.expect(404);
}

// A message longer than the limit is cut, and says by how much.
#[tokio::test]
async fn long_messages_of_a_conversation_are_cut() {
    let (harness, project) = Harness::with_project().await;
    let long = "x".repeat(40 * 1024);
    harness.send(&project, &[call(1, 1, "talk").with("gen_ai.prompt", &long)]).await;
    let body = json!({ "conversationId": "talk" });
    let found = harness.query_json(&project, "/api/ai-conversations/conversation", body).await;
    let message = &found["data"][0]["messages"][0];
    assert_eq!((message["content"].as_str().map(str::len), &message["cutBytes"]), (Some(32 * 1024), &json!(8 * 1024)));
}

// The rules are in `domain::rules::ai_trace`; rows keep their flags over a flush and a replay.
#[tokio::test]
async fn flags_are_stored_and_filter_the_lists() {
    let (mut harness, project) = Harness::with_project().await;
    let spans = [
        call(1, 1, "a").with("gen_ai.response.finish_reasons", "content_filter"),
        call(2, 2, "a").with_int("gen_ai.usage.output_tokens", 0),
        call(3, 3, "a"),
        made(4, 4, INTERNAL, "execute_tool f", 4.0, 1.0).with("gen_ai.operation.name", "execute_tool").failed(),
    ];
    harness.send(&project, &spans).await;
    harness.crash().await;
    let list = async |body: Value| harness.query_json(&project, "/api/ai-traces", body).await;
    let all = list(json!({ "sortDirection": "asc" })).await;
    let expected = [json!(["content_filter"]), json!(["empty_answer"]), json!([]), json!(["tool_error"])];
    assert_eq!(column(&all, "flags"), expected.iter().collect::<Vec<_>>());
    assert_eq!(column(&all, "flagged"), [true, true, false, true]);
    let some = list(json!({ "flags": ["content_filter", "tool_error"] })).await;
    assert_eq!(some["pagination"]["total"], 2);
    let groups = harness.query_json(&project, "/api/ai-traces/grouped", json!({ "calls": "model" })).await;
    assert_eq!((&groups["data"][0]["count"], &groups["data"][0]["flaggedCount"]), (&json!(3), &json!(2)));
    let body = json!({ "metricType": "count", "flags": ["empty_answer"] });
    let chart = harness.query_json(&project, "/api/ai-traces/chart", body).await;
    assert_eq!(chart["series"].as_array().map(Vec::len), Some(1));
    harness.query(&project, "/api/ai-traces", json!({ "flags": ["odd"] })).await.expect(400);
}

/// A log record of a span with a message of its call.
fn logged(trace: u64, span: u64, event: &str, body: Value) -> Value {
    let text = |text: &Value| json!({ "stringValue": text });
    let fields = body.as_object().expect("an object").iter();
    let fields: Vec<Value> = fields
        .map(|(key, value)| match value {
            Value::Object(inner) => {
                let inner: Vec<Value> =
                    inner.iter().map(|(key, value)| json!({ "key": key, "value": text(value) })).collect();
                json!({ "key": key, "value": { "kvlistValue": { "values": inner } } })
            }
            value => json!({ "key": key, "value": text(value) }),
        })
        .collect();
    let record = json!({
        "timeUnixNano": NOON_NS.to_string(), "eventName": event, "body": { "kvlistValue": { "values": fields } },
        "traceId": format!("{trace:032x}"), "spanId": format!("{span:016x}"),
    });
    json!({ "resourceLogs": [{ "resource": resource("shop"), "scopeLogs": [{ "logRecords": [record] }] }] })
}

// DECISIONS 32: whether the records arrive before their span or after it.
#[tokio::test]
async fn messages_in_log_records_are_the_conversation_of_their_span() {
    let (harness, project) = Harness::with_project().await;
    for (span, is_before) in [(1, true), (2, false)] {
        let send_logs = async || {
            for (event, body) in [
                ("gen_ai.user.message", json!({ "content": "Two and two?" })),
                ("gen_ai.choice", json!({ "index": "0", "message": { "role": "assistant", "content": "Four." } })),
            ] {
                harness.post_json("logs", &project.token, &logged(span, span, event, body)).await.expect(200);
            }
        };
        let talk = format!("talk-{span}");
        if is_before {
            send_logs().await;
        }
        harness.send(&project, &[call(span, span, &talk)]).await;
        if !is_before {
            send_logs().await;
        }
        let rows = harness.query_json(&project, "/api/ai-traces", json!({ "conversationId": talk })).await;
        let id = rows["data"][0]["id"].as_str().expect("a row");
        let detail = harness.query_json(&project, &format!("/api/ai-traces/{id}"), json!({})).await;
        let messages = detail["conversation"]["messages"].as_array().expect("messages");
        let contents: Vec<_> = messages.iter().map(|message| (&message["role"], &message["content"])).collect();
        let [user, assistant] = [json!("user"), json!("assistant")];
        let [question, answer] = [json!("Two and two?"), json!("Four.")];
        assert_eq!(contents, [(&user, &question), (&assistant, &answer)], "{talk}");
        let turns = json!({ "conversationId": talk });
        let turns = harness.query_json(&project, "/api/ai-conversations/conversation", turns).await;
        assert_eq!(turns["data"][0]["messages"][1]["content"], answer, "{talk}");
        let stored = harness.got(&project, &format!("/api/ai-traces/{id}/conversation")).await;
        assert!(stored["output"].as_str().is_some_and(|output| output.contains("Four.")), "{talk}: {stored}");
    }
}
