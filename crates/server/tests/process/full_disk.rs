//! What people hear whose sign-in the accounts database has no space for.

use serde_json::json;

use super::server::{Server, agent};
use super::small_disk::SmallDisk;

/// Guarantee: a full disk is said to be one, with 503 and `Retry-After`, and a sign-in works again when there is space.
#[test]
fn a_full_disk_refuses_sign_ins_for_a_while() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Without the right to mount there is no disk to fill.
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
    let said = refused.body_mut().read_to_string().expect("text");
    assert_eq!(refused.status().as_u16(), 503, "{said}");
    assert!(refused.headers().contains_key("Retry-After"));
    assert!(said.contains("no space left"), "{said}");

    std::fs::remove_file(disk.seen_from_outside("more")).expect("it is there");
    // On each connection to the database.
    for _ in 0..6 {
        let (status, answer) = server.call("POST", "/api/login", None, &login);
        assert_eq!(status, 200, "{answer}");
    }
}
