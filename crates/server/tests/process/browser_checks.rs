//! Checks of monitors by a browser: real scripts, through the real server, with the Playwright of the web folder and the
//! machine's Chromium. Item "Monitors": a separate worker process, sandboxed, bounded in time and memory.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::server::Server;

const PAGE: &str = "<title>Shop</title><h1>Hello</h1><input type=file><a href='/next'>Next</a>";

/// A web site on loopback, with the heads of its requests.
pub struct Site {
    pub url: String,
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub fn open() -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let received = requests.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let mut head = String::new();
                let mut lines = BufReader::new(stream.try_clone().expect("a stream"));
                while !head.ends_with("\r\n\r\n") && lines.read_line(&mut head).is_ok_and(|length| length > 0) {}
                received.lock().expect("no panic").push(head.to_lowercase());
                let length = PAGE.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{PAGE}"
                );
            }
        });
        Site { url: format!("http://127.0.0.1:{port}"), port, requests }
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }
}

/// The folder of temporary files of the server with this data directory.
pub fn temporary(data: &Path) -> PathBuf {
    data.with_extension("tmp")
}

/// The file with the environment of the latest Chromium.
fn environment(data: &Path) -> PathBuf {
    data.with_extension("environment")
}

/// The folders of checks that were not deleted.
pub fn folders_left(data: &Path) -> usize {
    let entries = std::fs::read_dir(temporary(data)).expect("a folder").flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("tidewatch-browser-")).count()
}

/// A server that makes checks by a browser.
fn start(data: &Path, allows_private: &str) -> Server {
    let playwright = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let temporary = temporary(data);
    std::fs::create_dir_all(&temporary).expect("a folder");
    // Notes its environment.
    let chromium = temporary.join("chromium");
    let program = format!("#!/bin/sh\nenv > {}\nexec /usr/bin/chromium \"$@\"\n", environment(data).display());
    std::fs::write(&chromium, program).expect("a file");
    std::fs::set_permissions(&chromium, std::fs::Permissions::from_mode(0o700)).expect("a program");
    let settings = [
        ("SYNTHETICS_BROWSER_MODE", "embedded"),
        ("SYNTHETICS_BROWSER_PLAYWRIGHT", playwright.to_str().expect("a path")),
        ("ALLOW_PRIVATE_MONITOR_TARGETS", allows_private),
        ("TMPDIR", temporary.to_str().expect("a path")),
        ("SYNTHETICS_BROWSER_CHROMIUM", chromium.to_str().expect("a path")),
    ];
    let mut server = Server::start(data, &settings);
    server.register();
    server
}

pub fn call(server: &Server, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let account = server.account.as_ref().expect("an account");
    let path = format!("/api/synthetics/checks{path}?projectId={}", account.project_id);
    server.call(method, &path, Some(&account.jwt), body)
}

pub fn create(server: &Server, is_enabled: bool, timeout_seconds: u64, config: &Value) -> i64 {
    let body = json!({
        "name": "Shop", "checkType": "browser", "enabled": is_enabled, "timeoutSeconds": timeout_seconds,
        "intervalSeconds": 30, "config": config,
    });
    let (status, check) = call(server, "POST", "", &body);
    assert_eq!(status, 201, "{check}");
    check["id"].as_i64().expect("an id")
}

/// Runs a script once and returns the result.
pub fn run(server: &Server, timeout_seconds: u64, config: &Value) -> Value {
    let id = create(server, false, timeout_seconds, config);
    let (status, result) = call(server, "POST", &format!("/{id}/run"), &json!({}));
    assert_eq!(status, 200, "{result}");
    result
}

#[track_caller]
pub fn assert_down(result: &Value, reason: &str) {
    assert_eq!(result["outcome"], "down", "{result}");
    assert!(result["reason"].as_str().is_some_and(|found| found.contains(reason)), "{reason} is not in {result}");
}

#[track_caller]
pub fn assert_printed(result: &Value, lines: &[&str]) {
    let output = result["output"].as_str().expect("an output");
    for line in lines {
        assert!(output.lines().any(|printed| printed.starts_with(line)), "{line:?} is not in {result}");
    }
}

