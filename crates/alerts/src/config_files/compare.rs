//! Differences between files and the server.
//!
//! A key that the file does not have is left as it is, except in maps whose keys users choose. Null, an empty string and
//! an empty list are the same as no value. A secret cannot be compared.

use std::fmt::{self, Display, Formatter};

use serde_json::{Map, Value};

use super::Variables;
use super::kinds::Kind;
use super::reference::{self, MASK};

/// The most characters of a value in a line.
const SHOWN_CHARS_MAX: usize = 60;

/// A value that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Keys and indexes from the object.
    pub path: Vec<String>,
    /// On the server; `None`: no value.
    pub before: Option<Value>,
    /// In the file; `None`: no value.
    pub after: Option<Value>,
}

impl Display for Change {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let path = self.path.join(".");
        let name = path.strip_prefix("config.").unwrap_or(&path);
        write!(out, "{name} {} -> {}", shown(self.before.as_ref()), shown(self.after.as_ref()))
    }
}

fn shown(value: Option<&Value>) -> String {
    let value = match value {
        None => return "(none)".to_owned(),
        Some(Value::String(value)) if value == MASK => return "(secret)".to_owned(),
        Some(Value::String(value)) if reference::variable(value).is_some() => return value.clone(),
        Some(value) => value.to_string(),
    };
    match value.char_indices().nth(SHOWN_CHARS_MAX) {
        None => value,
        Some((end, _)) => format!("{}... ({} characters)", &value[..end], value.chars().count()),
    }
}

/// Compares an object of a file with that of the server.
pub struct Comparison<'a> {
    /// The kind of both.
    pub kind: &'a Kind,
    /// What references to secrets stand for.
    pub variables: Variables<'a>,
    /// Whether a secret counts as a difference.
    pub with_secrets: bool,
    /// What differs.
    pub changes: Vec<Change>,
    /// Sentences about what cannot be compared, with their paths.
    pub faults: Vec<(Vec<String>, String)>,
}

impl Comparison<'_> {
    /// Compares the keys of `file`.
    pub fn objects(&mut self, file: &Map<String, Value>, server: &Map<String, Value>) {
        self.maps(&mut Vec::new(), file, server);
        self.changes.sort_by(|a, b| a.path.cmp(&b.path));
    }

    fn maps(&mut self, path: &mut Vec<String>, file: &Map<String, Value>, server: &Map<String, Value>) {
        let is_open = self.kind.is_open(path);
        for (key, value) in file {
            path.push(key.clone());
            self.values(path, value, server.get(key));
            path.pop();
        }
        for (key, value) in server.iter().filter(|(key, _)| is_open && !file.contains_key(*key)) {
            path.push(key.clone());
            self.change(path, Some(value), None);
            path.pop();
        }
    }

    fn values(&mut self, path: &mut Vec<String>, file: &Value, server: Option<&Value>) {
        let server = server.filter(|value| !is_absent(value));
        match (file, server) {
            (file, None) if is_absent(file) => {}
            (file, Some(server)) if is_absent(file) => self.change(path, Some(server), None),
            (Value::String(value), server) if reference::variable(value).is_some() => {
                self.secrets(path, value, server);
            }
            (Value::Object(file), None) => self.maps(path, file, &Map::new()),
            (Value::Object(file), Some(Value::Object(server))) => self.maps(path, file, server),
            (Value::Array(file), Some(Value::Array(server)))
                if file.len() == server.len() && file.iter().any(Value::is_object) =>
            {
                for (index, (file, server)) in file.iter().zip(server).enumerate() {
                    path.push(index.to_string());
                    self.values(path, file, Some(server));
                    path.pop();
                }
            }
            (_, Some(Value::String(server))) if server == MASK => {
                self.faults
                    .push((path.clone(), "the server keeps this secret: write a reference such as ${env:NAME}".into()));
            }
            (file, Some(server)) if is_equal(file, server) => {}
            (file, server) => self.change(path, server, Some(file)),
        }
    }

    /// A reference, and what the server has.
    fn secrets(&mut self, path: &[String], value: &str, server: Option<&Value>) {
        let variable = reference::variable(value).expect("the caller passes references");
        let is_changed = match server {
            None => true,
            Some(server) if server.as_str() == Some(MASK) => self.with_secrets,
            Some(server) => match (self.variables)(variable) {
                Some(known) => server.as_str() != Some(&known),
                None => {
                    self.faults.push((path.to_vec(), format!("the variable {variable} is not set")));
                    false
                }
            },
        };
        if is_changed {
            self.change(path, server, Some(&value.into()));
        }
    }

    fn change(&mut self, path: &[String], before: Option<&Value>, after: Option<&Value>) {
        self.changes.push(Change { path: path.to_vec(), before: before.cloned(), after: after.cloned() });
    }
}

fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(value) => value.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    }
}

fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b)),
        _ => a == b,
    }
}

/// The whole object: what the file says, and what the server has where the file says nothing. Masked secrets that the
/// file does not have stay masked, which keeps the stored ones.
pub fn merged(
    kind: &Kind,
    file: &Map<String, Value>,
    server: &Map<String, Value>,
    changes: &[Change],
) -> Map<String, Value> {
    merged_maps(kind, &mut Vec::new(), file, server, changes)
}

fn merged_maps(
    kind: &Kind,
    path: &mut Vec<String>,
    file: &Map<String, Value>,
    server: &Map<String, Value>,
    changes: &[Change],
) -> Map<String, Value> {
    let mut all = if kind.is_open(path) { Map::new() } else { server.clone() };
    for (key, value) in file {
        path.push(key.clone());
        let is_changed = changes.iter().any(|change| change.path.starts_with(path));
        match (value, server.get(key)) {
            (Value::Object(file), Some(Value::Object(server))) => {
                all.insert(key.clone(), merged_maps(kind, path, file, server, changes).into());
            }
            (value, Some(Value::String(server))) if server == MASK && !is_absent(value) => {
                all.insert(key.clone(), value.clone());
            }
            // What is equal stays as the server has it, with what the file does not say.
            (_, Some(server)) if !is_changed => {
                all.insert(key.clone(), server.clone());
            }
            // An object without a key has its default; a request without one keeps the stored value.
            (Value::Null, _) if path.len() > 1 => {
                all.remove(key);
            }
            (value, _) => {
                all.insert(key.clone(), value.clone());
            }
        }
        path.pop();
    }
    all
}
