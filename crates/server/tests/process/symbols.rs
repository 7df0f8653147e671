//! `tidewatch symbols` and the upload scripts of app teams against a running server.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::server::{Account, Server};

/// A file of `fixtures/symbols`, stored as it is or compressed.
fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/symbols").join(name);
    std::fs::read(&path).unwrap_or_else(|_| {
        let compressed = std::fs::read(format!("{}.zst", path.display())).expect("a fixture");
        zstd::decode_all(&compressed[..]).expect("a fixture is valid zstd")
    })
}

/// What a build leaves: a dSYM bundle, a web bundle, and files of no use.
fn build_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let simple = "public/symbolic-sourcemaps/simple";
    for (path, content) in [
        ("ios/AcmeApp.dSYM/Contents/Resources/DWARF/AcmeApp", fixture("macho/AcmeApp.arm64.dwarf")),
        ("ios/AcmeApp.dSYM/Contents/Info.plist", b"<plist/>".to_vec()),
        ("ios/AcmeKit", fixture("macho/AcmeKit.arm64.linked-no-dwarf")),
        ("web/assets/minified.js", fixture(&format!("{simple}/minified.js"))),
        ("web/assets/minified.js.map", fixture(&format!("{simple}/minified.js.map"))),
        ("web/index.html", b"<html>".to_vec()),
    ] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }
    folder
}

/// The command with nothing of the machine's own settings.
fn symbols(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidewatch"));
    command.arg("symbols").args(arguments).stdin(Stdio::null());
    for name in ["TIDEWATCH_URL", "TRACEWAY_URL", "TIDEWATCH_UPLOAD_TOKEN", "TRACEWAY_UPLOAD_TOKEN"] {
        command.env_remove(name);
    }
    command
}

struct Said {
    worked: bool,
    out: String,
    beside: String,
}

fn said(command: &mut Command) -> Said {
    let Output { status, stdout, stderr } = command.output().expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Said { worked: status.success(), out: text(stdout), beside: text(stderr) }
}

fn started() -> (tempfile::TempDir, Server, Account, String) {
    started_with(&[])
}

