//! Real SDKs, installed from their registries into this test's folder, export to a running server.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::ports::free_address;
use super::server::Server;

/// Protocol between exporters and the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Http,
    /// In the clear (h2c).
    Grpc,
    GrpcTls,
}

/// The OpenTelemetry Node SDK with auto-instrumentation around a plain HTTP server.
#[test]
fn node_sdk_with_auto_instrumentation() {
    node_sdk(Protocol::Http);
}

/// The same SDK with the exporters of grpc-js.
#[test]
fn node_sdk_over_grpc() {
    node_sdk(Protocol::Grpc);
}

#[test]
fn node_sdk_over_grpc_and_tls() {
    node_sdk(Protocol::GrpcTls);
}

/// Where the packages of `sdk-node` are installed beside its programs.
fn node_app() -> std::path::PathBuf {
    static INSTALLED: std::sync::OnceLock<std::path::PathBuf> = std::sync::OnceLock::new();
    let install = || {
        let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/process/sdk-node");
        installed("sdk-node", &app, |target| {
            run(Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(target));
        })
    };
    INSTALLED.get_or_init(install).clone()
}

fn node_sdk(protocol: Protocol) {
    let (_folder, mut server, endpoint) = fresh_server(protocol);
    let account = server.register();
    run(Command::new("node")
        .args(["--require", "@opentelemetry/auto-instrumentations-node/register", "app.cjs"])
        .current_dir(node_app())
        .envs(otel_environment(endpoint, &account.project_token, "node-shop", protocol)));
    survive_a_kill(&mut server);

    let endpoints = server.query("/api/endpoints", json!({}));
    let mut rows: Vec<(String, i64)> = endpoints["data"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| (row["endpoint"].as_str().unwrap_or_default().to_owned(), row["statusCode"].as_i64().unwrap_or(-1)))
        .collect();
    rows.sort();
    assert_eq!(rows, [("GET /books".to_owned(), 200), ("GET /boom".to_owned(), 500), ("UNMATCHED".to_owned(), 404)]);
    assert!(endpoints["data"].as_array().is_some_and(|rows| rows.iter().all(|row| row["serverName"] == "node-shop")));
    let issues = server.query("/api/exception-stack-traces", json!({}));
    assert_eq!(issues["data"].as_array().map(Vec::len), Some(1), "{issues}");
    assert_eq!(issues["data"][0]["message"], "shelf is empty");
    assert!(server.total("/api/logs", json!({"linkedOnly": false})) >= 1, "the SDK's log record arrived");
}

/// The native SDK for Node, unmodified, beside the OpenTelemetry SDK: both see one trace. WIRE 1, 12.
#[test]
fn native_node_sdk_shares_a_trace_with_opentelemetry() {
    let (_folder, mut server, endpoint) = fresh_server(Protocol::Http);
    let account = server.register();
    run(Command::new("node")
        .args(["--require", "@opentelemetry/auto-instrumentations-node/register", "native.cjs"])
        .current_dir(node_app())
        .env("TRACEWAY_CONNECTION", format!("{}@{}/api/report", account.project_token, server.base))
        .envs(otel_environment(endpoint, &account.project_token, "api-1", Protocol::Http)));

    let endpoints = server.query("/api/endpoints", json!({}));
    let rows = endpoints["data"].as_array().expect("rows");
    let native = rows.iter().find(|row| row["endpoint"] == "GET /books/:id").expect("the request of the native SDK");
    assert_eq!((&native["statusCode"], &native["clientIP"]), (&json!(500), &json!("203.0.113.9")));
    assert_eq!((&native["serverName"], &native["appVersion"]), (&json!("api-1"), &json!("1.4.0")));
    assert_eq!(native["attributes"]["tenant"], "t1");
    let trace_id = native["traceId"].as_str().expect("a trace id");
    let trace = server.query(&format!("/api/distributed-traces/{trace_id}"), json!({}));
    let names: Vec<&str> =
        trace["spans"].as_array().expect("spans").iter().filter_map(|span| span["name"].as_str()).collect();
    assert!(names.contains(&"load books"), "the native SDK's span: {names:?}");
    assert!(trace["nodes"].as_array().is_some_and(|nodes| nodes.len() == 2), "one request, seen by both: {trace}");
    assert_eq!(trace["exceptions"][0]["ownerId"], native["id"]);

    let tasks = server.query("/api/tasks", json!({}));
    assert_eq!(tasks["data"][0]["taskName"], "nightly.report", "{tasks}");
    for (search_type, title) in [("issues", "TypeError: shelf is empty"), ("messages", "books listed")] {
        let issues = server.query("/api/exception-stack-traces", json!({ "searchType": search_type }));
        assert_eq!(issues["data"].as_array().map(Vec::len), Some(1), "{issues}");
        assert_eq!(issues["data"][0]["title"], title);
    }
    let drops = server.query("/api/drops", json!({}));
    let native = drops["data"].as_array().expect("rows").iter().filter(|row| row["signal"] == "reports");
    assert_eq!(native.count(), 0, "{drops}");
}

