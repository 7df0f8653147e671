//! Runs the real server in this process: port 0, its own data directory, real files.

use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};
use tidewatch_store::TelemetryStore;

use serde_json::{Value, json};
use tempfile::TempDir;
use tidewatch_accounts::{Actor, NewUser, User};
use tidewatch_domain::rules::group_versions::GroupVersions;
use tidewatch_journal::disk::{Disk, RealDisk};
use tidewatch_limits::clock::Clock;
use tidewatch_server::app::{App, Environment};
use tidewatch_server::config::Config;
use tidewatch_server::listen::ListenAddress;
use tidewatch_server::serve;
use tidewatch_store::tables::Table;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::client::{self, Answer};
use crate::engines::On;
use crate::gates;

type Change = Arc<dyn Fn(&mut Config) + Send + Sync>;

/// A running server and, once registered, its owner's login.
pub struct Harness {
    data: TempDir,
    change: Change,
    disk: Arc<dyn Disk>,
    clock: Clock,
    running: Option<Running>,
    gave_up: Reasons,
    /// Versions of the rule that groups exceptions, from the next start on.
    pub grouping: GroupVersions,
    /// The owner's login; empty before [`Harness::register`].
    pub login: String,
}

/// Messages of the fatal errors that would have ended the process.
type Reasons = Arc<Mutex<Vec<String>>>;

struct Running {
    address: SocketAddr,
    app: Arc<App>,
    stop: oneshot::Sender<()>,
    served: JoinHandle<anyhow::Result<()>>,
}

/// A project as the API shows it.
#[derive(Debug, Clone)]
pub struct Project {
    pub id: String,
    pub token: String,
}

impl Harness {
    pub async fn start() -> Harness {
        Harness::start_with(|_| {}).await
    }

    /// Starts with a changed configuration.
    pub async fn start_with(change: fn(&mut Config)) -> Harness {
        Harness::start_on(Arc::new(RealDisk), change).await
    }

    /// Starts with another disk for journal and parts.
    pub async fn start_on(disk: Arc<dyn Disk>, change: fn(&mut Config)) -> Harness {
        Harness::start_as(disk, Arc::new(change)).await
    }

    /// Starts with this control database.
    pub async fn on(database: &On) -> Harness {
        Harness::start_as(Arc::new(RealDisk), database.setting()).await
    }

    /// Starts with this control database and a changed configuration.
    pub async fn on_with(database: &On, change: impl Fn(&mut Config) + Send + Sync + 'static) -> Harness {
        let setting = database.setting();
        let both = move |config: &mut Config| {
            setting(config);
            change(config);
        };
        Harness::start_as(Arc::new(RealDisk), Arc::new(both)).await
    }

    /// Starts with this control database, registers, and returns the first project.
    pub async fn registered(database: &On) -> (Harness, Project) {
        let mut harness = Harness::on(database).await;
        let project = harness.register().await;
        (harness, project)
    }

    /// Like [`Harness::registered`], with a clock that the test controls and changed settings.
    pub async fn registered_at(
        database: &On,
        clock: &Arc<AtomicI64>,
        also: impl Fn(&mut Config) + Send + Sync + 'static,
    ) -> (Harness, Project) {
        let mut harness = Harness::on_at(database, clock, also).await;
        let project = harness.register().await;
        (harness, project)
    }

    /// Starts with this control database, a clock that the test controls and changed settings.
    pub async fn on_at(
        database: &On,
        clock: &Arc<AtomicI64>,
        also: impl Fn(&mut Config) + Send + Sync + 'static,
    ) -> Harness {
        let setting = database.setting();
        let change = move |config: &mut Config| {
            setting(config);
            also(config);
        };
        let clock = Clock::fixed(clock.clone());
        Harness::start_with_clock(Arc::new(RealDisk), Arc::new(change), clock).await
    }

    /// Starts another node on this control database, with a clock that the test controls; does not register.
    pub async fn node_at(database: &On, clock: &Arc<AtomicI64>) -> Harness {
        let clock = Clock::fixed(clock.clone());
        Harness::start_with_clock(Arc::new(RealDisk), database.setting(), clock).await
    }

