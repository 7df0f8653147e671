//! Uploads of debug files and source maps, as their tools send them. Spec: `/api/symbols/upload` 1-6; WIRE 4.1, 4.2.

use std::path::Path;

use serde_json::{Value, json};
use tidewatch_ingest::symbols::keys::{FileName, ScriptPath, SymbolKey};
use tidewatch_ingest::symbols::release::Release;
use tidewatch_symbols::{Artifact, DebugId, Upload, detect};

use crate::client;
use crate::harness::text;
use crate::mailbox::organization;
use crate::symbol_uploads::{SOURCE_MAPS, SYMBOLS, Uploads, fixture};

fn ids(bytes: &[u8]) -> Vec<DebugId> {
    let Ok(Upload::Native { slices, .. }) = detect(bytes, None) else { panic!("a debug file") };
    slices.iter().filter_map(|slice| slice.id).collect()
}

// Spec: `/api/symbols/upload`, 2, 4, 5; symbol artifacts, "one entry per architecture slice".
#[tokio::test(flavor = "multi_thread")]
async fn a_fat_file_counts_once_and_is_kept_once_per_slice() {
    let uploads = Uploads::start().await;
    let fat = fixture("macho/AcmeKit.fat3");
    let ids = ids(&fat);
    assert_eq!(ids.len(), 3);
    let mut expected: Vec<String> = ids.iter().map(|id| format!("iossymbols/{id}.dsym")).collect();
    expected.sort();
    for _ in 0..2 {
        assert_eq!(uploads.accepted(SYMBOLS, &[], &[("AcmeKit", &fat)]).await, 1);
        assert_eq!(uploads.kept(), expected, "again: nothing changes");
    }
    for id in ids {
        let artifact = uploads.artifact(SymbolKey::MachO(id)).await.expect("made after the upload");
        let artifact = Artifact::open(&artifact).and_then(Artifact::verify).expect("whole");
        assert_eq!(artifact.id(), Some(id));
    }
    let (built, failed) = uploads.harness.app().ingest.symbols.builder.stats();
    assert_eq!((built, failed), (3, 0), "the same upload again makes nothing again");
}

// A debug file with DWARF is never replaced by one without.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_without_debug_information_replaces_none_that_has_it() {
    let uploads = Uploads::start().await;
    let (with, without) = (fixture("macho/AcmeKit.arm64.dwarf"), fixture("macho/AcmeKit.arm64.linked-no-dwarf"));
    let id = ids(&with)[0];
    assert_eq!(ids(&without), [id]);
    let has_debug_info = || {
        let info = uploads.harness.app().ingest.symbols.store.info(uploads.project, &SymbolKey::MachO(id));
        info.expect("it is kept").has_debug_info
    };
    for (file, expected) in [(&without, false), (&with, true), (&without, true)] {
        assert_eq!(uploads.accepted(SYMBOLS, &[], &[("AcmeKit", file)]).await, 1);
        assert_eq!(has_debug_info(), expected);
    }
    assert!(uploads.artifact(SymbolKey::MachO(id)).await.is_some());
}

// WIRE 4.2, row Dart: the architecture by field or file name, and an id that must match the file's.
#[tokio::test(flavor = "multi_thread")]
async fn dart_symbols() {
    let uploads = Uploads::start().await;
    let file = fixture("dart/app.android-arm64.symbols");
    let id = ids(&file)[0];
    for (fields, name) in [
        (&[("arch", "aarch64")][..], "app.symbols"),
        (&[][..], "app.android-arm64.symbols"),
        (&[("debug_id", id.as_str())][..], "app.android-arm64.symbols"),
    ] {
        assert_eq!(uploads.accepted(SYMBOLS, fields, &[(name, &file)]).await, 1);
        assert_eq!(uploads.kept(), [format!("dartsymbols/{id}-arm64.symbols")]);
    }
    let why = uploads.refused(&[("debug_id", "0123456789abcdef")], &[("app.android-arm64.symbols", &file)]).await;
    assert!(why.contains("debug_id is 0123456789abcdef"), "{why}");
    let arch = tidewatch_symbols::Arch::parse("arm64").expect("an architecture");
    assert!(uploads.artifact(SymbolKey::Dart(id, arch)).await.is_some());
}

