//! Triage of Issues over the API: states, regressions, assignees, comments, merges. Item "Issues complete".

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use tidewatch_domain::units::SECOND_NS;

use crate::harness::{Harness, Project, text};
use crate::requests::{Made, at, column, export, request};

const LIST: &str = "/api/exception-stack-traces";
/// 2026-06-01T12:00:00Z, the time of second 0 of `request`.
const NOON_NS: i64 = 1_780_315_200_000_000_000;
const HOUR: i64 = 3600;

/// A failed request with an exception of this type, `second` seconds after noon.
fn failed(n: u64, kind: &str, second: i64) -> Made {
    request(n, "/pay", 500, second as f64, 5.0).exception(kind, "declined")
}

/// Sends a failed request of a version of the service `shop`.
async fn send_version(harness: &Harness, project: &Project, version: &str, span: Made) {
    let mut body = export("shop", &[span]);
    let attributes = body["resourceSpans"][0]["resource"]["attributes"].as_array_mut().expect("a list");
    attributes.push(json!({ "key": "service.version", "value": { "stringValue": version } }));
    harness.post_json("traces", &project.token, &body).await.expect(200);
}

/// Types and states of the Issues of a list, by type.
async fn states(harness: &Harness, project: &Project, body: Value) -> Vec<(String, String)> {
    let list = harness.query_json(project, LIST, body).await;
    let rows = list["data"].as_array().expect("a list");
    assert_eq!(list["pagination"]["total"], rows.len());
    let mut found: Vec<_> = rows.iter().map(|row| (text(&row["exceptionType"]), text(&row["state"]))).collect();
    found.sort();
    found
}

async fn hash_of(harness: &Harness, project: &Project, kind: &str) -> String {
    let list = harness.query_json(project, LIST, json!({ "includeArchived": true })).await;
    let row = list["data"].as_array().expect("a list").iter().find(|row| row["exceptionType"] == kind);
    text(&row.unwrap_or_else(|| panic!("no {kind}: {list}"))["exceptionHash"])
}

async fn set(harness: &Harness, project: &Project, hashes: &[&String], state: &str, until: Value) -> Value {
    let mut body = json!({ "hashes": hashes, "state": state });
    body.as_object_mut().expect("an object").extend(until.as_object().cloned().unwrap_or_default());
    harness.query_json(project, &format!("{LIST}/state"), body).await
}

fn listed(types: &[(&str, &str)]) -> Vec<(String, String)> {
    types.iter().map(|(kind, state)| ((*kind).to_owned(), (*state).to_owned())).collect()
}

async fn started(second: i64) -> (Arc<AtomicI64>, Harness, Project) {
    let clock = Arc::new(AtomicI64::new(NOON_NS + second * SECOND_NS));
    let (harness, project) = Harness::with_project_at(&clock).await;
    (clock, harness, project)
}

#[tokio::test]
async fn a_resolved_issue_is_hidden_until_it_regresses() {
    let (clock, harness, project) = started(10).await;
    harness.send(&project, &[failed(1, "A", 0), failed(2, "B", 1), failed(3, "C", 2)]).await;
    let (a, b) = (hash_of(&harness, &project, "A").await, hash_of(&harness, &project, "B").await);
    assert_eq!(set(&harness, &project, &[&a, &b, &a], "resolved", json!({})).await, json!({ "changed": 2 }));
    assert_eq!(states(&harness, &project, json!({})).await, listed(&[("C", "open")]));
    let resolved = json!({ "states": ["resolved"] });
    assert_eq!(states(&harness, &project, resolved.clone()).await, listed(&[("A", "resolved"), ("B", "resolved")]));

    clock.store(NOON_NS + 60 * SECOND_NS, Ordering::SeqCst);
    // An occurrence from before the resolution that arrives late is no regression.
    harness.send(&project, &[failed(4, "A", 30), failed(5, "B", 5)]).await;
    assert_eq!(states(&harness, &project, json!({})).await, listed(&[("A", "regressed"), ("C", "open")]));
    assert_eq!(states(&harness, &project, resolved).await, listed(&[("B", "resolved")]));
    let issue = harness.query_json(&project, &format!("{LIST}/{a}"), json!({})).await;
    assert_eq!(issue["regression"], json!({ "at": "2026-06-01T12:00:30Z", "service": "shop", "version": "" }));
    assert_eq!(issue["group"]["decision"]["decidedAt"], "2026-06-01T12:00:10Z");

    // The activity has the regression before and after it is answered.
    let path = format!("{LIST}/{a}/activity");
    let types = async || -> Vec<String> {
        let all = harness.got(&project, &path).await;
        column(&all, "type").into_iter().map(text).collect()
    };
    assert_eq!(types().await, ["regressed", "state"]);
    set(&harness, &project, &[&a], "resolved", json!({})).await;
    assert_eq!(types().await, ["state", "regressed", "state"]);
    set(&harness, &project, &[&a], "open", json!({})).await;
    assert_eq!(states(&harness, &project, json!({})).await, listed(&[("A", "open"), ("C", "open")]));
}

