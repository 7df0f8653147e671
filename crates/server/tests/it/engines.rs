//! Runs the same test on SQLite and on a real PostgreSQL.
//!
//! ```ignore
//! on_both! {
//!     /// The guarantee.
//!     async fn a_name(database) {
//!         let (harness, project) = Harness::registered(&database).await;
//!     }
//! }
//! ```
//!
//! PostgreSQL comes from Debian's packages (`scripts/setup.sh` installs it), runs once per test binary on a free
//! loopback port in its own folder, and ends with the process. Each test gets its own database. Without PostgreSQL the
//! tests fail; they are never skipped.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sqlx::{Connection, Executor, PgConnection};
use tempfile::TempDir;
use tidewatch_accounts::secrets::seal::Sealer;
use tidewatch_accounts::{Control, Location};
use tidewatch_server::config::Config;
use tokio::sync::OnceCell;

use super::ports::free_address;

/// The control database of one test.
pub struct On {
    /// None for SQLite.
    pub url: Option<String>,
    /// The data directory of tests without a server.
    folder: TempDir,
}

impl On {
    pub fn sqlite() -> On {
        On { url: None, folder: TempDir::new().expect("a temporary directory") }
    }

    /// A migrated database without rows on the test binary's server.
    pub async fn postgres() -> On {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let server = server().await;
        let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let mut admin = PgConnection::connect(&server.url("postgres")).await.expect("a connection");
        let create = format!("CREATE DATABASE {name} TEMPLATE {MIGRATED}");
        admin.execute(sqlx::AssertSqlSafe(create)).await.expect("a database");
        On { url: Some(server.url(&name)), folder: TempDir::new().expect("a temporary directory") }
    }

    /// Sets this database in a configuration. All nodes have the same keys.
    pub fn setting(&self) -> Arc<dyn Fn(&mut Config) + Send + Sync> {
        let url = self.url.clone();
        Arc::new(move |config| {
            config.database_url.clone_from(&url);
            if url.is_some() {
                config.secrets_key = Some("a key for secrets that every node has".to_owned());
                config.jwt_secret = Some("a key for logins that every node has".to_owned());
            }
        })
    }

    /// The location for `Control::open`, in tests without a server.
    pub fn location(&self) -> Location {
        match &self.url {
            Some(url) => Location::postgres(url).expect("an address of PostgreSQL"),
            None => Location::file(&self.folder.path().join("control.sqlite")),
        }
    }
}

/// A module with two tests, `sqlite` and `postgres`, for each function.
macro_rules! on_both {
    ($($(#[$meta:meta])* async fn $name:ident($database:ident) $body:block)*) => {$(
        $(#[$meta])*
        mod $name {
            use super::*;

            #[tokio::test]
            async fn sqlite() {
                let $database = $crate::engines::On::sqlite();
                $body
            }

            #[tokio::test]
            async fn postgres() {
                let $database = $crate::engines::On::postgres().await;
                $body
            }
        }
    )*};
}

struct Server {
    port: u16,
    /// Stops the server when its standard input closes, which happens however this process ends.
    _keeper: Child,
}

impl Server {
    fn url(&self, database: &str) -> String {
        format!("postgres://tidewatch@127.0.0.1:{}/{database}", self.port)
    }
}

async fn server() -> &'static Server {
    static SERVER: OnceCell<Server> = OnceCell::const_new();
    SERVER
        .get_or_init(|| async {
            let server = start().await;
            migrate(&server).await;
            server
        })
        .await
}

/// The database that those of the tests are copies of: a copy takes less time than all migrations.
const MIGRATED: &str = "migrated";

async fn migrate(server: &Server) {
    let mut admin = PgConnection::connect(&server.url("postgres")).await.expect("a connection");
    let create = format!("CREATE DATABASE {MIGRATED}");
    admin.execute(sqlx::AssertSqlSafe(create)).await.expect("a database");
    let location = Location::postgres(&server.url(MIGRATED)).expect("an address of PostgreSQL");
    let control = Control::open(&location, Sealer::new(&[0; 32])).await.expect("migrations");
    control.database().close().await;
    // What the first node has written, which each test's first node writes again with its own key.
    let mut database = PgConnection::connect(&server.url(MIGRATED)).await.expect("a connection");
    database.execute("DELETE FROM facts").await.expect("no facts");
    database.close().await.expect("the connection ends");
}

/// Reads until this process has ended, then stops the server and removes its folder.
const KEEPER: &str = r#"
dir=$1 bin=$2 port=$3
trap '' INT
as() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
[ "$(id -u)" != 0 ] || chown postgres "$dir"
cd "$dir"
if as "$bin/initdb" -D "$dir/data" -U tidewatch -A trust -E UTF8 --locale=C.UTF-8 --no-sync >"$dir/log" 2>&1; then
  as "$bin/postgres" -D "$dir/data" -p "$port" -h 127.0.0.1 -k "$dir" -c fsync=off -c full_page_writes=off \
    -c synchronous_commit=off -c autovacuum=off -c max_connections=500 >>"$dir/log" 2>&1 </dev/null &
  read -r _
  as "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1
  wait
else
  read -r _
fi
cd /
rm -rf "$dir"
"#;

async fn start() -> Server {
    let bin = newest(Path::new("/usr/lib/postgresql")).unwrap_or_else(|| {
        panic!("PostgreSQL is not installed: the account tests need its server (apt-get install postgresql)")
    });
    // The keeper removes it after the server has stopped.
    let folder = tempfile::Builder::new().prefix("tidewatch-pg-").tempdir().expect("a temporary directory").keep();
    let address: SocketAddr = free_address().parse().expect("an address");
    let port = address.port();
    let keeper = Command::new("sh")
        .args(["-c", KEEPER, "keeper"])
        .arg(&folder)
        .arg(&bin)
        .arg(port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("sh starts");
    let server = Server { port, _keeper: keeper };
    let began = Instant::now();
    loop {
        match PgConnection::connect(&server.url("postgres")).await {
            Ok(_) => return server,
            Err(error) if began.elapsed() > Duration::from_secs(60) => {
                let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
                panic!("PostgreSQL did not start: {error}\n{log}");
            }
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

/// The folder with the programs of the newest installed version.
fn newest(folder: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(folder).ok()?.flatten();
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest =
        versions.map(|entry| entry.path()).filter(|path| path.join("bin/postgres").exists()).max_by_key(number)?;
    Some(newest.join("bin"))
}