// WIRE 4.2, row R8: the Gradle plugin sends `proguard_uuid`, then `files`.
#[tokio::test(flavor = "multi_thread")]
async fn r8_mappings() {
    let uploads = Uploads::start().await;
    let mapping = fixture("r8/mapping.txt");
    let id = "6c2f7a3e-93a1-4c60-b6a7-0d6f5a3d1c11";
    assert_eq!(uploads.accepted(SYMBOLS, &[("proguard_uuid", id)], &[("mapping.txt", &mapping)]).await, 1);
    let id = DebugId::parse(id).expect("an id");
    assert!(uploads.kept().contains(&format!("androidmappings/{id}.txt")));
    assert!(uploads.artifact(SymbolKey::Mapping(id)).await.is_some());
}

// WIRE 4.1: other files are ignored and not counted; an old client sends `version` and relative paths.
#[tokio::test(flavor = "multi_thread")]
async fn source_maps_of_a_build_folder() {
    let uploads = Uploads::start().await;
    let folder = "public/symbolic-sourcemaps/simple";
    let (map, script) = (fixture(&format!("{folder}/minified.js.map")), fixture(&format!("{folder}/minified.js")));
    let files: [(&str, &[u8]); 3] =
        [("assets/minified.js.map", &map), ("assets/minified.js", &script), ("index.html", b"<html>")];
    assert_eq!(uploads.accepted(SOURCE_MAPS, &[("version", "1.2.3")], &files).await, 2);
    let release = Release::of(Some("1.2.3"), None).id().expect("it names a version");
    let names = ["assets%2Fminified.js", "assets%2Fminified.js.map"];
    assert_eq!(uploads.kept(), names.map(|name| format!("sourcemaps/by-release/{release}-{name}")));
    let key = SymbolKey::SourceMapOf(release, ScriptPath::of("assets/minified.js.map").expect("a path"));
    let info = uploads.harness.app().ingest.symbols.store.info(uploads.project, &key).expect("it is kept");
    assert_eq!((info.version.as_deref(), info.bytes), (Some("1.2.3"), map.len() as u64));
    assert!(uploads.artifact(key).await.is_some());
    // Source maps are accepted at the other route too. Spec: `/api/symbols/upload`, 3.
    assert_eq!(uploads.accepted(SYMBOLS, &[], &[("other.js.map", &map)]).await, 1);
    assert_eq!(uploads.accepted(SOURCE_MAPS, &[], &[("index.html", b"<html>")]).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn uploaded_files_survive_a_restart() {
    let mut uploads = Uploads::start().await;
    let file = fixture("macho/AcmeKit.x86_64.dwarf");
    uploads.accepted(SYMBOLS, &[], &[("AcmeKit", &file)]).await;
    let before = uploads.kept();
    uploads.harness.restart().await;
    assert_eq!(uploads.kept(), before);
    let key = SymbolKey::MachO(ids(&file)[0]);
    assert_eq!(
        uploads.harness.app().ingest.symbols.store.read(uploads.project, &key).expect("the disk works").map(Vec::from),
        Some(file)
    );
}

// Spec: authentication: an upload token, which is not the runtime token; errors, rows 400, 401 and 422.
#[tokio::test(flavor = "multi_thread")]
async fn unauthorized_and_invalid_uploads_are_refused() {
    let uploads = Uploads::start().await;
    let project = uploads.harness.project("other").await;
    let map: &[u8] = br#"{"version":3,"sources":[],"names":[],"mappings":""}"#;
    for token in [project.token.as_str(), uploads.harness.login.as_str(), "", "wrong"] {
        for path in [SYMBOLS, SOURCE_MAPS] {
            uploads.send(path, token, &[], &[("a.js.map", map)]).await.expect(401);
        }
    }
    for path in [SYMBOLS, SOURCE_MAPS] {
        let answer = uploads.send(path, &uploads.token, &[("version", "1")], &[]).await.expect(400);
        assert_eq!(answer.json(), json!({"error": "No files uploaded"}));
    }
    // DECISIONS 28: each file is checked separately. If none is accepted, each has a message.
    let why = uploads.refused(&[], &[("notes.txt", b"hello"), ("b.zip", b"PK\x03\x04....")]).await;
    assert!(why.contains("notes.txt: ") && why.contains("b.zip: this is a zip archive"), "{why}");
    assert_eq!(uploads.kept(), Vec::<String>::new());
    // A name is not a path.
    assert_eq!(uploads.accepted(SYMBOLS, &[], &[("../../../../etc/x.map", map)]).await, 1);
    assert_eq!(uploads.kept(), ["sourcemaps/x.map"]);
}

// Every file is stored or refused with a message, and building artifacts of it never stops the server.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_files() {
    let uploads = Uploads::start().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/symbols/bad");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let name = entry.expect("an entry").file_name().into_string().expect("text");
        let name = name.strip_suffix(".zst").unwrap_or(&name);
        let answer = uploads.send(SYMBOLS, &uploads.token, &[], &[(name, &fixture(&format!("bad/{name}")))]).await;
        assert!([200, 422].contains(&answer.status), "{name}: {}", answer.status);
        count += 1;
    }
    assert!(count > 50);
    let symbols = uploads.harness.app().ingest.symbols.clone();
    tokio::task::spawn_blocking(move || symbols.builder.wait_until_idle()).await.expect("no panic");
    uploads.accepted(SYMBOLS, &[], &[("AcmeKit", &fixture("macho/AcmeKit.fat3"))]).await;
}

