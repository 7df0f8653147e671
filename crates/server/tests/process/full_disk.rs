//! Sign-ins while the accounts database has no disk space.

use serde_json::json;

use super::server::{Server, agent};
use super::small_disk::SmallDisk;

/// Guarantee: a full disk is reported with 503 and `Retry-After`, and sign-ins work again when space is available.
#[test]
fn a_full_disk_refuses_sign_ins_for_a_while() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Without the permission to mount, the test is skipped.
    let Some(disk) = SmallDisk::mount(folder.path()) else { return };
    let mut server = Server::start_by(disk.entering(), &folder.path().join("data"), &[]);
    server.register();
    let login = json!({ "email": "owner@example.com", "password": "correct horse" });
    disk.fill("more");
    let request = ureq::http::Request::post(format!("{}/api/login", server.base))
        .header("Content-Type", "application/json")
        .body(login.to_string())
        .expect("a valid request");
    let mut refused = agent().run(request).expect("the server answers");
    let answer = refused.body_mut().read_to_string().expect("text");
    assert_eq!(refused.status().as_u16(), 503, "{answer}");
    assert!(refused.headers().contains_key("Retry-After"));
    assert!(answer.contains("no space left"), "{answer}");

    std::fs::remove_file(disk.seen_from_outside("more")).expect("it is there");
    // Several sign-ins, to use each connection to the database.
    for _ in 0..6 {
        let (status, answer) = server.call("POST", "/api/login", None, &login);
        assert_eq!(status, 200, "{answer}");
    }
}
