//! `tidewatch config export`, `plan` and `apply` on every kind: between a server and its files, and to another server
//! (docs/integrate/config-as-code.md).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::server::{Account, Server};

/// A server with an account, and a token that may write.
struct Side {
    server: Server,
    account: Account,
    token: String,
    organization: i64,
    person: i64,
}

impl Side {
    fn start(data: &Path) -> Side {
        let mut server = Server::start(data, &[]);
        let account = server.register();
        let body = json!({ "name": "files", "scopes": ["read", "write", "admin"] });
        let (status, made) = server.call("POST", "/api/personal-access-tokens", Some(&account.jwt), &body);
        assert_eq!(status, 201, "{made}");
        let token = made["token"].as_str().expect("a token").to_owned();
        let (_, me) = server.call("GET", "/api/me/login-bundle", Some(&account.jwt), &Value::Null);
        let organization = me["organizations"][0]["id"].as_i64().expect("an organization");
        let person = me["user"]["id"].as_i64().expect("a user");
        Side { server, account, token, organization, person }
    }

    /// The path of a list: that of the organization begins without `/api`.
    fn path(&self, path: &str) -> String {
        match path.strip_prefix("/api/") {
            Some(_) => format!("{path}?projectId={}", self.account.project_id),
            None => format!("/api/organizations/{}{path}", self.organization),
        }
    }

    /// Creates an object. Returns its id.
    #[track_caller]
    fn create(&self, path: &str, body: &Value) -> i64 {
        let (status, made) = self.server.call("POST", &self.path(path), Some(&self.account.jwt), body);
        assert!(status == 200 || status == 201, "{path}: {status}: {made}");
        made["id"].as_i64().unwrap_or_default()
    }

    /// One of each kind and more, with every way in which one names another.
    fn fill(&self) {
        let channel = |name: &str, kind: &str, config: Value| {
            self.create("/api/notification-channels", &json!({ "name": name, "channelType": kind, "config": config }))
        };
        let headers = json!({ "X-Key": "s3cret-1", "X-Other-Key": "s3cret-2" });
        let hook =
            json!({ "url": "https://a.example/hook", "method": "PUT", "secret": "s3cret-3", "headers": headers });
        let hook = channel("hook", "webhook", hook);
        channel("mail \"of\" all", "email", json!({ "recipients": ["a@example.com", "b@example.com"] }));
        let chat = json!({ "webhookUrl": "https://chat.example/T0/s3cret-4", "channel": "#ops" });
        let chat = channel("chat", "slack", chat);

        let monitor = |name: &str, kind: &str, config: Value| {
            let body = json!({ "name": name, "checkType": kind, "enabled": false, "intervalSeconds": 120,
                "timeoutSeconds": 7, "failureThreshold": 3, "config": config });
            self.create("/api/synthetics/checks", &body)
        };
        let config = json!({ "url": "https://a.example/", "method": "POST", "body": "{\"a\":\n1}",
            "headers": { "X-Key": "s3cret-5" }, "auth": { "type": "basic", "username": "u", "password": "s3cret-6" },
            "assertions": { "statusCodes": [200, 204], "bodyContains": "there", "tlsMinDaysRemaining": 10 } });
        let web = monitor("web", "http", config);
        let port = monitor("port", "tcp", json!({ "host": "a.example", "port": 5432 }));
        monitor("certificate", "tls", json!({ "host": "a.example", "tlsMinDaysRemaining": 20 }));
        monitor("name", "dns", json!({ "name": "a.example", "recordType": "TXT", "expectedValue": "v=1" }));
        monitor("job", "heartbeat", json!({ "periodSeconds": 86_400, "graceSeconds": 600 }));
        let page = json!({ "name": "Status: Acme", "slug": "acme", "isPublic": true, "description": "All of it",
            "customDomain": "status.acme.example", "checkIds": [port, web],
            "groups": [{ "name": "Core", "checkIds": [web] }] });
        self.create("/status-pages", &page);

        let team = json!({ "name": "shop", "description": "Who runs it", "memberIds": [self.person],
            "projectIds": [self.account.project_id] });
        let team = self.create("/teams", &team);
        let layer = json!({ "name": "nights", "rotationType": "weekly", "rotationStart": "2026-05-04",
            "handoffTime": "09:00", "handoffDay": 1, "userIds": [self.person],
            "restrictions": [{ "type": "daily", "startTime": "22:00", "endTime": "06:00" }] });
        let schedule = json!({ "teamId": team, "name": "week", "timezone": "Europe/Berlin",
            "definition": { "layers": [layer] } });
        let schedule = self.create("/schedules", &schedule);
        let targets = |all: &[(&str, i64)]| -> Vec<Value> {
            all.iter().map(|(kind, id)| json!({ "type": kind, "id": id })).collect()
        };
        let steps = json!([
            { "targets": targets(&[("schedule", schedule)]), "delayMinutes": 5 },
            { "targets": targets(&[("team", team), ("user", self.person), ("channel", chat)]), "delayMinutes": 30 },
        ]);
        let policy = json!({ "name": "wake us", "definition": { "steps": steps, "repeat": 2, "urgency": "high" } });
        let policy = self.create("/escalation-policies", &policy);
        let pager = channel("pager", "escalation", json!({ "policyId": policy }));

        let rule = |name: &str, kind: &str, channel: i64, config: Value| {
            let body = json!({ "name": name, "ruleType": kind, "channelId": channel, "config": config });
            self.create("/api/notification-rules", &body)
        };
        rule("issues", "new_error", hook, json!({ "ignorePatterns": ["Timeout*", "- a: b # c"] }));
        let orders = json!({ "endpoint": "POST /orders", "thresholdPercent": 2.5 });
        let orders = json!({ "name": "orders", "ruleType": "endpoint_error_rate", "channelId": pager, "config": orders,
            "cooldownMinutes": 0, "severity": "critical" });
        let orders = self.create("/api/notification-rules", &orders);
        self.create(&format!("/api/notification-rules/{orders}/toggle"), &Value::Null);
        rule("down", "check_down", pager, json!({ "checkIds": [web, port] }));
        let slow = json!({ "rows": "endpoint", "query": "status>=500 \"a b\"", "measure": "p95", "thresholdValue": 900,
            "forMinutes": 5 });
        rule("slow", "query_threshold", chat, slow);
        for (name, shared) in [("errors", true), ("mine", false)] {
            let view = json!({ "name": name, "page": "logs", "search": "q=level%3Aerror", "shared": shared });
            self.create("/api/saved-views", &view);
        }
    }

