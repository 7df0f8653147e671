//! The audit log as admins read it: in pages, filtered, and as a file. Each test runs on both control databases.

use serde_json::{Value, json};

use crate::client;
use crate::mailbox::{Mailbox, member, organization};

on_both! {
    async fn admins_read_and_export_the_log(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, project) = mailbox.harness(&database).await;
        let organization = organization(&harness).await;
        let (user, user_id) = member(&harness, &mut mailbox, "ada", "user").await;
        let rename = json!({"name": "renamed"});
        harness.api_as(&user, "PUT", &format!("/api/projects?projectId={}", project.id), &rename).await.expect(200);
        for (path, body) in [
            ("/api/exception-stack-traces/archive", json!({"hashes": ["00000000000000ff"]})),
            ("/api/exception-stack-traces/unarchive", json!({"hashes": ["00000000000000ff"]})),
            ("/api/endpoints/slow", json!({"endpoint": "=cmd|' /C calc'!A0", "offsetMs": 250, "reason": "a, \"b\""})),
        ] {
            harness.api_as(&user, "POST", &format!("{path}?projectId={}", project.id), &body).await.expect(200);
        }
        let at = format!("/api/organizations/{organization}/audit");
        harness.api_as(&user, "GET", &at, &Value::Null).await.expect(403);
        let all = harness.api("GET", &at, &Value::Null).await.expect(200).json();
        let actions: Vec<&str> = all["data"].as_array().unwrap().iter().map(|line| line["action"].as_str().unwrap()).collect();
        assert_eq!(actions[..7], ["endpoint.mark_slow", "issue.unarchive", "issue.archive", "project.change",
            "member.join", "invitation.create", "project.create"]);
        assert!(all["next"].is_null());
        let line = &all["data"][0];
        assert_eq!(line["actor"], json!({"id": user_id, "email": "ada@example.com"}));
        assert_eq!((&line["ip"], &line["target"]), (&json!("127.0.0.1"), &json!(format!("project:{}", project.id))));
        assert_eq!(line["detail"]["offsetMs"], 250);
        assert_eq!(line["userAgent"], Value::Null, "the request said nothing");

        // The first part of the request's `User-Agent`, as a string.
        let long = format!("curl/8.0 \u{e4}{}", "x".repeat(5000));
        let authorization = format!("Bearer {user}");
        let headers = [("Authorization", authorization.as_str()), ("User-Agent", long.as_str())];
        let path = format!("/api/projects?projectId={}", project.id);
        crate::client::send(harness.address(), "PUT", &path, &headers, br#"{"name":"again"}"#).await.expect(200);
        let last = harness.api("GET", &format!("{at}?limit=1"), &Value::Null).await.expect(200).json();
        let agent = crate::harness::text(&last["data"][0]["userAgent"]);
        assert!(agent.starts_with("curl/8.0 ") && agent.chars().count() == 300, "{agent}");
        let all = harness.api("GET", &at, &Value::Null).await.expect(200).json();

        // The pages together hold the same lines.
        let (mut paged, mut before) = (Vec::new(), String::new());
        loop {
            let page = harness.api("GET", &format!("{at}?limit=2{before}"), &Value::Null).await.expect(200).json();
            paged.extend(page["data"].as_array().unwrap().clone());
            let Some(next) = page["next"].as_i64() else { break };
            before = format!("&before={next}");
        }
        assert_eq!(json!(paged), all["data"]);
        for (filter, count) in [
            ("action=issue", 2),
            ("action=issue.archive", 1),
            ("action=issu", 0),
            (&format!("userId={user_id}"), 6),
            (&format!("userId={user_id}&action=member"), 1),
            ("userId=4711", 0),
        ] {
            let found = harness.api("GET", &format!("{at}?{filter}"), &Value::Null).await.expect(200).json();
            assert_eq!(found["data"].as_array().map(Vec::len), Some(count), "{filter}");
        }
        for (query, status) in [("limit=0", 422), ("limit=201", 422), ("limit=x", 400), ("before=x", 400)] {
            assert_eq!(harness.api("GET", &format!("{at}?{query}"), &Value::Null).await.status, status, "{query}");
        }

        harness.api_as(&user, "GET", &format!("{at}/export?format=csv"), &Value::Null).await.expect(403);
        harness.api("GET", &format!("{at}/export?format=xml"), &Value::Null).await.expect(400);
        let file = harness.api("GET", &format!("{at}/export?format=jsonl"), &Value::Null).await.expect(200);
        let lines = String::from_utf8(file.body.clone()).unwrap();
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(json!(lines), all["data"]);
        // Only JSON answers are compressed; files of any size are not.
        let authorization = format!("Bearer {}", harness.login);
        let accept_headers = [("Authorization", authorization.as_str()), ("Accept-Encoding", "zstd, br, gzip")];
        let path = format!("{at}/export?format=jsonl");
        let as_it_is = client::send(harness.address(), "GET", &path, &accept_headers, b"").await.expect(200);
        assert!(as_it_is.body.len() > 1024, "{} bytes", as_it_is.body.len());
        assert_eq!(as_it_is.header("Content-Encoding"), None);
        let file = harness.api("GET", &format!("{at}/export?format=csv&action=endpoint"), &Value::Null).await.expect(200);
        assert_eq!(file.header("Content-Disposition"), Some("attachment; filename=\"audit.csv\""));
        let text = String::from_utf8(file.body.clone()).unwrap();
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows[0], "id,at,actorId,actor,action,target,ip,userAgent,detail");
        assert_eq!(rows.len(), 2);
        assert!(rows[1].contains("endpoint.mark_slow") && rows[1].contains("\"\"reason\"\":\"\"a, \\\"\"b\\\"\"\"\""), "{}", rows[1]);
        // The export itself is in the log.
        let last = harness.api("GET", &format!("{at}?limit=1"), &Value::Null).await.expect(200).json();
        assert_eq!(last["data"][0]["action"], "audit.export");
    }
}
