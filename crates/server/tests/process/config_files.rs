//! `tidewatch config export|plan|apply` against a server (docs/integrate/config-as-code.md).

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::server::{Account, Server};

/// The exit code, the standard output and the standard error of `tidewatch config`.
fn run(server: &Server, token: &str, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidewatch"));
    command.arg("config").args(arguments).env("TIDEWATCH_URL", &server.base).env("TIDEWATCH_ACCESS_TOKEN", token);
    command.env_remove("TIDEWATCH_PROJECT");
    let output = command.output().expect("the binary runs");
    let read = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    (output.status.code().expect("an exit code"), read(&output.stdout), read(&output.stderr))
}

#[track_caller]
fn succeed(server: &Server, token: &str, arguments: &[&str]) -> String {
    let (code, out, error) = run(server, token, arguments);
    assert_eq!(code, 0, "{arguments:?}: {out}{error}");
    out
}

fn path(folder: &Path) -> &str {
    folder.to_str().expect("a path of UTF-8")
}

fn token(server: &Server, account: &Account, scopes: &[&str]) -> String {
    let body = json!({ "name": scopes.join(" "), "scopes": scopes });
    let (status, made) = server.call("POST", "/api/personal-access-tokens", Some(&account.jwt), &body);
    assert_eq!(status, 201, "{made}");
    made["token"].as_str().expect("a token").to_owned()
}

fn views(server: &Server, account: &Account) -> Vec<Value> {
    let path = format!("/api/saved-views?projectId={}", account.project_id);
    let (status, answer) = server.call("GET", &path, Some(&account.jwt), &Value::Null);
    assert_eq!(status, 200, "{answer}");
    answer["data"].as_array().expect("a list").clone()
}

fn save(server: &Server, account: &Account, name: &str, shared: bool) {
    let path = format!("/api/saved-views?projectId={}", account.project_id);
    let body = json!({ "name": name, "page": "logs", "search": "q=level%3Aerror&from=now-1h", "shared": shared });
    let (status, answer) = server.call("POST", &path, Some(&account.jwt), &body);
    assert_eq!(status, 200, "{answer}");
}

