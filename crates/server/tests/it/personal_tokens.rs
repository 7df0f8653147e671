//! Personal access tokens and acknowledge links. WIRE 5.4, 5.7.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use tidewatch_domain::units::DAY_NS;

use crate::harness::{Harness, text};

const START: i64 = 1_800_000_000_000_000_000;

on_both! {
    async fn a_personal_token_has_its_creators_rights_and_no_more(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, project) = Harness::registered_at(&database, &clock, |_| {}).await;
        let path = "/api/personal-access-tokens";
        for (body, expected) in [
            (json!({ "name": " " }), 400),
            (json!({ "name": "x".repeat(101) }), 400),
            (json!({ "name": "x", "expiresInDays": 0 }), 400),
            (json!({ "name": "x", "expiresInDays": 100_000 }), 400),
            (json!({ "expiresInDays": 7 }), 400),
        ] {
            harness.api("POST", path, &body).await.expect(expected);
        }
        let made = harness.api("POST", path, &json!({ "name": "ci", "expiresInDays": 7 })).await.expect(201).json();
        let token = text(&made["token"]);
        assert!(token.starts_with("twp_") && token.starts_with(&text(&made["prefix"])) && token.len() == 68, "{made}");
        let bundle = harness.api_as(&token, "GET", "/api/me/login-bundle", &Value::Null).await.expect(200).json();
        assert_eq!(bundle["projects"][0]["id"], project.id.as_str());
        let change = json!({ "currentPassword": "correct horse", "newPassword": "battery staple" });
        for (method, path, body) in [
            ("POST", path, json!({ "name": "another" })),
            ("GET", path, Value::Null),
            ("PUT", "/api/me/password", change),
            ("POST", "/api/device/approve", json!({ "user_code": "BCDF-GHJK" })),
        ] {
            harness.api_as(&token, method, path, &body).await.expect(403);
        }
        let listed = harness.api("GET", path, &Value::Null).await.expect(200).json();
        assert_eq!(listed.as_array().map(Vec::len), Some(1));
        assert!(listed[0]["lastUsedAt"].is_string() && !listed.to_string().contains(&token), "{listed}");
        // Ingest does not accept a person's token.
        harness.post_json("traces", &token, &json!({})).await.expect(401);
        for wrong in [&token[..67], &format!("{token}0"), "twp_", &token.replacen("twp_", "twr_", 1)] {
            harness.api_as(wrong, "GET", "/api/projects", &Value::Null).await.expect(401);
        }
        clock.store(START + 7 * DAY_NS - 1, Ordering::Relaxed);
        harness.api_as(&token, "GET", "/api/projects", &Value::Null).await.expect(200);
        clock.store(START + 7 * DAY_NS, Ordering::Relaxed);
        harness.api_as(&token, "GET", "/api/projects", &Value::Null).await.expect(401);
    }
}

on_both! {
    async fn a_deleted_token_is_refused_and_only_its_creator_deletes_it(database) {
        let (harness, _) = Harness::registered(&database).await;
        let path = "/api/personal-access-tokens";
        let made = harness.api("POST", path, &json!({ "name": "ci" })).await.expect(201).json();
        let one = format!("{path}/{}", made["id"]);
        let stranger = crate::account::person(&harness, "stranger@example.com").await;
        let login = harness.login_of(&stranger).await;
        harness.api_as(&login, "DELETE", &one, &Value::Null).await.expect(404);
        harness.api_as(&text(&made["token"]), "GET", "/api/projects", &Value::Null).await.expect(200);
        harness.api("DELETE", &one, &Value::Null).await.expect(200);
        harness.api("DELETE", &one, &Value::Null).await.expect(404);
        harness.api_as(&text(&made["token"]), "GET", "/api/projects", &Value::Null).await.expect(401);
    }
}

on_both! {
    // WIRE 5.7: GET is read-only, POST is idempotent, and both are 404 after the Issue is resolved.
    async fn acknowledge_links(database) {
        let (harness, project) = Harness::registered(&database).await;
        let app = harness.app();
        let by = app.accounts.by_server();
        let organization = app.accounts.control.credentials.project_by_token(&project.token, by.at_ns).unwrap().organization_id;
        let token = app.alerting.rooms.oncall.create_ack_link(&by, organization, None, "page:7", None).await.unwrap();
        let over = Some(by.at_ns + 1);
        let expired = app.alerting.rooms.oncall.create_ack_link(&by, organization, None, "page:8", over).await.unwrap();
        assert!(token.starts_with("twk_"));
        let acknowledge = async |method: &str, token: &str| {
            harness.api_as("", method, &format!("/api/ack/{token}"), &Value::Null).await
        };
        for method in ["GET", "POST"] {
            for wrong in ["twk_", &token[..60]] {
                acknowledge(method, wrong).await.expect(404);
            }
            acknowledge(method, &expired).await.expect(410);
        }
        for _ in 0..2 {
            assert_eq!(acknowledge("GET", &token).await.expect(200).json()["status"], "open");
        }
        let first = acknowledge("POST", &token).await.expect(200).json();
        assert_eq!((&first["subject"], &first["status"]), (&json!("page:7"), &json!("acknowledged")));
        assert_eq!(acknowledge("POST", &token).await.expect(200).json(), first);
        assert_eq!(acknowledge("GET", &token).await.expect(200).json(), first);
        app.alerting.rooms.oncall.end_ack_links(organization, "page:7").await.unwrap();
        acknowledge("GET", &token).await.expect(404);
    }
}
