//! Server processes to measure: Tidewatch on a data directory, and the baseline.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tidewatch_bench::fill::{EMAIL, PASSWORD};
use tidewatch_bench::http::Target;
use tidewatch_bench::process;
use tidewatch_bench::query::{Read, Reader, Repeats};

use super::ports::free_address;

/// A listening process, killed when dropped.
pub struct Server {
    process: Child,
    pub url: String,
    /// From the start of the process to the first 200 of `/health`.
    pub ready_after: Duration,
}

impl Server {
    /// Starts the baseline server: hyper and prost, see `baseline`.
    pub fn baseline() -> Server {
        let address = free_address();
        let mut command = Command::new(std::env::current_exe().expect("the path of this benchmark"));
        command.env("BENCH_BASELINE", &address);
        Self::start(command, &address)
    }

    /// Starts Tidewatch on a data directory with additional options.
    pub fn tidewatch(binary: &Path, data: &Path, options: &[&str]) -> Server {
        let address = free_address();
        let mut command = Command::new(binary);
        command.args(["serve", "--retention-days", "0", "--listen", &address, "--data-dir"]).arg(data).args(options);
        command.env("TIDEWATCH_SETUP_CODE", "off");
        Self::start(command, &address)
    }

    fn start(mut command: Command, address: &str) -> Server {
        let log = std::env::var_os("BENCH_LOG").map_or(Stdio::null(), |path| {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            file.map_or(Stdio::null(), Stdio::from)
        });
        let begun = Instant::now();
        let process = command.stdout(Stdio::null()).stderr(log).spawn().expect("the server starts");
        let mut server = Server { process, url: format!("http://{address}"), ready_after: Duration::ZERO };
        let reader = server.reader();
        let health = Read { name: "health".into(), method: None, path: "/health".into(), body: None };
        let once = Repeats { warm_up: 0, count: 1, at_most: Duration::ZERO };
        while !reader.time(&health, once, None).is_ok_and(|timed| timed.status == 200) {
            assert!(begun.elapsed() < Duration::from_secs(600), "{} does not get ready", server.url);
            process::pause(Duration::from_millis(2));
        }
        server.ready_after = begun.elapsed();
        server
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    pub fn reader(&self) -> Reader {
        let target = Target::parse(&self.url).expect("our own address");
        Reader { target, headers: vec!["Content-Type: application/json".to_owned()], project: None }
    }

    /// Registers the first account or signs in. Returns a reader and the project's token.
    pub fn sign_in(&self) -> (Reader, String) {
        let mut reader = self.reader();
        let register = json!({
            "email": EMAIL, "password": PASSWORD, "name": "Bench", "organizationName": "Bench", "timezone": "UTC",
            "projectName": "Bench", "framework": "opentelemetry",
        });
        let login = json!({"email": EMAIL, "password": PASSWORD});
        let answer = reader.post("/api/register", &register).or_else(|_| reader.post("/api/login", &login));
        let answer = answer.expect("a new server lets us register, a known one sign in");
        reader.sign_in(&answer).expect("the answer to a login");
        let token = answer["projects"][0]["token"].as_str().expect("a project has a token").to_owned();
        (reader, token)
    }

    /// The URL of exports.
    pub fn otlp(&self) -> String {
        format!("{}/api/otel", self.url)
    }

    /// Sends SIGKILL.
    pub fn kill(mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }

    /// Sends SIGTERM and waits for the process to end.
    pub fn stop(mut self) {
        Command::new("kill").arg(self.pid().to_string()).status().ok();
        self.process.wait().ok();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A temporary folder on the disk of the data sets, removed when dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(under: &Path, name: &str) -> Scratch {
        let path = under.join(format!("scratch-{name}-{}", std::process::id()));
        std::fs::remove_dir_all(&path).ok();
        std::fs::create_dir_all(&path).expect("the folder for benchmarks can be written");
        Scratch(path)
    }

    /// A copy of a data directory. Parts are hard links, because they never change; everything else is copied.
    pub fn clone_of(data: &Path, under: &Path, name: &str) -> Scratch {
        let scratch = Scratch::new(under, name);
        clone_folder(data, &scratch.0);
        scratch
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

fn clone_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder that can be written");
    for entry in std::fs::read_dir(from).expect("a folder of the data") {
        let path = entry.expect("an entry of the data").path();
        let target = to.join(path.file_name().expect("entries have names"));
        if path.is_dir() {
            clone_folder(&path, &target);
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            std::fs::hard_link(&path, &target).expect("links work within a disk");
        } else {
            std::fs::copy(&path, &target).expect("a file of the data can be copied");
        }
    }
}
