//! Setup by a program: the access of its token, and the approval by its person. Each test runs on both databases.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use crate::harness::{Harness, text};

const START: i64 = 1_800_000_000_000_000_000;

on_both! {
    async fn a_program_proposes_and_its_person_decides(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let made = harness.api("POST", "/api/setup-tokens", &json!({})).await.expect(201).json();
        let token = text(&made["token"]);
        assert!(token.starts_with("tws_"));
        // The token gives access to its setup session only.
        harness.api_as(&token, "GET", "/api/projects", &Value::Null).await.expect(401);
        harness.api_as(&token, "POST", "/api/projects/batch", &json!({ "projects": [{ "name": "one" }] })).await.expect(401);
        harness.api_as(&harness.login, "GET", "/api/setup/session", &Value::Null).await.expect(401);
        let session = harness.api_as(&token, "GET", "/api/setup/session", &Value::Null).await.expect(200).json();
        assert_eq!((&session["organization"]["name"], &session["status"]), (&json!("Example"), &json!("open")));

        let plan = async |projects: Value, status: u16| {
            harness.api_as(&token, "POST", "/api/setup/plan", &json!({ "projects": projects })).await.expect(status)
        };
        plan(json!([]), 422).await;
        plan(json!([{ "name": "<x>" }]), 400).await;
        plan(json!([{ "name": "one" }]), 200).await;
        let drafts = harness.api("GET", "/api/setup/drafts", &Value::Null).await.expect(200).json();
        let path = format!("/api/setup/drafts/{}", drafts[0]["id"]);
        let seen = json!({ "projects": drafts[0]["projects"] });
        // The approved plan must be the one that was shown.
        let two = json!([{ "name": "api", "framework": "gin" }, { "name": "web", "framework": "react" }]);
        plan(two.clone(), 200).await;
        harness.api("POST", &path, &seen).await.expect(409);
        let projects = harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
        assert_eq!(projects.as_array().map(Vec::len), Some(1), "nothing was made");
        let made = harness.api("POST", &path, &json!({ "projects": two })).await.expect(201).json();
        assert_eq!((&made[0]["name"], &made[1]["framework"]), (&json!("api"), &json!("react")));
        harness.api("POST", &path, &json!({ "projects": two })).await.expect(404);
        plan(two.clone(), 409).await;
        let session = harness.api_as(&token, "GET", "/api/setup/session", &Value::Null).await.expect(200).json();
        assert_eq!((&session["status"], &session["projects"][0]["token"]), (&json!("approved"), &made[0]["token"]));
        harness.post_json("traces", &text(&session["projects"][1]["token"]), &json!({})).await.expect(200);

        clock.fetch_add(3_600_000_000_000, Ordering::Relaxed);
        harness.api_as(&token, "GET", "/api/setup/session", &Value::Null).await.expect(401);
    }

    async fn a_refused_plan_creates_nothing_and_only_its_person_decides(database) {
        let (harness, _) = Harness::registered(&database).await;
        let made = harness.api("POST", "/api/setup-tokens", &json!({})).await.expect(201).json();
        let token = text(&made["token"]);
        let two = json!({ "projects": [{ "name": "api" }] });
        harness.api_as(&token, "POST", "/api/setup/plan", &two).await.expect(200);
        let stranger = crate::account::person(&harness, "stranger@example.com").await;
        let login = harness.login_of(&stranger).await;
        let path = format!("/api/setup/drafts/{}", made["id"]);
        assert_eq!(harness.api_as(&login, "GET", "/api/setup/drafts", &Value::Null).await.expect(200).json(), json!([]));
        harness.api_as(&login, "POST", &path, &two).await.expect(404);
        harness.api_as(&login, "DELETE", &path, &Value::Null).await.expect(404);
        harness.api_as(&login, "POST", "/api/setup-tokens", &json!({ "organizationId": 1 })).await.expect(403);
        harness.api("DELETE", &path, &Value::Null).await.expect(200);
        harness.api("POST", &path, &two).await.expect(404);
        let session = harness.api_as(&token, "GET", "/api/setup/session", &Value::Null).await.expect(200).json();
        assert_eq!((&session["status"], &session["projects"]), (&json!("refused"), &json!([])));
    }
}