fn started_with(settings: &[(&'static str, &str)]) -> (tempfile::TempDir, Server, Account, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start(&folder.path().join("data"), settings);
    let account = server.register();
    let (_, projects) = server.call("GET", "/api/projects", Some(&account.jwt), &Value::Null);
    let token = projects[0]["sourceMapToken"].as_str().expect("an upload token").to_owned();
    (folder, server, account, token)
}

/// Keys of what the server keeps, the project's id left out.
fn kept(server: &Server, account: &Account) -> Vec<String> {
    let path = format!("/api/symbols?projectId={}", account.project_id);
    let (_, files) = server.call("GET", &path, Some(&account.jwt), &Value::Null);
    let key = |file: &Value| file["key"].as_str().expect("a key").replace(&format!("{}/", account.project_id), "");
    files["data"].as_array().expect("a list").iter().map(key).collect()
}

#[test]
fn a_build_folder_is_sent_and_resolves_a_trace() {
    let (_data, server, account, token) = started();
    let build = build_folder();
    let folder = build.path().to_str().expect("text");

    let dry = said(&mut symbols(&["upload", folder, "--dry-run"]));
    assert!(dry.worked && dry.out.contains("3 files"), "{}{}", dry.out, dry.beside);
    assert_eq!(kept(&server, &account), Vec::<String>::new());

    // The names of the existing set-ups: the address as SDKs have it.
    let report = format!("{}/api/report", server.base);
    for _ in 0..2 {
        let mut upload = symbols(&["upload", folder, "--version", "1.2"]);
        let sent = said(upload.env("TRACEWAY_URL", &report).env("TRACEWAY_UPLOAD_TOKEN", &token));
        assert!(sent.worked && sent.out.contains("3 of 3 files"), "{}{}", sent.out, sent.beside);
        let keys = kept(&server, &account);
        assert_eq!(keys.len(), 3, "{keys:?}");
        assert!(keys.contains(&"sourcemaps/minified.js.map".to_owned()), "{keys:?}");
    }

    let wrong = said(&mut symbols(&["upload", folder, "--url", &server.base, "--token", "wrong"]));
    assert!(
        !wrong.worked && wrong.beside.contains("error: ") && wrong.beside.contains("upload token"),
        "{}",
        wrong.beside
    );

    // Each refused file gets a sentence; the others are kept.
    std::fs::write(build.path().join("notes.txt"), "hello").expect("a file");
    let notes = build.path().join("notes.txt");
    let arguments = ["upload", folder, notes.to_str().expect("text"), "--url", &server.base, "--token", &token];
    let partly = said(&mut symbols(&arguments));
    assert!(!partly.worked && partly.beside.contains("notes.txt: "), "{}", partly.beside);
    assert!(partly.out.contains("3 of 3 files"), "{}", partly.out);

    // The same trace with the files at hand and by the server, which makes its artifacts after the upload.
    let cases: Value = serde_json::from_slice(&fixture("ios_traces.json")).expect("JSON");
    let trace = build.path().join("trace.txt");
    std::fs::write(&trace, cases["traces"][0]["trace"].as_str().expect("a trace")).expect("a file");
    let trace = trace.to_str().expect("text");
    let local = said(&mut symbols(&["resolve", folder, "--trace", trace]));
    assert!(local.worked && local.out.contains("(/Users/ci/work/"), "{}{}", local.out, local.beside);
    let by_server =
        ["resolve", "--url", &server.base, "--project", &account.project_id, "--token", &account.jwt, "--trace", trace];
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let answer = said(&mut symbols(&by_server));
        if answer.worked {
            assert_eq!(answer.out, local.out);
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{}{}", answer.out, answer.beside);
    }
}

#[test]
fn what_files_are() {
    let build = build_folder();
    let path = |name: &str| build.path().join(name).to_str().expect("text").to_owned();
    let seen = said(&mut symbols(&["inspect", &path("ios/AcmeApp.dSYM"), &path("web/assets"), &path("ios/AcmeKit")]));
    assert!(seen.worked, "{}", seen.beside);
    for expected in [
        "Mach-O arm64: debug id ",
        ", DWARF",
        "no debug information",
        "kept as iossymbols/<project>/",
        "kept as sourcemaps/<project>/minified.js.map",
        " segments",
    ] {
        assert!(seen.out.contains(expected), "{expected}: {}", seen.out);
    }
    let refused = said(&mut symbols(&["inspect", &path("web/index.html")]));
    assert!(!refused.worked && refused.beside.contains("index.html: "), "{}", refused.beside);
}

#[test]
fn a_trace_on_standard_input() {
    let build = build_folder();
    let folder = build.path().to_str().expect("text").to_owned();
    for (trace, worked, expected) in [
        ("Error: e\n    at a (https://shop.example/minified.js:1:2)\n", false, "missing: source map minified.js.map\n"),
        ("Error: e\n    at a (https://shop.example/other.js:1:100)\n", false, "missing: source map other.js.map\n"),
        ("plain text\n", true, "no raw frames"),
    ] {
        let mut child = symbols(&["resolve", &folder])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        child.stdin.take().expect("piped").write_all(trace.as_bytes()).expect("it reads");
        let Output { status, stdout, stderr } = child.wait_with_output().expect("it ends");
        let (out, beside) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        if trace.contains("minified") {
            // Whether the first column is mapped is the map's affair; the file is there.
            assert!(!beside.contains(expected), "{out}{beside}");
            continue;
        }
        assert_eq!((status.success(), out.as_ref()), (worked, trace), "{beside}");
        assert!(beside.contains(expected), "{beside}");
    }
}

/// Answers one request per entry with it; gives the requests' bytes.
fn answering(answers: &'static [&'static str]) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let serve = move || {
        let one = |answer: &&str| {
            let (mut socket, _) = listener.accept().expect("a connection");
            let mut seen = Vec::new();
            let mut buffer = [0; 4096];
            let ends = |seen: &[u8]| seen.ends_with(b"--\r\n");
            socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").expect("it listens");
            while !ends(&seen) {
                let read = socket.read(&mut buffer).expect("it sends");
                assert!(read > 0, "the form ends");
                seen.extend_from_slice(&buffer[..read]);
            }
            socket.write_all(answer.as_bytes()).expect("it listens");
            String::from_utf8_lossy(&seen).into_owned()
        };
        answers.iter().map(one).collect()
    };
    (base, std::thread::spawn(serve))
}

