//! Saved views: `/api/saved-views`. Item "Saved views (private, shared, starred)"; every member saves private views,
//! sharing needs Write, shared views are changed by their owner or an admin.

use serde_json::{Value, json};

use crate::client::Answer;
use crate::harness::{Harness, Project};
use crate::mailbox::{Mailbox, member, organization};
use crate::requests::{at, column};

const VIEWS: &str = "/api/saved-views";

/// A member and the project of the views.
struct Caller<'a> {
    harness: &'a Harness,
    project: &'a Project,
    login: &'a str,
}

impl Caller<'_> {
    async fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.harness.api_as(self.login, method, &at(&format!("{VIEWS}{path}"), self.project), body).await
    }

    /// Saves a view and returns its id.
    async fn save(&self, name: &str, shared: bool) -> i64 {
        let body = json!({ "name": name, "page": "logs", "search": "q=level%3Aerror&from=now-1h", "shared": shared });
        self.call("POST", "", &body).await.expect(200).json()["id"].as_i64().expect("an id")
    }

    async fn list(&self) -> Value {
        self.call("GET", "", &Value::Null).await.expect(200).json()
    }

    async fn names(&self) -> Vec<String> {
        column(&self.list().await, "name").into_iter().map(crate::harness::text).collect()
    }
}

on_both! {
    async fn private_views_are_the_owners_and_shared_ones_everybodys(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, project) = mailbox.harness(&database).await;
        let other_project = harness.project("other").await;
        let stranger = harness.stranger().await;
        let (user, _) = member(&harness, &mut mailbox, "user", "user").await;
        let (reader, reader_id) = member(&harness, &mut mailbox, "reader", "readonly").await;
        let as_ = |login| Caller { harness: &harness, project: &project, login };
        let (owner, user, reader) = (as_(harness.login.as_str()), as_(user.as_str()), as_(reader.as_str()));

        let private = user.save("Zebra", false).await;
        let shared = user.save("Apple", true).await;
        let readers = reader.save("mine", false).await;
        assert_eq!(user.names().await, ["Zebra", "Apple"], "the private ones are first");
        assert_eq!(reader.names().await, ["mine", "Apple"]);
        assert_eq!(owner.names().await, ["Apple"]);
        let seen = &reader.list().await["data"][1];
        let expected = json!([shared, "Apple", "logs", "q=level%3Aerror&from=now-1h", true, false, false, false]);
        let fields = ["id", "name", "page", "search", "shared", "starred", "mayChange", "own"];
        assert_eq!(json!(fields.map(|field| seen[field].clone())), expected);
        assert_eq!(seen["owner"], user.list().await["data"][1]["owner"]);
        let elsewhere = Caller { harness: &harness, project: &other_project, login: user.login };
        assert_eq!(elsewhere.list().await["data"], json!([]));
        as_(stranger.as_str()).call("GET", "", &Value::Null).await.expect(403);

        // What a caller does not see does not exist for them.
        let (to_private, to_shared) = (format!("/{private}"), format!("/{shared}"));
        let rename = json!({ "name": "Pear" });
        for (who, method, path, status) in [
            (&reader, "PUT", &to_private, 404),
            (&owner, "PUT", &to_private, 404),
            (&owner, "DELETE", &to_private, 404),
            (&elsewhere, "PUT", &to_private, 404),
            (&reader, "PUT", &to_shared, 403),
            (&reader, "DELETE", &to_shared, 403),
            (&user, "PUT", &to_shared, 200),
            (&owner, "PUT", &to_shared, 200),
        ] {
            let body = if method == "PUT" { rename.clone() } else { Value::Null };
            let answer = who.call(method, path, &body).await;
            assert_eq!(answer.status, status, "{method} {path}");
        }
        assert_eq!(reader.names().await, ["mine", "Pear"]);

        // A member without Write shares nothing.
        let share = json!({ "shared": true });
        reader.call("PUT", &format!("/{readers}"), &share).await.expect(403);
        let body = json!({ "name": "x", "page": "logs", "shared": true });
        reader.call("POST", "", &body).await.expect(403);
        user.call("PUT", &to_private, &share).await.expect(200);
        assert_eq!(reader.names().await, ["mine", "Pear", "Zebra"]);
        let replaced = json!({ "search": "q=slow", "shared": false });
        user.call("PUT", &to_private, &replaced).await.expect(200);
        assert_eq!(reader.names().await, ["mine", "Pear"]);
        let own = user.list().await;
        let own = own["data"].as_array().unwrap().iter().find(|one| one["id"] == private).unwrap().clone();
        assert_eq!((&own["name"], &own["search"], &own["own"]), (&json!("Zebra"), &json!("q=slow"), &json!(true)));

        // A member who leaves the organization loses the private views, not the others their shared ones.
        let path = format!("/api/organizations/{}/members/{reader_id}", organization(&harness).await);
        harness.api("DELETE", &path, &Value::Null).await.expect(200);
        reader.call("GET", "", &Value::Null).await.expect(403);
        assert_eq!(owner.names().await, ["Pear"]);
        owner.call("DELETE", &to_shared, &Value::Null).await.expect(200);
        owner.call("DELETE", &to_shared, &Value::Null).await.expect(404);
        assert_eq!(user.names().await, ["Zebra"]);
    }

    async fn stars_are_each_members_own(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, project) = mailbox.harness(&database).await;
        let (reader, _) = member(&harness, &mut mailbox, "reader", "readonly").await;
        let as_ = |login| Caller { harness: &harness, project: &project, login };
        let (owner, reader) = (as_(harness.login.as_str()), as_(reader.as_str()));
        let (private, shared) = (owner.save("a private one", false).await, owner.save("b shared one", true).await);
        let star = format!("/{shared}/star");
        for _ in 0..2 {
            reader.call("PUT", &star, &Value::Null).await.expect(200);
        }
        reader.call("PUT", &format!("/{private}/star"), &Value::Null).await.expect(404);
        assert_eq!(column(&reader.list().await, "starred"), [&json!(true)]);
        assert_eq!(column(&owner.list().await, "starred"), [&json!(false), &json!(false)]);
        owner.call("PUT", &star, &Value::Null).await.expect(200);
        assert_eq!(owner.names().await, ["b shared one", "a private one"], "starred ones are first");
        for _ in 0..2 {
            owner.call("DELETE", &star, &Value::Null).await.expect(200);
        }
        assert_eq!(owner.names().await, ["a private one", "b shared one"]);
        assert_eq!(column(&reader.list().await, "starred"), [&json!(true)]);
        owner.call("DELETE", &format!("/{shared}"), &Value::Null).await.expect(200);
        reader.call("DELETE", &star, &Value::Null).await.expect(404);
    }

    // The audit log is read by admins: it names shared views only.
    async fn changes_are_in_the_audit_log(database) {
        let (harness, project) = Harness::registered(&database).await;
        let owner = Caller { harness: &harness, project: &project, login: &harness.login };
        let (private, shared) = (owner.save("secret plan", false).await, owner.save("errors", true).await);
        owner.call("PUT", &format!("/{shared}"), &json!({ "name": "failures" })).await.expect(200);
        owner.call("DELETE", &format!("/{private}"), &Value::Null).await.expect(200);
        let path = format!("/api/organizations/{}/audit", organization(&harness).await);
        let log = harness.api("GET", &path, &Value::Null).await.expect(200).json();
        let rows = log["data"].as_array().expect("a list").iter();
        let found: Vec<Value> = rows
            .filter(|row| row["action"].as_str().is_some_and(|action| action.starts_with("saved_view.")))
            .map(|row| json!([row["action"], row["detail"]["name"]]))
            .collect();
        let expected = json!([
            ["saved_view.delete", null],
            ["saved_view.change", "failures"],
            ["saved_view.create", "errors"],
            ["saved_view.create", null],
        ]);
        assert_eq!(json!(found), expected);
    }
}

