//! Content flags of AI calls, and the pointer to their conversation. WIRE 8.3: "Content flags: word lists
//! (en,de,es,fr,it,pt,sr) + custom terms, whole word, at ingest"; "stored JSON {input,output} at
//! `ai-traces/{projectId}/{rowId}.json`".

use serde_json::{Value, json};

use crate::harness::{Harness, Project, text};
use crate::requests::{CLIENT, Made, at, column, made};

const LIST: &str = "/api/ai-traces";

fn call(n: u64, question: &str, answer: &str) -> Made {
    let messages = json!([
        { "role": "system", "content": "Never mention the Kraken." },
        { "role": "user", "content": question },
    ]);
    made(n, n, CLIENT, &format!("chat {n}"), n as f64, 100.0)
        .with("gen_ai.operation.name", "chat")
        .with("gen_ai.input.messages", &messages.to_string())
        .with("gen_ai.completion", answer)
}

async fn set(harness: &Harness, project: &Project, languages: Value, terms: Value, status: u16) -> Value {
    let change = json!({ "aiFlaggedLanguages": languages, "aiFlaggedTerms": terms });
    harness.api("PUT", &at("/api/projects", project), &change).await.expect(status).json()
}

/// Names, `flagged`, `flags` and terms of the calls that the query finds, oldest first.
async fn rows(harness: &Harness, project: &Project, query: &str) -> Vec<Value> {
    let body = json!({ "query": query, "sortDirection": "asc" });
    let list = harness.query_json(project, LIST, body).await;
    let row = |row: &Value| json!([row["traceName"], row["flagged"], row["flags"], row["flaggedTerms"]]);
    list["data"].as_array().expect("a list").iter().map(row).collect()
}

#[tokio::test]
async fn conversations_are_flagged_by_languages_and_own_terms() {
    let (mut harness, project) = Harness::with_project().await;
    harness.send(&project, &[call(1, "You BASTARD, where is the kraken?", "At sea.")]).await;
    assert_eq!(rows(&harness, &project, "").await, [json!(["chat 1", false, [], []])], "off by default");

    let changed = set(&harness, &project, json!(["en", "de"]), json!(["Kraken", " kraken", "Release-Plan"]), 200).await;
    let settings = &changed["settings"];
    assert_eq!(settings["aiFlaggedLanguages"], json!(["en", "de"]));
    assert_eq!(settings["aiFlaggedTerms"], json!(["kraken", "release plan"]), "in normal form, each once");
    harness
        .send(
            &project,
            &[
                call(2, "You BASTARD,\nthe kraken and the bastard", "The release\n plan of the Kraken."),
                call(3, "quel connard", "krakens"),
                call(4, "So ein Arschloch!", ""),
            ],
        )
        .await;
    set(&harness, &project, json!([]), json!([]), 200).await;
    let flag = json!(["flagged_content"]);
    let expected = [
        json!(["chat 1", false, [], []]),
        json!(["chat 2", true, flag, ["bastard", "kraken", "release plan"]]),
        json!(["chat 3", false, [], []]),
        json!(["chat 4", true, ["empty_answer", "flagged_content"], ["arschloch"]]),
    ];
    // A replay decides as the live server did: the journal has the setting of each request.
    for _ in 0..2 {
        let found = rows(&harness, &project, "").await;
        assert_eq!(found[..3], expected[..3]);
        assert_eq!((&found[3][1], &found[3][3]), (&expected[3][1], &expected[3][3]));
        harness.crash().await;
    }

    // The query language.
    let names = async |query: &str| -> Vec<String> {
        rows(&harness, &project, query).await.iter().map(|row| text(&row[0])).collect()
    };
    for (query, expected) in [
        ("flagged:true", &["chat 2", "chat 4"][..]),
        ("flagged:false", &["chat 1", "chat 3"]),
        ("flag:flagged_content", &["chat 2", "chat 4"]),
        ("flag:flagged*", &["chat 2", "chat 4"]),
        ("flag:truncated", &[]),
        ("-flag:*", &["chat 1", "chat 3"]),
        ("flagged_term:kraken", &["chat 2"]),
        ("flagged_term:Release-Plan", &["chat 2"]),
        ("flagged_term:plan", &[]),
        ("flagged_term:*", &["chat 2", "chat 4"]),
        ("flagged_term:kraken OR flagged_term:arschloch", &["chat 2", "chat 4"]),
    ] {
        assert_eq!(names(query).await, expected, "{query}");
    }
    for query in ["flag:nothing", "flag>truncated", "flagged:maybe", "flagged_term>a"] {
        harness.query(&project, LIST, json!({ "query": query })).await.expect(400);
    }
    let by_flag = harness.query_json(&project, LIST, json!({ "flags": ["flagged_content"] })).await;
    assert_eq!(by_flag["pagination"]["total"], 2);
    let group = harness.query_json(&project, "/api/ai-traces/grouped", json!({ "query": "flagged:true" })).await;
    assert_eq!(column(&group, "flaggedCount"), [&json!(1), &json!(1)]);

    // Completion and facets count each flag and each term.
    let complete = async |field: &str| -> Value {
        let body = json!({ "rows": "ai_trace", "field": field });
        let found = harness.query_json(&project, "/api/query/complete", body).await;
        let pairs = found["data"].as_array().expect("a list").iter();
        json!(pairs.map(|one| json!([one["text"], one["count"]])).collect::<Vec<_>>())
    };
    assert_eq!(
        complete("flagged_term").await,
        json!([["arschloch", 1], ["bastard", 1], ["kraken", 1], ["release plan", 1]])
    );
    assert_eq!(complete("flagged").await, json!([["false", 2], ["true", 2]]));
    assert_eq!(complete("flag").await[0], json!(["flagged_content", 2]));
}

