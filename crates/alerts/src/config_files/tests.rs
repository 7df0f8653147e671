//! Files, a server that is none, and random objects of all kinds.

mod api;
mod edges;
mod round_trips;

use serde_json::Value;

use super::*;
use api::FakeApi;

pub const PROJECT: &str = "0f0e0d0c-0000-4000-8000-000000000001";

/// The value of every variable.
fn any_variable(name: &str) -> Option<String> {
    Some(format!("value of {name}"))
}

fn all() -> Vec<&'static Kind> {
    KINDS.iter().collect()
}

/// The files of everything on a server.
fn exported(api: &FakeApi) -> Exported {
    let world = World::fetch(api, &all()).expect("lists");
    export(&world, &all(), None, &Files::default()).expect("an export")
}

fn planned(api: &FakeApi, sources: &[Source], options: Options) -> Result<Plan, Faults> {
    let files = read(sources, PROJECT)?;
    let world = World::fetch(api, &files.kinds)?;
    plan(&world, &files, options, &any_variable)
}

/// Plans and applies. Returns what was done.
fn applied(api: &FakeApi, sources: &[Source], options: Options) -> Result<Vec<String>, Faults> {
    let plan = planned(api, sources, options)?;
    let mut done = Vec::new();
    apply(api, &plan, &any_variable, |line| done.push(line.to_owned()))?;
    Ok(done)
}

fn source(content: &str) -> Source {
    Source { name: "a.yaml".into(), content: content.into() }
}

const PRUNE: Options = Options { prunes: true, with_secrets: false };

fn create(api: &FakeApi, path: &str, body: Value) -> Value {
    api.send(Method::Post, path, Some(&body)).expect("a new object")["id"].clone()
}