#[tokio::test]
async fn wrong_views_are_refused() {
    let (harness, project) = Harness::with_project().await;
    let owner = Caller { harness: &harness, project: &project, login: &harness.login };
    let id = owner.save("right", false).await;
    for (body, status) in [
        (json!({ "page": "logs" }), 400),
        (json!({ "name": "a", "page": "https://example.com" }), 400),
        (json!({ "name": " ", "page": "logs" }), 422),
        (json!({ "name": "x".repeat(101), "page": "logs" }), 422),
        (json!({ "name": "a", "page": "logs", "search": "q=a#b" }), 422),
        (json!({ "name": "a", "page": "logs", "search": "x".repeat(8193) }), 422),
    ] {
        owner.call("POST", "", &body).await.expect(status);
    }
    for (body, status) in [(json!({ "name": "" }), 422), (json!({ "search": "a b" }), 422), (json!({}), 200)] {
        owner.call("PUT", &format!("/{id}"), &body).await.expect(status);
    }
    owner.call("PUT", "/no-number", &json!({})).await.expect(404);
    assert_eq!(owner.names().await, ["right"]);
}

// Bounded: 100 views of one user in a project.
#[tokio::test]
async fn the_number_of_views_is_bounded() {
    let (harness, project) = Harness::with_project().await;
    let owner = Caller { harness: &harness, project: &project, login: &harness.login };
    for number in 0..100 {
        owner.save(&format!("view {number}"), false).await;
    }
    let body = json!({ "name": "one more", "page": "logs" });
    owner.call("POST", "", &body).await.expect(422);
    let first = owner.list().await["data"][0]["id"].clone();
    owner.call("DELETE", &format!("/{first}"), &Value::Null).await.expect(200);
    owner.call("POST", "", &body).await.expect(200);
}
