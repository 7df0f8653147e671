//! Registration, login and projects, with their permissions. WIRE 5. Each test runs on both control databases.

use serde_json::{Value, json};

use tidewatch_accounts::{NewUser, Role};

use crate::client;
use crate::harness::{Harness, text};

on_both! {
    async fn the_first_account_registers_and_nobody_after_it(database) {
        let mut harness = Harness::on(&database).await;
        let has = |answer: Value| answer["hasOrganizations"].as_bool();
        assert_eq!(has(harness.api("GET", "/api/has-organizations", &Value::Null).await.expect(200).json()), Some(false));
        let project = harness.register().await;
        assert_eq!(project.token.len(), 32);
        assert!(project.token.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(has(harness.api("GET", "/api/has-organizations", &Value::Null).await.expect(200).json()), Some(true));

        let again =
            json!({"email": "b@c.de", "name": "B", "password": "12345678", "organizationName": "B", "projectName": "b"});
        let refused = harness.api("POST", "/api/register", &again).await.expect(409);
        assert!(refused.json()["error"].is_string());
    }
}

on_both! {
    async fn registration_is_checked(database) {
        let harness = Harness::on(&database).await;
        let good =
            json!({"email": "a@b.cd", "name": "A", "password": "12345678", "organizationName": "O", "projectName": "p"});
        for (field, value) in [
            ("email", json!("nobody")),
            ("email", json!("")),
            ("name", json!(" ")),
            ("password", json!("1234567")),
            ("organizationName", json!("")),
            ("projectName", json!("a/b")),
            ("framework", json!("cobol")),
            ("email", json!(7)),
        ] {
            let mut body = good.clone();
            body[field] = value.clone();
            let answer = harness.api("POST", "/api/register", &body).await;
            assert_eq!(answer.status, 400, "{field} {value}");
            assert!(answer.json()["error"].is_string());
        }
        harness.api("POST", "/api/register", &good).await.expect(201);
    }
}

on_both! {
    async fn a_login_grants_access_to_its_users_projects(database) {
        let (mut harness, project) = Harness::registered(&database).await;
        let login = json!({"email": "Owner@Example.com", "password": "correct horse"});
        let answer = harness.api("POST", "/api/login", &login).await.expect(200).json();
        assert_eq!(answer["user"]["email"], "owner@example.com");
        assert_eq!(answer["organizations"][0]["role"], "owner");
        assert_eq!(answer["projects"][0]["id"], project.id.as_str());
        harness.login = text(&answer["token"]);
        let bundle = harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(200).json();
        assert_eq!(bundle["projects"], answer["projects"]);
        assert!(bundle["token"].is_null());
    }
}

on_both! {
    // WIRE 5.1: 401, also for bodies that cannot be decoded.
    async fn failed_logins(database) {
        let (harness, _) = Harness::registered(&database).await;
        for body in [
            r#"{"email":"owner@example.com","password":"wrong horse"}"#,
            r#"{"email":"nobody@example.com","password":"correct horse"}"#,
            r#"{"email":"owner@example.com"}"#,
            "not json",
            "",
        ] {
            let answer = client::send(harness.address(), "POST", "/api/login", &[], body.as_bytes()).await;
            assert_eq!(answer.status, 401, "{body}");
            assert!(answer.json()["error"].is_string(), "{body}");
        }
    }
}

on_both! {
    // Spec: limits, rows "Anonymous auth endpoint bodies" and "Database-writing endpoints body".
    async fn bodies_are_bounded(database) {
        let (harness, _) = Harness::registered(&database).await;
        let padded = |bytes: usize| format!("{{\"name\":\"p\"{}}}", " ".repeat(bytes - 12));
        let authorization = format!("Bearer {}", harness.login);
        for (path, authorization, bytes, expected) in [
            ("/api/login", "", 64 * 1024, 401),
            ("/api/login", "", 64 * 1024 + 1, 413),
            ("/api/register", "", 64 * 1024 + 1, 413),
            ("/api/projects", authorization.as_str(), 8 << 20, 201),
            ("/api/projects", authorization.as_str(), (8 << 20) + 1, 413),
        ] {
            let headers = [("Authorization", authorization)];
            let answer = client::send(harness.address(), "POST", path, &headers, padded(bytes).as_bytes()).await;
            assert_eq!(answer.status, expected, "{path} with {bytes} bytes");
        }
    }
}

on_both! {
    async fn projects_are_created_listed_and_changed(database) {
        let (harness, first) = Harness::registered(&database).await;
        let second = harness.project("second").await;
        assert_ne!(first.token, second.token);
        let list = harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
        let names: Vec<&str> = list.as_array().unwrap().iter().map(|project| project["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["first", "second"]);

        let path = format!("/api/projects?projectId={}", second.id);
        let change = json!({"name": "renamed", "keepUnmatchedRoots": true, "sampleRate": 0.25,
            "dropHealthyHealthchecks": true, "healthcheckPaths": ["/healthz"], "retentionDays": 7});
        let changed = harness.api("PUT", &path, &change).await.expect(200).json();
        assert_eq!(changed["name"], "renamed");
        assert_eq!(changed["token"], second.token.as_str());
        let settings = json!({
            "keepUnmatchedRoots": true, "issuesFromLogs": false, "sampleRate": 0.25, "errorSampleRate": 1.0,
            "dropHealthyHealthchecks": true, "healthcheckPaths": ["/healthz"], "profileLabelAllowlist": [],
            "aiFlaggedLanguages": [], "aiFlaggedTerms": [], "retentionDays": 7, "aiConventions": false, "allMetricKinds": false, "sessionRecordings": true,
            "sourceRoot": "", "sourceUrl": "", "allowedOrigins": [],
            "dailyBytesMax": 0, "dailyRecordsMax": 0, "recordsPerSecondMax": 0,
        });
        assert_eq!(changed["settings"], settings);
        for (change, expected) in [
            (json!({"sampleRate": 1.5}), 422),
            (json!({"errorSampleRate": -0.1}), 422),
            (json!({"healthcheckPaths": vec!["/"; 51]}), 422),
            (json!({"healthcheckPaths": ["/*"]}), 422),
            (json!({"healthcheckPaths": vec![format!("/{}", "a".repeat(99)); 41]}), 422),
            (json!({"profileLabelAllowlist": vec!["a"; 21]}), 422),
            (json!({"retentionDays": 100_000}), 422),
            (json!({"name": ""}), 400),
            (json!({"framework": "cobol"}), 400),
        ] {
            assert_eq!(harness.api("PUT", &path, &change).await.status, expected, "{change}");
        }
    }
}

on_both! {
    // API.md: 401 no or bad login, 400 projectId missing or malformed, 403 not a member.
    async fn dashboard_routes_require_a_login_a_project_and_membership(database) {
        let (harness, project) = Harness::registered(&database).await;
        let good = format!("Bearer {}", harness.login);
        let token = format!("Bearer {}", project.token);
        let mine = format!("/api/projects?projectId={}", project.id);
        let unknown = "/api/projects?projectId=00000000-0000-4000-8000-000000000000";
        for (path, authorization, expected) in [
            (mine.as_str(), good.as_str(), 200),
            (mine.as_str(), "", 401),
            (mine.as_str(), "Bearer nonsense", 401),
            (mine.as_str(), token.as_str(), 401),
            ("/api/projects", good.as_str(), 400),
            ("/api/projects?projectId=7", good.as_str(), 400),
            (unknown, good.as_str(), 403),
        ] {
            let headers = [("Authorization", authorization)];
            let answer = client::send(harness.address(), "PUT", path, &headers, b"{}").await;
            assert_eq!(answer.status, expected, "{path} {authorization:?}");
            if expected != 200 {
                assert!(answer.json()["error"].is_string());
            }
        }
    }
}

on_both! {
    async fn accounts_survive_a_restart(database) {
        let (mut harness, project) = Harness::registered(&database).await;
        harness.restart().await;
        let bundle = harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(200).json();
        assert_eq!(bundle["projects"][0]["token"], project.token.as_str(), "the login and the token still hold");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let secrets = harness.app().process.config.data_dir.join("secrets");
            if database.url.is_some() {
                assert!(!secrets.exists(), "given keys are not written anywhere");
                return;
            }
            for key in ["login.key", "sealing.key"] {
                assert_eq!(std::fs::metadata(secrets.join(key)).unwrap().permissions().mode() & 0o777, 0o600);
            }
        }
    }
}

on_both! {
    // WIRE 5.4, appendix A: several projects at once, all of them or none.
    async fn several_projects_at_once(database) {
        let (harness, first) = Harness::registered(&database).await;
        let path = "/api/projects/batch";
        let many: Vec<Value> = (0..51).map(|number| json!({ "name": format!("p{number}") })).collect();
        for (projects, status) in [
            (json!([]), 422),
            (json!(many), 422),
            (json!([{ "name": "one" }, { "name": "<two>" }]), 400),
            (json!([{ "name": "one" }, { "name": "two", "framework": "cobol" }]), 400),
            (json!([{}]), 400),
        ] {
            harness.api("POST", path, &json!({ "projects": projects })).await.expect(status);
        }
        let elsewhere = json!({ "organizationId": 4711, "projects": [{ "name": "one" }] });
        harness.api("POST", path, &elsewhere).await.expect(403);
        let two = json!({ "projects": [{ "name": "one", "framework": "gin" }, { "name": "two" }] });
        let made = harness.api("POST", path, &two).await.expect(201).json();
        assert_eq!((&made[0]["name"], &made[0]["framework"], &made[1]["name"]), (&json!("one"), &json!("gin"), &json!("two")));
        let all = harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
        assert_eq!(all.as_array().map(Vec::len), Some(3));
        for token in [&first.token, &text(&made[0]["token"]), &text(&made[1]["token"])] {
            harness.post_json("traces", token, &json!({})).await.expect(200);
        }
    }
}

on_both! {
    // Issue 5: both tokens rotate with a grace period, deletion checks the name, readonly members see masked tokens.
    async fn tokens_are_rotated_and_projects_deleted(database) {
        let (harness, project) = Harness::registered(&database).await;
        let about = format!("projectId={}", project.id);
        let rotated = harness.api("POST", &format!("/api/projects/token?{about}"), &Value::Null).await.expect(200);
        let token = text(&rotated.json()["token"]);
        let path = format!("/api/projects/source-map-token?{about}");
        let upload = text(&harness.api("POST", &path, &Value::Null).await.expect(200).json()["token"]);
        let shown = harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
        assert_eq!((&shown[0]["token"], &shown[0]["sourceMapToken"]), (&json!(token), &json!(upload)));
        assert_ne!(token, project.token);
        for kind in ["previousTokenExpiresAt", "previousSourceMapTokenExpiresAt"] {
            let until: jiff::Timestamp = text(&shown[0][kind]).parse().expect("a time");
            let hours = (until.as_second() * 1_000_000_000 - harness.app().process.clock.now_ns()) as f64 / 3.6e12;
            assert!((23.9..=24.0).contains(&hours), "{kind} in {hours} hours");
        }
        for token in [&token, &project.token] {
            harness.post_json("traces", token, &json!({})).await.expect(200);
        }
        // A grace period of 0 revokes every earlier token at once: any of them may be the leaked one.
        let rotate = format!("/api/projects/token?{about}");
        for (hours, expected) in [(json!(169), 422), (json!(-1), 400), (json!("x"), 400)] {
            harness.api("POST", &rotate, &json!({ "graceHours": hours })).await.expect(expected);
        }
        let last = text(&harness.api("POST", &rotate, &json!({ "graceHours": 0 })).await.expect(200).json()["token"]);
        for token in [&token, &project.token] {
            harness.post_json("traces", token, &json!({})).await.expect(401);
        }
        harness.post_json("traces", &last, &json!({})).await.expect(200);
        let token = last;
        let path = format!("/api/projects?{about}");
        harness.api("DELETE", &path, &json!({ "name": "another" })).await.expect(400);
        harness.api("DELETE", &path, &json!({ "name": "first" })).await.expect(200);
        for token in [&token, &project.token] {
            harness.post_json("traces", token, &json!({})).await.expect(401);
        }
        harness.api("DELETE", &path, &json!({ "name": "first" })).await.expect(403);
    }
}

on_both! {
    // At most one replaced token is accepted, and it can be revoked before its grace period ends.
    async fn a_replaced_token_can_be_ended(database) {
        let (harness, project) = Harness::registered(&database).await;
        let about = format!("projectId={}", project.id);
        for (path, shown) in [
            ("/api/projects/token", "previousTokenExpiresAt"),
            ("/api/projects/source-map-token", "previousSourceMapTokenExpiresAt"),
        ] {
            let rotate = async || {
                let answer = harness.api("POST", &format!("{path}?{about}"), &json!({ "graceHours": 24 })).await;
                text(&answer.expect(200).json()["token"])
            };
            let taken = async |token: &str| match path {
                "/api/projects/token" => harness.post_json("traces", token, &json!({})).await.status != 401,
                _ => harness.api_as(token, "POST", "/api/symbols/upload", &Value::Null).await.status != 401,
            };
            let until = async || harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json()[0][shown].clone();
            let end = async || harness.api("DELETE", &format!("{path}/previous?{about}"), &Value::Null).await.status;
            assert_eq!((end().await, until().await), (404, Value::Null), "{path}");
            let (first, second, third) = (rotate().await, rotate().await, rotate().await);
            assert!(!taken(&first).await && taken(&second).await && taken(&third).await, "{path}");
            assert!(until().await.is_string(), "{path}");
            assert_eq!(end().await, 200, "{path}");
            assert!(!taken(&second).await && taken(&third).await, "{path}");
            assert_eq!((end().await, until().await), (404, Value::Null), "{path}");
        }
    }
}

on_both! {
    // Responses to personal tokens contain no project tokens; their shape is the same.
    async fn project_tokens_are_hidden_from_personal_tokens(database) {
        let (harness, project) = Harness::registered(&database).await;
        let made = harness.api("POST", "/api/personal-access-tokens", &json!({ "name": "ci" })).await.expect(201).json();
        let personal = text(&made["token"]);
        let about = format!("/api/projects?projectId={}", project.id);
        let request = async |method: &str, path: &str, body: &Value| {
            let answer = harness.api_as(&personal, method, path, body).await;
            assert!((200..300).contains(&answer.status), "{method} {path}");
            let answer = answer.json();
            assert!(!answer.to_string().contains(&project.token), "{method} {path}: {answer}");
            let one = answer.get("projects").unwrap_or(&answer);
            one.get(0).unwrap_or(one).clone()
        };
        for (method, path, body) in [
            ("GET", "/api/projects", Value::Null),
            ("GET", "/api/me/login-bundle", Value::Null),
            ("PUT", &about, json!({})),
            ("POST", "/api/projects", json!({ "name": "second" })),
            ("POST", "/api/projects/batch", json!({ "projects": [{ "name": "third" }] })),
        ] {
            let shown = request(method, path, &body).await;
            assert_eq!((&shown["token"], &shown["sourceMapToken"]), (&json!(""), &json!("")), "{method} {path}");
        }
    }
}

on_both! {
    // Issue 5: a password change revokes sessions.
    async fn a_password_change_ends_every_other_session(database) {
        let (mut harness, _) = Harness::registered(&database).await;
        let change = |old: &str, new: &str| json!({ "currentPassword": old, "newPassword": new });
        for (old, new, expected) in [
            ("wrong horse", "battery staple", 403),
            ("correct horse", "short", 400),
        ] {
            harness.api("PUT", "/api/me/password", &change(old, new)).await.expect(expected);
        }
        let answer = harness.api("PUT", "/api/me/password", &change("correct horse", "battery staple")).await.expect(200);
        harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(401);
        harness.login = text(&answer.json()["token"]);
        harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(200);
        for (password, expected) in [("correct horse", 401), ("battery staple", 200)] {
            let login = json!({ "email": "owner@example.com", "password": password });
            harness.api("POST", "/api/login", &login).await.expect(expected);
        }
    }
}

on_both! {
    // Issue 5: bcrypt hashes are accepted for migration and replaced at the first login.
    async fn a_bcrypt_hash_is_accepted_once_and_replaced(database) {
        let (harness, _) = Harness::registered(&database).await;
        let app = harness.app();
        let new = NewUser {
            email: "old@example.com".into(),
            name: "Old".into(),
            password_hash: Some(bcrypt::hash("correct horse", 4).unwrap()),
            is_email_verified: false,
        };
        app.accounts.control.people.create_user(&app.accounts.by_server(), &new).await.unwrap();
        for (password, kind, expected) in [
            ("wrong horse", "$2b$", 401),
            ("correct horse", "$argon2id$", 200),
            ("correct horse", "$argon2id$", 200),
            ("wrong horse", "$argon2id$", 401),
        ] {
            let login = json!({ "email": "old@example.com", "password": password });
            harness.api("POST", "/api/login", &login).await.expect(expected);
            let stored = app.accounts.control.sign_in.stored_user("old@example.com").await.unwrap().unwrap().password_hash.unwrap();
            assert!(stored.starts_with(kind), "{stored}");
        }
    }
}

on_both! {
    // WIRE 5.3: readonly members see no token; an override in one project shows that project's token only.
    async fn a_readonly_member_sees_no_tokens(database) {
        let (harness, project) = Harness::registered(&database).await;
        harness.project("second").await;
        let app = harness.app();
        let by = app.accounts.by_server();
        let stored = app.accounts.control.credentials.project_by_token(&project.token, by.at_ns).unwrap();
        let new = NewUser { email: "r@example.com".into(), name: "R".into(), password_hash: None, is_email_verified: true };
        let user = app.accounts.control.people.create_user(&by, &new).await.unwrap();
        app.accounts.control.people.add_member(&by, stored.organization_id, user.id, Role::Readonly).await.unwrap();
        let login = harness.login_of(&user).await;
        let tokens = async || {
            let list = harness.api_as(&login, "GET", "/api/projects", &Value::Null).await.expect(200).json();
            [0, 1].map(|at| (text(&list[at]["token"]), list[at]["sourceMapToken"].is_string(), text(&list[at]["role"])))
        };
        let hidden = || ("read-only-hidden-token".to_owned(), false, "readonly".to_owned());
        assert_eq!(tokens().await, [hidden(), hidden()]);
        app.accounts.control.people.set_project_role(&by, &stored, user.id, Some(Role::User)).await.unwrap();
        assert_eq!(tokens().await, [(project.token.clone(), true, "user".to_owned()), hidden()]);
    }
}

/// Creates a person without any membership.
pub async fn person(harness: &Harness, email: &str) -> std::sync::Arc<tidewatch_accounts::User> {
    let app = harness.app();
    let new = NewUser { email: email.into(), name: "A person".into(), password_hash: None, is_email_verified: true };
    app.accounts.control.people.create_user(&app.accounts.by_server(), &new).await.expect("a user")
}

on_both! {
    // Without the code, the first client to register would own the server.
    async fn the_first_account_requires_the_printed_setup_code(database) {
        let harness = Harness::on_with(&database, |config| config.setup_code = None).await;
        let app = harness.app();
        let code = tidewatch_server::http::setup_code::expected(&app.accounts, &app.process);
        let code = code.expect("a new server has one");
        let known = harness.api("GET", "/api/has-organizations", &Value::Null).await.expect(200).json();
        assert_eq!(known, json!({ "hasOrganizations": false, "needsSetupCode": true }));
        let body = |code: Option<&str>| {
            json!({
                "email": "owner@example.com", "name": "Owner", "password": "correct horse", "setupCode": code,
                "organizationName": "Example", "timezone": "UTC", "projectName": "first",
            })
        };
        for wrong in [None, Some(""), Some("0000-0000-0000"), Some("off")] {
            harness.api("POST", "/api/register", &body(wrong)).await.expect(403);
        }
        harness.api("POST", "/api/register", &body(Some(&code.to_lowercase().replace('-', " ")))).await.expect(201);
        let known = harness.api("GET", "/api/has-organizations", &Value::Null).await.expect(200).json();
        assert_eq!(known, json!({ "hasOrganizations": true, "needsSetupCode": false }));
        harness.api("POST", "/api/register", &body(Some(&code))).await.expect(409);
    }
}