// A busy server says when to come back. SPEC: limits, row "Upload concurrency".
#[test]
fn a_busy_server_is_asked_again() {
    let (base, served) = answering(&[
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 16\r\nConnection: close\r\n\r\n{\"error\":\"busy\"}",
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 14\r\nConnection: close\r\n\r\n{\"uploaded\":1}",
    ]);
    let build = build_folder();
    let map = build.path().join("web/assets/minified.js.map");
    let sent =
        said(&mut symbols(&["upload", map.to_str().expect("text"), "--url", &base, "--token", "t", "--version", "7"]));
    assert!(sent.worked && sent.beside.contains("503: busy; again in 0 s"), "{}{}", sent.out, sent.beside);
    let requests = served.join().expect("three requests");
    for request in requests {
        let head = request.to_ascii_lowercase();
        assert!(head.starts_with("post /api/symbols/upload http/1.1\r\n"), "{head}");
        assert!(
            head.contains("authorization: bearer t\r\n") && head.contains("name=\"version\"\r\n\r\n7\r\n"),
            "{head}"
        );
        assert!(!head.contains("transfer-encoding"), "{head}");
    }
}

/// A shell line of an app's build. The status.
fn curl(arguments: &[String]) -> (String, Value) {
    let output = Command::new("curl").args(["-sS", "-w", "\n%{http_code}"]).args(arguments).output();
    let output = output.expect("curl is installed");
    let text = String::from_utf8(output.stdout).expect("text");
    let (body, status) = text.rsplit_once('\n').expect("a status");
    (status.to_owned(), serde_json::from_str(body).unwrap_or(Value::Null))
}

// WIRE 4.1, 4.2: the iOS script posts each file of a bundle's DWARF folder on its own; the npm tool sends the version
// and relative paths as names.
#[test]
fn the_forms_of_existing_upload_tools() {
    let (_data, server, account, token) = started();
    let build = build_folder();
    let path = |name: &str| -> PathBuf { build.path().join(name) };
    let bearer = format!("Authorization: Bearer {token}");
    let binary = path("ios/AcmeApp.dSYM/Contents/Resources/DWARF/AcmeApp");
    let assets = path("web/assets");
    let file = |name: &str| format!("files=@{};filename=assets/{name}", assets.join(name).display());
    let calls = [
        (vec![format!("files=@{}", binary.display())], "/api/symbols/upload", 1),
        (vec!["version=1.2.3".to_owned(), file("minified.js"), file("minified.js.map")], "/api/sourcemaps/upload", 2),
    ];
    for (form, door, uploaded) in calls {
        let mut arguments = vec!["-X".to_owned(), "POST".to_owned(), "-H".to_owned(), bearer.clone()];
        arguments.extend(form.into_iter().flat_map(|field| ["-F".to_owned(), field]));
        arguments.push(format!("{}{door}", server.base));
        assert_eq!(curl(&arguments), ("200".to_owned(), json!({"uploaded": uploaded})), "{door}");
    }
    assert_eq!(kept(&server, &account).len(), 3);
}

/// The files with this extension in a folder and those below it; none when it is not there.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found
}

// DECISIONS 14: an upload that is acknowledged is applied to what is stored, whenever the server ends.
#[test]
fn a_kill_right_after_an_upload_does_not_lose_what_it_resolves() {
    // In parts: what the journal replays is resolved anew in any case.
    let (folder, mut server, account, token) = started_with(&[("TIDEWATCH_FLUSH_ROWS", "1")]);
    let data = folder.path().join("data");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_nanos();
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let stack = "E: x\n    at t (https://shop.example/app.min.js:2:5)";
    let span = json!({
        "traceId": "01".repeat(16), "spanId": "02".repeat(8), "parentSpanId": "03".repeat(8), "name": "checkout", "kind": 1,
        "startTimeUnixNano": now.to_string(), "endTimeUnixNano": now.to_string(),
        "events": [{"name": "exception", "timeUnixNano": now.to_string(), "attributes": [
            text("exception.type", "E"), text("exception.message", "x"), text("exception.stacktrace", stack)]}],
    });
    let resource = json!({"attributes": [text("telemetry.sdk.language", "webjs")]});
    let body = json!({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]});
    let (status, _) = server.call("POST", "/api/otel/v1/traces", Some(&account.project_token), &body);
    assert_eq!(status, 200);
    let issues =
        |server: &Server| server.ask("/api/exception-stack-traces", json!({}))["data"][0]["stackTrace"].clone();
    assert_eq!(issues(&server), json!(stack));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while files(&data.join("parts/exceptions"), "parquet").is_empty() {
        assert!(std::time::Instant::now() < deadline, "the rows are not flushed");
        std::thread::park_timeout(std::time::Duration::from_millis(20));
    }

    let map = br#"{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA;EAEE"}"#;
    let form = [
        &b"--B\r\nContent-Disposition: form-data; name=\"files\"; filename=\"app.min.js.map\"\r\n\r\n"[..],
        map,
        b"\r\n--B--\r\n",
    ];
    let answer = super::server::agent()
        .post(format!("{}/api/sourcemaps/upload", server.base))
        .header("Authorization", format!("Bearer {token}"))
        .header("Content-Type", "multipart/form-data; boundary=B")
        .send(&form.concat()[..])
        .expect("the server answers");
    assert_eq!(answer.status(), 200);
    server.kill();
    // As if it had ended before it made what it looks up in.
    for artifact in files(&data.join("blobs"), "tw") {
        std::fs::remove_file(artifact).expect("a file of the server");
    }
    server.restart();
    let expected = json!("E: x\n    at t (cart.ts:3:3)");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while issues(&server) != expected {
        assert!(std::time::Instant::now() < deadline, "{}", issues(&server));
        std::thread::park_timeout(std::time::Duration::from_millis(50));
    }
}

