//! `tidewatch symbols` and upload scripts of app teams with a running server.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::ports::free_address;
use super::server::{Account, Server};

/// A file of `fixtures/symbols`, stored plain or compressed.
fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/symbols").join(name);
    std::fs::read(&path).unwrap_or_else(|_| {
        let compressed = std::fs::read(format!("{}.zst", path.display())).expect("a fixture");
        zstd::decode_all(&compressed[..]).expect("a fixture is valid zstd")
    })
}

/// The output of a build: a dSYM bundle, a web bundle, and irrelevant files.
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

/// The command without the machine's own settings.
fn symbols(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidewatch"));
    command.arg("symbols").args(arguments).stdin(Stdio::null());
    for name in ["TIDEWATCH_URL", "TRACEWAY_URL", "TIDEWATCH_UPLOAD_TOKEN", "TRACEWAY_UPLOAD_TOKEN"] {
        command.env_remove(name);
    }
    command
}

struct Outcome {
    succeeded: bool,
    stdout: String,
    stderr: String,
}

fn run(command: &mut Command) -> Outcome {
    let Output { status, stdout, stderr } = command.output().expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Outcome { succeeded: status.success(), stdout: text(stdout), stderr: text(stderr) }
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

/// Keys of the files that the server stores, without the project's id.
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

    let dry = run(&mut symbols(&["upload", folder, "--dry-run"]));
    assert!(dry.succeeded && dry.stdout.contains("3 files"), "{}{}", dry.stdout, dry.stderr);
    assert_eq!(kept(&server, &account), Vec::<String>::new());

    // The environment variables of existing setups: the URL as in SDKs.
    let report = format!("{}/api/report", server.base);
    for _ in 0..2 {
        let mut upload = symbols(&["upload", folder, "--version", "1.2"]);
        let sent = run(upload.env("TRACEWAY_URL", &report).env("TRACEWAY_UPLOAD_TOKEN", &token));
        assert!(sent.succeeded && sent.stdout.contains("3 of 3 files"), "{}{}", sent.stdout, sent.stderr);
        let keys = kept(&server, &account);
        assert_eq!(keys.len(), 3, "{keys:?}");
        let is_map = |key: &&String| key.starts_with("sourcemaps/by-release/") && key.ends_with("minified.js.map");
        assert_eq!(keys.iter().filter(is_map).count(), 1, "the key has the release: {keys:?}");
    }

    let wrong = run(&mut symbols(&["upload", folder, "--url", &server.base, "--token", "wrong"]));
    assert!(
        !wrong.succeeded && wrong.stderr.contains("error: ") && wrong.stderr.contains("upload token"),
        "{}",
        wrong.stderr
    );

    // Each refused file gets a message; the others are stored.
    std::fs::write(build.path().join("notes.txt"), "hello").expect("a file");
    let notes = build.path().join("notes.txt");
    let arguments = ["upload", folder, notes.to_str().expect("text"), "--url", &server.base, "--token", &token];
    let partly = run(&mut symbols(&arguments));
    assert!(!partly.succeeded && partly.stderr.contains("notes.txt: "), "{}", partly.stderr);
    assert!(partly.stdout.contains("3 of 3 files"), "{}", partly.stdout);

    // The same trace resolved with local files and by the server, which builds its artifacts after the upload.
    let cases: Value = serde_json::from_slice(&fixture("ios_traces.json")).expect("JSON");
    let trace = build.path().join("trace.txt");
    std::fs::write(&trace, cases["traces"][0]["trace"].as_str().expect("a trace")).expect("a file");
    let trace = trace.to_str().expect("text");
    let local = run(&mut symbols(&["resolve", folder, "--trace", trace]));
    assert!(local.succeeded && local.stdout.contains("(/Users/ci/work/"), "{}{}", local.stdout, local.stderr);
    let by_server =
        ["resolve", "--url", &server.base, "--project", &account.project_id, "--token", &account.jwt, "--trace", trace];
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let answer = run(&mut symbols(&by_server));
        if answer.succeeded {
            assert_eq!(answer.stdout, local.stdout);
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{}{}", answer.stdout, answer.stderr);
    }
}

