//! The configuration file: TOML, one key per setting, below flags and environment and above the defaults.
//!
//! ```toml
//! listen = ["0.0.0.0:8080", "unix:/run/tidewatch/http.sock"]
//! retention_days = 90
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use clap::Command;
use toml::{Table, Value};

/// Settings of a file: name and value, the value as on the command line.
pub type FileSettings = BTreeMap<String, String>;

/// Reads the file. An error if it cannot be read, or if a key is not a setting of `command`.
pub fn read(path: &Path, command: &Command) -> anyhow::Result<FileSettings> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text, command).with_context(|| format!("{} cannot be used", path.display()))
}

/// Parses the content of a file.
pub fn parse(text: &str, command: &Command) -> anyhow::Result<FileSettings> {
    let table: Table = text.parse()?;
    let known: Vec<&str> = settings(command).map(|argument| argument.get_id().as_str()).collect();
    let mut found = FileSettings::new();
    for (key, value) in table {
        if !known.contains(&key.as_str()) {
            match nearest(&key, &known) {
                Some(near) => bail!("{key} is no setting; did you mean {near}?"),
                None => bail!("{key} is no setting"),
            }
        }
        let text =
            as_text(&value).with_context(|| format!("{key} must be a text, a number, true or false, or a list"))?;
        found.insert(key, text);
    }
    Ok(found)
}

/// The settings of a command: its arguments without those that clap adds and the file itself.
pub fn settings(command: &Command) -> impl Iterator<Item = &clap::Arg> {
    command.get_arguments().filter(|argument| {
        argument.get_env().is_some() && !matches!(argument.get_id().as_str(), "help" | "version" | "config")
    })
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(flag) => Some(flag.to_string()),
        Value::Array(values) => values.iter().map(as_text).collect::<Option<Vec<_>>>().map(|strings| strings.join(",")),
        Value::Datetime(_) | Value::Table(_) => None,
    }
}

/// The command with the file's values as defaults.
pub fn with_defaults(command: Command, file: &FileSettings) -> Command {
    file.iter().fold(command, |command, (key, value)| {
        // clap requires defaults that live as long as the process; there are few, read once.
        let value: &'static str = String::leak(value.clone());
        command.mut_arg(key.clone(), |argument| argument.default_value(value))
    })
}

/// The known name with the smallest edit distance, if that is small enough to be a typo.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let (changes, near) = known.iter().map(|name| (changes(word, name), *name)).min()?;
    (changes <= 1 + word.len() / 3).then_some(near)
}

/// The edit distance of two words: letters to insert, remove or replace.
fn changes(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = above + 1;
        for (at, expected) in other.iter().enumerate() {
            let replaced = corner + usize::from(letter != *expected);
            corner = row[at + 1];
            row[at + 1] = replaced.min(corner + 1).min(row[at] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use clap::{Args, FromArgMatches};

    fn command() -> Command {
        Config::augment_args(Command::new("serve"))
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let error = format!("{:#}", parse(text, &command()).expect_err(text));
        assert!(error.contains(expected), "{text}: {error}");
    }

    #[test]
    fn the_file_is_below_flags_and_above_defaults() {
        let file = parse("listen = [\"127.0.0.1:1\", \"[::1]:2\"]\nretention_days = 7\nflush_rows = 5", &command());
        let command = with_defaults(command(), &file.expect("good settings"));
        let matches = command.get_matches_from(["serve", "--flush-rows", "9"]);
        let config = Config::from_arg_matches(&matches).expect("a configuration");
        let listen: Vec<String> = config.listen.iter().map(ToString::to_string).collect();
        assert_eq!(listen, ["127.0.0.1:1", "[::1]:2"]);
        assert_eq!((config.retention_days, config.flush_rows, config.flush_seconds), (7, 9, 30));
    }

    #[test]
    fn unknown_keys_suggest_the_nearest_setting() {
        refused("retention_day = 7", "retention_day is no setting; did you mean retention_days?");
        refused("trusted_proxy = \"*\"", "did you mean trusted_proxies?");
        refused("colour = \"red\"", "colour is no setting");
        refused("help = true", "help is no setting");
        refused("[limits]\na = 1", "limits is no setting");
        refused("data_dir = { a = 1 }", "data_dir must be a text");
        refused("retention_days = ", "TOML parse error");
    }

    #[test]
    fn edit_distances() {
        for (one, other, expected) in
            [("", "", 0), ("a", "", 1), ("abc", "abc", 0), ("abc", "acb", 2), ("kitten", "sitting", 3)]
        {
            assert_eq!(changes(one, other), expected, "{one} {other}");
            assert_eq!(changes(other, one), expected, "{other} {one}");
        }
    }
}
