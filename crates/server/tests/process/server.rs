//! Starts, kills and queries a `tidewatch` process.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ports::free_address;

/// The range of a query over "all time".
const FROM: &str = "2020-01-01T00:00:00Z";
const TO: &str = "2100-01-01T00:00:00Z";

pub struct Server {
    process: Child,
    pub base: String,
    listen: String,
    data: PathBuf,
    settings: Vec<(&'static str, String)>,
    launch: Launch,
    pub account: Option<Account>,
}

/// Settings of the process's start.
struct Launch {
    /// A program with its first arguments that starts the binary; empty if the binary is started directly.
    by: Vec<String>,
    /// The standard error; `None` for a file beside the data directory, or for the one that `by` sets.
    log: Option<fn() -> Stdio>,
}

#[derive(Clone, Debug)]
pub struct Account {
    pub jwt: String,
    pub project_id: String,
    pub project_token: String,
}

impl Server {
    /// Starts a server with the data directory `data`; `settings` are environment variables.
    pub fn start(data: &Path, settings: &[(&'static str, &str)]) -> Server {
        Server::start_at(&free_address(), data, settings)
    }

    /// Starts a server with another standard error.
    pub fn start_with_log(data: &Path, settings: &[(&'static str, &str)], log: fn() -> Stdio) -> Server {
        Server::launch(&free_address(), data, settings, Launch { by: Vec::new(), log: Some(log) })
    }

    /// Starts a server through another program, which gets the binary and its arguments after these arguments.
    pub fn start_by(by: Vec<String>, data: &Path, settings: &[(&'static str, &str)]) -> Server {
        Server::launch(&free_address(), data, settings, Launch { by, log: Some(Stdio::null) })
    }

    /// Starts a server on this address, or on a list; the first is the base.
    pub fn start_at(listen: &str, data: &Path, settings: &[(&'static str, &str)]) -> Server {
        Server::launch(listen, data, settings, Launch { by: Vec::new(), log: None })
    }

    fn launch(listen: &str, data: &Path, settings: &[(&'static str, &str)], launch: Launch) -> Server {
        let listen = listen.to_owned();
        let settings: Vec<_> = settings.iter().map(|(key, value)| (*key, value.to_string())).collect();
        let process = spawn(&listen, data, &settings, &launch);
        let mut server = Server {
            process,
            base: format!("http://{}", listen.split(',').next().expect("an address")),
            listen,
            data: data.to_owned(),
            settings,
            launch,
            account: None,
        };
        server.wait_ready();
        server
    }

    /// SIGKILL: no destructor runs, nothing is flushed.
    pub fn kill(&mut self) {
        self.process.kill().expect("the server is a child of this test");
        self.process.wait().expect("a killed child can be waited for");
    }

    /// SIGTERM: finishes what is in flight and closes its files.
    pub fn stop(&mut self) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
        assert!(self.process.wait().expect("it is a child of this test").success(), "it stops in order");
    }

    /// Changes a setting, effective at the next start.
    pub fn set(&mut self, name: &'static str, value: &str) {
        self.settings.push((name, value.to_owned()));
    }

    /// Starts the process again with the same data directory and address.
    pub fn restart(&mut self) {
        self.process = spawn(&self.listen, &self.data, &self.settings, &self.launch);
        self.wait_ready();
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    fn wait_ready(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = agent().get(format!("{}/health", self.base)).call();
            if answer.is_ok_and(|response| response.status() == 200) {
                return;
            }
            let ended = self.process.try_wait().expect("it is a child of this test");
            assert_eq!(ended, None, "the server ended; its log: {}", self.data.with_extension("log").display());
            assert!(Instant::now() < deadline, "the server is not ready after a minute");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }

    /// Registers the first account with its first project.
    pub fn register(&mut self) -> Account {
        let (status, bundle) = self.call(
            "POST",
            "/api/register",
            None,
            &json!({
                "email": "owner@example.com", "password": "correct horse", "name": "Owner",
                "organizationName": "Org", "timezone": "UTC", "projectName": "First", "framework": "opentelemetry",
            }),
        );
        assert_eq!(status, 201, "{bundle}");
        let account = Account {
            jwt: bundle["token"].as_str().expect("a session token").to_owned(),
            project_id: bundle["projects"][0]["id"].as_str().expect("a project").to_owned(),
            project_token: bundle["projects"][0]["token"].as_str().expect("a project token").to_owned(),
        };
        self.account = Some(account.clone());
        account
    }

    /// Queries as the registered account; a list is over all time unless the body has a range.
    pub fn query(&self, path: &str, body: Value) -> Value {
        let account = self.account.as_ref().expect("register first");
        let is_one = ["/api/distributed-traces/", "/api/sessions/"].iter().any(|one| path.starts_with(one));
        let mut question = if is_one { json!({}) } else { json!({"fromDate": FROM, "toDate": TO}) };
        for (key, value) in body.as_object().expect("an object") {
            question[key] = value.clone();
        }
        let separator = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{separator}projectId={}", account.project_id);
        let (status, answer) = self.call("POST", &path, Some(&account.jwt), &question);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    pub fn call(&self, method: &str, path: &str, token: Option<&str>, body: &Value) -> (u16, Value) {
        let mut request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(token) = token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let request =
            request.header("Content-Type", "application/json").body(body.to_string()).expect("a valid request");
        let mut response = agent().run(request).expect("the server answers");
        let status = response.status().as_u16();
        (status, response.body_mut().read_json().unwrap_or(Value::Null))
    }

    /// The total number of rows of a list.
    pub fn total(&self, path: &str, body: Value) -> u64 {
        self.query(path, body)["pagination"]["total"].as_u64().expect("a total")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn spawn(listen: &str, data: &Path, settings: &[(&'static str, String)], launch: &Launch) -> Child {
    let binary = env!("CARGO_BIN_EXE_tidewatch");
    let mut command = match launch.by.split_first() {
        Some((program, words)) => {
            let mut command = Command::new(program);
            command.args(words).arg(binary);
            command
        }
        None => Command::new(binary),
    };
    command.args(["serve", "--listen", listen, "--data-dir"]).arg(data);
    // Tests send records that were captured on fixed days and must not expire.
    command.env("TIDEWATCH_RETENTION_DAYS", "0").env("TIDEWATCH_SETUP_CODE", "off");
    command.envs(settings.iter().map(|(key, value)| (key, value)));
    let log = match launch.log {
        Some(log) => log(),
        None => {
            let path = data.with_extension("log");
            std::fs::File::options().create(true).append(true).open(path).expect("a log file").into()
        }
    };
    command.stdout(Stdio::null()).stderr(log).spawn().expect("the binary starts")
}

/// An HTTP client that returns answers of every status without an error.
pub fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)))
        .build()
        .into()
}