/// Every file below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

#[test]
fn check_finds_one_flipped_byte_and_the_same_upload_mends_it() {
    let (data, mut server, account, token) = started();
    let data = data.path().join("data");
    let build = build_folder();
    let upload = |server: &Server| {
        let folder = build.path().to_str().expect("text");
        let sent = said(&mut symbols(&["upload", folder, "--url", &server.base, "--token", &token]));
        assert!(sent.worked && sent.out.contains("3 of 3 files"), "{}{}", sent.out, sent.beside);
    };
    let check = || said(Command::new(env!("CARGO_BIN_EXE_tidewatch")).args(["check", "--data-dir"]).arg(&data));
    let with = |extension: &str| -> Vec<PathBuf> {
        let is_meant = |path: &PathBuf| path.extension().is_some_and(|found| found == extension);
        files_below(&data.join("blobs")).into_iter().filter(is_meant).collect()
    };
    upload(&server);
    // Artifacts are made after the upload is answered. A script has none.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while with("tw").len() < 2 {
        assert!(std::time::Instant::now() < deadline, "{:?}", files_below(&data));
        std::thread::park_timeout(std::time::Duration::from_millis(50));
    }
    server.stop();
    let whole = check();
    assert!(whole.worked && whole.out.contains("3 symbol files: all is well"), "{}{}", whole.out, whole.beside);

    let originals: Vec<PathBuf> = with("info").iter().map(|info| info.with_extension("")).collect();
    assert_eq!(originals.len(), 3, "{originals:?}");
    for path in originals.iter().chain(&with("tw")).chain(&with("info")) {
        let bytes = std::fs::read(path).expect("a file");
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 1;
        if path.extension().is_some_and(|extension| extension == "info") {
            // A field's name, so that the record cannot be read.
            flipped = bytes.clone();
            flipped[0] = b'[';
        }
        std::fs::write(path, flipped).expect("a file");
        let found = check();
        let lines: Vec<&str> = found.out.lines().filter(|line| line.contains("blobs")).collect();
        assert!(!found.worked && lines.len() == 1, "{}: {}{}", path.display(), found.out, found.beside);
        assert!(lines[0].starts_with(&format!("{}: ", path.display())), "{lines:?}");
        std::fs::write(path, bytes).expect("a file");
    }
    std::fs::remove_file(&originals[0]).expect("a file");
    assert!(check().out.contains("is missing; upload it again"), "{}", check().out);

    // The same upload again: what is whole stays, what is not is replaced.
    let damaged = &originals[1];
    let mut bytes = std::fs::read(damaged).expect("a file");
    bytes[0] ^= 1;
    std::fs::remove_file(damaged).expect("a file");
    std::fs::write(damaged, &bytes).expect("a file");
    server.restart();
    upload(&server);
    assert_eq!(kept(&server, &account).len(), 3);
    server.stop();
    let mended = check();
    assert!(mended.worked, "{}{}", mended.out, mended.beside);
}