#[test]
fn scripts_are_up_or_down() {
    let (data, site) = (TempDir::new().expect("a temporary directory"), Site::open());
    let server = start(&data.path().join("data"), "true");
    let script = "
        await page.goto(env.URL + '/start');
        console.log('title', await page.title(), process.env.TOKEN);
        await page.getByRole('link', { name: 'Next' }).click();
        await page.waitForURL('**/next');
        await expect(page.getByRole('heading')).toHaveText('Hello');
        await page.evaluate((other) => fetch(other, { mode: 'no-cors' }), env.OTHER);";
    let other = Site::open();
    let env = json!({ "URL": site.url, "OTHER": other.url, "TOKEN": "s3cret-token" });
    let up = run(&server, 60, &json!({ "script": script, "env": env }));
    assert_eq!((&up["outcome"], &up["reason"]), (&json!("up"), &json!("")), "{up}");
    assert!(up["totalMs"].as_f64().is_some_and(|total| total > 0.0), "{up}");
    assert_printed(&up, &["title Shop ********"]);
    // The trace is for the host of the first page only.
    let trace = format!("traceparent: 00-{}-", up["traceId"].as_str().expect("a trace"));
    let requests = site.requests();
    assert!(requests.iter().all(|head| head.contains(&trace)), "{requests:?}");
    assert!(["get /start", "get /next"].iter().all(|path| requests.iter().any(|head| head.starts_with(path))));
    assert!(other.requests().iter().all(|head| !head.contains("traceparent")), "{:?}", other.requests());
    assert_eq!(other.requests().len(), 1);

    // The usual form of a test; the reason has the line of the script.
    let script = "import { test, expect } from '@playwright/test';\n\
        test('the title', async ({ page }) => {\n\
          await page.goto(process.env.URL);\n\
          await expect(page).toHaveTitle('Bank', { timeout: 100 });\n\
        });";
    let config = json!({ "script": script, "env": { "URL": site.url } });
    let down = run(&server, 60, &config);
    assert_down(&down, "line 4: expect(page).toHaveTitle(expected) failed");
    assert_printed(&down, &["the title", "Expected: \"Bank\"", "Received: \"Shop\""]);
    assert_down(&run(&server, 60, &json!({ "script": "\nthrow new Error('no')" })), "line 2: no");
    assert_down(&run(&server, 60, &json!({ "script": "await page.(" })), "line 1: Unexpected token");
    // What waits in vain is found before the time limit.
    let waits = json!({ "script": "await page.setContent('<p>a');\nawait page.getByText('b').click();" });
    assert_down(&run(&server, 12, &waits), "line 2: locator.click: Timeout");
    assert_eq!(run(&server, 60, &json!({ "script": "await browser.close();" }))["outcome"], "up");

    // Results of the schedule are stored, with the output of a bad one; variables are masked and kept.
    let id = create(&server, true, 60, &config);
    let deadline = Instant::now() + Duration::from_secs(60);
    let stored = loop {
        let (_, page) = call(&server, "POST", &format!("/{id}/results"), &json!({}));
        if let Some(result) = page["data"].as_array().and_then(|results| results.first()) {
            break result.clone();
        }
        assert!(Instant::now() < deadline, "there is no result");
        std::thread::park_timeout(Duration::from_millis(50));
    };
    assert_down(&stored, "line 4: ");
    assert_printed(&stored, &["the title"]);
    let path = format!("/{id}");
    let (_, mut shown) = call(&server, "GET", &path, &Value::Null);
    assert_eq!((&shown["config"]["env"], &shown["problem"]), (&json!({ "URL": "********" }), &Value::Null));
    let kept = json!({ "enabled": false, "config": shown["config"] });
    assert_eq!(call(&server, "PUT", &path, &kept).0, 200);
    let (_, again) = call(&server, "POST", &format!("{path}/run"), &json!({}));
    assert_down(&again, "line 4: ");
    shown["config"]["script"] = json!("await page.goto('https://elsewhere.example/' + env.URL)");
    let (status, refused) = call(&server, "PUT", &path, &json!({ "config": shown["config"] }));
    assert_eq!((status, &refused["error"]), (422, &json!("another script needs the values of its variables again")));
}

