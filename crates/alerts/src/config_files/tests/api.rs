//! An API with all kinds, in memory: it gives ids, adds defaults, masks secrets, and refuses what names nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::kinds::{KINDS, Kind, NAMED};
use super::super::reference::MASK;
use super::super::server::{Api, Method};

#[derive(Default)]
pub struct FakeApi {
    next_id: RefCell<i64>,
    /// By the path of the list.
    pub lists: RefCell<BTreeMap<String, Vec<Value>>>,
    /// All requests but reads.
    pub sent: RefCell<Vec<(Method, String, Value)>>,
}

impl FakeApi {
    /// `first`: the ids begin here, which differs between servers.
    pub fn new(first: i64) -> FakeApi {
        let api = FakeApi { next_id: RefCell::new(first), ..FakeApi::default() };
        let people =
            [7, 8, 9].map(|id| json!({ "userId": id + first, "email": format!("p{id}@example.com"), "name": "x" }));
        let projects = json!([{ "id": format!("5f0c-{first}"), "name": "shop" }]);
        let mut lists = api.lists.borrow_mut();
        lists.insert(NAMED[0].path.to_owned(), people.to_vec());
        lists.insert(NAMED[1].path.to_owned(), projects.as_array().expect("a list").clone());
        drop(lists);
        api
    }

    /// The stored object of a name, with its secrets.
    pub fn stored(&self, kind: &str, name: &str) -> Value {
        let kind = KINDS.iter().find(|one| one.listing.name == kind).expect("a kind");
        let lists = self.lists.borrow();
        let found = lists.get(kind.listing.path).and_then(|list| list.iter().find(|one| one["name"] == name));
        found.cloned().unwrap_or_default()
    }

    fn check(&self, kind: &Kind, body: &Value) -> Result<(), String> {
        let fields = body.as_object().ok_or("400: no object")?;
        for (list, id) in super::super::names::ids(kind, fields) {
            let listing = super::super::kinds::listing(list).expect("a list");
            let lists = self.lists.borrow();
            let is_known = lists.get(listing.path).is_some_and(|list| list.iter().any(|one| one[listing.id] == id));
            if !is_known {
                return Err(format!("422: there is no {} {id}", listing.one));
            }
        }
        Ok(())
    }
}