/// Where the Python SDK is installed beside its programs.
pub fn python_app() -> std::path::PathBuf {
    // Several tests use the packages; one installs them.
    static INSTALLED: std::sync::OnceLock<std::path::PathBuf> = std::sync::OnceLock::new();
    let install = || {
        let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/process/sdk-python");
        installed("sdk-python", &app, |target| {
            run(Command::new("python3").args(["-m", "venv", "venv"]).current_dir(target));
            run(Command::new("venv/bin/pip")
                .args(["install", "--quiet", "-r", "requirements.txt"])
                .current_dir(target));
        })
    };
    INSTALLED.get_or_init(install).clone()
}

/// The OpenTelemetry Python SDK with protobuf and gzip.
#[test]
fn python_sdk_over_gzip_protobuf() {
    python_sdk(Protocol::Http);
}

/// The same SDK with the exporters of grpcio.
#[test]
fn python_sdk_over_gzip_grpc() {
    python_sdk(Protocol::Grpc);
}

#[test]
fn python_sdk_over_gzip_grpc_and_tls() {
    python_sdk(Protocol::GrpcTls);
}

fn python_sdk(protocol: Protocol) {
    let (_folder, mut server, endpoint) = fresh_server(protocol);
    let account = server.register();
    run(Command::new("venv/bin/python")
        .arg("app.py")
        .current_dir(python_app())
        .env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
        .envs(otel_environment(endpoint, &account.project_token, "python-shop", protocol)));
    survive_a_kill(&mut server);

    let tasks = server.query("/api/tasks", json!({}));
    assert_eq!(tasks["data"][0]["taskName"], "orders process", "{tasks}");
    let endpoints = server.query("/api/endpoints", json!({}));
    assert_eq!(endpoints["data"][0]["endpoint"], "POST /orders/{id}", "{endpoints}");
    let drops = server.query("/api/drops", json!({}));
    let unmatched = json!({"signal": "traces", "reason": "unmatched_root", "count": 1});
    assert!(drops["data"].as_array().is_some_and(|rows| rows.contains(&unmatched)), "{drops}");
}

/// A new server, and its endpoint for exporters.
fn fresh_server(protocol: Protocol) -> (tempfile::TempDir, Server, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    if protocol == Protocol::GrpcTls {
        let (plain, tls) = (free_address(), free_address());
        let [certificate, key] = [tls_fixture("issued.crt"), tls_fixture("issued.key")];
        let settings = [("TIDEWATCH_TLS_CERTIFICATE", certificate.as_str()), ("TIDEWATCH_TLS_KEY", &key)];
        let server = Server::start_at(&format!("{plain},tls:{tls}"), &data, &settings);
        return (folder, server, format!("https://{}", tls.replace("127.0.0.1", "localhost")));
    }
    let server = Server::start(&data, &[]);
    let endpoint = match protocol {
        Protocol::Http => format!("{}/api/otel", server.base),
        // A gRPC endpoint has no path.
        Protocol::Grpc | Protocol::GrpcTls => server.base.clone(),
    };
    (folder, server, endpoint)
}

fn tls_fixture(name: &str) -> String {
    format!("{}/../../fixtures/tls/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// SIGKILL right after the last acknowledgement, which is a promise over both protocols. Mission 1.
fn survive_a_kill(server: &mut Server) {
    server.kill();
    server.restart();
}

fn otel_environment(endpoint: String, token: &str, service: &str, protocol: Protocol) -> [(&'static str, String); 9] {
    let name = if protocol == Protocol::Http { "http/protobuf" } else { "grpc" };
    [
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", tls_fixture("ca.crt")),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", format!("Authorization=Bearer%20{token}")),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", name.into()),
        ("OTEL_SERVICE_NAME", service.into()),
        ("OTEL_TRACES_EXPORTER", "otlp".into()),
        ("OTEL_METRICS_EXPORTER", "otlp".into()),
        ("OTEL_LOGS_EXPORTER", "otlp".into()),
        // The cloud detectors would search for metadata servers in the network.
        ("OTEL_NODE_RESOURCE_DETECTORS", "env,process".into()),
    ]
}

/// Copies the app to the cache folder and installs its packages there once per lock file.
pub fn installed(name: &str, app: &Path, install: impl Fn(&Path)) -> std::path::PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(std::path::PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
        .expect("HOME is set");
    let target = base.join("tidewatch").join(name);
    std::fs::create_dir_all(&target).expect("a cache folder");
    let mut lock = String::new();
    for entry in std::fs::read_dir(app).expect("the app's folder").flatten() {
        std::fs::copy(entry.path(), target.join(entry.file_name())).expect("a copy of the app");
        if matches!(entry.file_name().to_str(), Some("package-lock.json" | "requirements.txt")) {
            lock = std::fs::read_to_string(entry.path()).expect("the lock file");
        }
    }
    let marker = target.join(".installed");
    if std::fs::read_to_string(&marker).ok().as_deref() != Some(lock.as_str()) {
        install(&target);
        std::fs::write(&marker, lock).expect("a marker");
    }
    target
}

pub fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {text}\n{}", String::from_utf8_lossy(&output.stdout));
}
