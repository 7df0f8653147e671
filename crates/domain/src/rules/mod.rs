//! The specification's rules, one file per idea.
//!
//! A rule is a pure function: values in, value out, no error (`group_memo` remembers answers, which changes none).
//! [`crate::project`] calls them in this order:
//!
//! 1. [`span_facts`]: one pass over a span's attributes; everything after asks the facts.
//! 2. [`sampling`]: is the trace in the sample, and how many does it stand for?
//! 3. [`entry_point`] and [`classify`]: the promotion table; [`drop_reason`] names what becomes no row.
//! 4. [`healthcheck`]: what a project asks to have left out.
//! 5. [`http`], [`endpoint_name`], [`ai_trace`], [`prices`], [`edge_platform`]: what a promoted row says.
//! 6. [`exception`], [`stack_normalize`], [`issue_group`], [`owner`]: Issues.
//! 7. [`row_id`]: the same export twice gives the same ids.
//!
//! [`metric_names`] and [`log_mapping`] are the other two signals; [`record_time`] is for all three.

pub mod ai_trace;
pub mod classify;
pub mod drop_reason;
pub mod edge_platform;
pub mod endpoint_name;
pub mod entry_point;
pub mod exception;
mod group_memo;
pub mod healthcheck;
pub mod http;
pub mod issue_group;
pub mod log_mapping;
pub mod metric_names;
pub mod owner;
pub mod prices;
pub mod record_time;
pub mod row_id;
pub mod sampling;
pub mod span_facts;
pub mod span_index;
pub mod stack_normalize;
pub mod value_text;
