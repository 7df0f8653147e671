//! Reads files, and checks what can be checked without a server.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Faults;
use super::kinds::{self, KINDS, Kind};
use super::reference::{self, MASK};
use super::yaml::{self, Content, Fault, Key, Node};

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its name, for people.
    pub name: String,
    /// Its content.
    pub content: String,
}

/// Objects that files describe.
#[derive(Debug, Default)]
pub struct Files {
    /// The kinds that the files describe; others are left alone.
    pub kinds: Vec<&'static Kind>,
    /// The objects, in the order of the files.
    pub described: Vec<Described>,
}

/// An object of a file.
#[derive(Debug, Clone)]
pub struct Described {
    /// Its kind.
    pub kind: &'static Kind,
    /// Its id on the server, which keeps it the same object when its name changes.
    pub id: Option<Value>,
    /// Fields of the file, with names and references to secrets.
    pub fields: Map<String, Value>,
    file: String,
    /// The line of each value by its path; the object has the empty path.
    lines: BTreeMap<Vec<String>, usize>,
}

impl Described {
    /// A sentence about the value at a path, with its file and line.
    pub fn fault(&self, path: &[String], message: &str) -> String {
        let known = (0..=path.len()).rev().find_map(|end| self.lines.get(&path[..end]));
        format!("{}:{}: {message}", self.file, known.copied().unwrap_or(1))
    }

    /// The reference to a secret at a path.
    pub fn reference(&self, path: &[String]) -> Option<&str> {
        let mut value = self.fields.get(path.first()?)?;
        for step in &path[1..] {
            value = match value {
                Value::Object(entries) => entries.get(step)?,
                Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        value.as_str().filter(|value| reference::variable(value).is_some())
    }
}

/// Reads the files of a project.
pub fn read(sources: &[Source], project: &str) -> Result<Files, Faults> {
    let mut files = Files::default();
    let mut faults = Vec::new();
    for source in sources {
        let mut reader = Reader { file: &source.name, project, faults: Vec::new() };
        match yaml::parse(&source.content) {
            Ok(node) => reader.file(node, &mut files),
            Err(fault) => reader.faults.push(fault),
        }
        let named = reader.faults.into_iter();
        faults.extend(named.map(|fault| format!("{}:{}: {}", source.name, fault.line, fault.message)));
    }
    faults.extend(duplicates(&files.described));
    files.kinds.sort_by_key(|kind| KINDS.iter().position(|known| known.listing == kind.listing));
    if faults.is_empty() { Ok(files) } else { Err(Faults(faults)) }
}

/// Objects that cannot be distinguished.
fn duplicates(described: &[Described]) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, one) in described.iter().enumerate() {
        let is_same = |other: &&Described| {
            let is_same_id = one.id.is_some() && one.id == other.id;
            let has_ids = one.id.is_some() && other.id.is_some();
            let identity = |one: &Described| one.kind.listing.identity(&one.fields);
            one.kind.listing == other.kind.listing && (is_same_id || !has_ids && identity(one) == identity(other))
        };
        if let Some(first) = described[..index].iter().find(is_same) {
            let title = one.kind.listing.title(&one.fields);
            let message =
                format!("{title} is described twice, first in {}", first.fault(&[], "").trim_end_matches([':', ' ']));
            faults.push(one.fault(&[], &message));
        }
    }
    faults
}

