//! What the dashboard API says and hears: plain structs, one file per resource, and nothing that computes.
//!
//! Conventions of every struct (docs/api.md): camelCase; times are RFC 3339 UTC text with nanoseconds where present;
//! durations are integer nanoseconds; ids are lower-case hexadecimal (trace 32, span 16) or dashed UUIDs (rows, projects);
//! attribute maps are text to text, values that are no text as JSON. A field is always present: `null` means "absent",
//! an empty text means "none".

pub mod account;
pub mod ai;
pub mod auth;
pub mod demo;
pub mod drops;
pub mod endpoint;
pub mod issue;
pub mod log;
pub mod metrics;
pub mod overview;
pub mod page;
pub mod passkeys;
pub mod people;
pub mod services;
pub mod setup;
pub mod span;
pub mod symbols;
pub mod task;
pub mod trace;

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

/// Attributes by key; values that are no text are JSON text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
pub struct AttributeMap(pub BTreeMap<String, String>);
