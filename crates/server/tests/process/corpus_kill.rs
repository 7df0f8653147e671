//! A process that is killed between posts and reads gives the same answers.

use std::path::Path;

use serde_json::{Value, json};

use super::server::{Account, Server, agent};

/// Posts several scenarios, kills and restarts the server, and compares all lists before and after.
#[test]
fn a_kill_between_posts_and_reads_changes_no_answer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start(&folder.path().join("data"), &[]);
    let account = server.register();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/otlp");
    let mut scenarios: Vec<_> = std::fs::read_dir(fixtures)
        .expect("fixtures/otlp")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("expected.json").exists())
        .collect();
    scenarios.sort();
    assert_eq!(scenarios.len(), 36);
    scenarios.iter().for_each(|scenario| replay(&server, &account, scenario));
    let before = answers(&server);
    server.kill();
    server.restart();
    assert_eq!(answers(&server), before);
    // All requests are sent again after the restart: nothing is stored twice.
    scenarios.iter().for_each(|scenario| replay(&server, &account, scenario));
    assert_eq!(answers(&server), before);
}

/// The complete answers of every list.
fn answers(server: &Server) -> Vec<(&'static str, Value)> {
    let lists = [
        "/api/endpoints/grouped",
        "/api/tasks/grouped",
        "/api/ai-traces/grouped",
        "/api/endpoints",
        "/api/tasks",
        "/api/ai-traces",
        "/api/exception-stack-traces",
        "/api/logs",
    ];
    let body = json!({"pagination": {"page": 1, "pageSize": 100}});
    let mut answers: Vec<_> = lists.into_iter().map(|path| (path, server.query(path, body.clone()))).collect();
    let spans = json!({"fromDate": "2026-11-01T00:00:00Z", "toDate": "2026-11-30T00:00:00Z",
        "pagination": {"page": 1, "pageSize": 100}});
    answers.push(("/api/spans", server.query("/api/spans", spans)));
    answers
}

fn replay(server: &Server, account: &Account, scenario: &Path) {
    let mut requests: Vec<_> = std::fs::read_dir(scenario.join("capture"))
        .expect("captured requests")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "body"))
        .collect();
    requests.sort();
    for body in requests {
        let headers = std::fs::read_to_string(body.with_extension("headers.json")).expect("headers");
        let headers: Value = serde_json::from_str(&headers).expect("JSON");
        let path = headers["path"].as_str().expect("a path");
        let mut request = agent()
            .post(format!("{}{path}", server.base))
            .header("Authorization", format!("Bearer {}", account.project_token));
        for header in headers["headers"].as_array().expect("a list") {
            let name = header[0].as_str().unwrap_or_default();
            if name.eq_ignore_ascii_case("content-type") || name.eq_ignore_ascii_case("content-encoding") {
                request = request.header(name, header[1].as_str().unwrap_or_default());
            }
        }
        let bytes = std::fs::read(&body).expect("a body");
        let response = request.send(&bytes[..]).expect("the server answers");
        assert_eq!(response.status(), 200, "{}", body.display());
    }
}
