//! Issues over the API: groups, owners that arrive late, archiving and tags.

use serde_json::{Value, json};

use crate::harness::{Harness, Project, text};
use crate::requests::{CONSUMER, NOON, column, made, request};

const LIST: &str = "/api/exception-stack-traces";

#[tokio::test]
async fn issues_are_grouped_and_counted_with_their_owner() {
    let (harness, project) = Harness::with_project().await;
    harness
        .send(
            &project,
            &[
                request(1, "/pay", 500, 0.0, 5.0).exception("PayError", "declined").exception("PayError", "declined"),
                request(2, "/pay", 500, 3600.0, 5.0).exception("PayError", "declined"),
                made(3, 3, CONSUMER, "mail.send", 10.0, 5.0).exception("MailError", "bounced"),
            ],
        )
        .await;
    let list = harness.query_json(&project, LIST, json!({})).await;
    assert_eq!(column(&list, "exceptionType"), ["PayError", "MailError"], "last seen first");
    let pay = &list["data"][0];
    assert_eq!((&pay["count"], &pay["title"]), (&json!(3), &json!("PayError: declined")));
    assert_eq!((&pay["ownerType"], &pay["ownerName"]), (&json!("endpoint"), &json!("GET /pay")));
    assert_eq!((&pay["firstSeen"], &pay["lastSeen"]), (&json!(NOON), &json!("2026-06-01T13:00:00Z")));
    let hours = pay["hourlyTrend"].as_array().unwrap();
    assert_eq!(hours.len(), 24, "a day of hours");
    assert_eq!((&hours[12]["count"], &hours[13]["count"], &hours[14]["count"]), (&json!(2), &json!(1), &json!(0)));

    for (body, expected) in [
        (json!({ "search": "BOUNCE" }), vec!["MailError"]),
        (json!({ "search": pay["exceptionHash"] }), vec!["PayError"]),
        (json!({ "orderBy": "count", "sortDirection": "asc" }), vec!["MailError", "PayError"]),
        (json!({ "searchType": "messages" }), vec![]),
        (json!({ "searchType": "issues", "pagination": { "page": 2, "pageSize": 1 } }), vec!["MailError"]),
        (json!({ "toDate": NOON }), vec![]),
    ] {
        let list = harness.query_json(&project, LIST, body.clone()).await;
        assert_eq!(column(&list, "exceptionType"), expected, "{body}");
    }
    harness.query(&project, LIST, json!({ "searchType": "some" })).await.expect(400);
}

#[tokio::test]
async fn one_issue_has_its_occurrences_entity_and_tags() {
    let (harness, project) = Harness::with_project().await;
    let spans: Vec<_> = (1..=3)
        .map(|n| request(n, "/pay", 500, n as f64, 5.0).with("shop.country", if n == 1 { "at" } else { "de" }))
        .map(|span| span.exception("PayError", "declined"))
        .collect();
    harness.send(&project, &spans).await;
    let hash = text(&harness.query_json(&project, LIST, json!({})).await["data"][0]["exceptionHash"]);
    let path = format!("{LIST}/{hash}");
    // Without a range, the answer covers all time.
    let body = json!({ "fromDate": null, "toDate": null, "pagination": { "pageSize": 2 } });
    let issue = harness.query_json(&project, &path, body).await;
    assert_eq!((&issue["group"]["count"], &issue["pagination"]["total"]), (&json!(3), &json!(3)));
    let occurrences = issue["occurrences"].as_array().unwrap();
    assert_eq!(occurrences.len(), 2);
    let latest = &occurrences[0];
    assert_eq!(latest["recordedAt"], "2026-06-01T12:00:03Z");
    assert_eq!((&latest["ownerName"], &latest["traceType"]), (&json!("GET /pay"), &json!("endpoint")));
    assert_eq!((&latest["attributes"]["shop.country"], &latest["isMessage"]), (&json!("de"), &json!(false)));
    assert_eq!(latest["attributes"]["exception.stacktrace"], Value::Null, "shown on its own");
    let related = &issue["relatedEntity"];
    assert_eq!((&related["name"], &related["traceType"]), (&json!("GET /pay"), &json!("endpoint")));
    assert_eq!((&related["id"], &related["statusCode"]), (&latest["ownerId"], &json!(500)));
    let tags = issue["tags"].as_array().unwrap();
    let server = json!({ "key": "server_name", "values": [{ "value": "shop", "count": 3 }], "distinct": 1, "count": 3, "partial": false });
    assert_eq!(tags[0], server);
    let values = json!([{ "value": "de", "count": 2 }, { "value": "at", "count": 1 }]);
    let country = json!({ "key": "shop.country", "values": values, "distinct": 2, "count": 3, "partial": false });
    assert!(tags.contains(&country), "{tags:?}");

    let by_id = format!("{LIST}/by-id/{}", text(&latest["id"]));
    let one = harness.query_json(&project, &by_id, json!({ "recordedAt": latest["recordedAt"] })).await;
    assert_eq!((&one["exception"], &one["relatedEntity"]), (latest, related));
    harness.query(&project, &format!("{LIST}/0000000000000000"), json!({})).await.expect(404);
    harness.query(&project, &format!("{LIST}/by-id/00000000-0000-5000-8000-000000000000"), json!({})).await.expect(404);
    harness.query(&project, &format!("{LIST}/xyz"), json!({})).await.expect(400);
}

