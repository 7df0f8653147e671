//! The limit on a service's names per day: further ones are `(other)` in lists, rankings and Issues. DECISIONS 27.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use serde_json::json;

use crate::engines::On;
use crate::harness::{Harness, Project};
use crate::requests::{CONSUMER, NOON_NS, column, export, made, request};

const OTHER: &str = "(other)";

async fn started() -> (Harness, Project) {
    let clock = Arc::new(AtomicI64::new(NOON_NS as i64));
    Harness::registered_at(&On::sqlite(), &clock, |config| config.names_max = 2).await
}

/// The sorted names of Endpoints, Tasks and owners of Issues.
async fn shown(harness: &Harness, project: &Project) -> [Vec<String>; 3] {
    let mut shown = Vec::new();
    for (path, field) in
        [("/api/endpoints", "endpoint"), ("/api/tasks", "taskName"), ("/api/exception-stack-traces", "ownerName")]
    {
        let list = harness.query_json(project, path, json!({"pagination": {"page": 1, "pageSize": 50}})).await;
        let mut names: Vec<String> =
            column(&list, field).into_iter().map(|name| name.as_str().unwrap_or("").to_owned()).collect();
        names.sort();
        shown.push(names);
    }
    shown.try_into().expect("three lists")
}

#[tokio::test]
async fn excess_names_are_other_before_and_after_a_crash() {
    let (mut harness, project) = started().await;
    let first = [
        request(1, "/a", 200, 1.0, 5.0),
        request(2, "/b", 200, 2.0, 5.0),
        request(3, "/c", 500, 3.0, 5.0).exception("ThirdError", "of a name too many"),
        made(4, 4, CONSUMER, "mail.send", 4.0, 5.0),
    ];
    harness.send(&project, &first).await;
    harness.send(&project, &[request(5, "/a", 200, 5.0, 5.0), request(6, "/d", 200, 6.0, 5.0)]).await;
    let other_service = export("pay", &[request(7, "/c", 200, 7.0, 5.0)]);
    harness.post_json("traces", &project.token, &other_service).await.expect(200);

    let endpoints = [OTHER, OTHER, "GET /a", "GET /a", "GET /b", "GET /c"].map(str::to_owned).to_vec();
    let expected = [endpoints, vec!["mail.send".to_owned()], vec![OTHER.to_owned()]];
    assert_eq!(shown(&harness, &project).await, expected);
    let groups = harness.query_json(&project, "/api/endpoints/grouped", json!({"search": OTHER})).await;
    assert_eq!((groups["data"][0]["endpoint"].as_str(), &groups["data"][0]["count"]), (Some(OTHER), &json!(2)));
    let drops = harness.query_json(&project, "/api/drops", json!({})).await;
    assert_eq!(drops["data"], json!([{"signal": "traces", "reason": "too_many_names", "count": 2}]));

    // Replayed from the journal with another limit, then read from parts.
    for names_max in [1, 0, 10, 2] {
        harness.change(move |config| config.names_max = names_max);
        harness.crash().await;
        assert_eq!(shown(&harness, &project).await, expected, "{names_max}");
        let drops = harness.query_json(&project, "/api/drops", json!({})).await;
        assert_eq!(drops["data"], json!([{"signal": "traces", "reason": "too_many_names", "count": 2}]));
    }
    harness.restart().await;
    harness.send(&project, &[request(8, "/e", 200, 8.0, 5.0), request(9, "/b", 200, 9.0, 5.0)]).await;
    let names = shown(&harness, &project).await;
    assert_eq!(names[0].iter().filter(|name| *name == OTHER).count(), 3, "{names:?}");
    assert_eq!(names[0].iter().filter(|name| *name == "GET /b").count(), 2, "{names:?}");
}
