//! Checks by a browser with `SYNTHETICS_BROWSER_MODE=remote`: server and runner are two processes of the real binary.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::browser_checks::{Site, assert_down, assert_printed, call, create, descendants, run, runs};
use super::ports::free_address;
use super::server::{Server, agent};

const TOKEN: &str = "the-token-of-runner-and-server-00";
const ENDLESS: &str = "await page.setContent('<h1>Hello</h1>'); for (;;) {}";

/// A running `tidewatch browser-runner`.
struct Runner {
    process: Child,
    address: String,
    folder: PathBuf,
    allows_private: &'static str,
}

impl Runner {
    fn start(address: &str, folder: &Path, allows_private: &'static str) -> Runner {
        std::fs::create_dir_all(folder).expect("a folder");
        let mut runner = Runner {
            process: spawn(address, folder, allows_private),
            address: address.to_owned(),
            folder: folder.to_owned(),
            allows_private,
        };
        runner.wait_ready();
        runner
    }

    fn wait_ready(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !agent().get(format!("{}/health", self.url())).call().is_ok_and(|answer| answer.status() == 200) {
            assert_eq!(self.process.try_wait().expect("a child of this test"), None, "the runner ended");
            assert!(Instant::now() < deadline, "the runner is not ready");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn kill(&mut self) {
        self.process.kill().expect("a child of this test");
        self.process.wait().expect("a killed child can be waited for");
    }

    fn restart(&mut self) {
        self.process = spawn(&self.address, &self.folder, self.allows_private);
        self.wait_ready();
    }

    /// The processes of a check, once it runs.
    fn wait_for_check(&self) -> Vec<u32> {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let found = descendants(self.process.id());
            // The worker, Node, and Chromium with its own.
            if found.len() >= 6 {
                return found;
            }
            assert!(Instant::now() < deadline, "the check does not begin: {found:?}");
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// Posts a body with this token.
    fn post(&self, token: Option<&str>, body: &str) -> (u16, Value) {
        let mut request = ureq::http::Request::post(format!("{}/checks", self.url()));
        if let Some(token) = token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let request = request.body(body.to_owned()).expect("a valid request");
        let mut response = agent().run(request).expect("the runner answers");
        (response.status().as_u16(), response.body_mut().read_json().unwrap_or(Value::Null))
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn command(address: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidewatch"));
    command.args(["browser-runner", "--listen", address]).stdout(Stdio::null());
    command
}

fn spawn(address: &str, folder: &Path, allows_private: &str) -> Child {
    runner(address, folder, allows_private).spawn().expect("the binary runs")
}

fn runner(address: &str, folder: &Path, allows_private: &str) -> Command {
    let playwright = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let settings = [
        ("SYNTHETICS_BROWSER_TOKEN", TOKEN),
        ("SYNTHETICS_BROWSER_PLAYWRIGHT", playwright.to_str().expect("a path")),
        ("SYNTHETICS_BROWSER_CHROMIUM", "/usr/bin/chromium"),
        ("ALLOW_PRIVATE_MONITOR_TARGETS", allows_private),
        ("TMPDIR", folder.to_str().expect("a path")),
    ];
    let mut command = command(address);
    command.envs(settings);
    command
}

/// A server whose checks a runner at `url` makes; it has neither Node nor Chromium.
fn start(data: &Path, url: &str, token: &str) -> Server {
    let settings = [
        ("SYNTHETICS_BROWSER_MODE", "remote"),
        ("SYNTHETICS_BROWSER_URL", url),
        ("SYNTHETICS_BROWSER_TOKEN", token),
        ("ALLOW_PRIVATE_MONITOR_TARGETS", "true"),
        ("PATH", "/nowhere"),
    ];
    let mut server = Server::start(data, &settings);
    server.register();
    server
}

fn assert_missed(result: &Value, reason: &str) {
    assert_eq!((&result["outcome"], &result["traceId"]), (&json!("missed"), &json!("")), "{result}");
    assert!(result["reason"].as_str().is_some_and(|found| found.contains(reason)), "{reason} is not in {result}");
}

fn wait_until_ended(processes: &[u32]) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while processes.iter().any(|pid| runs(*pid)) {
        assert!(Instant::now() < deadline, "some of {processes:?} still run");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

fn problem(server: &Server) -> Value {
    call(server, "GET", "", &Value::Null).1["checks"][0]["problem"].clone()
}

/// Item "browser": in a separate worker process, off by default (`SYNTHETICS_BROWSER_MODE`).
#[test]
fn a_runner_elsewhere_makes_the_checks() {
    let (data, site) = (TempDir::new().expect("a temporary directory"), Site::open());
    let mut runner = Runner::start(&free_address(), &data.path().join("browsers"), "true");
    let server = start(&data.path().join("data"), &runner.url(), TOKEN);
    let script = "await page.goto(env.URL);\nconsole.log(await page.title(), env.SECRET);\n\
        await expect(page.getByRole('heading')).toHaveText(env.HEADING, { timeout: 100 });";
    let config = |heading: &str| json!({ "script": script, "env": { "URL": site.url, "SECRET": "s3cret-token", "HEADING": heading } });
    let up = run(&server, 60, &config("Hello"));
    assert_eq!((&up["outcome"], &up["reason"]), (&json!("up"), &json!("")), "{up}");
    assert!(up["totalMs"].as_f64().is_some_and(|total| total > 0.0), "{up}");
    assert_printed(&up, &["Shop ********"]);
    let trace = format!("traceparent: 00-{}-", up["traceId"].as_str().expect("a trace"));
    assert!(site.requests().iter().all(|head| head.contains(&trace)), "{:?}", site.requests());
    assert_down(&run(&server, 60, &config("Bye")), "line 3: expect(locator).toHaveText(expected) failed");
    assert_down(&run(&server, 12, &json!({ "script": ENDLESS })), "no result within 12 s");
    assert_eq!(descendants(server.pid()), Vec::<u32>::new());
    assert_eq!(problem(&server), Value::Null);

    // Without the runner nothing is known of the target: the check is missed, and no monitor goes down.
    runner.kill();
    assert_missed(&run(&server, 60, &config("Hello")), "the browser runner cannot be reached: cannot connect to");
    assert!(problem(&server).as_str().is_some_and(|problem| problem.contains("cannot be reached")));
    runner.restart();
    assert_eq!(run(&server, 60, &config("Hello"))["outcome"], "up");
    assert_eq!(problem(&server), Value::Null);

    // A runner of another owner.
    let stranger = start(&data.path().join("other"), &runner.url(), "another-token-which-is-long-enough");
    assert_missed(&run(&stranger, 60, &config("Hello")), "the browser runner has another token");
}

/// A check ends with its server and with its runner, also after `kill -9`.
#[test]
fn nothing_survives_either_end() {
    let data = TempDir::new().expect("a temporary directory");
    let mut runner = Runner::start(&free_address(), &data.path().join("browsers"), "true");
    let mut server = start(&data.path().join("data"), &runner.url(), TOKEN);
    let id = create(&server, true, 100, &json!({ "script": ENDLESS }));
    let processes = runner.wait_for_check();
    server.kill();
    wait_until_ended(&processes);

    server.restart();
    // Due as after an interval.
    assert_eq!(call(&server, "PUT", &format!("/{id}"), &json!({ "name": "again" })).0, 200);
    let processes = runner.wait_for_check();
    runner.kill();
    wait_until_ended(&processes);
    let deadline = Instant::now() + Duration::from_secs(60);
    let stored = loop {
        let (_, page) = call(&server, "POST", &format!("/{id}/results"), &json!({}));
        let lost = |result: &&Value| result["reason"].as_str().is_some_and(|reason| reason.contains("browser runner"));
        if let Some(result) = page["data"].as_array().and_then(|results| results.iter().find(lost)) {
            break result.clone();
        }
        assert!(Instant::now() < deadline, "there is no result: {page}");
        std::thread::park_timeout(Duration::from_millis(50));
    };
    assert_missed(&stored, "the browser runner cannot be reached: no HTTP response");
    assert_eq!(call(&server, "GET", &format!("/{id}"), &Value::Null).1["state"], "unknown");
}

/// A runner refuses callers without its token, bodies that are no check, more than its share, and private networks.
#[test]
fn a_runner_is_bounded() {
    let data = TempDir::new().expect("a temporary directory");
    let runner = Runner::start(&free_address(), &data.path().join("browsers"), "false");
    let job = |timeout_seconds: u64, script: &str| {
        json!({
            "script": script, "env": {}, "timeout_seconds": timeout_seconds, "allows_private": true,
            "trace_id": "0af7651916cd43dd8448eb211c80319c",
        })
        .to_string()
    };
    let wrong = format!("{TOKEN}0");
    for (token, body, expected) in [
        (None, job(60, ""), (401, "the token of this browser runner is missing or wrong")),
        (Some(wrong.as_str()), job(60, ""), (401, "the token of this browser runner is missing or wrong")),
        (Some(TOKEN), "{".to_owned(), (400, "no check: ")),
        (Some(TOKEN), "{}".to_owned(), (400, "no check: missing field")),
        (Some(TOKEN), job(0, ""), (422, "a check takes 1 to 120 s")),
        (Some(TOKEN), job(121, ""), (422, "a check takes 1 to 120 s")),
        (Some(TOKEN), "x".repeat(600_000), (413, "the request body is larger than ")),
    ] {
        let (status, answer) = runner.post(token, &body);
        assert_eq!(status, expected.0, "{answer}");
        assert!(answer["error"].as_str().is_some_and(|error| error.starts_with(expected.1)), "{answer}");
    }

    // Both must allow private networks; the server says that it does.
    let site = Site::open();
    let (status, report) = runner.post(Some(TOKEN), &job(60, &format!("await page.goto('{}')", site.url)));
    assert_eq!((status, site.requests().len()), (200, 0), "{report}");
    assert!(report["error"].as_str().is_some_and(|error| error.contains("address of a private network")), "{report}");

    let endless = job(20, ENDLESS);
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..2).map(|_| scope.spawn(|| runner.post(Some(TOKEN), &endless))).collect();
        // Two workers, with two browsers.
        let deadline = Instant::now() + Duration::from_secs(60);
        while descendants(runner.process.id()).len() < 12 {
            assert!(Instant::now() < deadline, "the checks do not begin");
            std::thread::park_timeout(Duration::from_millis(20));
        }
        let (status, answer) = runner.post(Some(TOKEN), &endless);
        assert_eq!((status, &answer["error"]), (503, &json!("too many checks by a browser run now; try again later")));
        for report in running {
            let (status, report) = report.join().expect("an answer");
            assert_eq!((status, &report["error"]), (200, &json!("no result within 20 s")));
        }
    });
}

/// Whether `localhost` at this address shows a certificate that this file verifies.
async fn shows(address: &str, certificate: &str) -> bool {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture(certificate)).expect("a certificate")).expect("a root");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let Ok(stream) = TcpStream::connect(address).await else { return false };
    let name = ServerName::try_from("localhost").expect("a name");
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.is_ok()
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/tls").join(name)
}

#[tokio::test]
async fn a_runner_takes_a_new_certificate() {
    let (folder, address) = (TempDir::new().expect("a folder"), free_address());
    let used = |ending: &str| folder.path().join(format!("used.{ending}"));
    let put = |from: &str| {
        for ending in ["crt", "key"] {
            std::fs::copy(fixture(&format!("{from}.{ending}")), used(ending)).expect("a copy");
        }
    };
    put("one");
    let files = ["crt", "key"].map(|ending| used(ending).to_str().expect("a path").to_owned());
    let tls = ["--tls-certificate", &files[0], "--tls-key", &files[1]];
    let process = runner(&format!("tls:{address}"), folder.path(), "false").args(tls).spawn().expect("the binary runs");
    let runner = Runner { process, address, folder: folder.path().to_owned(), allows_private: "false" };
    let deadline = Instant::now() + Duration::from_secs(60);
    while !shows(&runner.address, "one.crt").await {
        assert!(Instant::now() < deadline, "the runner is not ready");
    }
    put("two");
    while !shows(&runner.address, "two.crt").await {
        assert!(Instant::now() < deadline, "the certificate is not replaced");
        let id = runner.process.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &id]).status().expect("kill runs").success());
    }
    assert!(!shows(&runner.address, "one.crt").await);
}

/// A missing program ends the runner at its start, and is reported.
#[test]
fn a_runner_says_what_is_missing() {
    for (settings, expected) in [
        (&[][..], "SYNTHETICS_BROWSER_TOKEN is not set"),
        (&[("SYNTHETICS_BROWSER_TOKEN", "short")], "the token of the browser runner is shorter than 32 bytes"),
        (&[("SYNTHETICS_BROWSER_TOKEN", TOKEN)], "SYNTHETICS_BROWSER_PLAYWRIGHT is not set"),
    ] {
        let ended = command("127.0.0.1:0").envs(settings.iter().copied()).output().expect("the binary runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(!ended.status.success() && said.contains(expected), "{said}");
    }
}