#[test]
fn what_goes_wrong_is_said_in_words() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("a file");
        path.to_str().expect("text").to_owned()
    };
    let map = write("app.js.map", br#"{"version":3,"sources":[],"names":[],"mappings":""}"#);
    let package = write("package.json", br#"{"name":"shop","version":"1.0.0"}"#);
    let mapping = write("mapping.txt", b"# compiler: R8\n# pg_map_id: 0123abc\na.B -> c:\n");
    let trace = write("trace.txt", b"E: x\n    at t (app.js:1:1)");
    write("index.html", b"<html>");
    let all = folder.path().to_str().expect("text").to_owned();

    let refused = said(&mut symbols(&["inspect", &package]));
    assert!(!refused.worked && refused.beside.contains("not a source map"), "{}", refused.beside);
    let last = refused.beside.lines().last().expect("an error");
    assert!(last.starts_with("error: "), "no log line: {last}");

    // Nobody listens there: the port was given back.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port");
    let dead = format!("http://{free}");
    let sent = said(&mut symbols(&["upload", &map, "--url", &dead, "--token", "t"]));
    assert!(!sent.worked && sent.beside.contains("error: 1 file cannot be sent, tried 3 times"), "{}", sent.beside);
    assert!(sent.beside.contains(&dead), "{}", sent.beside);

    let dry = said(&mut symbols(&["upload", &all, "--dry-run"]));
    assert!(dry.worked && dry.beside.contains("passed over: index.html: "), "{}", dry.beside);
    assert!(dry.beside.contains("mapping.txt: kept under its own pg_map_id 0123abc"), "{}", dry.beside);
    let told = said(&mut symbols(&["upload", &mapping, "--dry-run", "--proguard-uuid", "6c2f7a3e93a14c60"]));
    assert!(told.worked && !told.beside.contains("pg_map_id"), "{}", told.beside);

    let upload_token = "0123456789abcdef0123456789abcdef";
    let project = "6c2f7a3e-93a1-4c60-b6a7-0d6f5a3d1c11";
    let asked = said(&mut symbols(&[
        "resolve",
        "--url",
        &dead,
        "--project",
        project,
        "--token",
        upload_token,
        "--trace",
        &trace,
    ]));
    assert!(!asked.worked && asked.beside.contains("access token"), "{}", asked.beside);
}

// A server that is only starting is worth waiting for, where somebody says so.
#[test]
fn a_server_is_waited_for_when_asked() {
    let build = build_folder();
    let map = build.path().join("web/assets/minified.js.map");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    // Each connection is closed without an answer, more often than a server is tried without the flag.
    let closing = std::thread::spawn(move || {
        for _ in 0..3 {
            drop(listener.accept().expect("a connection"));
        }
        let (mut socket, _) = listener.accept().expect("a connection");
        let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
        socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").expect("it listens");
        while !seen.ends_with(b"--\r\n") {
            let read = socket.read(&mut buffer).expect("it sends");
            assert!(read > 0, "the form ends");
            seen.extend_from_slice(&buffer[..read]);
        }
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\nConnection: close\r\n\r\n{\"uploaded\":1}";
        socket.write_all(answer).expect("it listens");
    });
    let sent = said(&mut symbols(&["upload", map.to_str().expect("text"), "--url", &base, "--token", "t", "--wait"]));
    assert!(sent.worked, "{}{}", sent.out, sent.beside);
    closing.join().expect("four connections");
}
