//! Members, their roles and profiles; settings of organizations. WIRE 5.3. Each test runs on both control databases.

use serde_json::{Value, json};

use crate::harness::text;
use crate::mailbox::{Mailbox, member, organization};

on_both! {
    // WIRE 5.3: owner immutable, only the owner promotes to admin, nobody changes self. The whole table is in
    // `accounts/people/member_rules.rs`.
    async fn roles_change_and_members_leave(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, _) = mailbox.harness(&database).await;
        let organization = organization(&harness).await;
        let (admin, admin_id) = member(&harness, &mut mailbox, "admin", "admin").await;
        let (user, user_id) = member(&harness, &mut mailbox, "user", "user").await;
        let (reader, reader_id) = member(&harness, &mut mailbox, "reader", "readonly").await;
        let owner = harness.login.clone();
        let at = |id: i64| format!("/api/organizations/{organization}/members/{id}");
        for (who, target, role, status) in [
            (&admin, reader_id, "admin", 403),
            (&admin, 1, "user", 403),
            (&admin, admin_id, "user", 403),
            (&admin, reader_id, "owner", 400),
            (&admin, reader_id, "user", 200),
            (&admin, reader_id, "readonly", 200),
            (&user, reader_id, "user", 403),
            (&user, user_id, "admin", 403),
            (&owner, 1, "admin", 403),
            (&owner, reader_id, "admin", 200),
            (&owner, reader_id, "readonly", 200),
            (&owner, 424_242, "user", 404),
        ] {
            let answer = harness.api_as(who, "PUT", &at(target), &json!({"role": role})).await;
            assert_eq!(answer.status, status, "{target} {role}: {}", String::from_utf8_lossy(&answer.body));
        }
        let list = harness.api_as(&reader, "GET", &format!("/api/organizations/{organization}/members"), &Value::Null).await;
        let list = list.expect(200).json();
        let roles: Vec<_> = list.as_array().unwrap().iter().map(|one| one["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["owner", "admin", "user", "readonly"]);

        for (who, target, status) in [
            (&owner, 1, 403),
            (&user, reader_id, 403),
            (&user, 424_242, 403),
            (&admin, 1, 403),
            (&reader, reader_id, 200),
            (&reader, reader_id, 403),
            (&admin, user_id, 200),
            (&admin, user_id, 404),
        ] {
            let answer = harness.api_as(who, "DELETE", &at(target), &Value::Null).await;
            assert_eq!(answer.status, status, "{target}: {}", String::from_utf8_lossy(&answer.body));
        }
        assert_eq!(harness.api_as(&user, "GET", "/api/projects", &Value::Null).await.expect(200).json(), json!([]));
    }
}

on_both! {
    // WIRE 5.3: per-project override user|readonly for user/readonly members; readonly sees masked tokens.
    async fn roles_in_single_projects(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, first) = mailbox.harness(&database).await;
        let second = harness.project("second").await;
        let organization = organization(&harness).await;
        let (_, admin_id) = member(&harness, &mut mailbox, "admin", "admin").await;
        let (user, user_id) = member(&harness, &mut mailbox, "user", "user").await;
        let at = |id: i64| format!("/api/organizations/{organization}/members/{id}/project-roles");
        let roles = json!({"projectRoles": [{"projectId": first.id, "role": "readonly"}]});
        assert_eq!(harness.api("PUT", &at(user_id), &roles).await.expect(200).json(), roles);
        assert_eq!(harness.api_as(&user, "GET", &at(user_id), &Value::Null).await.expect(200).json(), roles);
        let projects = harness.api_as(&user, "GET", "/api/projects", &Value::Null).await.expect(200).json();
        assert_eq!(projects[0]["token"], "read-only-hidden-token");
        assert!(projects[0]["sourceMapToken"].is_null());
        assert_eq!((&projects[0]["role"], &projects[1]["role"]), (&json!("readonly"), &json!("user")));
        assert_eq!(projects[1]["token"], second.token.as_str());
        for (who, body, status) in [
            (admin_id, roles.clone(), 403),
            (1, roles.clone(), 403),
            (user_id, json!({"projectRoles": [{"projectId": first.id, "role": "admin"}]}), 400),
            (user_id, json!({"projectRoles": [{"projectId": "x", "role": "user"}]}), 400),
            (user_id, json!({"projectRoles": [{"projectId": "5f4dcc3b-5aa7-45d6-8d83-27deb882cf99", "role": "user"}]}), 404),
        ] {
            assert_eq!(harness.api("PUT", &at(who), &body).await.status, status, "{who} {body}");
        }
        // Refused changes have had no effect.
        assert_eq!(harness.api("GET", &at(user_id), &Value::Null).await.expect(200).json(), roles);
        harness.api("PUT", &at(user_id), &json!({"projectRoles": []})).await.expect(200);
        let projects = harness.api_as(&user, "GET", "/api/projects", &Value::Null).await.expect(200).json();
        assert_eq!(projects[0]["role"], "user");
    }
}

on_both! {
    async fn organizations_and_profiles(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, _) = mailbox.harness(&database).await;
        let made = json!({"name": "Second", "timezone": "Europe/Berlin"});
        let made = harness.api("POST", "/api/organizations", &made).await.expect(201).json();
        assert_eq!((&made["name"], &made["role"], &made["timezone"]), (&json!("Second"), &json!("owner"), &json!("Europe/Berlin")));
        let at = format!("/api/organizations/{}/settings", made["id"]);
        let changed = harness.api("PUT", &at, &json!({"name": "Renamed", "id": 1, "role": "x"})).await.expect(200).json();
        let expected = json!({"id": made["id"], "name": "Renamed", "timezone": "Europe/Berlin", "requireTwoFactor": false});
        assert_eq!(changed, expected);
        assert_eq!(harness.api("GET", &at, &Value::Null).await.expect(200).json(), expected);
        for (change, status) in [
            (json!({"name": " "}), 400),
            (json!({"name": "a\nb"}), 400),
            (json!({"timezone": "<x>"}), 400),
            // Changes that would lock out the caller are refused.
            (json!({"requireTwoFactor": true}), 422),
        ] {
            assert_eq!(harness.api("PUT", &at, &change).await.status, status, "{change}");
        }

        let change = json!({"name": "Ada", "timezone": "Asia/Tokyo", "theme": "dark", "email": "eve@example.com",
            "role": "owner", "emailVerified": true, "twoFactor": true});
        let me = harness.api("PUT", "/api/me", &change).await.expect(200).json();
        let expected = json!({"id": me["id"], "email": "owner@example.com", "name": "Ada", "createdAt": me["createdAt"],
            "timezone": "Asia/Tokyo", "theme": "dark", "twoFactor": false, "emailVerified": false});
        assert_eq!(me, expected);
        let bundle = harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(200).json();
        assert_eq!(bundle["user"], expected);
        for change in [json!({"theme": "pink"}), json!({"name": "a\r\nb"}), json!({"name": ""}), json!({"timezone": "a b"})] {
            harness.api("PUT", "/api/me", &change).await.expect(400);
        }

        let fresh = text(&harness.api("POST", "/api/me/sessions/revoke", &Value::Null).await.expect(200).json()["token"]);
        harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(401);
        harness.api_as(&fresh, "GET", "/api/me/login-bundle", &Value::Null).await.expect(200);
        assert!(mailbox.is_empty());
    }
}