    /// The exit code, the standard output and the standard error of `tidewatch config`. Variables have the value `name`
    /// in lower case.
    fn run(&self, arguments: &[&str], variables: &BTreeSet<String>) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidewatch"));
        command.arg("config").args(arguments).env_remove("TIDEWATCH_PROJECT");
        command.env("TIDEWATCH_URL", &self.server.base).env("TIDEWATCH_ACCESS_TOKEN", &self.token);
        for name in variables {
            // The value of a web hook of Slack is an address.
            let lower = name.to_lowercase();
            let is_address = lower.ends_with("_webhookurl");
            let value = if is_address { format!("https://chat.example/{lower}") } else { lower };
            command.env(name, value);
        }
        let output = command.output().expect("the binary runs");
        let read = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        (output.status.code().expect("an exit code"), read(&output.stdout), read(&output.stderr))
    }

    #[track_caller]
    fn succeed(&self, arguments: &[&str], variables: &BTreeSet<String>) -> String {
        let (code, out, error) = self.run(arguments, variables);
        assert_eq!(code, 0, "{arguments:?}: {out}{error}");
        out
    }
}

fn path(folder: &Path) -> &str {
    folder.to_str().expect("a path of UTF-8")
}

/// The files of a folder by name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        (name, fs::read_to_string(entry.path()).expect("a file of UTF-8"))
    };
    entries.map(file).collect()
}

/// The variables that files refer to.
fn variables(files: &BTreeMap<String, String>) -> BTreeSet<String> {
    let all = files.values().flat_map(|content| content.split("${env:").skip(1));
    all.filter_map(|rest| rest.split_once('}')).map(|(name, _)| name.to_owned()).collect()
}

const KINDS: [&str; 8] =
    ["channels", "rules", "monitors", "status-pages", "teams", "schedules", "escalation-policies", "saved-views"];

