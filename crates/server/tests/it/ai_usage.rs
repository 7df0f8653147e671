//! AI usage is counted once. DECISIONS 32; docs/decisions/0021.

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{CLIENT, Made, made};

const INTERNAL: u8 = 1;
const CALLS: u64 = 40;
/// Input and output tokens of the calls of one run.
const INPUT: i64 = 40 * 1_000;
const OUTPUT: i64 = 40 * 100;

/// Dollars of one run: gpt-4o-mini costs 0.15 and 0.6 dollars per million tokens.
fn cost() -> f64 {
    (INPUT as f64 * 0.15 + OUTPUT as f64 * 0.6) / 1.0e6
}

fn ai(span: Made, operation: &str, tokens: Option<(i64, i64)>) -> Made {
    let span = span
        .with("gen_ai.operation.name", operation)
        .with("gen_ai.conversation.id", "talk")
        .with("user.id", "ann")
        .with("gen_ai.provider.name", "openai");
    match tokens {
        Some((input, output)) => span
            .with("gen_ai.request.model", "gpt-4o-mini")
            .with_int("gen_ai.usage.input_tokens", input)
            .with_int("gen_ai.usage.output_tokens", output),
        None => span,
    }
}

/// One run of an agent with 40 calls of a model in a workflow: both repeat the sums. Every fifth call is made by a tool,
/// through a span of no kind. Two libraries saw every fourth of the others.
fn run() -> Vec<Made> {
    let whole = Some((INPUT, OUTPUT));
    let workflow = ai(made(7, 1, INTERNAL, "workflow", 0.0, 90_000.0), "invoke_workflow", whole);
    let agent = ai(made(7, 2, INTERNAL, "agent", 0.5, 89_000.0), "invoke_agent", whole);
    let mut spans = vec![workflow, agent.parent(1)];
    for call in 0..CALLS {
        let (id, start) = (100 + call, 1.0 + call as f64 * 2.0);
        let chat = ai(made(7, id, CLIENT, "chat", start, 1000.0), "chat", Some((1_000, 100)));
        let chat = chat.with("gen_ai.response.id", &format!("response-{call}"));
        if call % 5 == 0 {
            let tool = ai(made(7, 200 + call, INTERNAL, "execute_tool", start, 1500.0), "execute_tool", None);
            spans.push(tool.parent(2));
            spans.push(made(7, 300 + call, INTERNAL, "between", start, 1400.0).parent(200 + call));
            spans.push(chat.parent(300 + call));
        } else {
            spans.push(chat.parent(2));
            if call % 4 == 0 {
                let other = made(7, 400 + call, CLIENT, "other library", start - 0.1, 1300.0);
                let other = ai(other, "chat", Some((1_000, 100)));
                spans.push(other.parent(2).with("gen_ai.response.id", &format!("response-{call}")));
            }
        }
    }
    spans
}

fn sum(rows: &Value, field: &str) -> f64 {
    rows["data"].as_array().expect("rows").iter().filter_map(|row| row[field].as_f64()).sum()
}

/// Tokens and costs of every view of the run.
#[track_caller]
fn equal(what: &str, (found, expected): (f64, f64)) {
    assert!((found - expected).abs() < 1.0e-9 * expected.max(1.0), "{what}: {found} instead of {expected}");
}

async fn check(harness: &Harness, project: &Project, what: &str) {
    harness.app().lake.settle_usage().expect("the disk works");
    for group in ["name", "model", "provider", "service", "conversation", "user"] {
        let body = json!({ "groupBy": group, "pagination": { "page": 1, "pageSize": 100 } });
        let groups = harness.query_json(project, "/api/ai-traces/grouped", body).await;
        let what = format!("{what}, by {group}");
        equal(&what, (sum(&groups, "totalCost"), cost()));
        equal(&what, (sum(&groups, "inputTokens"), INPUT as f64));
        equal(&what, (sum(&groups, "totalTokens"), (INPUT + OUTPUT) as f64));
        equal(&what, (sum(&groups, "toolCount"), 8.0));
        equal(&what, (sum(&groups, "unpricedCount"), 0.0));
    }
    for list in ["/api/ai-conversations/grouped", "/api/ai-users/grouped"] {
        let rows = harness.query_json(project, list, json!({ "orderBy": "total_cost" })).await;
        equal(&format!("{what}, {list}"), (sum(&rows, "totalCost"), cost()));
    }
    let chart = json!({ "metricType": "cost", "intervalMinutes": 60 });
    let chart = harness.query_json(project, "/api/ai-traces/chart", chart).await;
    let points = chart["series"].as_array().expect("a series").iter().filter_map(|point| point["value"].as_f64());
    equal(&format!("{what}, chart"), (points.sum(), cost()));
    let rows = json!({ "pagination": { "page": 1, "pageSize": 100 } });
    let rows = harness.query_json(project, "/api/ai-traces", rows).await;
    let rows = rows["data"].as_array().expect("rows");
    let counted = rows.iter().filter(|row| row["isCounted"] == true);
    equal(&format!("{what}, rows"), (counted.filter_map(|row| row["totalCost"].as_f64()).sum(), cost()));
    // A span that repeats others is shown with its sum.
    let agent = rows.iter().find(|row| row["traceName"] == "agent").expect("the agent's row");
    equal(what, (agent["totalCost"].as_f64().expect("a cost"), cost()));
}

/// The requests of one order of arrival.
fn orders() -> Vec<(&'static str, Vec<Vec<Made>>)> {
    let run = run();
    let ones = |spans: Vec<Made>| spans.into_iter().map(|span| vec![span]).collect::<Vec<_>>();
    let mut mixed: Vec<Made> = Vec::new();
    for step in 0..7 {
        mixed.extend(run.iter().skip(step).step_by(7).cloned());
    }
    vec![
        ("one request", vec![run.clone()]),
        ("parents first", ones(run.clone())),
        ("children first", ones(run.iter().rev().cloned().collect())),
        ("mixed", mixed.chunks(5).map(<[Made]>::to_vec).collect()),
        ("calls before what is above", vec![run[2..].to_vec(), vec![run[0].clone()], vec![run[1].clone()]]),
    ]
}

#[tokio::test]
async fn a_run_of_forty_calls_costs_what_its_calls_cost_in_any_order() {
    let (harness, _) = Harness::with_project().await;
    for (order, requests) in orders() {
        let project = harness.project(order).await;
        for spans in &requests {
            harness.send(&project, spans).await;
        }
        check(&harness, &project, order).await;
        // Sent again: in other requests, so that only the spans are known.
        harness.send(&project, &run()).await;
        check(&harness, &project, &format!("{order}, sent again")).await;
    }
}

#[tokio::test]
async fn a_crash_between_any_two_halves_changes_nothing() {
    let (mut harness, _) = Harness::with_project().await;
    for (order, requests) in orders() {
        let project = harness.project(order).await;
        let half = requests.len() / 2;
        for spans in &requests[..half] {
            harness.send(&project, spans).await;
        }
        harness.app().lake.flush().expect("the disk works");
        harness.crash().await;
        for spans in &requests[half..] {
            harness.send(&project, spans).await;
        }
        harness.crash().await;
        check(&harness, &project, order).await;
        harness.app().lake.flush().expect("the disk works");
        check(&harness, &project, &format!("{order}, from parts")).await;
    }
}