// A version that was seen before the resolution does not end it, a later one does.
#[tokio::test]
async fn an_issue_resolved_in_the_next_version_regresses_in_a_later_version() {
    let (clock, harness, project) = started(10).await;
    send_version(&harness, &project, "1.0", failed(1, "A", 0)).await;
    send_version(&harness, &project, "1.1", request(2, "/other", 200, 1.0, 5.0)).await;
    let versions = json!({});
    while harness.query_json(&project, "/api/deploys/list", versions.clone()).await["data"].as_array().unwrap().len()
        < 2
    {}
    let a = hash_of(&harness, &project, "A").await;
    set(&harness, &project, &[&a], "resolved_in_next_version", json!({})).await;
    clock.store(NOON_NS + HOUR * SECOND_NS, Ordering::SeqCst);
    send_version(&harness, &project, "1.0", failed(3, "A", 20)).await;
    send_version(&harness, &project, "1.1", failed(4, "A", 21)).await;
    assert_eq!(states(&harness, &project, json!({})).await, listed(&[]));
    let next = json!({ "states": ["resolved_in_next_version"] });
    assert_eq!(states(&harness, &project, next).await, listed(&[("A", "resolved_in_next_version")]));
    send_version(&harness, &project, "1.2", failed(5, "A", 30)).await;
    send_version(&harness, &project, "1.2", failed(6, "A", 31)).await;
    assert_eq!(states(&harness, &project, json!({})).await, listed(&[("A", "regressed")]));
    let issue = harness.query_json(&project, &format!("{LIST}/{a}"), json!({})).await;
    assert_eq!(issue["regression"], json!({ "at": "2026-06-01T12:00:30Z", "service": "shop", "version": "1.2" }));
    let group = &issue["group"];
    assert_eq!((&group["firstVersion"], &group["lastVersion"]), (&json!("1.0"), &json!("1.2")));
    set(&harness, &project, &[&a], "resolved_in_next_version", json!({})).await;
    assert_eq!(states(&harness, &project, json!({})).await, listed(&[]));
    // An occurrence without a version may be of a later one.
    clock.store(NOON_NS + 2 * HOUR * SECOND_NS, Ordering::SeqCst);
    harness.send(&project, &[failed(7, "A", HOUR + 1)]).await;
    assert_eq!(states(&harness, &project, json!({})).await, listed(&[("A", "regressed")]));
}

#[tokio::test]
async fn a_mute_ends_at_its_time_or_count() {
    let (clock, harness, project) = started(10).await;
    harness.send(&project, &[failed(1, "A", 0), failed(2, "B", 1), failed(3, "C", 2)]).await;
    let hash = async |kind: &str| hash_of(&harness, &project, kind).await;
    let (a, b, c) = (hash("A").await, hash("B").await, hash("C").await);
    set(&harness, &project, &[&a], "muted", json!({ "untilTime": "2026-06-01T13:00:00Z" })).await;
    set(&harness, &project, &[&b], "muted", json!({ "untilCount": 2 })).await;
    set(&harness, &project, &[&c], "muted", json!({ "untilTime": "2026-06-01T13:00:00Z", "untilCount": 9 })).await;
    assert_eq!(states(&harness, &project, json!({})).await, listed(&[]));
    let muted = json!({ "states": ["muted"] });
    let list = harness.query_json(&project, LIST, muted.clone()).await;
    let decision =
        &list["data"].as_array().unwrap().iter().find(|row| row["exceptionType"] == "C").unwrap()["decision"];
    assert_eq!((&decision["untilTime"], &decision["untilCount"]), (&json!("2026-06-01T13:00:00Z"), &json!(9)));

    clock.store(NOON_NS + 30 * SECOND_NS, Ordering::SeqCst);
    harness.send(&project, &[failed(4, "A", 20), failed(5, "B", 20)]).await;
    assert_eq!(states(&harness, &project, json!({})).await, listed(&[]), "one occurrence of two");
    harness.send(&project, &[failed(6, "A", 21), failed(7, "B", 21)]).await;
    assert_eq!(states(&harness, &project, json!({})).await, listed(&[("B", "open")]));
    clock.store(NOON_NS + HOUR * SECOND_NS, Ordering::SeqCst);
    assert_eq!(states(&harness, &project, json!({})).await, listed(&[("A", "open"), ("B", "open"), ("C", "open")]));

    for (body, status) in [
        (json!({ "hashes": [a], "state": "muted" }), 422),
        (json!({ "hashes": [a], "state": "muted", "untilTime": "2026-06-01T12:59:59Z" }), 422),
        (json!({ "hashes": [a], "state": "muted", "untilCount": 0 }), 422),
        (json!({ "hashes": [a], "state": "resolved", "untilCount": 1 }), 422),
        (json!({ "hashes": [a], "state": "regressed" }), 422),
        (json!({ "hashes": vec!["00000000000000ff"; 1001], "state": "resolved" }), 422),
        (json!({ "hashes": ["x"], "state": "resolved" }), 400),
        (json!({ "hashes": [a], "state": "closed" }), 400),
    ] {
        harness.query(&project, &format!("{LIST}/state"), body).await.expect(status);
    }
}

