//! Parses and validates the configuration from flags, environment and file.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, bail};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::file::{self, FileSettings};
use super::{Config, show};

/// A validated configuration with its sources.
pub struct Loaded {
    /// The effective settings.
    pub config: Config,
    command: Command,
    matches: ArgMatches,
    file: FileSettings,
}

impl Loaded {
    /// Parses `words` (including the program's name) as the subcommand `names` of `root`. The file's values apply where
    /// neither flags nor environment set a value.
    pub fn new(
        root: Command,
        names: &[&str],
        words: impl IntoIterator<Item = OsString>,
        file: Option<&Path>,
    ) -> anyhow::Result<Loaded> {
        let mut file_settings = FileSettings::new();
        if let Some(path) = file {
            file_settings = file::read(path, &Config::augment_args(Command::new("settings")))?;
        }
        let root = within(root, names, &|command| file::with_defaults(command, &file_settings));
        let mut matches = root.clone().try_get_matches_from(words)?;
        let mut command = root;
        for name in names {
            let (_, inner) = matches.remove_subcommand().context("the words name another subcommand")?;
            command = command.find_subcommand(name).context("there is no such subcommand")?.clone();
            matches = inner;
        }
        refuse_secret_flags(&command, &matches)?;
        let config = Config::from_arg_matches(&matches)?;
        config.check()?;
        Ok(Loaded { config, command, matches, file: file_settings })
    }

    /// Names of the settings whose values differ from `before`.
    pub fn changed_since(&self, before: &Loaded) -> Vec<String> {
        show::changed(&self.command, &before.matches, &self.matches)
    }

    /// The effective settings, one line each.
    pub fn shown(&self) -> String {
        show::effective(&self.command, &self.matches, &self.file)
    }
}

/// Rejects secrets on the command line, which every user of the machine can read. Secrets are passed in the environment
/// or a file.
fn refuse_secret_flags(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    let secrets = file::settings(command).filter(|argument| argument.is_hide_env_values_set());
    for argument in secrets {
        if matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine) {
            let (flag, id) = (argument.get_long().unwrap_or_default(), argument.get_id());
            let variable = argument.get_env().unwrap_or_default().to_string_lossy();
            bail!(
                "--{flag} would show the secret to every user of this machine; set {variable}, {variable}_FILE, or {id} in the file"
            );
        }
    }
    Ok(())
}

/// Applies `change` to the subcommand `names`.
fn within(command: Command, names: &[&str], change: &dyn Fn(Command) -> Command) -> Command {
    match names {
        [] => change(command),
        [name, rest @ ..] => command.mut_subcommand(*name, |inner| within(inner, rest, change)),
    }
}