#[tokio::test]
async fn wrong_settings_are_refused() {
    let (harness, project) = Harness::with_project().await;
    for (languages, terms) in [
        (json!(["en", "xx"]), json!([])),
        (json!([]), json!([" - "])),
        (json!([]), json!(["a b c d e f g h i"])),
        (json!([]), json!(["x".repeat(101)])),
        (json!([]), json!((0..201).map(|n| format!("term{n}")).collect::<Vec<_>>())),
        (json!([]), json!((0..100).map(|n| format!("{n}{}", "x".repeat(90))).collect::<Vec<_>>())),
    ] {
        set(&harness, &project, languages, terms, 422).await;
    }
    let unchanged = harness.api("PUT", &at("/api/projects", &project), &json!({})).await.expect(200).json();
    assert_eq!(unchanged["settings"]["aiFlaggedTerms"], json!([]));
}

#[tokio::test]
async fn the_storage_key_of_a_call_points_to_its_conversation() {
    let (harness, project) = Harness::with_project().await;
    let plain = |n: u64| made(n, n, CLIENT, &format!("chat {n}"), n as f64, 100.0).with("gen_ai.request.model", "m");
    let with_both = plain(1).with("gen_ai.prompt", "What is a tide?").with("trace.output", "The sea, breathing.");
    let with_input = plain(2).with("span.input", r#"{"question":"why"}"#);
    let indexed = plain(3).with("gen_ai.prompt.0.role", "user").with("gen_ai.prompt.0.content", "Hello");
    harness.send(&project, &[with_both, with_input, indexed, plain(4)]).await;
    let list = harness.query_json(&project, LIST, json!({ "sortDirection": "asc" })).await;
    let messages = json!([{ "role": "user", "content": "Hello", "toolCalls": [] }]);
    for (row, expected) in list["data"].as_array().expect("a list").iter().zip([
        Some(json!({ "input": "What is a tide?", "output": "The sea, breathing." })),
        Some(json!({ "input": r#"{"question":"why"}"#, "output": null })),
        Some(json!({ "input": messages, "output": null })),
        None,
    ]) {
        let id = text(&row["id"]);
        let pointer = expected.as_ref().map(|_| format!("ai-traces/{}/{id}.json", project.id)).unwrap_or_default();
        assert_eq!(row["storageKey"], pointer.as_str(), "{row}");
        let detail = harness.query_json(&project, &format!("{LIST}/{id}"), json!({})).await;
        assert_eq!(detail["aiTrace"]["storageKey"], row["storageKey"]);
        let recorded_at = text(&row["recordedAt"]);
        for query in [String::new(), format!("&recordedAt={recorded_at}")] {
            let path = format!("{}{query}", at(&format!("{LIST}/{id}/conversation"), &project));
            let answer = harness.api("GET", &path, &Value::Null).await;
            let Some(expected) = &expected else {
                answer.expect(404);
                continue;
            };
            let mut found = answer.expect(200).json();
            assert_eq!(found.as_object().map(serde_json::Map::len), Some(2), "{found}");
            // Messages in separate attributes are JSON in the string.
            if expected["input"].is_array() {
                let input = serde_json::from_str::<Value>(&text(&found["input"])).expect("JSON");
                assert_eq!(column(&json!({ "data": input }), "content"), ["Hello"]);
                found["input"] = messages.clone();
            }
            assert_eq!(found, *expected);
        }
    }
    let other = harness.project("other").await;
    let id = text(&list["data"][0]["id"]);
    harness.api("GET", &at(&format!("{LIST}/{id}/conversation"), &other), &Value::Null).await.expect(404);
    harness.api("GET", &at(&format!("{LIST}/x/conversation"), &project), &Value::Null).await.expect(400);
}
