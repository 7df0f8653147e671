//! SIGKILL in the middle of the deletion of a user's sessions. Issue "native protocol", 3.

use std::time::Duration;

use serde_json::{Value, json};
use tidewatch_journal::disk::sim::rounds;

use super::protocols::{Outcome, Protocol};
use super::server::{Server, agent};

const ROUNDS: u64 = 6;
/// Days on which each user has a session; each day has parts of its own.
const DAYS: i64 = 6;

// A killed deletion leaves all sessions of the user with their recordings, or none. Repeated, it removes them.
#[test]
fn a_killed_deletion_by_user_leaves_everything_or_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start(&folder.path().join("data"), &[]);
    let account = server.register();
    let kept = ids(0);
    send(&server, "kept", &kept);
    for round in 1..=rounds(ROUNDS) {
        let doomed = ids(round);
        send(&server, "doomed", &doomed);
        std::thread::scope(|scope| {
            let path = format!("{}/api/sessions?userId=doomed&projectId={}", server.base, account.project_id);
            let authorization = format!("Bearer {}", account.jwt);
            scope.spawn(move || agent().delete(&path).header("Authorization", &authorization).call().is_ok());
            // A different moment each round: from before the deletion's first part to after its last.
            std::thread::park_timeout(Duration::from_millis(10 * round * round));
            std::process::Command::new("kill").args(["-9", &server.pid().to_string()]).status().expect("kill(1) runs");
        });
        server.kill();
        server.restart();
        let found = recorded(&server, "doomed", &doomed);
        assert!(found == (0, 0) || found == (doomed.len(), doomed.len()), "round {round}: {found:?}");

        let (status, answer) = delete(&server);
        assert_eq!((status, answer), (200, json!({ "deleted": found.0 })), "round {round}");
        assert_eq!(recorded(&server, "doomed", &doomed), (0, 0), "round {round}");
    }
    server.kill();
    server.restart();
    assert_eq!(recorded(&server, "doomed", &[]), (0, 0));
    assert_eq!(recorded(&server, "kept", &kept), (kept.len(), kept.len()), "those of another user stay");
}

fn ids(round: u64) -> Vec<String> {
    (0..DAYS).map(|day| format!("{round:08x}-0000-4000-8000-{day:012x}")).collect()
}

/// Sends one session with a recording for each day before now.
fn send(server: &Server, user: &str, ids: &[String]) {
    let now = jiff::Timestamp::now();
    let at = |day: usize| (now - jiff::SignedDuration::from_hours(24 * day as i64)).to_string();
    let session = |(day, id): (usize, &String)| json!({ "id": id, "startedAt": at(day), "endedAt": at(day), "attributes": { "userId": user } });
    let recording = |(day, id): (usize, &String)| json!({ "sessionId": id, "segmentIndex": 0, "events": [day], "startedAt": at(day), "endedAt": at(day) });
    let sessions: Vec<Value> = ids.iter().enumerate().map(session).collect();
    let recordings: Vec<Value> = ids.iter().enumerate().map(recording).collect();
    let body = json!({ "collectionFrames": [{ "sessions": sessions, "sessionRecordings": recordings }] }).to_string();
    let account = server.account.as_ref().expect("registered");
    assert_eq!(Protocol::Report.send(&server.base, account, body.as_bytes()), Outcome::Accepted);
}

fn delete(server: &Server) -> (u16, Value) {
    let account = server.account.as_ref().expect("registered");
    let path = format!("/api/sessions?userId=doomed&projectId={}", account.project_id);
    server.call("DELETE", &path, Some(&account.jwt), &Value::Null)
}

/// Number of sessions of the user, and of these ids that have a recording.
fn recorded(server: &Server, user: &str, ids: &[String]) -> (usize, usize) {
    let account = server.account.as_ref().expect("registered");
    let list = server.query("/api/sessions", json!({ "user": user }));
    let has_recording = |id: &&String| {
        let path = format!("/api/sessions/{id}/recording?projectId={}", account.project_id);
        let (status, answer) = server.call("GET", &path, Some(&account.jwt), &Value::Null);
        assert!(matches!(status, 200 | 404), "{path}: {status} {answer}");
        status == 200
    };
    (list["data"].as_array().expect("a list").len(), ids.iter().filter(has_recording).count())
}