// Item 8 of the alerting issue, on all kinds.
#[test]
fn every_kind_is_exported_planned_and_applied() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let side = Side::start(&folder.path().join("data"));
    side.fill();
    let (watch, none) = (folder.path().join("watch"), BTreeSet::new());
    let (export, plan, apply) = (["export", path(&watch)], ["plan", path(&watch)], ["apply", path(&watch)]);
    side.succeed(&export, &none);
    let exported = files(&watch);
    let names: BTreeSet<String> = KINDS.iter().map(|kind| format!("{kind}.yaml")).collect();
    assert_eq!(exported.keys().cloned().collect::<BTreeSet<_>>(), names);
    for (name, content) in &exported {
        assert!(!content.contains("s3cret"), "{name}: {content}");
        let kind = name.strip_suffix(".yaml").expect("a file of a kind");
        assert!(content.contains(&format!("{kind}:\n  - ")), "{name}: {content}");
    }
    assert!(!exported["saved-views.yaml"].contains("mine"));
    let secrets = variables(&exported);
    assert_eq!(secrets.len(), 6, "{secrets:?}");

    // Nothing differs, and a second export writes the same bytes.
    let unchanged = "0 to create, 0 to change, 0 to delete, 18 unchanged\n";
    assert_eq!(side.succeed(&plan, &secrets), unchanged);
    assert_eq!(side.succeed(&apply, &secrets), unchanged);
    side.succeed(&export, &none);
    assert_eq!(files(&watch), exported);

    // An edit of each kind changes exactly that.
    let edits = [
        ("channels", "channel: \"#ops\"", "channel: \"#shop\"", "~ channel \"chat\": "),
        (
            "rules",
            "thresholdPercent: 2.5",
            "thresholdPercent: 3.5",
            "~ rule \"orders\":\n    thresholdPercent 2.5 -> 3.5\n",
        ),
        ("rules", "enabled: false", "enabled: true", "    enabled false -> true\n"),
        ("monitors", "port: 5432", "port: 5433", "~ monitor \"port\": port 5432 -> 5433"),
        ("status-pages", "All of it", "All of Acme", "~ status page \"Status: Acme\": description"),
        ("teams", "Who runs it", "Who ran it", "~ team \"shop\": description"),
        ("schedules", "Europe/Berlin", "Europe/Paris", "~ schedule \"week\": timezone"),
        ("escalation-policies", "delayMinutes: 30", "delayMinutes: 40", "~ escalation policy \"wake us\": "),
        ("saved-views", "q=level%3Aerror", "q=level%3Afatal", "~ saved view \"logs: errors\": search"),
    ];
    for (kind, before, after, _) in edits {
        let file = watch.join(format!("{kind}.yaml"));
        let content = fs::read_to_string(&file).expect("a file");
        assert_eq!(content.matches(before).count(), 1, "{kind}: {before} in {content}");
        fs::write(&file, content.replace(before, after)).expect("space");
    }
    let (code, planned, error) = side.run(&plan, &secrets);
    assert_eq!(code, 2, "{planned}{error}");
    assert!(planned.ends_with("0 to create, 8 to change, 0 to delete, 10 unchanged\n"), "{planned}");
    for (.., line) in edits {
        assert!(planned.contains(line), "{line} in {planned}");
    }
    let done = side.succeed(&apply, &secrets);
    assert_eq!(done.matches(": changed\n").count(), 8, "{done}");
    assert_eq!(side.succeed(&plan, &secrets), unchanged);
    let edited = files(&watch);
    side.succeed(&export, &none);
    for (name, content) in files(&watch) {
        assert_eq!(content, edited[&name], "the files say what the server has");
    }

    // Another server, which is empty, becomes equal.
    let other = Side::start(&folder.path().join("other"));
    let (code, planned, error) = other.run(&plan, &secrets);
    assert_eq!(code, 2, "{planned}{error}");
    assert!(planned.ends_with("18 to create, 0 to change, 0 to delete, 0 unchanged\n"), "{planned}");
    let (code, out, error) = other.run(&apply, &BTreeSet::new());
    assert!(code == 1 && error.contains("is not set"), "without the secrets: {code}: {out}{error}");
    let made = other.succeed(&apply, &secrets);
    assert_eq!(made.matches(": created\n").count(), 18, "{made}");
    assert_eq!(other.succeed(&plan, &secrets), unchanged);
    let again = folder.path().join("again");
    other.succeed(&["export", path(&again)], &none);
    for (name, content) in files(&again) {
        assert_eq!(content, edited[&name], "both servers are equal");
    }

    // What is in no file is deleted when it is wanted, although things name each other.
    for kind in KINDS {
        fs::write(again.join(format!("{kind}.yaml")), format!("{kind}: []\n")).expect("space");
    }
    let prune = ["apply", path(&again), "--prune"];
    let removed = other.succeed(&prune, &none);
    assert_eq!(removed.matches(": deleted\n").count(), 18, "{removed}");
    assert_eq!(other.succeed(&["plan", path(&again), "--prune"], &none).lines().count(), 1);
}
