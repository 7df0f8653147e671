//! The objects of a server.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Faults;
use super::kinds::{self, Kind, Listing};

/// Methods of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates.
    Post,
    /// Replaces.
    Put,
    /// Deletes.
    Delete,
}

/// The HTTP API of a server, for one project.
pub trait Api {
    /// Sends a request. `{organization}` in `path` stands for the organization of the project. Returns the answer; an
    /// error is a sentence that names the status.
    fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, String>;
}

/// An object of a server.
#[derive(Debug, Clone)]
pub struct Stored {
    /// Its kind.
    pub kind: &'static Kind,
    /// Its id.
    pub id: Value,
    /// The owned keys, as requests have them; null ones are absent.
    pub fields: Map<String, Value>,
}

/// Objects of a server that files can describe or name.
#[derive(Debug, Default)]
pub struct World {
    /// The objects of the fetched kinds, in the order of the server.
    pub stored: Vec<Stored>,
    /// Id and name of the members of each fetched list.
    pub named: BTreeMap<&'static str, Vec<(Value, String)>>,
}

impl World {
    /// Fetches `wanted`, and the lists that their objects may name.
    pub fn fetch(api: &dyn Api, wanted: &[&'static Kind]) -> Result<World, Faults> {
        let mut world = World::default();
        for kind in wanted {
            for item in list(api, &kind.listing)? {
                let id = id(&kind.listing, &item)?;
                if let Some(fields) = owned(kind, &item) {
                    world.stored.push(Stored { kind, id, fields });
                }
            }
        }
        for name in wanted.iter().flat_map(|kind| kind.named()) {
            if world.named.contains_key(name) {
                continue;
            }
            let listing = kinds::listing(name).expect("the table of kinds names known lists");
            let mut named = Vec::new();
            for item in list(api, listing)? {
                let Value::Object(fields) = &item else { continue };
                named.push((id(listing, &item)?, listing.label(fields)));
            }
            world.named.insert(name, named);
        }
        for kind in wanted {
            let stored = world.stored.iter().filter(|stored| stored.kind.listing == kind.listing);
            let named = stored.map(|stored| (stored.id.clone(), kind.listing.label(&stored.fields))).collect();
            world.named.insert(kind.listing.name, named);
        }
        Ok(world)
    }

    /// The objects of a kind.
    pub fn of<'a>(&'a self, kind: &'static Kind) -> impl Iterator<Item = &'a Stored> {
        self.stored.iter().filter(move |stored| stored.kind.listing == kind.listing)
    }
}

fn list(api: &dyn Api, listing: &Listing) -> Result<Vec<Value>, Faults> {
    let cannot = |why: &str| Faults(vec![format!("cannot list the {}: {why}", listing.name)]);
    let mut answer = api.send(Method::Get, listing.path, None).map_err(|why| cannot(&why))?;
    let items = match listing.key {
        "" => answer,
        key => answer.get_mut(key).map(Value::take).ok_or_else(|| cannot(&format!("the answer has no {key}")))?,
    };
    match items {
        Value::Array(items) => Ok(items),
        Value::Null => Ok(Vec::new()),
        _ => Err(cannot("the answer is no list")),
    }
}

fn id(listing: &Listing, item: &Value) -> Result<Value, Faults> {
    match &item[listing.id] {
        Value::Null => Err(format!("cannot list the {}: one has no {}", listing.name, listing.id).into()),
        id => Ok(id.clone()),
    }
}

/// The owned keys of an answer, as requests have them. `None`: not of those that files describe.
pub fn owned(kind: &Kind, answer: &Value) -> Option<Map<String, Value>> {
    if kind.only.is_some_and(|(key, value)| answer[key] != value) {
        return None;
    }
    let mut fields = Map::new();
    for key in kind.owned {
        let flattened = kind.flattened.iter().find(|one| one.owned == *key);
        let value = match flattened {
            Some(one) => {
                answer[one.answered].as_array().map(|list| list.iter().map(|item| item[one.id].clone()).collect())
            }
            None => answer.get(*key).cloned(),
        };
        if let Some(value) = value.map(without_nulls).filter(|value| !value.is_null()) {
            fields.insert((*key).to_owned(), value);
        }
    }
    Some(fields)
}

/// The value without the keys of maps that are null.
pub fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(entries) => {
            let kept = entries.into_iter().filter(|(_, value)| !value.is_null());
            kept.map(|(key, value)| (key, without_nulls(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

impl Listing {
    /// The values that identify one of the list for people.
    pub fn identity(&self, fields: &Map<String, Value>) -> Vec<String> {
        let value = |key: &&str| match fields.get(*key) {
            Some(Value::String(value)) => value.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        self.identity.iter().map(value).collect()
    }

    /// The identity in one string.
    pub fn label(&self, fields: &Map<String, Value>) -> String {
        self.identity(fields).join(": ")
    }

    /// The kind and the name of one, for people.
    pub fn title(&self, fields: &Map<String, Value>) -> String {
        // Quoted like a string of JSON: a name cannot write to the terminal.
        format!("{} {}", self.one, Value::from(self.label(fields)))
    }
}