// The ten most frequent values are listed, with their shares of all occurrences.
#[tokio::test]
async fn a_tag_counts_its_values_and_occurrences() {
    let (harness, project) = Harness::with_project().await;
    let failed = |n: u64| request(n, "/pay", 500, n as f64, 5.0).exception("PayError", "declined");
    let mut spans: Vec<_> = (1..=14).map(|n| failed(n).with("user.id", &format!("u{}", n.max(2)))).collect();
    spans.extend((15..=20).map(failed));
    harness.send(&project, &spans).await;
    let hash = text(&harness.query_json(&project, LIST, json!({})).await["data"][0]["exceptionHash"]);
    let issue = harness.query_json(&project, &format!("{LIST}/{hash}"), json!({})).await;
    assert_eq!(issue["taggedCount"], 20);
    let tag = issue["tags"].as_array().unwrap().iter().find(|tag| tag["key"] == "user.id").unwrap();
    assert_eq!((&tag["distinct"], &tag["count"]), (&json!(13), &json!(14)));
    assert_eq!(tag["values"].as_array().unwrap().len(), 10);
    assert_eq!(tag["values"][0], json!({ "value": "u2", "count": 2 }));
}

// DECISIONS 8: children often arrive before their server span; reads always show the current owner.
#[tokio::test]
async fn an_owner_that_arrives_later_becomes_the_owner_of_the_issue() {
    let (harness, project) = Harness::with_project().await;
    harness.send(&project, &[made(1, 3, 1, "charge", 0.2, 5.0).parent(2).exception("PayError", "declined")]).await;
    assert_eq!(owner(&harness, &project).await, (json!(null), json!("")));
    harness.send(&project, &[made(1, 2, 1, "middle", 0.1, 5.0).parent(1)]).await;
    assert_eq!(owner(&harness, &project).await, (json!(null), json!("")));
    harness.send(&project, &[request(1, "/pay", 500, 0.0, 9.0)]).await;
    assert_eq!(owner(&harness, &project).await, (json!("endpoint"), json!("GET /pay")));

    let list = harness.query_json(&project, "/api/endpoints", json!({})).await;
    let path = format!("/api/endpoints/{}", text(&list["data"][0]["id"]));
    let detail = harness.query_json(&project, &path, json!({})).await;
    assert_eq!(detail["exceptions"][0]["ownerId"], list["data"][0]["id"]);
    assert_eq!(detail["exception"]["stackTrace"], detail["exceptions"][0]["stackTrace"]);
}

async fn owner(harness: &Harness, project: &Project) -> (Value, Value) {
    let list = harness.query_json(project, LIST, json!({})).await;
    (list["data"][0]["ownerType"].clone(), list["data"][0]["ownerName"].clone())
}

#[tokio::test]
async fn an_archived_issue_hides_until_it_occurs_again() {
    let (harness, project) = Harness::with_project().await;
    harness.send(&project, &[request(1, "/pay", 500, 0.0, 5.0).exception("PayError", "declined")]).await;
    let everything = json!({ "toDate": "2200-01-01T00:00:00Z" });
    let shown = async |include: bool| {
        let mut body = everything.clone();
        body["includeArchived"] = include.into();
        harness.query_json(&project, LIST, body).await["data"].as_array().unwrap().clone()
    };
    let hash = shown(false).await[0]["exceptionHash"].clone();
    let archive = json!({ "hashes": [hash] });
    let archived = harness.query_json(&project, &format!("{LIST}/archive"), archive.clone()).await;
    assert_eq!(archived, json!({ "archived": 1 }));
    assert_eq!(shown(false).await.len(), 0);
    assert_eq!(shown(true).await[0]["archived"], true);
    let unarchived = harness.query_json(&project, &format!("{LIST}/unarchive"), archive.clone()).await;
    assert_eq!(unarchived, json!({ "unarchived": 1 }));
    assert_eq!(shown(false).await[0]["archived"], false);

    harness.query_json(&project, &format!("{LIST}/archive"), archive).await;
    // A century later, which is after the time of archiving.
    let century = 100.0 * 365.0 * 86_400.0;
    harness.send(&project, &[request(2, "/pay", 500, century, 5.0).exception("PayError", "declined")]).await;
    assert_eq!((&shown(false).await[0]["archived"], &shown(false).await[0]["count"]), (&json!(false), &json!(2)));
    harness.query(&project, &format!("{LIST}/archive"), json!({ "hashes": ["no"] })).await.expect(400);
}

// Spec: classification, rule 3: an Issue is still produced when the span's root was dropped.
#[tokio::test]
async fn an_issue_of_a_dropped_root_has_no_owner() {
    let (harness, project) = Harness::with_project().await;
    harness.send(&project, &[made(1, 1, 1, "cron", 0.0, 5.0).exception("CronError", "late")]).await;
    let list = harness.query_json(&project, LIST, json!({})).await;
    assert_eq!(column(&list, "ownerType"), [&Value::Null]);
    let path = format!("{LIST}/{}", text(&list["data"][0]["exceptionHash"]));
    assert_eq!(harness.query_json(&project, &path, json!({})).await["relatedEntity"], Value::Null);
}