struct Reader<'a> {
    file: &'a str,
    project: &'a str,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn refuse(&mut self, line: usize, message: impl Into<String>) {
        self.faults.push(Fault::at(line, message));
    }

    fn file(&mut self, node: Option<Node>, files: &mut Files) {
        let Some(node) = node else { return };
        let Content::Map(entries) = node.content else {
            return self.refuse(node.line, "a file is a map of kinds, such as \"rules:\"");
        };
        let of_project = entries.iter().position(|(key, _)| key.name == "project");
        let mut has_project = false;
        if let Some((_, node)) = of_project.map(|index| &entries[index]) {
            has_project = matches!(&node.content, Content::Scalar(Value::String(id)) if id == self.project);
            if !has_project {
                self.refuse(
                    node.line,
                    format!(
                        "the ids of this file are of another project than {}; delete them and this line",
                        self.project
                    ),
                );
            }
        }
        for (key, node) in entries.into_iter().filter(|(key, _)| key.name != "project") {
            self.kind(&key, node, files);
        }
        if !has_project && of_project.is_none() {
            let with_id = files.described.iter().filter(|one| one.file == self.file && one.id.is_some());
            let lines: Vec<_> = with_id.map(|one| one.lines[&vec!["id".to_owned()]]).collect();
            for line in lines {
                self.refuse(
                    line,
                    "an id needs the key \"project\" in its file: ids of other projects are other objects",
                );
            }
        }
    }

    fn kind(&mut self, key: &Key, node: Node, files: &mut Files) {
        let Some(kind) = kinds::kind(&key.name) else {
            let known: Vec<_> = KINDS.iter().map(|kind| kind.listing.name).collect();
            return self.refuse(key.line, format!("there is no kind {}; the kinds are {}", key.name, known.join(", ")));
        };
        if !files.kinds.iter().any(|known| known.listing == kind.listing) {
            files.kinds.push(kind);
        }
        match node.content {
            Content::List(items) => {
                for item in items {
                    files.described.extend(self.object(kind, item));
                }
            }
            Content::Scalar(Value::Null) => {}
            _ => self.refuse(node.line, format!("{} is a list", key.name)),
        }
    }

    fn object(&mut self, kind: &'static Kind, node: Node) -> Option<Described> {
        let (line, one) = (node.line, kind.listing.one);
        let Content::Map(entries) = node.content else {
            self.refuse(line, format!("a {one} is a map"));
            return None;
        };
        let known = kind.file_keys();
        let mut described = Described {
            kind,
            id: None,
            fields: Map::new(),
            file: self.file.to_owned(),
            lines: BTreeMap::from([(Vec::new(), line)]),
        };
        for (key, node) in entries {
            if key.name != "id" && !known.contains(&key.name.as_str()) {
                let known = known.join(", ");
                self.refuse(key.line, format!("a {one} has no key {}; its keys are id, {known}", key.name));
                continue;
            }
            let mut path = vec![key.name.clone()];
            let value = self.value(kind, node, key.line, &mut path, &mut described.lines);
            if key.name != "id" {
                described.fields.insert(key.name, value);
            } else if value.is_i64() || value.is_string() {
                described.id = Some(value);
            } else {
                self.refuse(key.line, "an id is a number or a string");
            }
        }
        for key in kind.listing.identity {
            let is_name = |value: &Value| {
                value.as_str().is_some_and(|value| !value.trim().is_empty() && reference::variable(value).is_none())
            };
            if !described.fields.get(*key).is_some_and(is_name) {
                let line = described.lines.get(&vec![(*key).to_owned()]).copied().unwrap_or(line);
                self.refuse(line, format!("the {one} needs a {key}: a string"));
                return None;
            }
        }
        Some(described)
    }

    /// Converts a value, and notes the lines of what is in it.
    fn value(
        &mut self,
        kind: &Kind,
        node: Node,
        line: usize,
        path: &mut Vec<String>,
        lines: &mut BTreeMap<Vec<String>, usize>,
    ) -> Value {
        lines.insert(path.clone(), line);
        match node.content {
            Content::Scalar(value) => {
                let is_reference = value.as_str().is_some_and(|value| reference::variable(value).is_some());
                let is_absent = value.is_null() || value.as_str() == Some("");
                if value.as_str() == Some(MASK) {
                    self.refuse(line, "this is a masked secret; write a reference such as ${env:NAME}");
                } else if kind.is_secret(path) && !is_reference && !is_absent {
                    self.refuse(line, "a secret is written as a reference such as ${env:NAME}");
                }
                value
            }
            Content::List(items) => {
                let mut values = Vec::new();
                for (index, item) in items.into_iter().enumerate() {
                    path.push(index.to_string());
                    let line = item.line;
                    values.push(self.value(kind, item, line, path, lines));
                    path.pop();
                }
                Value::Array(values)
            }
            Content::Map(entries) => {
                let mut values = Map::new();
                for (key, node) in entries {
                    path.push(key.name.clone());
                    let value = self.value(kind, node, key.line, path, lines);
                    path.pop();
                    values.insert(key.name, value);
                }
                Value::Object(values)
            }
        }
    }
}