impl Api for FakeApi {
    fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, String> {
        if method != Method::Get {
            self.sent.borrow_mut().push((method, path.to_owned(), body.cloned().unwrap_or_default()));
        }
        if let Some(listing) = NAMED.iter().find(|listing| listing.path == path) {
            return Ok(self.lists.borrow()[listing.path].clone().into());
        }
        let of_path = |kind: &&Kind| path == kind.listing.path || path.starts_with(&format!("{}/", kind.listing.path));
        let kind = KINDS.iter().find(of_path).ok_or_else(|| format!("404: {path}"))?;
        let rest: Vec<&str> = path[kind.listing.path.len()..].split('/').skip(1).collect();
        let position = |id: &str| {
            let lists = self.lists.borrow();
            let list = lists.get(kind.listing.path).ok_or("404: none")?;
            list.iter()
                .position(|one| one["id"].as_i64().is_some_and(|found| id.parse() == Ok(found)))
                .ok_or_else(|| format!("404: no {} {id}", kind.listing.one))
        };
        match (method, rest.as_slice()) {
            (Method::Get, []) => {
                let lists = self.lists.borrow();
                let list = lists.get(kind.listing.path).cloned().unwrap_or_default();
                let shown: Vec<Value> = list.into_iter().map(|one| answer(kind, one)).collect();
                let mut answer = json!({});
                answer[kind.listing.key] = shown.into();
                Ok(answer)
            }
            (Method::Post, []) => {
                let mut one = body.cloned().unwrap_or_default();
                self.check(kind, &one)?;
                let id = self.next_id.replace_with(|next| *next + 1);
                one["id"] = id.into();
                for (key, value) in defaults(kind) {
                    if one[key].is_null() {
                        one[key] = value;
                    }
                }
                if let Some((key, _)) = kind.toggle {
                    one[key] = true.into();
                }
                self.lists.borrow_mut().entry(kind.listing.path.to_owned()).or_default().push(one.clone());
                Ok(answer(kind, one))
            }
            (Method::Put, [id]) => {
                let index = position(id)?;
                let mut one = body.cloned().unwrap_or_default();
                self.check(kind, &one)?;
                let mut lists = self.lists.borrow_mut();
                let before = &mut lists.get_mut(kind.listing.path).expect("it has the object")[index];
                one["id"] = before["id"].clone();
                for (key, value) in defaults(kind) {
                    if one[key].is_null() {
                        one[key] = value;
                    }
                }
                if let Some((key, _)) = kind.toggle {
                    one[key] = before[key].clone();
                }
                unmask(&mut one, before);
                *before = one.clone();
                Ok(answer(kind, one))
            }
            (Method::Delete, [id]) => {
                let index = position(id)?;
                let removed =
                    self.lists.borrow_mut().get_mut(kind.listing.path).expect("it has the object").remove(index);
                for other in KINDS {
                    for one in self.lists.borrow().get(other.listing.path).into_iter().flatten() {
                        let ids = super::super::names::ids(other, one.as_object().expect("an object"));
                        if ids.contains(&(kind.listing.name, removed["id"].clone())) {
                            return Err(format!("422: {} is used by {}", removed["name"], one["name"]));
                        }
                    }
                }
                Ok(json!({ "deleted": true }))
            }
            (Method::Post, [id, action]) if kind.toggle.is_some_and(|(_, name)| name == *action) => {
                let (index, (key, _)) = (position(id)?, kind.toggle.expect("of the guard"));
                let mut lists = self.lists.borrow_mut();
                let one = &mut lists.get_mut(kind.listing.path).expect("it has the object")[index];
                one[key] = (one[key] == false).into();
                Ok(json!({}))
            }
            _ => Err(format!("405: {method:?} {path}")),
        }
    }
}

/// Values that the server stores where a request leaves a field out.
fn defaults(kind: &Kind) -> Vec<(&'static str, Value)> {
    match kind.listing.name {
        "monitors" => vec![("enabled", true.into()), ("intervalSeconds", 60.into()), ("failureThreshold", 3.into())],
        "rules" => vec![("cooldownMinutes", 15.into()), ("severity", "".into())],
        "teams" => vec![("description", "".into()), ("memberIds", json!([])), ("projectIds", json!([]))],
        _ => vec![],
    }
}

/// An object as the API shows it.
fn answer(kind: &Kind, mut one: Value) -> Value {
    mask(kind, &mut one, &mut Vec::new());
    for flattened in kind.flattened {
        let ids = one[flattened.owned].take();
        let shown = ids.as_array().into_iter().flatten().map(|id| {
            let mut object = json!({ "name": "x" });
            object[flattened.id] = id.clone();
            object
        });
        one[flattened.answered] = shown.collect();
        one.as_object_mut().expect("an object").remove(flattened.owned);
    }
    one["createdAt"] = "2026-01-01T00:00:00Z".into();
    one["state"] = Value::Null;
    one
}

fn mask(kind: &Kind, value: &mut Value, path: &mut Vec<String>) {
    // Monitors have header fields that are no secrets.
    let is_header = path.len() == 3 && path[1] == "headers" && path[2] != "Accept";
    match value {
        Value::String(one) if (kind.is_secret(path) || is_header) && !one.is_empty() => *one = MASK.to_owned(),
        Value::Object(entries) => {
            for (key, value) in entries {
                path.push(key.clone());
                mask(kind, value, path);
                path.pop();
            }
        }
        _ => {}
    }
}

fn unmask(value: &mut Value, before: &Value) {
    match value {
        Value::String(one) if one == MASK => *value = before.clone(),
        Value::Object(entries) => entries.iter_mut().for_each(|(key, value)| unmask(value, &before[key])),
        _ => {}
    }
}
