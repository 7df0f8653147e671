//! Uploaded files are checked one by one, distinguished by their folders, and counted. DECISIONS 28; WIRE 4.1.

use serde_json::{Value, json};

use crate::harness::text;
use crate::symbol_uploads::{SOURCE_MAPS, SYMBOLS, Uploads, fixture};

fn map(source: &str) -> Vec<u8> {
    format!(r#"{{"version":3,"sources":["{source}"],"names":[],"mappings":"AAAA;EAEE"}}"#).into_bytes()
}

impl Uploads {
    async fn sent(&self, path: &str, fields: &[(&str, &str)], files: &[(&str, &[u8])]) -> Value {
        self.send(path, &self.token, fields, files).await.expect(200).json()
    }

    /// The trace as `/api/symbols/resolve` answers it.
    async fn resolved(&self, stack: &str) -> String {
        let path = format!("/api/symbols/resolve?projectId={}", self.project);
        let answer = self.harness.api("POST", &path, &json!({"stackTrace": stack})).await.expect(200).json();
        text(&answer["stackTrace"])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_file_does_not_refuse_the_others() {
    let uploads = Uploads::start().await;
    let (good, kit) = (map("cart.ts"), fixture("macho/AcmeKit.arm64.dwarf"));
    let files: [(&str, &[u8]); 5] = [
        ("a.js.map", &good),
        ("notes.txt", b"hello"),
        ("AcmeKit", &kit),
        ("b.zip", b"PK\x03\x04...."),
        ("package.json", br#"{"name":"shop","version":"1.0.0"}"#),
    ];
    let answer = uploads.sent(SYMBOLS, &[], &files).await;
    assert_eq!(answer["uploaded"], 2, "{answer}");
    let rejected: Vec<(String, String)> = answer["rejected"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| (text(&file["name"]), text(&file["error"])))
        .collect();
    let names: Vec<&str> = rejected.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["notes.txt", "b.zip", "package.json"]);
    assert!(rejected[1].1.contains("zip archive") && rejected[2].1.contains("not a source map"), "{rejected:?}");
    assert_eq!(uploads.kept().len(), 2);
    // L6: names are shown without invisible and bidirectional control characters.
    let hidden = uploads.sent(SYMBOLS, &[], &[files[0], ("no\u{202e}tes\u{200b}.txt", b"hello")]).await;
    let name = text(&hidden["rejected"][0]["name"]);
    assert!(name.contains("tes") && !name.contains(['\u{202e}', '\u{200b}']), "{name:?}");
    // Without rejected files, the answer is the specification's.
    assert_eq!(uploads.sent(SYMBOLS, &[], &files[..1]).await, json!({"uploaded": 1}));
    let why = uploads.refused(&[], &files[1..2]).await;
    assert!(why.starts_with("notes.txt: "), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn maps_of_one_name_in_different_folders_do_not_shadow_each_other() {
    let uploads = Uploads::start().await;
    let (of_a, of_b) = (map("a.ts"), map("b.ts"));
    let first = uploads.sent(SOURCE_MAPS, &[], &[("dist/a/index.js.map", &of_a)]).await;
    assert_eq!(first, json!({"uploaded": 1}));
    let second = uploads.sent(SOURCE_MAPS, &[], &[("dist/b/index.js.map", &of_b)]).await;
    let warning = text(&second["warnings"][0]);
    assert!(warning.contains("dist/a/index.js.map") && warning.contains("dist/b/index.js.map"), "{warning}");
    assert_eq!(uploads.kept().len(), 2);
    uploads.settle().await;
    let stack = |folder: &str| format!("E: x\n    at t (https://shop.example{folder}/index.js?v=1:2:5)");
    for (folder, expected) in [
        ("/static/a", "E: x\n    at t (a.ts:3:3)".to_owned()),
        ("/b", "E: x\n    at t (b.ts:3:3)".to_owned()),
        // An ambiguous name matches neither map.
        ("", stack("")),
        ("/c", stack("/c")),
    ] {
        assert_eq!(uploads.resolved(&stack(folder)).await, expected, "{folder}");
    }
    // A second upload replaces only the file with the same path.
    uploads.sent(SOURCE_MAPS, &[], &[("dist/b/index.js.map", &map("new.ts"))]).await;
    uploads.settle().await;
    assert_eq!(uploads.kept().len(), 2);
    assert_eq!(uploads.resolved(&stack("/b")).await, "E: x\n    at t (new.ts:3:3)");
    assert_eq!(uploads.resolved(&stack("/a")).await, "E: x\n    at t (a.ts:3:3)");
}

// WIRE 4.5: debug ids that exporters report take precedence; a map with another id is of another build.
#[tokio::test(flavor = "multi_thread")]
async fn scripts_are_found_by_the_debug_ids_that_are_reported() {
    let uploads = Uploads::start().await;
    let projects = uploads.harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
    let token = text(&projects[0]["token"]);
    let with_id = |source: &str, id: &str| {
        let map = String::from_utf8(map(source)).expect("text");
        map.replacen('{', &format!(r#"{{"debugId":"{id}","#), 1).into_bytes()
    };
    let (one, other) = ("85314830-023f-4cf1-a267-535f4e37bb17", "95314830-023f-4cf1-a267-535f4e37bb18");
    let unknown = "a5314830-023f-4cf1-a267-535f4e37bb19";
    uploads.sent(SOURCE_MAPS, &[], &[("app.js.map", &with_id("one.ts", one))]).await;
    uploads.sent(SOURCE_MAPS, &[], &[("app.js.map", &with_id("other.ts", other))]).await;
    uploads.settle().await;
    let stack = "E: x\n    at t (https://shop.example/app.js:2:5)";
    for (number, id, expected) in
        [(1, one, "E: x\n    at t (one.ts:3:3)"), (2, other, "E: x\n    at t (other.ts:3:3)"), (3, unknown, stack)]
    {
        let mut body = crate::symbol_uploads::failed(number, "webjs", "E", "x", stack);
        let ids = json!({"key": "app.debug.source_map_uuids", "value": {"kvlistValue": {"values": [
            {"key": "https://shop.example/app.js", "value": {"stringValue": id}}]}}});
        let attributes = body.pointer_mut("/resourceSpans/0/scopeSpans/0/spans/0/events/0/attributes").expect("a list");
        attributes.as_array_mut().expect("a list").push(ids);
        uploads.harness.post_json("traces", &token, &body).await.expect(200);
        let path = format!("/api/distributed-traces/{number:032x}?projectId={}", uploads.project);
        let found = uploads.harness.api("POST", &path, &json!({})).await.expect(200).json();
        assert_eq!(found["exceptions"][0]["stackTrace"], json!(expected), "{id}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_file_is_found_under_every_version_it_was_uploaded_for() {
    let uploads = Uploads::start().await;
    for version in ["1.0", "1.1", "1.1"] {
        uploads.sent(SOURCE_MAPS, &[("version", version)], &[("app.js.map", &map("a.ts"))]).await;
    }
    // A debug id identifies the content of several versions.
    let id = r#"{"debugId":"85314830-023f-4cf1-a267-535f4e37bb17","#;
    let with_id = String::from_utf8(map("a.ts")).expect("text").replacen('{', id, 1);
    for version in ["1.0", "1.1"] {
        uploads.sent(SOURCE_MAPS, &[("version", version)], &[("id.js.map", with_id.as_bytes())]).await;
    }
    let mut found: Vec<(String, Value)> = uploads.get("/api/symbols").await["data"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| (text(&file["name"]), file["versions"].clone()))
        .collect();
    found.sort_by_key(|(name, versions)| (name.clone(), versions.to_string()));
    let of = |name: &str, versions: &[&str]| (name.to_owned(), json!(versions));
    let expected = [
        of("app.js.map", &["1.0"]),
        of("app.js.map", &["1.1"]),
        of("id.js.map", &["1.0"]),
        of("id.js.map", &["1.1", "1.0"]),
        of("id.js.map", &["1.1"]),
    ];
    assert_eq!(found, expected);
}

// React Native's RAM bundles: frames name modules, and the map is of the whole bundle.
#[tokio::test(flavor = "multi_thread")]
async fn modules_of_a_ram_bundle_are_found_in_its_map() {
    let uploads = Uploads::start().await;
    let map = br#"{"version":3,"sources":["start.ts","cart.ts"],"names":[],"mappings":"AAAA;;;EAEE;ACGE","x_facebook_offsets":[0,null,3]}"#;
    uploads.sent(SOURCE_MAPS, &[], &[("index.android.bundle.map", map)]).await;
    uploads.settle().await;
    assert_eq!(
        uploads.resolved("E: x\n    at pay (2.js:2:1)\n    at t (1.js:1:1)").await,
        "E: x\n    at pay (cart.ts:6:5)\n    at t (1.js:1:1)"
    );
}

// Every file takes at least a block of the disk and an entry in its folder.
#[tokio::test(flavor = "multi_thread")]
async fn small_files_count_against_the_quota_too() {
    let uploads = Uploads::start_with(|config| config.symbols_project_mb = 1).await;
    let files: Vec<(String, Vec<u8>)> =
        (0..300).map(|number| (format!("{number}.js.map"), map(&format!("{number}.ts")))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, map)| (name.as_str(), &map[..])).collect();
    let answer = uploads.sent(SOURCE_MAPS, &[], &files).await;
    assert_eq!(answer["uploaded"], 256, "4 KB each");
    assert_eq!(answer["rejected"].as_array().map(Vec::len), Some(44));
    let few = Uploads::start_with(|config| config.symbols_project_files = 3).await;
    let answer = few.sent(SOURCE_MAPS, &[], &files[..5]).await;
    assert_eq!(answer["uploaded"], 3);
    assert!(text(&answer["rejected"][0]["error"]).contains("TIDEWATCH_SYMBOLS_PROJECT_FILES"), "{answer}");
    few.send(SOURCE_MAPS, &few.token, &[], &files[4..5]).await.expect(413);
    // The same file again takes no space.
    assert_eq!(few.sent(SOURCE_MAPS, &[], &files[..3]).await, json!({"uploaded": 3}));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_listed_in_pages() {
    let uploads = Uploads::start().await;
    let files: Vec<(String, Vec<u8>)> =
        (0..45).map(|number| (format!("{number:02}.js.map"), map(&"x".repeat(number)))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, map)| (name.as_str(), &map[..])).collect();
    uploads.sent(SOURCE_MAPS, &[("version", "v7x")], &files).await;
    uploads.sent(SYMBOLS, &[], &[("AcmeKit", &fixture("macho/AcmeKit.arm64.dwarf"))]).await;
    let page = async |query: &str| {
        let path = format!("/api/symbols?projectId={}&{query}", uploads.project);
        uploads.harness.api("GET", &path, &Value::Null).await.expect(200).json()
    };
    let names = |answer: &Value| -> Vec<String> {
        answer["data"].as_array().expect("rows").iter().map(|file| text(&file["name"])).collect()
    };
    let first = page("").await;
    assert_eq!(first["data"].as_array().map(Vec::len), Some(20));
    assert_eq!(first["pagination"], json!({"page": 1, "pageSize": 20, "total": 46, "totalPages": 3}));
    assert_eq!(names(&page("page=3&pageSize=20").await).len(), 6);
    let by_name = page("orderBy=name&sortDirection=asc&pageSize=2").await;
    assert_eq!(names(&by_name), ["00.js.map", "01.js.map"]);
    let by_size = page("orderBy=size&pageSize=1&kind=source_map").await;
    assert_eq!(names(&by_size), ["44.js.map"]);
    assert_eq!(names(&page("kind=dsym").await), ["AcmeKit"]);
    assert_eq!(names(&page("search=4C4C44A3-5555-3144").await), ["AcmeKit"], "an id, however it is written");
    assert_eq!(page("search=JS.MAP").await["pagination"]["total"], 45);
    assert_eq!(page("search=V7X").await["pagination"]["total"], 45, "by version");
    for wrong in ["page=0", "pageSize=101", "orderBy=other"] {
        let path = format!("/api/symbols?projectId={}&{wrong}", uploads.project);
        let status = uploads.harness.api("GET", &path, &Value::Null).await.status;
        assert!([400, 422].contains(&status), "{wrong}: {status}");
    }
}
