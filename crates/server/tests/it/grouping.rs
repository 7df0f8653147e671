//! Issues over the API: which exceptions are one. DECISIONS 30, docs/develop/grouping.md.

use serde_json::{Value, json};

use crate::harness::{Harness, Project, text};
use crate::requests::{NOON_NS, at};

const LIST: &str = "/api/exception-stack-traces";

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// Type, message and stack trace of an exception event.
type Sent<'a> = (&'a str, &'a str, &'a str);

fn event((exception_type, message, stack): Sent<'_>) -> Value {
    let mut attributes = vec![attribute("exception.type", exception_type), attribute("exception.message", message)];
    if !stack.is_empty() {
        attributes.push(attribute("exception.stacktrace", stack));
    }
    json!({ "name": "exception", "timeUnixNano": NOON_NS.to_string(), "attributes": attributes })
}

fn span(id: u64, parent: u64, events: &[Value]) -> Value {
    let id16 = |id: u64| if id == 0 { String::new() } else { format!("{id:016x}") };
    let trace = if parent == 0 { id } else { 1 };
    json!({
        "traceId": format!("{trace:032x}"), "spanId": id16(id), "parentSpanId": id16(parent), "name": "GET /x", "kind": 2,
        "startTimeUnixNano": NOON_NS.to_string(), "endTimeUnixNano": (NOON_NS + 5_000_000).to_string(),
        "attributes": [attribute("http.request.method", "GET"), attribute("http.route", "/x")], "events": events,
    })
}

fn body(language: &str, spans: &[Value]) -> Value {
    let resource = [attribute("service.name", "shop"), attribute("telemetry.sdk.language", language)];
    json!({ "resourceSpans": [{ "resource": { "attributes": resource }, "scopeSpans": [{ "spans": spans }] }] })
}

async fn hashes(harness: &Harness, project: &Project) -> Vec<(String, u64)> {
    let list = harness.query_json(project, LIST, json!({})).await;
    let rows = list["data"].as_array().expect("a list");
    rows.iter().map(|row| (text(&row["exceptionHash"]), row["count"].as_u64().expect("a count"))).collect()
}

