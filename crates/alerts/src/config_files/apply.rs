//! Sends a plan.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::compare::merged;
use super::names::{self, Found};
use super::plan::{Action, Plan, Step};
use super::reference;
use super::server::{Api, Method};
use super::{Faults, Variables};

/// Sends the requests of a plan in order. Calls `done` with a sentence after each. An error leaves the rest undone; a
/// later plan has it.
pub fn apply(api: &dyn Api, plan: &Plan, variables: Variables<'_>, mut done: impl FnMut(&str)) -> Result<(), Faults> {
    let ready = with_variables(plan, variables)?;
    let mut created = BTreeMap::new();
    for (index, (step, file)) in plan.steps.iter().zip(ready).enumerate() {
        let sent = send(api, plan, step, file, &mut created);
        let rest = plan.steps.len() - index;
        let sent =
            sent.map_err(|why| format!("{}: {why}; this and what follows, {rest} in all, was not done", step.title));
        done(&sent?);
    }
    Ok(())
}

/// Fields of the files, with the values of secrets. Checks all before anything is sent. Only references in files are
/// looked up: a value of the server that looks like one must not get a secret.
fn with_variables(plan: &Plan, variables: Variables<'_>) -> Result<Vec<Map<String, Value>>, Faults> {
    let mut missing = BTreeSet::new();
    let mut ready = Vec::new();
    for step in &plan.steps {
        let mut file = step.file.clone();
        file.values_mut().for_each(|value| resolve(value, variables, &mut missing));
        ready.push(file);
    }
    let faults: Vec<_> = missing.into_iter().map(|name| format!("the variable {name} is not set")).collect();
    if faults.is_empty() { Ok(ready) } else { Err(Faults(faults)) }
}

fn resolve(value: &mut Value, variables: Variables<'_>, missing: &mut BTreeSet<String>) {
    match value {
        Value::String(one) => {
            let Some(variable) = reference::variable(one) else { return };
            match variables(variable) {
                Some(known) => *one = known,
                None => {
                    missing.insert(variable.to_owned());
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| resolve(item, variables, missing)),
        Value::Object(entries) => entries.values_mut().for_each(|value| resolve(value, variables, missing)),
        _ => {}
    }
}

/// Sends one step. Returns what was done.
fn send(
    api: &dyn Api,
    plan: &Plan,
    step: &Step,
    file: Map<String, Value>,
    created: &mut BTreeMap<usize, Value>,
) -> Result<String, String> {
    let (kind, path) = (step.kind, step.kind.listing.path);
    let mut fields = match &step.action {
        Action::Change { changes, server, .. } => merged(kind, &file, server, changes),
        Action::Create | Action::Delete { .. } => file,
    };
    names::to_ids(kind, &mut fields, |list, given, _| match plan.names.find(list, &given)? {
        Found::Id(id) => Ok(id),
        Found::Entry(entry) => {
            let new = entry.described.and_then(|index| created.get(&index));
            entry.id.as_ref().or(new).cloned().ok_or_else(|| format!("{given} was not created"))
        }
    })?;
    let toggled = kind.toggle.and_then(|(key, name)| Some((key, name, fields.get(key)?.as_bool()?)));
    if let Some((key, value)) = kind.only {
        fields.insert(key.to_owned(), value.into());
    }
    let body = Value::Object(fields);
    let (id, is_on, what) = match &step.action {
        Action::Create => {
            let answer = api.send(Method::Post, path, Some(&body))?;
            let id = answer.get(kind.listing.id).filter(|id| !id.is_null()).cloned();
            let id = id.ok_or("the server did not answer with its id")?;
            let described = step.described.expect("what is created is described");
            created.insert(described, id.clone());
            (id, toggled.and_then(|(key, ..)| answer[key].as_bool()), "created")
        }
        Action::Change { id, server, .. } => {
            let answer = api.send(Method::Put, &path_of(path, id), Some(&body))?;
            let is_on = toggled.and_then(|(key, ..)| answer[key].as_bool().or_else(|| server.get(key)?.as_bool()));
            (id.clone(), is_on, "changed")
        }
        Action::Delete { id } => {
            api.send(Method::Delete, &path_of(path, id), None)?;
            return Ok(format!("{}: deleted", step.title));
        }
    };
    if let Some((_, name, wanted)) = toggled
        && is_on.is_some_and(|is_on| is_on != wanted)
    {
        api.send(Method::Post, &format!("{}/{name}", path_of(path, &id)), Some(&Value::Object(Map::new())))?;
    }
    Ok(format!("{}: {what}", step.title))
}

/// The path of an object.
fn path_of(list: &str, id: &Value) -> String {
    format!("{list}/{}", id.as_str().map_or_else(|| id.to_string(), str::to_owned))
}