// Spec: symbolication of native iOS traces, 1-7; DECISIONS 14: before grouping, and the raw trace is stored.
#[tokio::test(flavor = "multi_thread")]
async fn ios_traces_are_resolved_once_their_debug_file_is_there() {
    let uploads = Uploads::start().await;
    let token = uploads.harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
    let token = text(&token[0]["token"]);
    let cases: Value = serde_json::from_slice(&fixture("ios_traces.json")).expect("JSON");
    let case = &cases["traces"][0];
    let raw = text(&case["trace"]);
    let (first, rest) = raw.split_once('\n').expect("a header and frames");
    let (kind, message) = first.split_once(": ").expect("a type and a message");
    let sent = [kind, message, &format!("{first}\n{rest}")];
    let id = text(&case["frames"][0]["uuid"]);

    let before = uploads.occurrence(1, "swift", sent, &token).await;
    assert_eq!((text(&before["stackTrace"]), &before["rawStackTrace"]), (raw.clone(), &Value::Null));
    let missing = uploads.get("/api/symbols/missing").await;
    assert_eq!(
        (&missing[0]["debugId"], &missing[0]["kind"], &missing[0]["traces"]),
        (&json!(id), &json!("debug_file"), &json!(1))
    );

    assert_eq!(uploads.accepted(SYMBOLS, &[], &[("AcmeApp", &fixture("macho/AcmeApp.arm64.dwarf"))]).await, 1);
    uploads.settle().await;
    let after = uploads.occurrence(2, "swift", sent, &token).await;
    let innermost = &case["frames"][0]["expect"][0];
    let frame = format!(
        "{} ({}:{}:{})",
        text(&innermost["demangled"]),
        text(&innermost["file"]),
        innermost["line"],
        innermost["column"]
    );
    let resolved = text(&after["stackTrace"]);
    assert!(resolved.lines().any(|line| line.starts_with("#0 ") && line.ends_with(&frame)), "{frame}\n{resolved}");
    assert!(resolved.starts_with(first), "the preamble stays: {resolved}");
    assert_eq!(after["rawStackTrace"], json!(raw));
    assert_ne!(after["exceptionHash"], before["exceptionHash"], "grouped by what it means");
    assert_eq!(uploads.get("/api/symbols/missing").await, json!([]), "nothing is missing");

    let path = format!("/api/symbols/resolve?projectId={}", uploads.project);
    let tried = uploads.harness.api("POST", &path, &json!({"stackTrace": raw})).await.expect(200).json();
    assert_eq!(tried["stackTrace"], json!(resolved));
    assert!(tried["resolved"].as_u64() > Some(0) && tried["missing"] == json!([]), "{tried}");

    let listed = &uploads.get("/api/symbols").await["data"];
    let key = text(&listed[0]["key"]);
    assert_eq!((listed[0]["kind"].as_str(), listed[0]["name"].as_str()), (Some("dsym"), Some("AcmeApp")));
    for (key, removed) in [("../control.sqlite", false), (key.as_str(), true), (key.as_str(), false)] {
        let path = format!("/api/symbols?projectId={}&key={key}", uploads.project);
        let answer = uploads.harness.api("DELETE", &path, &Value::Null).await.expect(200).json();
        assert_eq!(answer, json!({"removed": removed}), "{key}");
    }
    let at = format!("/api/organizations/{}/audit?action=symbols", organization(&uploads.harness).await);
    let lines = uploads.harness.api("GET", &at, &Value::Null).await.expect(200).json();
    assert_eq!(lines["data"].as_array().map(Vec::len), Some(1), "{lines}");
    assert_eq!(
        (&lines["data"][0]["action"], &lines["data"][0]["detail"]["key"]),
        (&json!("symbols.remove"), &json!(key))
    );
    let without_symbols = uploads.occurrence(3, "swift", sent, &token).await;
    assert_eq!(without_symbols["exceptionHash"], before["exceptionHash"]);
}

