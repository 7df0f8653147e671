//! Issues after a change of the grouping rule: nothing is new, everything follows, old links lead on. Issues: moving.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidewatch_domain::grouping::Occurrence;
use tidewatch_domain::rules::group_versions::{GroupVersion, GroupVersions, NORMALIZED_STACK, PARSED_FRAMES};
use tidewatch_domain::rules::issue_group::message_group;

use crate::harness::{Harness, Project, text};
use crate::requests::{Made, at, column, request};
use crate::rules::Setup;

const LIST: &str = "/api/exception-stack-traces";

/// A rule of a later program: the type without the digits at its end.
const BY_FAMILY: GroupVersion = GroupVersion {
    version: 3,
    hash: |input| message_group(&["family ", input.exception_type.trim_end_matches(char::is_numeric)].concat()),
    ..PARSED_FRAMES
};
const LATER: GroupVersions = GroupVersions::new(&[NORMALIZED_STACK, PARSED_FRAMES, BY_FAMILY]);

/// A failed request with an exception of this type, `second` seconds after noon.
fn failed(n: u64, kind: &str, second: f64) -> Made {
    request(n, "/pay", 500, second, 5.0).exception(kind, "declined")
}

/// The hash that this program gives [`failed`].
fn first_hash(kind: &str) -> String {
    let stack_trace = format!("{kind}: declined\n    at work (app.js:1:2)");
    let input = Occurrence::new(kind, "declined", &stack_trace);
    format!("{:016x}", (PARSED_FRAMES.hash)(&input))
}

async fn post(harness: &Harness, project: &Project, path: &str, body: Value) -> Value {
    harness.api("POST", &at(&format!("{LIST}/{path}"), project), &body).await.expect(200).json()
}

async fn issue(harness: &Harness, project: &Project, hash: &str) -> Value {
    post(harness, project, hash, json!({})).await
}

/// Hash, state and count of every Issue of all states, by hash.
async fn issues(harness: &Harness, project: &Project) -> Vec<(String, String, u64)> {
    let list = harness.query_json(project, LIST, json!({ "includeArchived": true })).await;
    let rows = list["data"].as_array().expect("a list").iter();
    let row =
        |row: &Value| (text(&row["exceptionHash"]), text(&row["state"]), row["count"].as_u64().expect("a number"));
    let mut found: Vec<_> = rows.map(row).collect();
    found.sort();
    found
}

fn expected(rows: &[(&str, &str, u64)]) -> Vec<(String, String, u64)> {
    let mut rows: Vec<_> =
        rows.iter().map(|(kind, state, count)| (first_hash(kind), (*state).to_owned(), *count)).collect();
    rows.sort();
    rows
}