/// Number of Issues that these exceptions make, each on a request of its own.
async fn issues(language: &str, sent: &[Sent<'_>]) -> usize {
    let (harness, project) = Harness::with_project().await;
    let spans: Vec<Value> = (1..).zip(sent).map(|(id, sent)| span(id, 0, &[event(*sent)])).collect();
    harness.post_json("traces", &project.token, &body(language, &spans)).await.expect(200);
    let found = hashes(&harness, &project).await;
    assert_eq!(found.iter().map(|one| one.1).sum::<u64>(), sent.len() as u64, "each exception counts");
    found.len()
}

// Values, generated names, builds and hosts make no other Issue; types, functions and causes do.
#[tokio::test]
async fn one_bug_is_one_issue() {
    let ruby = |value: &str, method: &str| {
        format!(
            "/srv/app/app/models/order.rb:12:in 'Order.{method}': no order {value} (NotFound)\n\tfrom /srv/app/orders.rb:8:in 'show'\n"
        )
    };
    let java = |lambda: &str, proxy: &str, method: &str| {
        format!(
            "E: closed\n\tat com.shop.Cart.{method}(Cart.java:52)\n\tat com.shop.Cart$$Lambda{lambda}.apply(Unknown Source)\n\tat com.sun.proxy.$Proxy{proxy}.post(Unknown Source)\n"
        )
    };
    let group = |member: &str, value: &str| {
        format!(
            "  + Exception Group Traceback (most recent call last):\n  |   File \"/app/main.py\", line 12, in handler\n  |     x()\n  | ExceptionGroup: errors (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/app/db.py\", line 7, in load\n    |     raise\n    | {member}: {value}\n    +------------------------------------\n"
        )
    };
    let rust = |hash: &str| {
        format!(
            "   0: shop::cart::add::h{hash}\n             at ./src/cart.rs:12:5\n   1: std::panicking::begin_panic\n             at /rustc/90b35a/library/std/src/panicking.rs:697:5\n"
        )
    };
    let overflow = |depth: usize| ["java.lang.StackOverflowError\n", &"\tat a.B.c(B.java:10)\n".repeat(depth)].concat();
    for (language, sent, expected) in [
        ("ruby", [("NotFound", "no order 17", ruby("17", "load")), ("NotFound", "no order 18", ruby("18", "load"))], 1),
        ("ruby", [("NotFound", "no order 17", ruby("17", "load")), ("NotFound", "no order 17", ruby("17", "save"))], 2),
        (
            "java",
            [("E", "closed", java("$14/0x0000c4840", "1", "add")), ("E", "closed", java("$30/2081171245", "7", "add"))],
            1,
        ),
        (
            "java",
            [
                ("E", "closed", java("$14/0x0000c4840", "1", "add")),
                ("E", "closed", java("$14/0x0000c4840", "1", "remove")),
            ],
            2,
        ),
        (
            "java",
            [
                ("java.lang.StackOverflowError", "", overflow(1000)),
                ("java.lang.StackOverflowError", "", overflow(1024)),
            ],
            1,
        ),
        (
            "python",
            [
                ("ExceptionGroup", "errors", group("KeyError", "'a'")),
                ("ExceptionGroup", "errors", group("KeyError", "'b'")),
            ],
            1,
        ),
        (
            "python",
            [
                ("ExceptionGroup", "errors", group("KeyError", "'a'")),
                ("ExceptionGroup", "errors", group("ValueError", "b")),
            ],
            2,
        ),
        ("rust", [("E", "x", rust("0123456789abcdef")), ("E", "x", rust("fedcba9876543210"))], 1),
        (
            "go",
            [
                ("*fmt.wrapError", "user 17 not found", String::new()),
                ("*fmt.wrapError", "user 18 not found", String::new()),
            ],
            1,
        ),
        (
            "go",
            [
                ("*fmt.wrapError", "connection refused", String::new()),
                ("*fmt.wrapError", "no such table", String::new()),
            ],
            2,
        ),
    ] {
        let sent = sent.each_ref().map(|(exception_type, message, stack)| (*exception_type, *message, stack.as_str()));
        assert_eq!(issues(language, &sent).await, expected, "{language} {sent:?}");
    }
}

// Issue 35, part 1, 7: each span that an exception passes records it with the frames up to itself.
#[tokio::test]
async fn one_failure_on_nested_spans_is_one_issue() {
    let frames = ["api", "svc", "db"].map(|f| format!("  File \"/app/{f}.py\", line 3, in {f}\n    call()\n"));
    let trace =
        |from: usize| format!("Traceback (most recent call last):\n{}ValueError: no stock\n", frames[from..].concat());
    let (harness, project) = Harness::with_project().await;
    let traces: Vec<String> = (0..3).map(trace).collect();
    let spans: Vec<Value> =
        (1..).zip(&traces).map(|(id, trace)| span(id, id - 1, &[event(("ValueError", "no stock", trace))])).collect();
    harness.post_json("traces", &project.token, &body("python", &spans)).await.expect(200);
    let found = hashes(&harness, &project).await;
    assert_eq!(found.iter().map(|one| one.1).collect::<Vec<_>>(), [3]);
}

// Issue 35, part 1, 4: the fingerprint of the event, else of its span or log record, wins over everything else.
#[tokio::test]
async fn an_explicit_fingerprint_decides_on_the_issue() {
    let (harness, project) = Harness::with_project().await;
    harness.api("PUT", &at("/api/projects", &project), &json!({ "issuesFromLogs": true })).await.expect(200);
    let with = |mut record: Value, key: &str| {
        record["attributes"].as_array_mut().expect("a list").push(attribute(key, "stock"));
        record
    };
    let on_event = with(event(("A", "a", "A: a\n    at f (/a.js:1:2)")), "exception.group_id");
    let spans = [
        span(1, 0, &[on_event]),
        with(span(2, 0, &[event(("B", "b", ""))]), "tidewatch.fingerprint"),
        span(3, 0, &[event(("B", "b", ""))]),
    ];
    harness.post_json("traces", &project.token, &body("nodejs", &spans)).await.expect(200);
    let log = json!({
        "timeUnixNano": NOON_NS.to_string(), "severityNumber": 17, "body": { "stringValue": "x" },
        "attributes": [attribute("exception.type", "C"), attribute("exception.message", "c"), attribute("tidewatch.fingerprint", "stock")],
    });
    let logs = json!({ "resourceLogs": [{ "resource": {}, "scopeLogs": [{ "logRecords": [log] }] }] });
    harness.post_json("logs", &project.token, &logs).await.expect(200);
    let mut counts: Vec<u64> = hashes(&harness, &project).await.into_iter().map(|one| one.1).collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 3]);
}
