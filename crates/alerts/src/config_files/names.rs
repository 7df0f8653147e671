//! Ids in requests and answers, names in files.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::kinds::{self, Kind, Reference};

/// Something that a file can name.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its name, after the plan.
    pub name: String,
    /// `None`: the plan creates it.
    pub id: Option<Value>,
    /// Its position in the files, if they describe it.
    pub described: Option<usize>,
    /// Whether the plan deletes it.
    pub is_deleted: bool,
}

/// Object of a name in a file.
#[derive(Debug, PartialEq)]
pub enum Found<'a> {
    /// Something of the list.
    Entry(&'a Entry),
    /// A bare id of something that is not in the list, such as a channel of another project.
    Id(Value),
}

/// The names of each list.
#[derive(Debug, Default)]
pub struct Names(BTreeMap<&'static str, Vec<Entry>>);

impl Names {
    /// Adds an entry to a list.
    pub fn add(&mut self, list: &'static str, entry: Entry) {
        self.0.entry(list).or_default().push(entry);
    }

    fn of(&self, list: &str) -> &[Entry] {
        self.0.get(list).map_or(&[], Vec::as_slice)
    }

    /// The name of an id; the id itself if it has none, or shares its name.
    pub fn name_of(&self, list: &str, id: &Value) -> Value {
        let entries = self.of(list);
        let Some(entry) = entries.iter().find(|entry| entry.id.as_ref() == Some(id)) else { return id.clone() };
        let is_unique = entries.iter().filter(|other| other.name == entry.name).count() == 1;
        if is_unique { entry.name.clone().into() } else { id.clone() }
    }

    /// Object of a value in a file. The error is a sentence.
    pub fn find(&self, list: &str, given: &Value) -> Result<Found<'_>, String> {
        let one = kinds::listing(list).map_or(list, |listing| listing.one);
        let entries = self.of(list);
        let with_id = || entries.iter().find(|entry| entry.id.as_ref() == Some(given));
        let named: Vec<&Entry> = match given {
            Value::String(name) => entries.iter().filter(|entry| entry.name == *name).collect(),
            Value::Number(_) => return Ok(with_id().map_or_else(|| Found::Id(given.clone()), Found::Entry)),
            _ => return Err(format!("a {one} is given by its name")),
        };
        match named.as_slice() {
            [] => with_id().map(Found::Entry).ok_or_else(|| format!("there is no {one} {given}")),
            [entry] if entry.is_deleted => Err(format!("the {one} {given} is in no file, and would be deleted")),
            [entry] => Ok(Found::Entry(entry)),
            _ => Err(format!("more than one {one} is named {given}: give the id")),
        }
    }
}

/// Replaces the ids of an object by names.
pub fn to_names(kind: &Kind, fields: &mut Map<String, Value>, names: &Names) {
    let done: Result<(), ()> = each(kind, fields, |reference, container, _| {
        let (Some(list), Some(ids)) = (reference.to.list_of(container), container.remove(reference.id)) else {
            return Ok(());
        };
        let named = map(ids, &mut |_, id| Ok::<_, ()>(names.name_of(list, &id)))?;
        container.insert(reference.name.to_owned(), named);
        Ok(())
    });
    done.expect("no name fails");
}

/// Replaces the names of an object by ids. `id_of` gets the list, the value and its path.
pub fn to_ids<E>(
    kind: &Kind,
    fields: &mut Map<String, Value>,
    mut id_of: impl FnMut(&'static str, Value, &[String]) -> Result<Value, E>,
) -> Result<(), E> {
    each(kind, fields, |reference, container, path| {
        let (Some(list), Some(names)) = (reference.to.list_of(container), container.remove(reference.name)) else {
            return Ok(());
        };
        let mut path = path.to_vec();
        path.push(reference.name.to_owned());
        let ids = map(names, &mut |index, name| {
            path.extend(index.map(|index| index.to_string()));
            let id = id_of(list, name, &path);
            path.truncate(path.len() - usize::from(index.is_some()));
            id
        })?;
        container.insert(reference.id.to_owned(), ids);
        Ok(())
    })
}

/// The ids that an object has, with their lists.
pub fn ids(kind: &Kind, fields: &Map<String, Value>) -> Vec<(&'static str, Value)> {
    let mut found = Vec::new();
    let done: Result<(), ()> = each(kind, &mut fields.clone(), |reference, container, _| {
        if let (Some(list), Some(ids)) = (reference.to.list_of(container), container.get(reference.id)) {
            map(ids.clone(), &mut |_, id| {
                found.push((list, id.clone()));
                Ok::<_, ()>(id)
            })?;
        }
        Ok(())
    });
    done.expect("no step fails");
    found
}

/// Changes one value, or each of a list with its index. Null stays.
fn map<E>(value: Value, change: &mut impl FnMut(Option<usize>, Value) -> Result<Value, E>) -> Result<Value, E> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Array(items) => items.into_iter().enumerate().map(|(index, item)| change(Some(index), item)).collect(),
        one => change(None, one),
    }
}