/// Waits until no stored row of these Issues has a hash of the first version.
async fn until_moved(harness: &Harness, project: &Project, hashes: &[String]) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let first: Vec<String> = ["A1", "A2", "A3", "B1", "B7", "C1"].map(first_hash).to_vec();
    loop {
        let mut found = Vec::new();
        for hash in hashes {
            let page = json!({ "pagination": { "page": 1, "pageSize": 100 } });
            let issue = post(harness, project, hash, page).await;
            found
                .extend(issue["occurrences"].as_array().expect("a list").iter().map(|one| text(&one["exceptionHash"])));
        }
        if !found.iter().any(|hash| first.contains(hash)) {
            return;
        }
        assert!(Instant::now() < deadline, "rows are still grouped by the first version: {found:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Restarts with the second version of the rule.
async fn upgrade(harness: &mut Harness) {
    harness.grouping = LATER;
    harness.restart().await;
}

// Issues: no "new Issue" and no "regressed" of a change of the rule; a resolved Issue that comes back is a regression.
#[tokio::test]
async fn a_change_of_the_rule_is_silent() {
    let mut setup = Setup::at(10).await;
    setup.create("new_error", json!({})).await;
    setup.create("error_regression", json!({})).await;
    setup.send(&[failed(1, "A1", 1.0), failed(2, "A2", 2.0), failed(3, "B1", 3.0), failed(4, "C1", 4.0)]).await;
    setup.until_notified(4).await;
    let other = setup.harness.project("second").await;
    setup.harness.send(&other, &[failed(1, "B1", 3.0)]).await;
    let (b, c) = (first_hash("B1"), first_hash("C1"));
    post(&setup.harness, &setup.project, "state", json!({ "hashes": [b], "state": "resolved" })).await;
    post(&setup.harness, &setup.project, "state", json!({ "hashes": [c], "state": "archived" })).await;
    post(&setup.harness, &setup.project, &format!("{}/comments", first_hash("A2")), json!({ "comment": "mine" })).await;

    upgrade(&mut setup.harness).await;
    let (harness, project) = (&setup.harness, &setup.project);
    let all: Vec<String> = ["A1", "A2", "B1", "C1"].map(first_hash).to_vec();
    until_moved(harness, project, &all).await;
    // A2 has a comment, so it was acted on last.
    assert_eq!(
        issues(harness, project).await,
        expected(&[("A2", "open", 2), ("B1", "resolved", 1), ("C1", "archived", 1)])
    );
    for old in ["A1", "A2"] {
        let found = issue(harness, project, &first_hash(old)).await;
        assert_eq!(found["group"]["exceptionHash"], json!(first_hash("A2")), "links lead on");
        assert_eq!(found["grouping"]["version"], json!(3));
    }
    let activity = harness.got(project, &format!("{LIST}/{}/activity", first_hash("A1"))).await;
    let joined = &activity["data"][0];
    assert_eq!(
        (&joined["type"], &joined["ruleVersion"], &joined["joinedIssues"]),
        (&json!("joined"), &json!(3), &json!(2))
    );
    assert_eq!(column(&activity, "type"), ["joined", "comment"]);
    assert_eq!(setup.notified().await.len(), 4, "{:?}", setup.notified().await);

    // A variant of a known Issue, a resolved one that comes back, and one that is new.
    setup.pass_minutes(1);
    setup.send(&[failed(11, "A3", 650.0), failed(12, "B2", 651.0), failed(13, "D1", 652.0)]).await;
    let found = setup.until_notified(6).await;
    let mut subjects: Vec<&str> = found[4..].iter().map(|(_, subject)| subject.as_str()).collect();
    subjects.sort_unstable();
    assert_eq!(subjects, ["Issue is back: B2: declined", "New Issue: D1: declined"]);
    let states = issues(harness, project).await;
    assert!(states.contains(&(first_hash("A2"), "open".to_owned(), 3)), "{states:?}");
    assert!(states.contains(&(b.clone(), "regressed".to_owned(), 2)), "{states:?}");
    // Another project has its own decisions.
    assert_eq!(issues(harness, &other).await, expected(&[("B1", "open", 1)]));
}

// Issues: an unknown hash is compared with the earlier ones of its exception, also when its rows have expired.
#[tokio::test]
async fn a_decision_about_an_earlier_hash_holds_without_rows() {
    let mut setup = Setup::at(10).await;
    setup.create("new_error", json!({})).await;
    setup.create("error_regression", json!({})).await;
    upgrade(&mut setup.harness).await;
    let b = first_hash("B1");
    post(&setup.harness, &setup.project, "state", json!({ "hashes": [b], "state": "resolved" })).await;
    setup.pass_minutes(1);
    setup.send(&[failed(1, "B1", 650.0)]).await;
    assert_eq!(issues(&setup.harness, &setup.project).await, expected(&[("B1", "regressed", 1)]));
    let found = setup.until_notified(1).await;
    assert_eq!(found[0].1, "Issue is back: B1: declined");
    // After a restart nothing is compared again with another result.
    setup.harness.restart().await;
    setup.send(&[failed(2, "B2", 651.0)]).await;
    assert_eq!(issues(&setup.harness, &setup.project).await, expected(&[("B1", "regressed", 2)]));
}

// Issues: of several Issues that become one, the most open state wins.
#[tokio::test]
async fn the_most_open_state_wins() {
    let mut setup = Setup::at(10).await;
    setup.send(&[failed(1, "A1", 1.0), failed(2, "A2", 2.0), failed(3, "A3", 3.0)]).await;
    for (kind, state) in [("A1", json!({ "state": "resolved" })), ("A3", json!({ "state": "archived" }))] {
        let mut body = state;
        body["hashes"] = json!([first_hash(kind)]);
        post(&setup.harness, &setup.project, "state", body).await;
    }
    let mute = json!({ "hashes": [first_hash("A2")], "state": "muted", "untilCount": 9 });
    post(&setup.harness, &setup.project, "state", mute).await;
    upgrade(&mut setup.harness).await;
    until_moved(&setup.harness, &setup.project, &[first_hash("A1")]).await;
    assert_eq!(issues(&setup.harness, &setup.project).await, expected(&[("A2", "muted", 3)]));
    let found = issue(&setup.harness, &setup.project, &first_hash("A3")).await;
    let group = &found["group"];
    assert_eq!(
        (&group["firstSeen"], &group["lastSeen"]),
        (&json!("2026-06-01T12:00:01Z"), &json!("2026-06-01T12:00:03Z"))
    );
}

// Issues: a move that a crash interrupts goes on at the next start, with the same result.
#[tokio::test]
async fn an_interrupted_move_goes_on() {
    let mut setup = Setup::at(10).await;
    for n in 0..6 {
        let spans: Vec<Made> =
            (1..=3).map(|kind| failed(10 * n + kind, &format!("A{kind}"), (10 * n + kind) as f64)).collect();
        setup.send(&spans).await;
        if n % 2 == 0 {
            setup.harness.restart().await;
        }
    }
    post(&setup.harness, &setup.project, "state", json!({ "hashes": [first_hash("A2")], "state": "resolved" })).await;
    upgrade(&mut setup.harness).await;
    for _ in 0..4 {
        setup.harness.crash().await;
    }
    until_moved(&setup.harness, &setup.project, &[first_hash("A1"), first_hash("A2"), first_hash("A3")]).await;
    let found = issues(&setup.harness, &setup.project).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].1.as_str(), found[0].2), ("open", 18));
    let activity = setup.harness.got(&setup.project, &format!("{LIST}/{}/activity", found[0].0)).await;
    let joined: Vec<&Value> =
        activity["data"].as_array().expect("a list").iter().filter(|entry| entry["type"] == "joined").collect();
    assert_eq!(joined.len(), 1, "{activity}");
    assert_eq!(joined[0]["joinedIssues"], json!(3));
}