    /// Starts with a wall clock and a monotonic clock that the test controls; does not register.
    pub async fn with_clocks(wall: &Arc<AtomicI64>, uptime: &Arc<AtomicI64>, change: fn(&mut Config)) -> Harness {
        let clock = Clock::fixed_both(wall.clone(), uptime.clone());
        Harness::start_with_clock(Arc::new(RealDisk), Arc::new(change), clock).await
    }

    async fn start_as(disk: Arc<dyn Disk>, change: Change) -> Harness {
        Harness::start_with_clock(disk, change, Clock::system()).await
    }

    async fn start_with_clock(disk: Arc<dyn Disk>, change: Change, clock: Clock) -> Harness {
        let data = TempDir::new().expect("a temporary directory");
        let gave_up = Reasons::default();
        let grouping = GroupVersions::BUILT_IN;
        let running = run(data.path(), &change, (disk.clone(), clock.clone()), grouping, &gave_up).await;
        Harness { data, change, disk, clock, running: Some(running), gave_up, grouping, login: String::new() }
    }

    /// Starts, registers, and returns the first project.
    pub async fn with_project() -> (Harness, Project) {
        let mut harness = Harness::start().await;
        let project = harness.register().await;
        (harness, project)
    }

    /// Like [`Harness::with_project`], with a clock that the test controls.
    pub async fn with_project_at(clock: &Arc<AtomicI64>) -> (Harness, Project) {
        let clock = Clock::fixed(clock.clone());
        let mut harness = Harness::start_with_clock(Arc::new(RealDisk), Arc::new(|_| {}), clock).await;
        let project = harness.register().await;
        (harness, project)
    }

    fn running(&self) -> &Running {
        self.running.as_ref().expect("the server runs")
    }

    pub fn address(&self) -> SocketAddr {
        self.running().address
    }

    pub fn app(&self) -> &Arc<App> {
        &self.running().app
    }

    /// Registers the owner, stores the login and returns the first project.
    pub async fn register(&mut self) -> Project {
        let body = json!({
            "email": "owner@example.com", "name": "Owner", "password": "correct horse",
            "organizationName": "Example", "timezone": "UTC", "projectName": "first", "framework": "opentelemetry",
        });
        let answer = self.api("POST", "/api/register", &body).await.expect(201).json();
        self.login = text(&answer["token"]);
        project(&answer["project"])
    }

    /// Creates the owner of another organization and returns their login.
    pub async fn stranger(&self) -> String {
        let app = self.app();
        let by = app.accounts.by_server();
        let email = "stranger@example.com".to_owned();
        let new = NewUser { email, name: "Stranger".to_owned(), password_hash: None, is_email_verified: true };
        let user = app.accounts.control.people.create_user(&by, &new).await.expect("a user");
        app.accounts.control.people.create_organization(&by, "Other", "UTC", user.id).await.expect("an organization");
        self.login_of(&user).await
    }

    /// Begins a session of the user, as a sign-in does, and returns its login.
    pub async fn login_of(&self, user: &User) -> String {
        let app = self.app();
        let by = Actor { user_id: Some(user.id), name: user.email.clone(), ..app.accounts.by_server() };
        let begun = app.accounts.control.sign_in.begin_session(&by, user, by.at_ns).await.expect("a session");
        app.accounts.logins.issue(user, begun.id, by.at_ns).expect("a login")
    }

    /// Creates another project.
    pub async fn project(&self, name: &str) -> Project {
        project(&self.api("POST", "/api/projects", &json!({ "name": name })).await.expect(201).json())
    }

    /// Calls the dashboard's API with the owner's login. `Value::Null` sends no body.
    pub async fn api(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.api_as(&self.login, method, path, body).await
    }

    /// Like [`Harness::api`], with another credential; without one if empty.
    pub async fn api_as(&self, credential: &str, method: &str, path: &str, body: &Value) -> Answer {
        let authorization = format!("Bearer {credential}");
        let mut headers = vec![("Content-Type", "application/json")];
        if !credential.is_empty() {
            headers.push(("Authorization", &authorization));
        }
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        client::send(self.address(), method, path, &headers, &body).await
    }

    /// Sends an OTLP export to `/api/otel/v1/<signal>`, with `headers` added to the token.
    pub async fn post_otlp(&self, signal: &str, token: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let authorization = format!("Bearer {token}");
        let mut all = vec![("Authorization", authorization.as_str())];
        all.extend_from_slice(headers);
        client::send(self.address(), "POST", &format!("/api/otel/v1/{signal}"), &all, body).await
    }