// `user.id`, then `enduser.id`, then `client.address`; newness is the first occurrence of all time.
#[tokio::test]
async fn issues_have_users_versions_and_an_order_by_each() {
    let (_, harness, project) = started(3 * HOUR).await;
    let by = |n: u64, kind: &str, second: i64, key: &str, user: &str| failed(n, kind, second).with(key, user);
    harness
        .send(
            &project,
            &[
                by(1, "A", 0, "user.id", "before"),
                by(2, "A", 1, "user.id", "ada").with("client.address", "10.0.0.1"),
                by(3, "A", 2, "user.id", "ada").with("enduser.id", "other"),
                by(4, "B", 3, "enduser.id", "ada"),
                by(5, "B", 4, "client.address", "10.0.0.1"),
                by(6, "B", 5, "client.address", "10.0.0.2").with("user.id", ""),
                failed(7, "C", 6),
                failed(8, "C", 7),
            ],
        )
        .await;
    let from = "2026-06-01T12:00:01Z";
    let list = harness.query_json(&project, LIST, json!({ "orderBy": "users", "fromDate": from })).await;
    let users: Vec<_> = column(&list, "users").into_iter().cloned().collect();
    assert_eq!(column(&list, "exceptionType"), ["B", "A", "C"]);
    assert_eq!(users, [3, 1, 0]);
    let newest = harness.query_json(&project, LIST, json!({ "orderBy": "newness", "fromDate": from })).await;
    assert_eq!(column(&newest, "exceptionType"), ["C", "B", "A"]);
    let a = &newest["data"][2];
    assert_eq!(
        (&a["firstSeen"], &a["firstOccurrence"]),
        (&json!("2026-06-01T12:00:01Z"), &json!("2026-06-01T12:00:00Z"))
    );
    let all_time = json!({ "fromDate": null, "toDate": null });
    let issue = harness.query_json(&project, &format!("{LIST}/{}", text(&a["exceptionHash"])), all_time).await;
    assert_eq!((&issue["group"]["users"], &issue["taggedCount"]), (&json!(2), &json!(3)));
}

// Tags are counted over all occurrences, not over a page of them.
#[tokio::test]
async fn tags_are_counted_over_all_occurrences() {
    let (_, harness, project) = started(HOUR).await;
    for part in 0..3_i64 {
        let span = |n: i64| {
            let plan = if (500 * part + n) % 3 == 0 { "pro" } else { "free" };
            failed((500 * part + n + 1) as u64, "A", n).with("plan", plan)
        };
        harness.send(&project, &(0..500).map(span).collect::<Vec<_>>()).await;
    }
    let a = hash_of(&harness, &project, "A").await;
    let issue = harness.query_json(&project, &format!("{LIST}/{a}"), json!({})).await;
    let tag = issue["tags"].as_array().unwrap().iter().find(|tag| tag["key"] == "plan").unwrap();
    let values = json!([{ "value": "free", "count": 1000 }, { "value": "pro", "count": 500 }]);
    assert_eq!(*tag, json!({ "key": "plan", "values": values, "distinct": 2, "count": 1500, "partial": false }));
    assert_eq!((&issue["taggedCount"], &issue["taggedStoredCount"]), (&json!(1500), &json!(1500)));
    let without = harness.query_json(&project, &format!("{LIST}/{a}"), json!({ "withoutTags": true })).await;
    assert_eq!((&without["tags"], &without["taggedCount"]), (&json!([]), &json!(0)));
    assert_eq!(without["group"], issue["group"]);
}