on_both! {
    // Issues: a merge catches future variants of what was merged, and an unmerge gives them back.
    async fn a_merge_catches_the_future(database) {
        let (mut harness, project) = Harness::registered(&database).await;
        harness.send(&project, &[failed(1, "A1", 1.0), failed(2, "B1", 2.0)]).await;
        let (a, b) = (first_hash("A1"), first_hash("B1"));
        post(&harness, &project, "merge", json!({ "hashes": [b], "into": a })).await;
        upgrade(&mut harness).await;
        harness.send(&project, &[failed(3, "B7", 3.0)]).await;
        until_moved(&harness, &project, &[a.clone(), b.clone()]).await;
        harness.send(&project, &[failed(4, "B8", 4.0)]).await;
        assert_eq!(issues(&harness, &project).await.iter().map(|row| (row.0.as_str(), row.2)).collect::<Vec<_>>(), [(a.as_str(), 4)]);
        let found = issue(&harness, &project, &a).await;
        assert_eq!(found["group"]["mergedHashes"], json!([b]));
        let causes: Vec<&Value> = found["grouping"]["hashes"].as_array().expect("a list").iter().map(|hash| &hash["cause"]).collect();
        assert_eq!(causes.len(), 3, "{found}");

        post(&harness, &project, "unmerge", json!({ "hashes": [b] })).await;
        let apart = async |harness: &Harness| {
            let mut found: Vec<_> = issues(harness, &project).await.into_iter().map(|row| (row.0, row.2)).collect();
            found.sort_by_key(|row| row.1);
            assert_eq!(found, [(a.clone(), 1), (b.clone(), 3)]);
        };
        apart(&harness).await;
        harness.restart().await;
        apart(&harness).await;
        // A hash that the rule joined is an Issue of its own once a user says so.
        let family = format!("{:016x}", message_group("family B"));
        post(&harness, &project, "unmerge", json!({ "hashes": [family] })).await;
        harness.restart().await;
        harness.send(&project, &[failed(5, "B9", 5.0)]).await;
        let found = issues(&harness, &project).await;
        assert!(found.iter().any(|row| row.0 == family && row.2 == 4), "{found:?}");
    }
}
