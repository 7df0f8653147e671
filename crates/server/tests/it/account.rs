//! Registration, login, projects: who may do what. WIRE 5.

use serde_json::{Value, json};

use crate::client;
use crate::harness::{Harness, text};

#[tokio::test]
async fn the_first_account_registers_and_nobody_after_it() {
    let mut harness = Harness::start().await;
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

#[tokio::test]
async fn registration_is_checked() {
    let harness = Harness::start().await;
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

#[tokio::test]
async fn a_login_opens_what_its_user_may_see() {
    let (mut harness, project) = Harness::with_project().await;
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

// WIRE 5.1: 401, also for what cannot be read.
#[tokio::test]
async fn failed_logins() {
    let (harness, _) = Harness::with_project().await;
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

// Spec: limits, rows "Anonymous auth endpoint bodies" and "Database-writing endpoints body".
#[tokio::test]
async fn bodies_are_bounded() {
    let (harness, _) = Harness::with_project().await;
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

#[tokio::test]
async fn projects_are_made_listed_and_changed() {
    let (harness, first) = Harness::with_project().await;
    let second = harness.project("second").await;
    assert_ne!(first.token, second.token);
    let list = harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|project| project["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["first", "second"]);

    let path = format!("/api/projects?projectId={}", second.id);
    let change = json!({"name": "renamed", "keepUnmatchedRoots": true, "sampleRate": 0.25});
    let changed = harness.api("PUT", &path, &change).await.expect(200).json();
    assert_eq!(changed["name"], "renamed");
    assert_eq!(changed["token"], second.token.as_str());
    let settings =
        json!({"keepUnmatchedRoots": true, "issuesFromLogs": false, "sampleRate": 0.25, "errorSampleRate": 1.0});
    assert_eq!(changed["settings"], settings);
    for (change, expected) in [
        (json!({"sampleRate": 1.5}), 422),
        (json!({"errorSampleRate": -0.1}), 422),
        (json!({"name": ""}), 400),
        (json!({"framework": "cobol"}), 400),
    ] {
        assert_eq!(harness.api("PUT", &path, &change).await.status, expected, "{change}");
    }
}

// API.md: 401 no or bad login, 400 projectId missing or malformed, 403 not a member.
#[tokio::test]
async fn doors_of_the_dashboard() {
    let (harness, project) = Harness::with_project().await;
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

#[tokio::test]
async fn accounts_survive_a_restart() {
    let (mut harness, project) = Harness::with_project().await;
    harness.restart().await;
    let bundle = harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(200).json();
    assert_eq!(bundle["projects"][0]["token"], project.token.as_str(), "the login and the token still hold");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let key = harness.app().config.data_dir.join("secrets/login.key");
        assert_eq!(std::fs::metadata(key).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
