//! Several releases of one app: each stack trace takes the source maps of its own release, and never those of another.
//! DECISIONS 33; note 0023.

use serde_json::{Value, json};
use tidewatch_limits as limits;
use tidewatch_server::jobs::resymbolicate::resolve_again;
use uuid::Uuid;

use crate::harness::text;
use crate::symbol_uploads::{SOURCE_MAPS, SYMBOLS, Uploads, failed};

const STACK: &str = "E: x\n    at t (https://shop.example/a/app.js:2:5)";

/// A map of line 2 to line 3 of this source.
fn map(source: &str) -> Vec<u8> {
    format!(r#"{{"version":3,"sources":["{source}"],"names":[],"mappings":"AAAA;EAEE"}}"#).into_bytes()
}

fn by(source: &str) -> String {
    format!("E: x\n    at t ({source}:3:3)")
}

/// An error of this release; an empty name is not sent.
fn error(number: u32, version: &str, dist: &str, stack: &str) -> Value {
    let mut body = failed(number, "webjs", "E", "x", stack);
    let resource = body.pointer_mut("/resourceSpans/0/resource/attributes").expect("a list");
    for (key, value) in [("service.version", version), ("app.debug.dist", dist)] {
        if !value.is_empty() {
            resource.as_array_mut().expect("a list").push(json!({"key": key, "value": {"stringValue": value}}));
        }
    }
    body
}

/// A project with its tokens.
struct Tenant {
    id: Uuid,
    runtime: String,
    upload: String,
    /// Added to the numbers of its traces: a distributed trace has the errors of all projects.
    first: u32,
}

impl Uploads {
    /// The first project, or the one with this name.
    async fn tenant(&self, name: Option<&str>) -> Tenant {
        if let Some(name) = name {
            self.harness.project(name).await;
        }
        let projects = self.harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
        let mut all = projects.as_array().expect("a list").iter();
        let found = all.find(|project| name.is_none_or(|name| project["name"] == name)).expect("a project");
        let upload = match found["sourceMapToken"].as_str() {
            Some(token) => token.to_owned(),
            None => {
                let path = format!("/api/projects/source-map-token?projectId={}", text(&found["id"]));
                text(&self.harness.api("POST", &path, &json!({})).await.expect(200).json()["sourceMapToken"])
            }
        };
        let first = 100 * projects.as_array().map_or(0, Vec::len) as u32;
        Tenant { id: text(&found["id"]).parse().expect("a UUID"), runtime: text(&found["token"]), upload, first }
    }

    async fn map_of(&self, tenant: &Tenant, fields: &[(&str, &str)], name: &str, source: &str) {
        self.send(SOURCE_MAPS, &tenant.upload, fields, &[(name, &map(source))]).await.expect(200);
    }

    async fn report(&self, tenant: &Tenant, number: u32, version: &str, dist: &str) {
        let body = error(tenant.first + number, version, dist, STACK);
        self.harness.post_json("traces", &tenant.runtime, &body).await.expect(200);
    }

    /// The stack trace of an error as it is stored.
    async fn stored(&self, tenant: &Tenant, number: u32) -> String {
        let path = format!("/api/distributed-traces/{:032x}?projectId={}", tenant.first + number, tenant.id);
        let found = self.harness.api("POST", &path, &json!({})).await.expect(200).json();
        text(&found["exceptions"][0]["stackTrace"])
    }

    /// Resolves the stored errors of a tenant, as the server does in the background after an upload.
    async fn again(&self, tenant: &Tenant) {
        self.settle().await;
        let (app, project) = (self.harness.app().clone(), tenant.id);
        let work = move || {
            let project = app.accounts.control.projects.project_by_id(project).expect("the project is there");
            resolve_again(&app.query, &app.ingest, &project, &|| false).expect("the disk works")
        };
        tokio::task::spawn_blocking(work).await.expect("no panic");
    }

    async fn resolved_as(&self, build: Value) -> Value {
        let mut body = build;
        body["stackTrace"] = json!(STACK);
        let path = format!("/api/symbols/resolve?projectId={}", self.project);
        self.harness.api("POST", &path, &body).await.expect(200).json()
    }

    async fn missing_versions(&self) -> Vec<Value> {
        let missing = self.get("/api/symbols/missing").await;
        missing.as_array().expect("a list").iter().map(|one| one["version"].clone()).collect()
    }
}

// Two releases, two tenants, two files of one name. The traces come before the uploads, and after them.
#[tokio::test(flavor = "multi_thread")]
async fn each_trace_takes_the_maps_of_its_release_and_tenant() {
    let mut uploads = Uploads::start().await;
    let tenants = [uploads.tenant(None).await, uploads.tenant(Some("other")).await];
    let source = |tenant: usize, version: &str, folder: &str| format!("{tenant}-{version}-{folder}.ts");
    for tenant in &tenants {
        for (number, version) in [(1, "1.0"), (2, "2.0"), (3, "3.0")] {
            uploads.report(tenant, number, version, "").await;
            assert_eq!(uploads.stored(tenant, number).await, STACK, "the first answer is raw");
        }
    }
    for (at, tenant) in tenants.iter().enumerate() {
        for version in ["2.0", "1.0"] {
            for folder in ["a", "b"] {
                let name = format!("dist/{folder}/app.js.map");
                uploads.map_of(tenant, &[("version", version)], &name, &source(at, version, folder)).await;
            }
        }
    }
    for is_after_restart in [false, true] {
        if is_after_restart {
            uploads.harness.restart().await;
        }
        for (at, tenant) in tenants.iter().enumerate() {
            uploads.again(tenant).await;
            for (number, version) in [(1, "1.0"), (2, "2.0")] {
                assert_eq!(uploads.stored(tenant, number).await, by(&source(at, version, "a")), "{at} {version}");
                // A trace that comes now is resolved on arrival.
                let later = number + if is_after_restart { 20 } else { 10 };
                uploads.report(tenant, later, version, "").await;
                assert_eq!(uploads.stored(tenant, later).await, by(&source(at, version, "a")), "{at} {version}");
            }
            assert_eq!(uploads.stored(tenant, 3).await, STACK, "no map of another known release applies");
        }
    }
    assert_eq!(uploads.missing_versions().await, [json!("3.0")]);
    // The map of the third release comes after the restart; the server resolves its trace in the background.
    uploads.map_of(&tenants[0], &[("version", "3.0")], "dist/a/app.js.map", "late.ts").await;
    uploads.again(&tenants[0]).await;
    assert_eq!(uploads.stored(&tenants[0], 3).await, by("late.ts"));
    assert_eq!(uploads.stored(&tenants[0], 1).await, by(&source(0, "1.0", "a")), "resolved frames stay");
    assert_eq!(uploads.missing_versions().await, Vec::<Value>::new());
}

// Which of the uploads of one name applies: uploads with version and distribution, then traces with the expected source.
#[tokio::test(flavor = "multi_thread")]
async fn releases_table() {
    type Fields = &'static [(&'static str, &'static str)];
    const ONE: Fields = &[("version", "1.0")];
    const TWO: Fields = &[("release", "2.0")];
    const ONE_A: Fields = &[("version", "1.0"), ("dist", "a")];
    let uploads = Uploads::start().await;
    for (number, (sent, traces)) in (0..).zip([
        // Without a version, an upload applies to traces of any version, as long as no upload names one.
        (&[(&[][..], "any.ts")][..], &[("1.0", "", "any.ts"), ("", "", "any.ts")][..]),
        (&[(&[][..], "any.ts"), (ONE, "one.ts")], &[("1.0", "", "one.ts"), ("2.0", "", ""), ("", "", "one.ts")]),
        // A trace without a version takes the newest upload.
        (&[(TWO, "two.ts"), (ONE, "one.ts")], &[("2.0", "", "two.ts"), ("", "", "one.ts"), ("3.0", "", "")]),
        // The same release again replaces its map.
        (&[(ONE, "old.ts"), (ONE, "one.ts")], &[("1.0", "", "one.ts")]),
        // A distribution is one of several builds of a version.
        (&[(ONE_A, "a.ts"), (ONE, "one.ts")], &[("1.0", "a", "a.ts"), ("1.0", "b", "one.ts"), ("2.0", "a", "")]),
        (&[(ONE_A, "a.ts")], &[("1.0", "b", ""), ("1.0", "", "a.ts")]),
    ]) {
        let tenant = uploads.tenant(Some(&format!("row {number}"))).await;
        for (fields, source) in sent {
            uploads.map_of(&tenant, fields, "app.js.map", source).await;
        }
        uploads.settle().await;
        for (at, (version, dist, source)) in (1..).zip(traces) {
            uploads.report(&tenant, at, version, dist).await;
            let expected = if source.is_empty() { STACK.to_owned() } else { by(source) };
            assert_eq!(uploads.stored(&tenant, at).await, expected, "row {number}: {version:?} {dist:?}");
        }
    }
}

// A mapping of R8 has the same id in each release if the app does not set one.
#[tokio::test(flavor = "multi_thread")]
async fn mappings_of_one_id_are_kept_by_release() {
    let uploads = Uploads::start().await;
    let tenant = uploads.tenant(None).await;
    const ID: &str = "6c2f7a3e-93a1-4c60-b6a7-0d6f5a3d1c11";
    let mapping = |class: &str| format!("com.shop.{class} -> a.a:\n    1:5:void pay():10:14 -> b\n").into_bytes();
    for (version, class) in [("1.0", "Cart"), ("2.0", "Order")] {
        let fields = [("proguard_uuid", ID), ("version", version)];
        uploads.send(SYMBOLS, &tenant.upload, &fields, &[("mapping.txt", &mapping(class))]).await.expect(200);
    }
    uploads.settle().await;
    let stack = "E: x\n\tat a.a.b(SourceFile:2)";
    for (version, expected) in [
        ("1.0", "E: x\n\tat com.shop.Cart.pay(Cart.java:11)"),
        ("2.0", "E: x\n\tat com.shop.Order.pay(Order.java:11)"),
        ("3.0", stack),
    ] {
        let path = format!("/api/symbols/resolve?projectId={}", tenant.id);
        let body = json!({ "stackTrace": stack, "debugId": ID, "version": version, "language": "android" });
        let answer = uploads.harness.api("POST", &path, &body).await.expect(200).json();
        assert_eq!(text(&answer["stackTrace"]), expected, "{version}");
    }
}

// Uploads of earlier versions of the server have no release in their key. They apply to the versions that they were
// uploaded for, or to all.
#[tokio::test(flavor = "multi_thread")]
async fn uploads_of_earlier_versions_of_the_server_still_apply() {
    let mut uploads = Uploads::start().await;
    let folder = uploads.harness.data().join(format!("blobs/sourcemaps/{}", uploads.project));
    for (name, version) in [("app.js.map", "null"), ("of-one.js.map", "\"1.0\"")] {
        let content = map(name);
        let hash = tidewatch_symbols::source_hash(&content);
        let info = format!(
            r#"{{"kind":"source_map","name":"{name}","version":{version},"bytes":{},"hash":"{hash:032x}","has_debug_info":true,"uploaded_ns":1}}"#,
            content.len()
        );
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join(name), &content).expect("a file");
        std::fs::write(folder.join(format!("{name}.info")), info).expect("a file");
    }
    uploads.harness.restart().await;
    let symbols = uploads.harness.app().ingest.symbols.clone();
    let project = uploads.project;
    tokio::task::spawn_blocking(move || symbols.build_missing(project))
        .await
        .expect("no panic")
        .expect("the disk works");
    uploads.settle().await;
    for (script, version, is_resolved) in [
        ("app.js", json!("1.0"), true),
        ("app.js", Value::Null, true),
        ("of-one.js", json!("1.0"), true),
        ("of-one.js", Value::Null, true),
        ("of-one.js", json!("2.0"), false),
    ] {
        let path = format!("/api/symbols/resolve?projectId={project}");
        let stack = format!("E: x\n    at t (https://shop.example/{script}:2:5)");
        let body = json!({ "stackTrace": stack, "version": version });
        let answer = uploads.harness.api("POST", &path, &body).await.expect(200).json();
        assert_eq!(answer["resolved"], u64::from(is_resolved), "{script} {version}");
    }
    let listed = uploads.get("/api/symbols").await;
    assert_eq!(listed["pagination"]["total"], 2);
}