on_both! {
    async fn issues_are_assigned_commented_and_merged(database) {
        let (harness, project) = Harness::registered(&database).await;
        let failed = |n: u64, kind: &str, second: f64| request(n, "/pay", 500, second, 5.0).exception(kind, "declined");
        harness.send(&project, &[failed(1, "A", 0.0), failed(2, "A", 10.0), failed(3, "B", 5.0), failed(4, "C", 20.0)]).await;
        let hash = async |kind: &str| hash_of(&harness, &project, kind).await;
        let (a, b, c) = (hash("A").await, hash("B").await, hash("C").await);
        let call = async |path: &str, body: Value| {
            harness.api("POST", &at(&format!("{LIST}/{path}"), &project), &body).await
        };
        // Assignment: to members only.
        let members = harness.api("GET", &at("/api/me/login-bundle", &project), &Value::Null).await.expect(200).json();
        let me = &members["user"]["id"];
        let assigned = call("assign", json!({ "hashes": [a], "userId": me })).await.expect(200).json();
        assert_eq!(assigned, json!({ "changed": 1 }));
        call("assign", json!({ "hashes": [a], "userId": 999 })).await.expect(404);
        let list = harness.query_json(&project, LIST, json!({ "assigneeId": me })).await;
        assert_eq!(column(&list, "exceptionType"), ["A"]);
        assert_eq!(list["data"][0]["assignee"], json!({ "userId": me, "name": "Owner", "email": "owner@example.com" }));
        let list = harness.query_json(&project, LIST, json!({ "assigneeId": 0 })).await;
        assert_eq!(column(&list, "exceptionType"), ["C", "B"]);

        // Comments.
        let written = call(&format!("{b}/comments"), json!({ "comment": " since the *deploy* \n" })).await.expect(200).json();
        let comment = format!("{LIST}/comments/{}", written["id"]);
        call(&format!("{b}/comments"), json!({ "comment": " " })).await.expect(422);
        call(&format!("{b}/comments"), json!({ "comment": "x".repeat(10_001) })).await.expect(422);
        let activity = harness.got(&project, &format!("{LIST}/{b}/activity")).await;
        let entry = &activity["data"][0];
        assert_eq!((&entry["type"], &entry["comment"]), (&json!("comment"), &json!("since the *deploy*")));
        assert_eq!((&entry["by"]["userId"], &entry["editedAt"]), (me, &Value::Null));
        harness.api("PUT", &at(&comment, &project), &json!({ "comment": "fixed" })).await.expect(200);
        let activity = harness.got(&project, &format!("{LIST}/{b}/activity")).await;
        assert_eq!((&activity["data"][0]["comment"], activity["data"][0]["editedAt"].is_string()), (&json!("fixed"), true));

        // Merge: one row with the occurrences of all; hashes of occurrences stay.
        call("state", json!({ "hashes": [b], "state": "archived" })).await.expect(200);
        let merged = call("merge", json!({ "hashes": [b, a], "into": a })).await.expect(200).json();
        assert_eq!(merged, json!({ "exceptionHash": a }));
        let list = harness.query_json(&project, LIST, json!({})).await;
        assert_eq!(column(&list, "exceptionType"), ["C", "A"]);
        let row = &list["data"][1];
        assert_eq!((&row["count"], &row["mergedHashes"]), (&json!(3), &json!([b])));
        let trend: i64 = row["hourlyTrend"].as_array().unwrap().iter().map(|point| point["count"].as_i64().unwrap()).sum();
        assert_eq!(trend, 3);
        for of in [&a, &b] {
            let issue = harness.query_json(&project, &format!("{LIST}/{of}"), json!({})).await;
            assert_eq!((&issue["group"]["exceptionHash"], &issue["pagination"]["total"]), (&json!(a), &json!(3)));
            let hashes: Vec<_> = issue["occurrences"].as_array().unwrap().iter().map(|one| text(&one["exceptionHash"])).collect();
            assert_eq!(hashes, [a.clone(), b.clone(), a.clone()]);
        }
        let activity = harness.got(&project, &format!("{LIST}/{b}/activity")).await;
        assert_eq!(column(&activity, "type"), ["merged", "state", "comment", "assigned"]);
        // A search for the merged type finds the Issue.
        let list = harness.query_json(&project, LIST, json!({ "search": b })).await;
        assert_eq!((&list["data"][0]["exceptionHash"], &list["data"][0]["count"]), (&json!(a), &json!(3)));
        // What was merged into A moves with A.
        call("merge", json!({ "hashes": [a], "into": c })).await.expect(200);
        let list = harness.query_json(&project, LIST, json!({})).await;
        assert_eq!(column(&list, "count"), [4]);
        // Unmerged hashes have their own decisions again.
        assert_eq!(call("unmerge", json!({ "hashes": [a, b, c] })).await.expect(200).json(), json!({ "changed": 2 }));
        let found = states(&harness, &project, json!({ "includeArchived": true })).await;
        assert_eq!(found, listed(&[("A", "open"), ("B", "archived"), ("C", "open")]));

        harness.api("DELETE", &at(&comment, &project), &Value::Null).await.expect(200);
        harness.api("DELETE", &at(&comment, &project), &Value::Null).await.expect(404);
    }
}

