//! Settings as shown to people: effective values with their sources (`config show`), and the list of all settings
//! (`docs/operate/configuration.md`).

use std::ffi::{OsStr, OsString};
use std::fmt::Write;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use super::file::{FileSettings, settings};

const SECRET: &str = "(secret)";

/// One line per setting: name, value and source.
pub fn effective(command: &Command, matches: &ArgMatches, file: &FileSettings) -> String {
    let mut text = String::new();
    for argument in settings(command) {
        let id = argument.get_id().as_str();
        let source = match matches.value_source(id) {
            Some(ValueSource::CommandLine) => "flag",
            Some(ValueSource::EnvVariable) => "environment",
            _ if file.contains_key(id) => "file",
            _ => "default",
        };
        let values: Vec<String> =
            matches.get_raw(id).into_iter().flatten().map(|value| value.to_string_lossy().into_owned()).collect();
        let value = match values.is_empty() {
            true => "(not set)".to_owned(),
            false if argument.is_hide_env_values_set() => SECRET.to_owned(),
            false => values.join(","),
        };
        let _ = writeln!(text, "{id} = {value}  # {source}");
    }
    text
}

/// Names of the settings whose values differ.
pub fn changed(command: &Command, before: &ArgMatches, now: &ArgMatches) -> Vec<String> {
    let values = |matches: &ArgMatches, id: &str| -> Vec<OsString> {
        matches.get_raw(id).into_iter().flatten().map(OsStr::to_owned).collect()
    };
    let ids = settings(command).map(|argument| argument.get_id().as_str());
    ids.filter(|id| values(before, id) != values(now, id)).map(str::to_owned).collect()
}

/// The content of `docs/operate/configuration.md`.
pub fn documentation(command: &Command) -> String {
    let mut text = String::from(
        "# Configuration\n\nGenerated from `crates/server/src/config` by a test (`make snapshots`); `tidewatch \
         config docs` prints it.\n\nA flag of `tidewatch serve` takes precedence over its environment variable \
         (secrets have no flag, because other users of the machine could see it), then the configuration file \
         (`--config`, `TIDEWATCH_CONFIG`: TOML, one key per setting), then the default. An unknown key in the \
         file is an error that suggests the nearest setting. `tidewatch config check` validates all settings, \
         `tidewatch config show` prints the effective values and their sources.\n\nOn SIGHUP (`systemctl reload`) \
         the server reloads certificates and the file; `trusted_proxies` and `trusted_proxy_header` take effect \
         at once, and the log lists other changed settings, which require a restart.\n\n\
         | Setting | Flag | Environment | Default | |\n|---|---|---|---|---|\n",
    );
    for argument in settings(command) {
        let id = argument.get_id();
        let flag = match argument.is_hide_env_values_set() {
            // Flags for secrets are rejected: `config/mod.rs`.
            true => "(no flag)".to_owned(),
            false => format!("`--{}`", argument.get_long().unwrap_or_default()),
        };
        let environment = argument.get_env().unwrap_or_default().to_string_lossy();
        let default = default(argument);
        let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "| `{id}` | {flag} | `{environment}` | {default} | {help} |");
    }
    text
}

fn default(argument: &Arg) -> String {
    let values: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if values.is_empty() { String::new() } else { format!("`{}`", values.join(",")) }
}