    /// Sends an OTLP export in JSON.
    pub async fn post_json(&self, signal: &str, token: &str, body: &Value) -> Answer {
        self.post_otlp(signal, token, &[("Content-Type", "application/json")], body.to_string().as_bytes()).await
    }

    /// The number of rows of a table, in parts and in memory, of all projects.
    pub fn rows(&self, table: Table) -> u64 {
        let stats = self.app().lake.stats();
        let table = stats.tables.iter().find(|stats| stats.table == table).expect("every table has its statistics");
        table.rows + table.memory_rows as u64
    }

    /// Stops as on SIGTERM and starts again with the same data.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.start_again().await;
    }

    /// Starts again after [`Harness::stop`], with the same data.
    pub async fn start_again(&mut self) {
        let machine = (self.disk.clone(), self.clock.clone());
        self.running = Some(run(self.data.path(), &self.change, machine, self.grouping, &self.gave_up).await);
    }

    /// Messages of the fatal errors with which the server would have ended its process.
    pub fn gave_up(&self) -> Vec<String> {
        self.gave_up.lock().expect("no panic holds it").clone()
    }

    /// The data directory.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// Whether the files of a control database of SQLite contain `text` in the clear.
    pub fn control_files_contain(&self, text: &str) -> bool {
        let file = |name: &str| std::fs::read(self.data().join(name)).unwrap_or_default();
        let files = [file("control.sqlite"), file("control.sqlite-wal")];
        files.iter().any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
    }

    /// Adds a change of the configuration, effective at the next start.
    pub fn change(&mut self, change: impl Fn(&mut Config) + Send + Sync + 'static) {
        let before = self.change.clone();
        self.change = Arc::new(move |config| {
            before(config);
            change(config);
        });
    }

    /// Restarts from a copy of the disk's current contents, as after `kill -9`: nothing is flushed or closed.
    pub async fn crash(&mut self) {
        let image = TempDir::new().expect("a temporary directory");
        copy(self.data.path(), image.path());
        self.stop().await;
        self.data = image;
        self.start_again().await;
    }

    /// Stops as on SIGTERM; the server ends without an error.
    pub async fn stop(&mut self) {
        let Running { app, stop, served, .. } = self.running.take().expect("the server runs");
        drop(app);
        let _ = stop.send(());
        served.await.expect("the server did not panic").expect("the server stopped in order");
    }
}

async fn run(
    data: &Path,
    change: &Change,
    (disk, clock): (Arc<dyn Disk>, Clock),
    grouping: GroupVersions,
    gave_up: &Reasons,
) -> Running {
    let mut config = Config::new(([127, 0, 0, 1], 0).into(), data);
    // Tests send records of fixed days, which must not expire.
    config.retention_days = 0;
    config.setup_code = Some("off".to_owned());
    change(&mut config);
    let (stop, stopped) = oneshot::channel::<()>();
    let (ready, is_ready) = oneshot::channel();
    let on_ready = |address: &ListenAddress, app: &Arc<App>| {
        let ListenAddress::Tcp(address) = *address else { panic!("the first address is TCP: {address}") };
        let _ = ready.send((address, app.clone()));
    };
    let gave_up = gave_up.clone();
    let on_fatal = Arc::new(move |why: &str| gave_up.lock().expect("no panic holds it").push(why.to_owned()));
    let environment = Environment { clock, disk, on_fatal, grouping, settings: None };
    let served = tokio::spawn(serve::serve_routes(config, environment, gates::router, on_ready, async {
        let _ = stopped.await;
    }));
    match is_ready.await {
        Ok((address, app)) => Running { address, app, stop, served },
        Err(_) => panic!("the server did not start: {:?}", served.await),
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a readable folder") {
        let entry = entry.expect("a readable folder");
        let target = to.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_socket()) {
            continue;
        }
        if entry.path().is_dir() {
            std::fs::create_dir_all(&target).expect("a new folder");
            copy(&entry.path(), &target);
        } else if let Err(error) = std::fs::copy(entry.path(), &target) {
            // A file may be removed meanwhile: the journal is trimmed, parts are merged.
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
        }
    }
}

fn project(value: &Value) -> Project {
    Project { id: text(&value["id"]), token: text(&value["token"]) }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