#[tokio::test]
async fn similar_issues_have_the_type_and_overlapping_frames_or_messages() {
    let (_, harness, project) = started(HOUR).await;
    let with_stack = |n: u64, kind: &str, message: &str, function: &str| {
        let stack = format!("{kind}: {message}\n    at pay (pay.js:1:2)\n    at {function} (cart.js:7:1)");
        request(n, "/pay", 500, n as f64, 5.0)
            .with("exception.type", kind)
            .with("exception.message", message)
            .with("exception.stacktrace", &stack)
    };
    harness
        .send(
            &project,
            &[
                with_stack(1, "E", "one", "total"),
                with_stack(2, "E", "other", "sum"),
                with_stack(3, "F", "one", "total"),
                request(4, "/pay", 500, 4.0, 5.0)
                    .with("exception.type", "E")
                    .with("exception.message", "unrelated words"),
            ],
        )
        .await;
    let list = harness.query_json(&project, LIST, json!({ "search": "total" })).await;
    let hash = list["data"].as_array().unwrap().iter().find(|row| row["exceptionType"] == "E").unwrap();
    let similar = harness.got(&project, &format!("{LIST}/{}/similar", text(&hash["exceptionHash"]))).await;
    assert_eq!(column(&similar, "title"), ["E: other"], "{similar}");
    assert_eq!(similar["data"][0]["similarity"], 1.0 / 3.0);
}

// The commit of a resource attribute, else of the deploy of the version; and the project's template of links.
#[tokio::test]
async fn an_issue_has_the_commit_that_ran() {
    let (_, harness, project) = started(HOUR).await;
    let mut body = export("shop", &[failed(1, "A", 0)]);
    let attributes = body["resourceSpans"][0]["resource"]["attributes"].as_array_mut().expect("a list");
    attributes.push(json!({ "key": "vcs.ref.head.revision", "value": { "stringValue": "abc123" } }));
    harness.post_json("traces", &project.token, &body).await.expect(200);
    send_version(&harness, &project, "2.0", failed(2, "B", 1)).await;
    harness.send(&project, &[failed(3, "C", 2)]).await;
    let report = json!({ "service": "shop", "version": "2.0", "commit": "def456" });
    harness.api("POST", &at("/api/deploys", &project), &report).await.expect(200);
    for (kind, commit) in [("A", "abc123"), ("B", "def456"), ("C", "")] {
        let hash = hash_of(&harness, &project, kind).await;
        let issue = harness.query_json(&project, &format!("{LIST}/{hash}"), json!({})).await;
        assert_eq!(issue["commit"], commit, "{kind}");
    }
    let template = "https://code.example.com/shop/blob/{commit}/{path}#L{line}";
    let change = json!({ "sourceUrl": template, "sourceRoot": "/srv/shop/" });
    let changed = harness.api("PUT", &at("/api/projects", &project), &change).await.expect(200).json();
    assert_eq!(
        (&changed["settings"]["sourceUrl"], &changed["settings"]["sourceRoot"]),
        (&json!(template), &json!("/srv/shop/"))
    );
    for wrong in [
        "javascript:alert(1)//{path}",
        "https://{path}/x",
        "https://user@evil.example/{path}",
        "https://code.example.com/no-placeholder",
        "https://code.example.com/{path} x",
        &format!("https://code.example.com/{{path}}{}", "x".repeat(500)),
    ] {
        harness.api("PUT", &at("/api/projects", &project), &json!({ "sourceUrl": wrong })).await.expect(422);
    }
}