/// A script gets nothing besides its page: no files, variables of the server, children, sockets, signals, or ways
/// around the proxy.
#[test]
fn a_script_has_a_page_and_nothing_else() {
    let (data, site) = (TempDir::new().expect("a temporary directory"), Site::open());
    let server = start(&data.path().join("data"), "true");
    let secret = data.path().join("secret");
    std::fs::write(&secret, "secret-of-the-machine").expect("a file");
    let script = "
        const attempt = async (name, body) => {
          let got;
          try { got = 'got ' + JSON.stringify(await body()); } catch (error) { got = 'refused ' + (error.code ?? error.message); }
          console.log(name, got.replaceAll('\\n', ' ').slice(0, 200));
        };
        const load = (name) => process.getBuiltinModule?.(name) ?? process.binding(name);
        const required = page.constructor.constructor('return process')().mainModule.require;
        await attempt('read', () => required('node:fs').readFileSync(env.SECRET, 'utf8'));
        await attempt('write', () => required('node:fs').writeFileSync(env.SECRET + '2', 'x'));
        await attempt('spawn', () => required('node:child_process').execSync('id').toString());
        await attempt('worker', () => String(new (required('node:worker_threads').Worker)('1', { eval: true })));
        await attempt('fetch', async () => (await fetch(env.URL)).status);
        await attempt('listen', () => new Promise((done, fail) => required('node:net').createServer().on('error', fail).listen(0, done)));
        await attempt('kill', () => process.kill(process.ppid, 0));
        await attempt('environment', () => Object.keys(process.env).sort().filter((name) => name !== 'SECRET' && name !== 'URL'));
        await attempt('file page', () => page.goto('file://' + env.SECRET));
        await attempt('settings page', () => page.goto('chrome://settings'));
        await attempt('proxy', () => browser.newContext({ proxy: { server: 'direct://' } }));
        await page.goto(env.URL);
        await attempt('upload', () => page.locator('input').setInputFiles(env.SECRET));
        const session = await context.newCDPSession(page);
        await attempt('protocol', () => session.send('Tethering.bind', { port: 1 }));
        await attempt('window', async () => {
          await page.evaluate((path) => { open('file://' + path); }, env.SECRET);
          const pages = context.pages();
          return (await Promise.all(pages.map((one) => one.content()))).filter((html) => html.includes('secret-of')).length;
        });";
    let env = json!({ "SECRET": secret, "URL": site.url });
    let result = run(&server, 60, &json!({ "script": script, "env": env }));
    assert_eq!(result["outcome"], "up", "{result}");
    assert_printed(
        &result,
        &[
            "read refused ERR_ACCESS_DENIED",
            "write refused ERR_ACCESS_DENIED",
            "spawn refused ERR_ACCESS_DENIED",
            "worker refused ERR_ACCESS_DENIED",
            "fetch refused fetch failed",
            "listen refused EPERM",
            "kill refused EPERM",
            "environment got []",
            "file page refused",
            "settings page refused",
            "proxy refused",
            "upload refused",
            "protocol refused",
            "window got 0",
        ],
    );
    assert_eq!(
        site.requests().iter().filter(|head| head.starts_with("get / ")).count(),
        1,
        "only the page's own request"
    );
    assert!(!result.to_string().contains("secret-of-the-machine"), "{result}");
    assert!(!data.path().join("secret2").exists());
    // Chromium has a temporary home, and nothing of the server's environment.
    let variables = std::fs::read_to_string(environment(&data.path().join("data"))).expect("a file");
    assert!(
        variables.lines().any(|line| line.starts_with("HOME=") && line.contains("/tidewatch-browser-")),
        "{variables}"
    );
    let known = ["HOME", "TMPDIR", "XDG_RUNTIME_DIR", "LANG", "PATH", "DBUS_SESSION_BUS_ADDRESS", "PWD", "_", "SHLVL"];
    for line in variables.lines() {
        let name = line.split('=').next().unwrap_or_default();
        assert!(known.contains(&name), "{line}");
    }
}

