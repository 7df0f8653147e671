//! Request and response bodies of the dashboard API: plain structs, one file per resource, without computation but
//! for [`rows`], which cuts long strings.
//!
//! Conventions of every struct (docs/integrate/api.md): camelCase; times are RFC 3339 strings in UTC with nanoseconds
//! where present; durations are integer nanoseconds; ids are lower-case hexadecimal (trace 32, span 16) or dashed UUIDs
//! (rows, projects); attribute maps have string values, with other values as JSON. A field is always present: `null`
//! means "absent", an empty string means "none".

pub mod ai;
pub mod ai_conversation;
pub mod answers;
pub mod changes;
pub mod compare;
pub mod deploy;
pub mod drops;
pub mod endpoint;
pub mod explain;
pub mod grouping_rules;
pub mod heatmap;
pub mod issue;
pub mod log;
pub mod metrics;
pub mod overview;
pub mod page;
pub mod profile;
pub mod profile_values;
pub mod query;
pub mod rows;
pub mod service_map;
pub mod services;
pub mod session;
pub mod span;
pub mod task;
pub mod trace;
pub mod trace_columns;
pub mod trace_search;
pub mod triage;
pub mod version;

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

/// Attributes by key; values that are not strings are JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
pub struct AttributeMap(pub BTreeMap<String, String>);