#[test]
fn files_are_described() {
    let build = build_folder();
    let path = |name: &str| build.path().join(name).to_str().expect("text").to_owned();
    let seen = run(&mut symbols(&["inspect", &path("ios/AcmeApp.dSYM"), &path("web/assets"), &path("ios/AcmeKit")]));
    assert!(seen.succeeded, "{}", seen.stderr);
    for expected in [
        "Mach-O arm64: debug id ",
        ", DWARF",
        "no debug information",
        "kept as iossymbols/<project>/",
        "kept as sourcemaps/<project>/minified.js.map",
        " segments",
    ] {
        assert!(seen.stdout.contains(expected), "{expected}: {}", seen.stdout);
    }
    let refused = run(&mut symbols(&["inspect", &path("web/index.html")]));
    assert!(!refused.succeeded && refused.stderr.contains("index.html: "), "{}", refused.stderr);
}

#[test]
fn a_trace_on_standard_input() {
    let build = build_folder();
    let folder = build.path().to_str().expect("text").to_owned();
    for (trace, succeeded, expected) in [
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
        let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        if trace.contains("minified") {
            // The map decides whether the first column is mapped; the file exists.
            assert!(!stderr.contains(expected), "{stdout}{stderr}");
            continue;
        }
        assert_eq!((status.success(), stdout.as_ref()), (succeeded, trace), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}

/// Answers one request with each entry; returns the requests.
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

// A busy server responds with `Retry-After`. SPEC: limits, row "Upload concurrency".
#[test]
fn uploads_to_a_busy_server_are_retried() {
    let (base, served) = answering(&[
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 16\r\nConnection: close\r\n\r\n{\"error\":\"busy\"}",
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 14\r\nConnection: close\r\n\r\n{\"uploaded\":1}",
    ]);
    let build = build_folder();
    let map = build.path().join("web/assets/minified.js.map");
    let sent =
        run(&mut symbols(&["upload", map.to_str().expect("text"), "--url", &base, "--token", "t", "--version", "7"]));
    assert!(sent.succeeded && sent.stderr.contains("503: busy; again in 0 s"), "{}{}", sent.stdout, sent.stderr);
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

/// Runs a `curl` command of an app's build. Returns the status and the body.
fn curl(arguments: &[String]) -> (String, Value) {
    let output = Command::new("curl").args(["-sS", "-w", "\n%{http_code}"]).args(arguments).output();
    let output = output.expect("curl is installed");
    let text = String::from_utf8(output.stdout).expect("text");
    let (body, status) = text.rsplit_once('\n').expect("a status");
    (status.to_owned(), serde_json::from_str(body).unwrap_or(Value::Null))
}

// WIRE 4.1, 4.2: the iOS script posts each file of a bundle's DWARF folder separately; the npm tool sends the version
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
    for (form, path, uploaded) in calls {
        let mut arguments = vec!["-X".to_owned(), "POST".to_owned(), "-H".to_owned(), bearer.clone()];
        arguments.extend(form.into_iter().flat_map(|field| ["-F".to_owned(), field]));
        arguments.push(format!("{}{path}", server.base));
        assert_eq!(curl(&arguments), ("200".to_owned(), json!({"uploaded": uploaded})), "{path}");
    }
    assert_eq!(kept(&server, &account).len(), 3);
}

/// The files with this extension below a folder; none if it does not exist.
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

// DECISIONS 14: an acknowledged upload is applied to stored traces, even if the server is killed.
#[test]
fn stored_traces_are_resolved_after_a_kill_right_after_an_upload() {
    // Rows in parts: a replay of the journal would resolve its rows in any case.
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
        |server: &Server| server.query("/api/exception-stack-traces", json!({}))["data"][0]["stackTrace"].clone();
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
    // As if the server had been killed before it built the artifacts.
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
fn check_finds_one_flipped_byte_and_the_same_upload_repairs_it() {
    let (data, mut server, account, token) = started();
    let data = data.path().join("data");
    let build = build_folder();
    let upload = |server: &Server| {
        let folder = build.path().to_str().expect("text");
        let sent = run(&mut symbols(&["upload", folder, "--url", &server.base, "--token", &token]));
        assert!(sent.succeeded && sent.stdout.contains("3 of 3 files"), "{}{}", sent.stdout, sent.stderr);
    };
    let check = || run(Command::new(env!("CARGO_BIN_EXE_tidewatch")).args(["check", "--data-dir"]).arg(&data));
    let with = |extension: &str| -> Vec<PathBuf> {
        let is_meant = |path: &PathBuf| path.extension().is_some_and(|found| found == extension);
        files_below(&data.join("blobs")).into_iter().filter(is_meant).collect()
    };
    upload(&server);
    // Artifacts are built after the response to the upload. A script has none.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while with("tw").len() < 2 {
        assert!(std::time::Instant::now() < deadline, "{:?}", files_below(&data));
        std::thread::park_timeout(std::time::Duration::from_millis(50));
    }
    server.stop();
    let whole = check();
    assert!(
        whole.succeeded && whole.stdout.contains("3 symbol files: all is well"),
        "{}{}",
        whole.stdout,
        whole.stderr
    );

    let originals: Vec<PathBuf> = with("info").iter().map(|info| info.with_extension("")).collect();
    assert_eq!(originals.len(), 3, "{originals:?}");
    for path in originals.iter().chain(&with("tw")).chain(&with("info")) {
        let bytes = std::fs::read(path).expect("a file");
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 1;
        if path.extension().is_some_and(|extension| extension == "info") {
            // Damages the syntax, so that the record cannot be read.
            flipped = bytes.clone();
            flipped[0] = b'[';
        }
        std::fs::write(path, flipped).expect("a file");
        let found = check();
        let lines: Vec<&str> = found.stdout.lines().filter(|line| line.contains("blobs")).collect();
        assert!(!found.succeeded && lines.len() == 1, "{}: {}{}", path.display(), found.stdout, found.stderr);
        assert!(lines[0].starts_with(&format!("{}: ", path.display())), "{lines:?}");
        std::fs::write(path, bytes).expect("a file");
    }
    std::fs::remove_file(&originals[0]).expect("a file");
    assert!(check().stdout.contains("is missing; upload it again"), "{}", check().stdout);

    // The same upload again: intact files stay, damaged and missing ones are replaced.
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
    assert!(mended.succeeded, "{}{}", mended.stdout, mended.stderr);
}

#[test]
fn failures_are_reported() {
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

    let refused = run(&mut symbols(&["inspect", &package]));
    assert!(!refused.succeeded && refused.stderr.contains("not a source map"), "{}", refused.stderr);
    let last = refused.stderr.lines().last().expect("an error");
    assert!(last.starts_with("error: "), "no log line: {last}");

    // No server listens there.
    let dead = format!("http://{}", free_address());
    let sent = run(&mut symbols(&["upload", &map, "--url", &dead, "--token", "t"]));
    assert!(!sent.succeeded && sent.stderr.contains("error: 1 file cannot be sent, tried 3 times"), "{}", sent.stderr);
    assert!(sent.stderr.contains(&dead), "{}", sent.stderr);

    let dry = run(&mut symbols(&["upload", &all, "--dry-run"]));
    assert!(dry.succeeded && dry.stderr.contains("passed over: index.html: "), "{}", dry.stderr);
    assert!(dry.stderr.contains("mapping.txt: kept under its own pg_map_id 0123abc"), "{}", dry.stderr);
    let rejected = run(&mut symbols(&["upload", &mapping, "--dry-run", "--proguard-uuid", "6c2f7a3e93a14c60"]));
    assert!(rejected.succeeded && !rejected.stderr.contains("pg_map_id"), "{}", rejected.stderr);

    let upload_token = "0123456789abcdef0123456789abcdef";
    let project = "6c2f7a3e-93a1-4c60-b6a7-0d6f5a3d1c11";
    let resolved = run(&mut symbols(&[
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
    assert!(!resolved.succeeded && resolved.stderr.contains("access token"), "{}", resolved.stderr);
}

// `--wait` waits for a server that is still starting.
#[test]
fn the_wait_flag_retries_until_the_server_answers() {
    let build = build_folder();
    let map = build.path().join("web/assets/minified.js.map");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    // Connections are closed without an answer, more often than the command retries without the flag.
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
    let sent = run(&mut symbols(&["upload", map.to_str().expect("text"), "--url", &base, "--token", "t", "--wait"]));
    assert!(sent.succeeded, "{}{}", sent.stdout, sent.stderr);
    closing.join().expect("four connections");
}