// DECISIONS 14: later uploads are applied to stored traces, on disk and in memory, and Issues are regrouped.
#[tokio::test(flavor = "multi_thread")]
async fn traces_stored_raw_are_resolved_when_their_symbols_arrive() {
    let uploads = Uploads::start().await;
    let projects = uploads.harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
    let token = text(&projects[0]["token"]);
    let stack = "Error: empty\n    at t (https://shop.example/app.min.js:2:5)";
    let sent = ["Error", "empty", stack];
    uploads.occurrence(1, "webjs", sent, &token).await;
    uploads.harness.app().lake.flush().expect("the disk works");
    uploads.occurrence(2, "webjs", sent, &token).await;
    uploads.occurrence(3, "python", sent, &token).await;
    let issues = async || {
        let path = format!("/api/exception-stack-traces?projectId={}", uploads.project);
        let answer = uploads.harness.api("POST", &path, &json!({})).await.expect(200).json();
        let rows = answer["data"].as_array().expect("rows").clone();
        let mut found: Vec<(String, u64)> =
            rows.iter().map(|row| (text(&row["stackTrace"]), row["count"].as_u64().unwrap_or(0))).collect();
        found.sort();
        found
    };
    assert_eq!(issues().await, [(stack.to_owned(), 3)]);

    let map = br#"{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA;EAEE"}"#;
    assert_eq!(uploads.accepted(SOURCE_MAPS, &[], &[("app.min.js.map", map)]).await, 1);
    let expected = [("Error: empty\n    at t (cart.ts:3:3)".to_owned(), 2), (stack.to_owned(), 1)];
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while issues().await != expected {
        assert!(std::time::Instant::now() < deadline, "{:?}", issues().await);
        tokio::task::yield_now().await;
    }
}

// WIRE 4.3, 4.5: JavaScript by its language or an npm scope; by debug id first, then by file name.
#[tokio::test(flavor = "multi_thread")]
async fn javascript_traces_are_resolved_by_file_name() {
    let uploads = Uploads::start().await;
    let token = uploads.harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
    let token = text(&token[0]["token"]);
    let map = br#"{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA;EAEE"}"#;
    assert_eq!(uploads.accepted(SOURCE_MAPS, &[], &[("assets/app.min.js.map", map)]).await, 1);
    uploads.settle().await;
    let stack = "Error: empty\n    at t (https://shop.example/assets/app.min.js?v=3:2:5)";
    let found = uploads.occurrence(1, "webjs", ["Error", "empty", stack], &token).await;
    assert_eq!(found["stackTrace"], json!("Error: empty\n    at t (cart.ts:3:3)"));
    assert_eq!(found["rawStackTrace"], json!(stack));
    let python = uploads.occurrence(2, "python", ["Error", "empty", stack], &token).await;
    assert_eq!(python["rawStackTrace"], Value::Null, "of another language");
}