// Old releases are removed by number; those that a stack trace used stay. The user sees how many were removed, and why.
#[tokio::test(flavor = "multi_thread")]
async fn old_releases_are_removed_unless_they_are_used() {
    let mut uploads = Uploads::start().await;
    let tenant = uploads.tenant(None).await;
    let send = async |uploads: &Uploads, number: usize| {
        let version = number.to_string();
        uploads.map_of(&tenant, &[("version", &version), ("dist", "web")], "app.js.map", &format!("{number}.ts")).await;
    };
    for number in 0..limits::SYMBOL_RELEASES_MAX {
        send(&uploads, number).await;
    }
    uploads.settle().await;
    assert_eq!(uploads.get("/api/symbols/removed").await, json!([]));
    let used = uploads.resolved_as(json!({ "version": "0", "dist": "web" })).await;
    assert_eq!(text(&used["stackTrace"]), by("0.ts"));
    for number in limits::SYMBOL_RELEASES_MAX..limits::SYMBOL_RELEASES_MAX + 3 {
        send(&uploads, number).await;
    }
    let removed = uploads.get("/api/symbols/removed").await;
    assert_eq!((&removed[0]["reason"], &removed[0]["files"]), (&json!("too_many_releases"), &json!(2)), "{removed}");
    let listed = uploads.get("/api/symbols").await;
    assert_eq!(listed["pagination"]["total"], limits::SYMBOL_RELEASES_MAX + 1);
    assert_eq!((&listed["data"][0]["dist"], listed["data"][0]["version"].is_string()), (&json!("web"), true));
    uploads.settle().await;
    for (version, expected) in [("0", by("0.ts")), ("1", STACK.to_owned()), ("3", by("3.ts"))] {
        let answer = uploads.resolved_as(json!({ "version": version })).await;
        assert_eq!(text(&answer["stackTrace"]), expected, "{version}");
    }
    uploads.harness.restart().await;
    assert_eq!(uploads.get("/api/symbols/removed").await, removed);
}

// The original file of a resolved frame is not missing, even if it could have a map of its own (Hermes).
#[tokio::test(flavor = "multi_thread")]
async fn a_resolved_frame_misses_nothing() {
    let uploads = Uploads::start().await;
    let tenant = uploads.tenant(None).await;
    uploads.map_of(&tenant, &[("version", "1.0")], "index.android.bundle.map", "Cart.tsx").await;
    uploads.settle().await;
    let stack = "E: x\n    at onPress (address at index.android.bundle:1:0)\n    at apply (native)";
    let body = error(tenant.first + 1, "1.0", "", stack);
    uploads.harness.post_json("traces", &tenant.runtime, &body).await.expect(200);
    assert!(uploads.stored(&tenant, 1).await.contains("Cart.tsx:1:1"), "{}", uploads.stored(&tenant, 1).await);
    assert_eq!(uploads.get("/api/symbols/missing").await, json!([]));
}
