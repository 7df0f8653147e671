//! Writes what is on a server as files.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::Faults;
use super::emit;
use super::files::{Files, Source};
use super::kinds::Kind;
use super::names::{self, Entry, Names};
use super::reference::{self, MASK};
use super::server::World;

/// The files of an export.
#[derive(Debug, Default)]
pub struct Exported {
    /// One for each kind.
    pub files: Vec<Source>,
    /// Sentences about what the files cannot say.
    pub remarks: Vec<String>,
    /// The variables that the files refer to.
    pub variables: BTreeSet<String>,
}

/// Writes the objects of `kinds`. `project`: writes their ids too, which are those of this project. `known`: files of an
/// earlier export, whose references to secrets are kept.
pub fn export(
    world: &World,
    kinds: &[&'static Kind],
    project: Option<&str>,
    known: &Files,
) -> Result<Exported, Faults> {
    let mut names = Names::default();
    for (list, named) in &world.named {
        for (id, name) in named {
            let (name, id) = (name.clone(), Some(id.clone()));
            names.add(list, Entry { name, id, described: None, is_deleted: false });
        }
    }
    let mut exported = Exported::default();
    let mut faults = Vec::new();
    let secrets = Secrets::of(world, kinds);
    for kind in kinds {
        let listing = &kind.listing;
        let mut objects = Vec::new();
        for stored in world.of(kind) {
            let mut fields = stored.fields.clone();
            let identity = listing.identity(&fields);
            let title = listing.title(&fields);
            names::to_names(kind, &mut fields, &names);
            for (list, id) in names::ids(kind, &stored.fields) {
                if !names.name_of(list, &id).is_string() {
                    exported
                        .remarks
                        .push(format!("{title} names {id} of {list} by its id: it has no name of its own here"));
                }
            }
            let earlier = known.described.iter().find(|one| {
                one.kind.listing == *listing
                    && (one.id.as_ref() == Some(&stored.id) || listing.identity(&one.fields) == identity)
            });
            let mut fields = Value::Object(fields);
            if let Some(value) = first_reference(&fields) {
                faults.push(format!(
                    "{title} has the value {value}, which a file would refer to a secret with: change it"
                ));
            }
            let id = project.map(|_| stored.id.to_string()).unwrap_or_default();
            each_mask(&mut fields, &mut Vec::new(), &mut |path| {
                let earlier = earlier.and_then(|one| one.reference(path));
                let reference = earlier.map_or_else(|| secrets.reference(kind, &identity, &id, path), str::to_owned);
                exported.variables.extend(reference::variable(&reference).map(str::to_owned));
                reference
            });
            if project.is_some() {
                fields["id"] = stored.id.clone();
            }
            objects.push((identity, stored.id.to_string(), fields));
        }
        objects.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        for pair in objects.windows(2).filter(|pair| project.is_none() && pair[0].0 == pair[1].0) {
            let (name, first, second) = (pair[0].0.join(": "), &pair[0].1, &pair[1].1);
            faults.push(format!(
                "more than one {} is named \"{name}\" (ids {first} and {second}): rename one, or export with ids",
                listing.one
            ));
        }
        let mut file = Map::new();
        file.extend(project.map(|project| ("project".to_owned(), json!(project))));
        file.insert(listing.name.to_owned(), objects.into_iter().map(|(.., fields)| fields).collect());
        exported.files.push(Source { name: kind.file_name(), content: emit::document(&Value::Object(file)) });
    }
    if faults.is_empty() { Ok(exported) } else { Err(Faults(faults)) }
}

/// Replaces each masked secret by what `replace` returns for its path.
fn each_mask(value: &mut Value, path: &mut Vec<String>, replace: &mut dyn FnMut(&[String]) -> String) {
    match value {
        Value::String(one) if one == MASK => *one = replace(path),
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                path.push(index.to_string());
                each_mask(item, path, replace);
                path.pop();
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                path.push(key.clone());
                each_mask(value, path, replace);
                path.pop();
            }
        }
        _ => {}
    }
}

/// A value of the server that a file would not have as a value.
fn first_reference(value: &Value) -> Option<&str> {
    match value {
        Value::String(one) => reference::variable(one).map(|_| one.as_str()),
        Value::Array(items) => items.iter().find_map(first_reference),
        Value::Object(entries) => entries.values().find_map(first_reference),
        _ => None,
    }
}

/// The variables of all secrets.
struct Secrets {
    /// Number of secrets by name.
    counts: BTreeMap<String, usize>,
}

impl Secrets {
    fn of(world: &World, kinds: &[&'static Kind]) -> Secrets {
        let mut counts = BTreeMap::new();
        for kind in kinds {
            for stored in world.of(kind) {
                let identity = kind.listing.identity(&stored.fields);
                each_mask(&mut Value::Object(stored.fields.clone()), &mut Vec::new(), &mut |path| {
                    *counts.entry(variable(kind, &identity, path)).or_default() += 1;
                    String::new()
                });
            }
        }
        Secrets { counts }
    }

    /// The reference for a secret. Secrets whose names would be equal have a hash of what distinguishes them, so that
    /// none gets the value of another.
    fn reference(&self, kind: &Kind, identity: &[String], id: &str, path: &[String]) -> String {
        let name = variable(kind, identity, path);
        if self.counts.get(&name).is_none_or(|count| *count < 2) {
            return reference::to(&name);
        }
        let parts = identity.iter().chain(path).map(String::as_str).chain([id]);
        let parts = parts.flat_map(|part| part.bytes().chain([0]));
        let hash =
            parts.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        reference::to(&format!("{name}_{hash:016X}"))
    }
}

/// The name of the variable of a secret.
fn variable(kind: &Kind, identity: &[String], path: &[String]) -> String {
    let path = path.join(".");
    let path = path.strip_prefix("config.").unwrap_or(&path);
    reference::name(&[kind.listing.one, &identity.join(" "), path])
}
