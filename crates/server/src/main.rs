//! `tidewatch`: the command line over [`tidewatch_server`].

#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use tidewatch_bench as bench;
use tidewatch_bench::demo;
use tidewatch_probes::browser::{sandbox, worker};
use tidewatch_runtime::files;
use tidewatch_server::app::Environment;
use tidewatch_server::cli::{admin, browser_runner as runner, export, symbols};
use tidewatch_server::config::{self, Config, Loaded};
use tidewatch_server::engine::GeneratedData;
use tidewatch_server::http::setup_code;
use tidewatch_server::listen::ListenAddress;
use tidewatch_server::process::{logging, memory};
use tidewatch_server::{backup, cli, http, serve};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Takes OpenTelemetry over HTTP, stores it in one directory, shows it in the browser.
#[derive(Debug, Parser)]
#[command(name = "tidewatch", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Starts the server.
    Serve(Config),
    /// Looks at the configuration that `serve` would start with; alerting, monitors, on-call and saved views as files.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Prints the OpenAPI document of the HTTP API.
    Openapi,
    /// Accounts, for those locked out. Works on the control database itself, with or without a running server.
    #[command(subcommand)]
    Admin(admin::AdminCommand),
    /// Copies the data directory, also while a server uses it, and verifies the copy.
    Backup(backup::BackupArgs),
    /// Writes a backup into an empty data directory, and verifies it.
    Restore(backup::RestoreArgs),
    /// Verifies everything in the data directory, or in a backup: checksums, rows, roll-ups, journal, databases.
    /// Changes nothing.
    Check(Config),
    /// Writes a table's rows as Parquet, NDJSON or CSV, from a running server (--url) or a data directory that none
    /// uses.
    Export(export::ExportArgs),
    /// Sends a fictional shop's traffic to a running server.
    Demo(demo::DemoArgs),
    /// Debug files, mappings and source maps: sends them, looks into them, resolves stack traces with them.
    #[command(subcommand)]
    Symbols(symbols::SymbolsCommand),
    /// Measures servers: exports and reads at any OTLP/HTTP server, and data to read.
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Makes checks by a browser for servers with SYNTHETICS_BROWSER_MODE=remote.
    BrowserRunner(runner::RunnerArgs),
    /// Makes one check by a browser. The server starts it.
    #[command(hide = true)]
    BrowserWorker,
    /// Becomes a program of such a check, without what it does not need. The worker starts it.
    #[command(hide = true)]
    BrowserProcess(sandbox::ProcessArgs),
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Says whether it can be used.
    Check(Config),
    /// Prints every setting, its value and where it comes from.
    Show(Config),
    /// Prints the list of all settings, as Markdown.
    Docs,
    /// Writes channels, rules, monitors, status pages, teams, schedules, escalation policies and saved views of a
    /// project as YAML files.
    Export(cli::config::ExportArgs),
    /// Prints what `apply` would do. The exit code is 2 if that is anything, 0 if it is nothing, 1 after an error.
    Plan(cli::config::ApplyArgs),
    /// Changes a server so that it is as YAML files say.
    Apply(cli::config::ApplyArgs),
}

/// The exit code of a plan that is not empty.
const CHANGES: u8 = 2;