// Item 8 of the alerting issue: idempotent, a readable diff, stable ids.
#[test]
fn saved_views_are_files_and_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start(&folder.path().join("data"), &[]);
    let account = server.register();
    let (reader, writer) = (token(&server, &account, &["read"]), token(&server, &account, &["read", "write"]));
    save(&server, &account, "errors", true);
    save(&server, &account, "mine", false);
    let files = folder.path().join("files");
    let file = files.join("saved-views.yaml");
    let all = ["export", path(&files), "--kind", "saved-views"];
    assert_eq!(succeed(&server, &reader, &all), "saved-views.yaml\n");
    let exported = fs::read_to_string(&file).expect("a file");
    assert_eq!(
        exported,
        "saved-views:\n  - name: errors\n    page: logs\n    search: \"q=level%3Aerror&from=now-1h\"\n"
    );
    assert_eq!(succeed(&server, &reader, &all), "saved-views.yaml, unchanged\n");
    let nothing = "0 to create, 0 to change, 0 to delete, 1 unchanged\n";
    assert_eq!(succeed(&server, &reader, &["plan", path(&files)]), nothing);
    assert_eq!(succeed(&server, &writer, &["apply", path(&files), "--prune"]), nothing);

    // A change and a new view; exit codes say whether there is anything to do.
    let changed = exported.replace("now-1h", "now-6h") + "  - {name: slow, page: traces, search: q=slow}\n";
    fs::write(&file, &changed).expect("space");
    let (code, plan, _) = run(&server, &reader, &["plan", path(&files)]);
    let expected = "~ saved view \"logs: errors\": search \"q=level%3Aerror&from=now-1h\" -> \"q=level%3Aerror&from=now-6h\"\n\
                    + saved view \"traces: slow\"\n1 to create, 1 to change, 0 to delete, 0 unchanged\n";
    assert_eq!((code, plan.as_str()), (2, expected));
    let before = views(&server, &account);
    let (code, _, error) = run(&server, &reader, &["apply", path(&files)]);
    assert!(code == 1 && error.contains("403"), "{code}: {error}");
    let done = succeed(&server, &writer, &["apply", path(&files)]);
    assert!(done.ends_with("saved view \"logs: errors\": changed\nsaved view \"traces: slow\": created\n"), "{done}");
    let after = views(&server, &account);
    let of = |views: &[Value], name: &str| views.iter().find(|one| one["name"] == name).cloned().expect("a view");
    assert_eq!(of(&after, "errors")["id"], of(&before, "errors")["id"]);
    assert_eq!(of(&after, "errors")["search"], "q=level%3Aerror&from=now-6h");
    assert_eq!(of(&after, "slow")["shared"], true);
    assert_eq!(
        succeed(&server, &writer, &["plan", path(&files)]),
        "0 to create, 0 to change, 0 to delete, 2 unchanged\n"
    );

    // With ids, a new name is the same view.
    let with_ids = folder.path().join("ids");
    succeed(&server, &reader, &["export", path(&with_ids), "--kind", "saved-views", "--ids"]);
    let file = with_ids.join("saved-views.yaml");
    let renamed = fs::read_to_string(&file).expect("a file").replace("name: slow", "name: slower");
    assert!(
        renamed.contains(&format!("project: \"{}\"\n", account.project_id))
            || renamed.contains(&format!("project: {}\n", account.project_id)),
        "{renamed}"
    );
    fs::write(&file, renamed).expect("space");
    succeed(&server, &writer, &["apply", path(&with_ids), "--prune"]);
    assert_eq!(of(&views(&server, &account), "slower")["id"], of(&after, "slow")["id"]);

    // Deletes what is in no file, only when it is wanted, and never a private view.
    fs::write(&file, "saved-views: []\n").expect("space");
    let kept = succeed(&server, &reader, &["plan", path(&with_ids)]);
    assert!(kept.starts_with("  saved view \"logs: errors\" is in no file; --prune deletes it\n"), "{kept}");
    let (code, plan, _) = run(&server, &reader, &["plan", path(&with_ids), "--prune"]);
    assert!(code == 2 && plan.ends_with("0 to create, 0 to change, 2 to delete, 0 unchanged\n"), "{code}: {plan}");
    succeed(&server, &writer, &["apply", path(&with_ids), "--prune"]);
    let left: Vec<_> = views(&server, &account).iter().map(|one| one["name"].clone()).collect();
    assert_eq!(left, ["mine"]);
}

#[test]
fn wrong_files_and_callers_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start(&folder.path().join("data"), &[]);
    let account = server.register();
    let reader = token(&server, &account, &["read"]);
    let files = folder.path().join("files");
    fs::create_dir(&files).expect("a folder");
    let plan = ["plan", path(&files)];
    let (_, _, error) = run(&server, &reader, &plan);
    assert!(error.contains("has no file whose name ends in .yaml or .yml"), "{error}");
    for (content, expected) in [
        (
            "saved-views:\n  - {name: a, page: logs, serch: x}\n",
            "a.yaml:2: a saved view has no key serch; its keys are id, page, name, search",
        ),
        ("saved-view: []\n", "a.yaml:1: there is no kind saved-view; the kinds are"),
        ("saved-views:\n  - name: a\n   page: logs\n", "a.yaml:3: "),
    ] {
        fs::write(files.join("a.yaml"), content).expect("space");
        let (code, _, error) = run(&server, &reader, &plan);
        assert!(code == 1 && error.contains(expected), "{content}: {code}: {error}");
    }
    fs::write(files.join("a.yaml"), "saved-views: []\n").expect("space");
    let (code, _, error) = run(&server, &reader, &["export", path(&files), "--kind", "saved-views"]);
    assert!(code == 1 && error.contains("a.yaml has saved-views already: move them to saved-views.yaml"), "{error}");
    for (token, arguments, expected) in [
        ("twp_unknown", &plan[..], "does not know the access token"),
        (account.project_token.as_str(), &plan[..], "this is a token of a project"),
        (reader.as_str(), &["plan", path(&files), "--project", "other"][..], "the token may not read a project other"),
        (
            reader.as_str(),
            &["export", path(&files), "--kind", "views"][..],
            "there is no kind views; it is one of channels,",
        ),
    ] {
        let (code, _, error) = run(&server, token, arguments);
        assert!(code == 1 && error.contains(expected), "{arguments:?}: {code}: {error}");
    }
    // Projects are found by name too.
    succeed(&server, &reader, &["plan", path(&files), "--project", "First"]);
}
