//! Two releases of one service with thirty bugs between them, replayed with stack traces that real runtimes printed.
//! GROUPING 6; SPEC: "Issues are grouped by the normalized stack trace".

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use tidewatch_domain::units::SECOND_NS;

use crate::harness::{Harness, Project, text};
use crate::requests::{NOON_NS, export, request};

const LIST: &str = "/api/exception-stack-traces";
const BUGS: usize = 30;
/// Bugs of one language.
const OF_LANGUAGE: usize = 4;
const LANGUAGES: [(&str, &str); 9] = [
    ("python", include_str!("../../../../fixtures/grouping/python.json")),
    ("java", include_str!("../../../../fixtures/grouping/java.json")),
    ("javascript", include_str!("../../../../fixtures/grouping/javascript.json")),
    ("go", include_str!("../../../../fixtures/grouping/go.json")),
    ("ruby", include_str!("../../../../fixtures/grouping/ruby.json")),
    ("php", include_str!("../../../../fixtures/grouping/php.json")),
    ("rust", include_str!("../../../../fixtures/grouping/rust.json")),
    ("dotnet", include_str!("../../../../fixtures/grouping/dotnet.json")),
    ("elixir", include_str!("../../../../fixtures/grouping/elixir.json")),
];

/// A bug: its trace in the first release and in the second.
struct Bug {
    name: String,
    releases: [Value; 2],
}

/// Pairs of one bug in two releases, each of another situation.
fn bugs() -> Vec<Bug> {
    let mut bugs = Vec::new();
    for (language, corpus) in LANGUAGES {
        let corpus: Value = serde_json::from_str(corpus).expect("a corpus");
        let mut situations = BTreeSet::new();
        for pair in corpus["pairs"].as_array().expect("a list").iter().filter(|pair| pair["same"] == true) {
            let [first, second] = ["a", "b"].map(|side| pair[side].as_str().expect("a name"));
            let situation = first.split(['-', '.']).next().unwrap_or_default();
            let is_release = first.contains("r1") && second.contains("r2") && second.starts_with(situation);
            if is_release && situations.len() < OF_LANGUAGE && situations.insert(situation) {
                let releases = [first, second].map(|name| corpus["traces"][name].clone());
                bugs.push(Bug { name: format!("{language} {situation}"), releases });
            }
        }
    }
    assert!(bugs.len() >= BUGS, "{}", bugs.len());
    bugs.truncate(BUGS);
    bugs
}

/// Sends every bug once, in failed requests of a version.
async fn send(harness: &Harness, project: &Project, bugs: &[Bug], release: usize, second: i64) {
    let mut spans = Vec::new();
    for (place, bug) in bugs.iter().enumerate() {
        let number = (release * 1000 + place + 1) as u64;
        let of = &bug.releases[release];
        spans.push(request(number, "/pay", 500, second as f64, 5.0).thrown(
            &text(&of["type"]),
            &text(&of["message"]),
            &text(&of["stack"]),
        ));
    }
    let mut body = export("shop", &spans);
    let attributes = body["resourceSpans"][0]["resource"]["attributes"].as_array_mut().expect("a list");
    let version = format!("{}.0.0", release + 1);
    attributes.push(json!({ "key": "service.version", "value": { "stringValue": version } }));
    harness.post_json("traces", &project.token, &body).await.expect(200);
}

/// The Issues by hash: state, type and number of occurrences.
async fn issues(harness: &Harness, project: &Project) -> BTreeMap<String, (String, String, u64)> {
    let body = json!({ "includeArchived": true, "pagination": { "page": 1, "pageSize": 100 } });
    let list = harness.query_json(project, LIST, body).await;
    let rows = list["data"].as_array().expect("a list");
    let issue = |row: &Value| (text(&row["state"]), text(&row["exceptionType"]), row["count"].as_u64().unwrap_or(0));
    rows.iter().map(|row| (text(&row["exceptionHash"]), issue(row))).collect()
}

// Thirty bugs in two releases are thirty Issues; resolved ones that return are regressions, none is new.
#[tokio::test]
async fn thirty_bugs_of_two_releases_are_thirty_issues() {
    let clock = Arc::new(AtomicI64::new(NOON_NS as i64 + 60 * SECOND_NS));
    let (harness, project) = Harness::with_project_at(&clock).await;
    let bugs = bugs();
    send(&harness, &project, &bugs, 0, 10).await;
    let first = issues(&harness, &project).await;
    let names: Vec<&str> = bugs.iter().map(|bug| bug.name.as_str()).collect();
    assert_eq!(first.len(), BUGS, "{names:?}: {first:?}");
    let hashes: Vec<&String> = first.keys().collect();
    let resolve = json!({ "hashes": hashes, "state": "resolved" });
    harness.query_json(&project, &format!("{LIST}/state"), resolve).await;
    assert!(issues(&harness, &project).await.values().all(|(state, ..)| state == "resolved"));

    clock.fetch_add(3600 * SECOND_NS, Ordering::Relaxed);
    send(&harness, &project, &bugs, 1, 3620).await;
    let second = issues(&harness, &project).await;
    let new: Vec<_> = second.iter().filter(|(hash, _)| !first.contains_key(*hash)).collect();
    assert_eq!(new, Vec::<(&String, &(String, String, u64))>::new());
    let wrong: Vec<_> = second.iter().filter(|(_, (state, _, count))| state != "regressed" || *count != 2).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