fn main() -> ExitCode {
    logging::start();
    let command = Arguments::parse().command;
    let is_server = matches!(command, Command::Serve(_));
    let done = match command {
        Command::Serve(config) => load(&["serve"], config).and_then(|loaded| {
            memory::shorten_purge_delay();
            files::restrict_umask();
            // Called before other threads start: they inherit this thread's scheduling, unless they run in the
            // background.
            tidewatch_lake::latency_sensitive();
            start(loaded)
        }),
        Command::Config(ConfigCommand::Check(config)) => {
            load(&["config", "check"], config).map(|_| print_line("the configuration can be used"))
        }
        Command::Config(ConfigCommand::Show(config)) => {
            load(&["config", "show"], config).map(|loaded| print_line(loaded.shown().trim_end()))
        }
        Command::Config(ConfigCommand::Docs) => {
            print_line(config::show::documentation(&Config::augment_args(clap::Command::new("serve"))).trim_end());
            Ok(())
        }
        Command::Config(ConfigCommand::Export(arguments)) => cli::config::export(&arguments, print_line),
        Command::Config(ConfigCommand::Plan(arguments)) => match cli::config::plan(&arguments, print_line) {
            Ok(true) => return ExitCode::from(CHANGES),
            done => done.map(drop),
        },
        Command::Config(ConfigCommand::Apply(arguments)) => cli::config::apply(&arguments, print_line),
        Command::Openapi => print_openapi(),
        Command::Admin(command) => administer(&command),
        Command::Backup(arguments) => load(&["backup"], arguments.config.clone())
            .and_then(|loaded| backup::backup(&arguments, &loaded.config, print_line)),
        Command::Restore(arguments) => load(&["restore"], arguments.config.clone())
            .and_then(|loaded| backup::restore(&arguments, &loaded.config, print_line)),
        Command::Check(config) => {
            load(&["check"], config).and_then(|loaded| backup::check::run(&loaded.config, print_line))
        }
        Command::Export(arguments) => {
            load(&["export"], arguments.config.clone()).and_then(|loaded| export::run(&arguments, &loaded.config))
        }
        Command::Demo(arguments) => demo::run(&arguments, print_line),
        Command::Symbols(command) => symbols::run(&command, print_line),
        Command::Bench(command) => bench::run(&command, &GeneratedData, print_line),
        Command::BrowserRunner(arguments) => run_browsers(arguments),
        Command::BrowserWorker => worker::run(),
        Command::BrowserProcess(arguments) => sandbox::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(wrong) = error.downcast_ref::<clap::Error>() {
                wrong.exit();
            }
            match is_server {
                true => tracing::error!("{error:#}"),
                // For the terminal and CI, not for a log.
                false => {
                    let _ = writeln!(std::io::stderr(), "error: {error:#}");
                }
            }
            ExitCode::FAILURE
        }
    }
}

/// Reads the effective configuration: flags, environment, configuration file, defaults. `names`: path of the subcommand
/// that the flags belong to.
fn load(names: &[&str], first: Config) -> anyhow::Result<Loaded> {
    Loaded::new(Arguments::command(), names, std::env::args_os(), first.config_file.as_deref())
}

#[tokio::main]
async fn administer(command: &admin::AdminCommand) -> anyhow::Result<()> {
    let (name, arguments) = command.arguments();
    let loaded = load(&["admin", name], arguments.config.clone())?;
    admin::run(command, &loaded.config, print_line).await
}

#[tokio::main]
async fn start(loaded: Loaded) -> anyhow::Result<()> {
    files::raise_open_file_limit();
    tokio::spawn(memory::purge_periodically());
    let config = loaded.config.clone();
    let base_url = config.base_url.clone();
    let ready = |address: &ListenAddress, app: &std::sync::Arc<tidewatch_server::app::App>| {
        let url = base_url.unwrap_or_else(|| address.url());
        print_line(&welcome(
            &url,
            app.accounts.control.people.has_organizations(),
            setup_code::expected(&app.accounts, &app.process),
        ));
    };
    let mut known = loaded;
    let settings = move || {
        let now = load(&["serve"], known.config.clone())?;
        let changed = now.changed_since(&known);
        known = now;
        Ok((known.config.clone(), changed))
    };
    let environment = Environment { settings: Some(Box::new(settings)), ..Environment::real() };
    serve::serve(config, environment, ready, serve::signalled()).await
}

#[tokio::main]
async fn run_browsers(arguments: runner::RunnerArgs) -> anyhow::Result<()> {
    files::restrict_umask();
    let ready = |address: &ListenAddress| print_line(&format!("The browser runner is ready at {}", address.url()));
    runner::run(arguments, ready, serve::signalled()).await
}

/// The message at the start: the address, and how to send the first span.
fn welcome(url: &str, has_account: bool, setup_code: Option<String>) -> String {
    let first = match (has_account, setup_code) {
        (true, _) => String::new(),
        (false, code) => {
            let with = code.map(|code| format!(" with the setup code {code}")).unwrap_or_default();
            format!("\nFirst, open it in a browser and register{with}; the Connect page shows your project's token.")
        }
    };
    let program = std::env::args().next().unwrap_or_else(|| "tidewatch".to_owned());
    format!(
        "Tidewatch is ready at {url}{first}

Send the first span from any OpenTelemetry SDK:
    export OTEL_EXPORTER_OTLP_ENDPOINT={url}/api/otel
    export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
    export OTEL_EXPORTER_OTLP_HEADERS=\"Authorization=Bearer%20<PROJECT_TOKEN>\"
or sample traffic: {program} demo --url {url}"
    )
}

fn print_openapi() -> anyhow::Result<()> {
    write!(std::io::stdout(), "{}", http::openapi::document())?;
    Ok(())
}

/// Prints a line; a closed standard output is ignored.
fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