/// The answer of `/api/symbols/sources`.
impl Uploads {
    async fn sources(&self, stack: &str) -> Value {
        let path = format!("/api/symbols/sources?projectId={}", self.project);
        self.harness.api("POST", &path, &json!({"stackTrace": stack})).await.expect(200).json()["frames"].clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_source_around_a_frame_is_shown_where_the_map_embeds_it() {
    let uploads = Uploads::start().await;
    let content: String = (1..=20).map(|line| format!("line {line};\\n")).collect();
    let with = format!(
        r#"{{"version":3,"sources":["cart.ts","bare.ts"],"sourcesContent":["{content}",null],"names":[],"mappings":"AAOE;ACPA"}}"#
    );
    let without = r#"{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA;EAEE"}"#;
    let files: [(&str, &[u8]); 2] = [("with.js.map", with.as_bytes()), ("without.js.map", without.as_bytes())];
    assert_eq!(uploads.accepted(SOURCE_MAPS, &[], &files).await, 2);
    uploads.settle().await;
    let frame = "    at t (https://shop.example/with.js:1:5)";
    let stack = format!("Error: x\n{frame}\n{frame}\n    at u (with.js:2:1)\n    at v (without.js:2:5)");
    let lines: Vec<String> = (3..=13).map(|line| format!("line {line};")).collect();
    assert_eq!(
        uploads.sources(&stack).await,
        json!([{"file": "cart.ts", "line": 8, "column": 3, "firstLine": 3, "lines": lines, "mark": 2}])
    );
    assert_eq!(uploads.sources("Error: x").await, json!([]));
    let raw = "boom\n*** ***\nos: ios arch: x64\n#00 4c4c44dd55553144a1e29109d2cd8082 0x41cc App";
    assert_eq!(uploads.sources(raw).await, json!([]));
}

// The uploader of a file, its architecture, and when a stack trace was last resolved with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_listed_file_has_its_origin_and_last_use() {
    let mut uploads = Uploads::start().await;
    let map = br#"{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA;EAEE"}"#;
    let body = [
        &b"--XX\r\nContent-Disposition: form-data; name=\"version\"\r\n\r\n1.2\r\n"[..],
        b"--XX\r\nContent-Disposition: form-data; name=\"files\"; filename=\"app.js.map\"\r\n\r\n",
        map,
        b"\r\n--XX--\r\n",
    ];
    let authorization = format!("Bearer {}", uploads.token);
    let headers = [
        ("Content-Type", "multipart/form-data; boundary=XX"),
        ("Authorization", authorization.as_str()),
        ("User-Agent", "curl/8.5"),
        ("X-Forwarded-For", "203.0.113.9"),
    ];
    client::send(uploads.harness.address(), "POST", SOURCE_MAPS, &headers, &body.concat()).await.expect(200);
    uploads.accepted(SYMBOLS, &[], &[("AcmeKit", &fixture("macho/AcmeKit.fat3"))]).await;
    uploads.settle().await;
    let listed = uploads.get("/api/symbols").await["data"].clone();
    let rows = listed.as_array().expect("rows");
    let mut architectures: Vec<String> =
        rows.iter().filter(|row| row["kind"] == "dsym").map(|row| text(&row["arch"])).collect();
    architectures.sort();
    assert_eq!(architectures, ["arm64", "arm64e", "x64"]);
    let of_map = async |uploads: &Uploads| {
        let listed = uploads.get("/api/symbols").await["data"].clone();
        listed.as_array().and_then(|rows| rows.iter().find(|row| row["name"] == "app.js.map").cloned()).expect("a row")
    };
    let before = of_map(&uploads).await;
    assert_eq!(
        (&before["version"], &before["arch"], &before["lastUsedAt"]),
        (&json!("1.2"), &Value::Null, &Value::Null)
    );
    let by = json!({"credential": "upload_token", "userAgent": "curl/8.5", "address": "203.0.113.9"});
    assert_eq!(before["uploadedBy"], by);

    assert_eq!(uploads.sources("Error: x\n    at t (app.js:2:5)").await, json!([]));
    let used = of_map(&uploads).await["lastUsedAt"].clone();
    assert!(used.is_string(), "{used}");
    uploads.harness.restart().await;
    assert_eq!(of_map(&uploads).await["lastUsedAt"], used);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_missing_uploads_survives_a_restart() {
    let mut uploads = Uploads::start().await;
    let token = uploads.harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
    let token = text(&token[0]["token"]);
    let stack = "Error: empty\n    at t (https://shop.example/app.min.js:2:5)";
    uploads.occurrence(1, "webjs", ["Error", "empty", stack], &token).await;
    let before = uploads.get("/api/symbols/missing").await;
    assert_eq!((&before[0]["name"], &before[0]["traces"]), (&json!("app.min.js"), &json!(1)));
    uploads.harness.restart().await;
    assert_eq!(uploads.get("/api/symbols/missing").await, before, "and is not counted again");
    uploads.occurrence(2, "webjs", ["Error", "empty", stack], &token).await;
    assert_eq!(uploads.get("/api/symbols/missing").await[0]["traces"], json!(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bytes_of_a_project_are_limited() {
    let uploads = Uploads::start_with(|config| config.symbols_project_mb = 1).await;
    let map = |filler: usize| {
        let filler = " ".repeat(filler);
        format!(r#"{{"version":3,"sources":["a.ts"],"names":[],"mappings":"AAAA"{filler}}}"#).into_bytes()
    };
    let (half, most) = (map(600 << 10), map(900 << 10));
    assert_eq!(uploads.accepted(SOURCE_MAPS, &[], &[("a.js.map", &half)]).await, 1);
    let answer = uploads.send(SOURCE_MAPS, &uploads.token, &[], &[("b.js.map", &half)]).await.expect(413);
    let why = text(&answer.json()["error"]);
    assert!(why.contains("limit of 1048576: delete old uploads"), "{why}");
    assert_eq!(uploads.kept(), ["sourcemaps/a.js.map"], "nothing of it is kept");
    assert_eq!(uploads.harness.app().ingest.symbols.over_quota.load(std::sync::atomic::Ordering::Relaxed), 1);
    // The same file again takes no space, a new version only its additional bytes; deleting frees space.
    for file in [&half, &most] {
        assert_eq!(uploads.accepted(SOURCE_MAPS, &[], &[("a.js.map", file)]).await, 1);
    }
    let key = text(&uploads.get("/api/symbols").await["data"][0]["key"]);
    let path = format!("/api/symbols?projectId={}&key={key}", uploads.project);
    uploads.harness.api("DELETE", &path, &Value::Null).await.expect(200);
    assert_eq!(uploads.accepted(SOURCE_MAPS, &[], &[("b.js.map", &half)]).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_of_a_removed_project_is_deleted() {
    let uploads = Uploads::start().await;
    uploads.accepted(SYMBOLS, &[], &[("AcmeKit", &fixture("macho/AcmeKit.fat3"))]).await;
    let map = br#"{"version":3,"debugId":"85314830-023f-4cf1-a267-535f4e37bb17","sources":["cart.ts"],"names":[],"mappings":"AAAA;EAEE"}"#;
    uploads.accepted(SOURCE_MAPS, &[], &[("app.js.map", map)]).await;
    uploads.settle().await;
    let (symbols, project) = (uploads.harness.app().ingest.symbols.clone(), uploads.project);
    tokio::task::spawn_blocking(move || {
        let need = tidewatch_symbols::ArtifactRequest::Script { debug_id: None, path: "x.js".into() };
        symbols.missing.add(project, need.into(), 1);
        symbols.persist();
        symbols.remove_all(project).expect("the disk works");
        symbols.remove_all(project).expect("there is nothing left to remove");
        symbols.persist();
    })
    .await
    .expect("no panic");
    assert_eq!(uploads.kept(), Vec::<String>::new());
    assert_eq!(uploads.get("/api/symbols/missing").await, json!([]));
    let blobs = uploads.harness.app().process.config.data_dir.join("blobs");
    let mut open = vec![blobs];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            assert!(!path.to_string_lossy().contains(&uploads.project.to_string()), "{}", path.display());
            open.extend(path.is_dir().then_some(path));
        }
    }
}

// SPEC, symbol cache: an artifact is versioned, and built again from the original when it is unusable.
#[tokio::test(flavor = "multi_thread")]
async fn outdated_and_damaged_artifacts_are_built_again() {
    let mut uploads = Uploads::start().await;
    let map = br#"{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA;EAEE"}"#;
    let other = br#"{"version":3,"sources":["other.ts"],"names":[],"mappings":"AAAA;EAEE"}"#;
    uploads.accepted(SOURCE_MAPS, &[], &[("app.js.map", &map[..]), ("other.js.map", &other[..])]).await;
    let key = |name| SymbolKey::SourceMap(FileName::of(name).expect("a name"));
    let good = uploads.artifact(key("app.js.map")).await.expect("made after the upload");
    let of_other = uploads.artifact(key("other.js.map")).await.expect("made after the upload");
    let changed = |at: usize| {
        let mut artifact = good.clone();
        artifact[at] ^= 1;
        artifact
    };
    let damaged = [changed(4), changed(30), changed(good.len() - 1), good[..200].to_vec(), of_other, Vec::new()];
    for (number, artifact) in damaged.into_iter().enumerate() {
        let path = key("app.js.map").path(uploads.project);
        let path = uploads.harness.app().process.config.data_dir.join("blobs").join(format!("{path}.tw"));
        std::fs::write(path, artifact).expect("the disk works");
        // Clears the cache in memory.
        uploads.harness.restart().await;
        let path = format!("/api/symbols/resolve?projectId={}", uploads.project);
        let trace = json!({"stackTrace": "Error: x\n    at t (app.js:2:5)"});
        let first = uploads.harness.api("POST", &path, &trace).await.expect(200).json();
        assert_eq!(first["resolved"], json!(0), "{number}: not with that");
        uploads.settle().await;
        let then = uploads.harness.api("POST", &path, &trace).await.expect(200).json();
        assert_eq!(then["stackTrace"], json!("Error: x\n    at t (cart.ts:3:3)"), "{number}");
        assert_eq!(uploads.artifact(key("app.js.map")).await.as_ref(), Some(&good), "{number}");
    }
}