#[test]
fn time_and_memory_are_bounded() {
    let data = TempDir::new().expect("a temporary directory");
    let server = start(&data.path().join("data"), "true");
    let endless = json!({ "script": "console.log('begun'); for (;;) {}" });
    let result = run(&server, 12, &endless);
    assert_down(&result, "no result within 12 s");
    assert_printed(&result, &["begun"]);
    let objects = json!({ "script": "const all = []; for (;;) all.push({ all });" });
    assert_down(&run(&server, 60, &objects), "the script used more than 256 MiB for its objects");
    let bytes =
        json!({ "script": "const all = []; for (;;) { all.push(Buffer.alloc(16 << 20, 1)); await page.title(); }" });
    assert_down(&run(&server, 60, &bytes), "used more than 1024 MiB of memory");
    let page =
        "await page.evaluate(async () => { window.all = []; for (;;) all.push(new Uint8Array(16 << 20).fill(1)); });";
    assert_down(&run(&server, 60, &json!({ "script": page })), "used more than 1024 MiB of memory");
    let printed = run(&server, 60, &json!({ "script": "for (let i = 0; i < 100000; i++) console.log('line', i);" }));
    let output = printed["output"].as_str().expect("an output");
    assert!(output.len() < 5000 && output.ends_with("(what follows was not kept)\n"), "{}", output.len());
    assert!(descendants(server.pid()).is_empty(), "nothing runs after a check");
    assert_eq!(folders_left(&data.path().join("data")), 0);
}

/// Private targets are refused, in every form of the address; what the page requests too.
#[test]
fn private_targets_are_refused() {
    let (data, site) = (TempDir::new().expect("a temporary directory"), Site::open());
    let server = start(&data.path().join("data"), "false");
    let script = "
        const addresses = ['http://127.0.0.1', 'http://localhost', 'http://2130706433', 'http://0177.0.0.1', 'http://[::1]',
          'http://[::ffff:127.0.0.1]', 'https://127.0.0.1', 'https://localhost', 'http://a.localhost'];
        for (const address of addresses) {
          const tab = await context.newPage();
          try { const answer = await tab.goto(address + ':' + env.PORT); console.log(address, answer.status()); }
          catch (error) { console.log(address, error.message.split('\\n')[0].includes('ERR_') ? 'refused' : error.message); }
        }
        await page.goto('data:text/html,hello');
        const got = await page.evaluate(async (port) => {
          const fetched = await fetch(`http://127.0.0.1:${port}`, { mode: 'no-cors' }).then(() => 'got', () => 'refused');
          const socket = await new Promise((done) => {
            const opened = new WebSocket(`ws://127.0.0.1:${port}`);
            opened.onopen = () => done('got');
            opened.onerror = () => done('refused');
          });
          const peer = new RTCPeerConnection({ iceServers: [{ urls: `stun:127.0.0.1:${port}` }] });
          peer.createDataChannel('x');
          await peer.setLocalDescription();
          await Promise.race([new Promise((done) => setTimeout(done, 500)), new Promise((done) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && done(); })]);
          return `${fetched} ${socket} ${(peer.localDescription.sdp.match(/a=candidate/g) ?? []).length}`;
        }, env.PORT);
        console.log('page', got);
        await page.goto('http://127.0.0.1:' + env.PORT);";
    let result = run(&server, 60, &json!({ "script": script, "env": { "PORT": site.port.to_string() } }));
    assert_down(&result, "(127.0.0.1 is an address of a private network, which this server does not contact)");
    let output = result["output"].as_str().expect("an output");
    for line in output.lines().filter(|line| line.starts_with("http")) {
        assert!(line.ends_with(" refused"), "{line}");
    }
    assert_eq!(output.lines().filter(|line| line.starts_with("http")).count(), 9, "{output}");
    assert!(output.contains("::ffff:127.0.0.1 is an address of a private network"), "{output}");
    assert_printed(&result, &["page refused refused 0"]);
    assert_eq!(site.requests(), Vec::<String>::new());
}

