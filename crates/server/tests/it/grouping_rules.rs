//! Grouping rules of projects over the API: order, preview, refusals, roles, and their effect. Issues: steering.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Harness, Project, text};
use crate::mailbox::organization;
use crate::requests::{Made, at, column, request};
use crate::rules::Setup;

const LIST: &str = "/api/exception-stack-traces";
const RULES: &str = "/api/grouping-rules";

fn failed(n: u64, kind: &str, second: f64) -> Made {
    request(n, "/pay", 500, second, 5.0).exception(kind, "declined").with("tenant", &format!("t{}", n % 2))
}

async fn call(harness: &Harness, project: &Project, method: &str, path: &str, body: &Value, status: u16) -> Value {
    let answer = harness.api(method, &at(&format!("{RULES}{path}"), project), body).await;
    answer.expect(status).json()
}

/// Counts of the open Issues, ascending.
async fn counts(harness: &Harness, project: &Project) -> Vec<u64> {
    let list = harness.query_json(project, LIST, json!({})).await;
    let mut counts: Vec<u64> =
        column(&list, "count").into_iter().map(|count| count.as_u64().expect("a number")).collect();
    counts.sort_unstable();
    counts
}

async fn until_counts(harness: &Harness, project: &Project, expected: &[u64]) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let found = counts(harness, project).await;
        if found == expected || Instant::now() > deadline {
            assert_eq!(found, expected);
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

// Issues: a rule joins what arrives, the past only on request, and fires no rule for new Issues.
#[tokio::test]
async fn a_rule_joins_issues() {
    let setup = Setup::at(10).await;
    let (harness, project) = (&setup.harness, &setup.project);
    setup.create("new_error", json!({})).await;
    setup.send(&[failed(1, "TimeoutA", 1.0), failed(2, "TimeoutB", 2.0), failed(3, "Other", 3.0)]).await;
    setup.until_notified(3).await;
    let list = harness.query_json(project, LIST, json!({})).await;
    let first = list["data"].as_array().expect("a list").iter().find(|row| row["exceptionType"] == "TimeoutA");
    let first = text(&first.expect("an Issue")["exceptionHash"]);

    let rule = json!({ "query": "type:Timeout*", "template": "timeouts of {{service.name}}" });
    let preview = call(harness, project, "POST", "/preview", &rule, 200).await;
    let fields = ["events", "joinedIssues", "joinedEvents", "splitIssues", "newHashes", "readEvents"];
    assert_eq!(fields.map(|field| preview[field].as_u64().expect("a number")), [2, 2, 2, 0, 1, 3], "{preview}");
    assert_eq!(preview["warning"], "one Issue would have 2 of 3 exceptions");
    let id = call(harness, project, "POST", "", &rule, 200).await["id"].clone();

    setup.send(&[failed(4, "TimeoutC", 4.0), failed(5, "TimeoutA", 5.0)]).await;
    assert_eq!(counts(harness, project).await, [1, 1, 1, 2], "the past stays");
    call(harness, project, "POST", "/apply", &Value::Null, 200).await;
    until_counts(harness, project, &[1, 4]).await;
    let deadline = Instant::now() + Duration::from_secs(60);
    let issue = loop {
        let answer = harness.api("POST", &at(&format!("{LIST}/{first}"), project), &json!({})).await;
        if answer.status == 200 || Instant::now() > deadline {
            break answer.expect(200).json();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(issue["group"]["count"], json!(4), "an old link leads on");
    assert_eq!(issue["grouping"]["basis"], json!(format!("grouping rule {id} of the project")));
    // The only new Issue is of a type that no rule joins.
    setup.send(&[failed(6, "TimeoutD", 6.0), failed(7, "Fresh", 7.0)]).await;
    let found = setup.until_notified(4).await;
    assert_eq!(found[3].1, "New Issue: Fresh: declined");
}

// Issues: the first rule that matches wins; a rule may split; rules of one project do not group another one.
#[tokio::test]
async fn the_first_match_wins() {
    let setup = Setup::at(10).await;
    let (harness, project) = (&setup.harness, &setup.project);
    let other = harness.project("second").await;
    let rule = |query: &str, template: &str| json!({ "query": query, "template": template });
    let split =
        call(harness, project, "POST", "", &rule("tenant:*", "{{default}} {{tenant}}"), 200).await["id"].clone();
    let join = call(harness, project, "POST", "", &rule("", "all"), 200).await["id"].clone();
    for project in [project, &other] {
        harness.send(project, &[failed(1, "A", 1.0), failed(2, "A", 2.0), failed(3, "A", 3.0)]).await;
    }
    assert_eq!(counts(harness, project).await, [1, 2]);
    assert_eq!(counts(harness, &other).await, [3]);
    assert_eq!(call(harness, &other, "GET", "", &Value::Null, 200).await["data"], json!([]));

    let order = json!({ "ids": [join, split] });
    call(harness, project, "PUT", "/order", &order, 200).await;
    let listed = call(harness, project, "GET", "", &Value::Null, 200).await;
    assert_eq!(column(&listed, "id"), [&join, &split]);
    harness.send(project, &[failed(4, "A", 4.0), failed(5, "B", 5.0)]).await;
    assert_eq!(counts(harness, project).await, [1, 2, 2]);
    call(harness, project, "PUT", "/order", &json!({ "ids": [join] }), 404).await;
    call(harness, project, "DELETE", &format!("/{join}"), &Value::Null, 200).await;
    call(harness, project, "DELETE", &format!("/{join}"), &Value::Null, 404).await;
    let change = rule("tenant:t1", "{{tenant}}");
    call(harness, project, "PUT", &format!("/{split}"), &change, 200).await;
    let listed = call(harness, project, "GET", "", &Value::Null, 200).await;
    assert_eq!(listed["data"], json!([{ "id": split, "query": "tenant:t1", "template": "{{tenant}}" }]));
    call(harness, &other, "PUT", &format!("/{split}"), &change, 404).await;

    let organization = organization(harness).await;
    let audit = harness.api("GET", &format!("/api/organizations/{organization}/audit"), &Value::Null).await;
    let audit = audit.expect(200).json().to_string();
    for action in ["grouping_rule.save", "grouping_rule.delete", "grouping_rule.order"] {
        assert!(audit.contains(action), "{action}: {audit}");
    }
}

// Issues: at most 50 rules, a template without unique values, queries of what is known on arrival.
#[tokio::test]
async fn rules_are_refused() {
    let setup = Setup::at(10).await;
    let (harness, project) = (&setup.harness, &setup.project);
    for (query, template, status) in [
        ("(a", "x", 400),
        ("route:/pay", "x", 400),
        ("owner:GET", "x", 400),
        ("a", "", 422),
        ("a", "{{", 422),
        ("a", "{{type", 422),
    ] {
        for path in ["", "/preview"] {
            call(harness, project, "POST", path, &json!({ "query": query, "template": template }), status).await;
        }
    }
    call(harness, project, "POST", "", &json!({ "query": "a", "template": "x", "more": 1 }), 400).await;
    let many: Vec<Made> =
        (1..=1001).map(|n| failed(n, "A", n as f64 / 10.0).with("order.id", &format!("o{n}"))).collect();
    setup.send(&many).await;
    let unique = json!({ "query": "type:A", "template": "{{order.id}}" });
    let preview = call(harness, project, "POST", "/preview", &unique, 200).await;
    assert_eq!((&preview["newHashes"], &preview["splitIssues"]), (&json!(1001), &json!(1)));
    call(harness, project, "POST", "", &unique, 422).await;
    for n in 0..50 {
        let rule = json!({ "query": format!("type:T{n}"), "template": "x" });
        call(harness, project, "POST", "", &rule, 200).await;
    }
    let answer = call(harness, project, "POST", "", &json!({ "query": "type:T", "template": "x" }), 422).await;
    assert!(answer["error"].as_str().expect("a sentence").contains("grouping rules"), "{answer}");
}
