//! Alerting as files: what is on a server as YAML files, and a server as YAML files say.
//!
//! - [`kinds`]: the table of what files describe. A new kind is a row of it.
//! - [`yaml`] reads files, [`emit`] writes them; [`files`] checks what was read against the table.
//! - [`server`]: the objects of a server, through its HTTP API. [`names`]: ids of the API, names of files.
//! - [`compare`]: what differs; [`plan`]: what to send, and in which order; [`apply`] sends it; [`export`] makes files.
//! - [`reference`](mod@reference): secrets, which are never in a file.
//!
//! Invariants: an applied export changes nothing; no value of the server is replaced by a variable.

mod apply;
mod compare;
mod emit;
mod export;
mod files;
mod kinds;
mod names;
mod plan;
mod reference;
mod server;
#[cfg(test)]
mod tests;
mod yaml;

pub use apply::apply;
pub use export::{Exported, export};
pub use files::{Files, Source, read};
pub use kinds::{KINDS, Kind, Listing, kind};
pub use plan::{Options, Plan, plan};
pub use server::{Api, Method, World};

/// What is wrong: one sentence each, with the file and the line where there is one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct Faults(pub Vec<String>);

impl From<String> for Faults {
    fn from(fault: String) -> Faults {
        Faults(vec![fault])
    }
}

/// The values of environment variables.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;