/// Calls `change` with each reference of a kind, and the maps that may have it with their paths.
fn each<E>(
    kind: &Kind,
    fields: &mut Map<String, Value>,
    mut change: impl FnMut(&'static Reference, &mut Map<String, Value>, &[String]) -> Result<(), E>,
) -> Result<(), E> {
    for reference in kind.references {
        let steps: Vec<&str> = reference.inside.split('.').filter(|step| !step.is_empty()).collect();
        descend(fields, &steps, &mut Vec::new(), &mut |container, path| change(reference, container, path))?;
    }
    Ok(())
}

type OnContainer<'a, E> = &'a mut dyn FnMut(&mut Map<String, Value>, &[String]) -> Result<(), E>;

fn descend<E>(
    container: &mut Map<String, Value>,
    steps: &[&str],
    path: &mut Vec<String>,
    change: OnContainer<'_, E>,
) -> Result<(), E> {
    let Some((step, rest)) = steps.split_first() else { return change(container, path) };
    let Some(value) = container.get_mut(*step) else { return Ok(()) };
    path.push((*step).to_owned());
    match (value, rest.split_first()) {
        (Value::Object(inner), _) => descend(inner, rest, path, change)?,
        (Value::Array(items), Some((&"*", rest))) => {
            for (index, item) in items.iter_mut().enumerate() {
                if let Value::Object(inner) = item {
                    path.push(index.to_string());
                    descend(inner, rest, path, change)?;
                    path.pop();
                }
            }
        }
        _ => {}
    }
    path.pop();
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names() -> Names {
        let mut names = Names::default();
        for (list, id, name) in [
            ("schedules", json!(1), "primary"),
            ("teams", json!(1), "shop"),
            ("people", json!(7), "ada@example.com"),
            ("channels", json!(3), "ops"),
            ("channels", json!(4), "same"),
            ("channels", json!(5), "same"),
            ("projects", json!("5f0c"), "shop"),
        ] {
            names.add(list, Entry { name: name.into(), id: Some(id), described: None, is_deleted: false });
        }
        names
    }

    #[test]
    fn ids_become_names_and_back() {
        for (kind, stored, in_file) in [
            ("rules", json!({ "name": "a", "channelId": 3 }), json!({ "name": "a", "channel": "ops" })),
            ("rules", json!({ "channelId": 4 }), json!({ "channel": 4 })),
            ("rules", json!({ "channelId": 99 }), json!({ "channel": 99 })),
            ("channels", json!({ "config": { "url": "x" } }), json!({ "config": { "url": "x" } })),
            (
                "teams",
                json!({ "memberIds": [7], "projectIds": ["5f0c"] }),
                json!({ "members": ["ada@example.com"], "projects": ["shop"] }),
            ),
            ("teams", json!({ "memberIds": [], "projectIds": null }), json!({ "members": [], "projects": null })),
            (
                "schedules",
                json!({ "teamId": 1, "definition": { "layers": [{ "userIds": [7] }, { "userIds": [] }] } }),
                json!({ "team": "shop", "definition": { "layers": [{ "people": ["ada@example.com"] }, { "people": [] }] } }),
            ),
            (
                "escalation-policies",
                json!({ "definition": { "steps": [{ "targets": [{ "type": "schedule", "id": 1 }, { "type": "user", "id": 7 }] }] } }),
                json!({ "definition": { "steps": [{ "targets": [{ "type": "schedule", "name": "primary" }, { "type": "user", "name": "ada@example.com" }] }] } }),
            ),
        ] {
            let (kind, names) = (kinds::kind(kind).expect("a kind"), names());
            let mut fields = stored.as_object().expect("a map").clone();
            to_names(kind, &mut fields, &names);
            assert_eq!(Value::Object(fields.clone()), in_file);
            let done = to_ids(kind, &mut fields, |list, given, _| match names.find(list, &given)? {
                Found::Entry(entry) => Ok(entry.id.clone().expect("all are stored")),
                Found::Id(id) => Ok(id),
            });
            assert_eq!(done.map(|()| Value::Object(fields)), Ok::<_, String>(stored));
        }
    }

    #[test]
    fn names_that_stand_for_nothing_or_for_two_are_faults() {
        let names = names();
        for (list, given, expected) in [
            ("channels", json!("ops"), None),
            ("channels", json!(99), None),
            ("projects", json!("5f0c"), None),
            ("channels", json!("other"), Some("there is no channel \"other\"")),
            ("channels", json!("same"), Some("more than one channel is named \"same\": give the id")),
            ("people", json!(true), Some("a member is given by its name")),
        ] {
            assert_eq!(names.find(list, &given).err().as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn paths_lead_to_names() {
        let kind = kinds::kind("schedules").expect("a kind");
        let fields = json!({ "team": "shop", "definition": { "layers": [{ "people": ["a", "b"] }] } });
        let mut paths = Vec::new();
        let done = to_ids(kind, &mut fields.as_object().expect("a map").clone(), |_, given, path| {
            paths.push(path.join("/"));
            Ok::<_, ()>(given)
        });
        assert_eq!(done, Ok(()));
        assert_eq!(paths, ["team", "definition/layers/0/people/0", "definition/layers/0/people/1"]);
    }
}