/// The processes below another one, by parent.
pub fn descendants(pid: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").expect("the processes").flatten() {
        let Some(child) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        children.entry(parent.unwrap_or(0)).or_default().push(child);
    }
    let mut found = children.remove(&pid).unwrap_or_default();
    let mut next = 0;
    while next < found.len() {
        found.extend(children.remove(&found[next]).unwrap_or_default());
        next += 1;
    }
    found
}

pub fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// The server ends, in order or not, and so does everything that it has started.
#[test]
fn nothing_survives_the_server() {
    let data = TempDir::new().expect("a temporary directory");
    let mut server = start(&data.path().join("data"), "true");
    create(&server, true, 100, &json!({ "script": "await page.setContent('<h1>Hello</h1>'); for (;;) {}" }));
    for end in [Server::stop, Server::kill] {
        let deadline = Instant::now() + Duration::from_secs(60);
        // The worker, Node, and Chromium with its own.
        let started = loop {
            let found = descendants(server.pid());
            if found.len() >= 6 {
                break found;
            }
            assert!(Instant::now() < deadline, "the check does not begin: {found:?}");
            std::thread::park_timeout(Duration::from_millis(20));
        };
        end(&mut server);
        let deadline = Instant::now() + Duration::from_secs(20);
        while started.iter().any(|pid| runs(*pid)) {
            assert!(Instant::now() < deadline, "some of {started:?} still run");
            std::thread::park_timeout(Duration::from_millis(20));
        }
        assert_eq!(folders_left(&data.path().join("data")), 0);
        server.restart();
        // The next one begins as after an interval.
        let checks = call(&server, "GET", "", &Value::Null).1;
        let id = checks["checks"][0]["id"].as_i64().expect("a monitor");
        assert_eq!(call(&server, "PUT", &format!("/{id}"), &json!({ "name": "again" })).0, 200);
    }
}

/// The start, the monitor and its results report a missing program.
#[test]
fn what_is_missing_is_said() {
    let data = TempDir::new().expect("a temporary directory");
    let mut server = Server::start(&data.path().join("data"), &[("SYNTHETICS_BROWSER_MODE", "embedded")]);
    server.register();
    let problem = "SYNTHETICS_BROWSER_PLAYWRIGHT is not set: it names a folder with playwright-core";
    assert_down(&run(&server, 60, &json!({ "script": "await page.title()" })), problem);
    let (_, checks) = call(&server, "GET", "", &Value::Null);
    assert_eq!(checks["checks"][0]["problem"], problem);
    let log = std::fs::read_to_string(data.path().join("data.log")).expect("a log");
    assert!(log.contains(problem), "{log}");

    // The mode is turned off: the monitor stays, and is not checked.
    let id = create(&server, true, 60, &json!({ "script": "await page.title()" }));
    server.stop();
    server.set("SYNTHETICS_BROWSER_MODE", "off");
    server.restart();
    let off = "checks by a browser are off on this server (SYNTHETICS_BROWSER_MODE)";
    let (_, check) = call(&server, "GET", &format!("/{id}"), &Value::Null);
    assert_eq!(check["problem"], off);
    for (method, path, body) in [
        ("POST", format!("/{id}/run"), json!({})),
        ("PUT", format!("/{id}"), json!({ "enabled": true })),
        ("POST", String::new(), json!({ "name": "a", "checkType": "browser", "config": { "script": "x" } })),
    ] {
        let (status, answer) = call(&server, method, &path, &body);
        assert_eq!((status, &answer["error"]), (422, &json!(off)), "{method} {path}");
    }
    assert_eq!(call(&server, "PUT", &format!("/{id}"), &json!({ "enabled": false })).0, 200);
}
