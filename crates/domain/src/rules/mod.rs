//! The rules of the specification, one file each.
//!
//! A rule is a pure function without errors. [`crate::project`]
//! calls the rules in this order:
//!
//! 1. [`span_facts`]: one pass over a span's attributes, for all later rules.
//! 2. [`sampling`], [`client_sampling`]: whether the trace is in the sample, and the weight of its rows.
//! 3. [`entry_point`] and [`classify`]: the promotion table. [`drop_reason`] lists why records are not stored.
//! 4. [`healthcheck`]: health checks that a project setting drops.
//! 5. [`http`], [`endpoint_name`], [`ai_trace`], [`prices`], [`edge_platform`]: the columns of entity rows.
//!    [`peer`]: the other end of the span's call.
//! 6. [`exception`], [`crate::grouping`], [`issue_group`], [`group_versions`], [`grouping_rules`], [`owner`]: Issues. [`issue_state`], [`issue_similarity`]: on read.
//! 7. [`row_id`]: deterministic row ids.
//!
//! [`native_ids`] and [`framework`] are for native reports; [`metric_names`], [`exponential`] and [`log_mapping`] are for
//! metrics and logs; [`profile_type`], [`profile_temporality`] and [`profile_stack`] are for profiles; [`session`] and [`recording_logs`] are for sessions; [`record_time`] is for all signals.

pub mod ai_trace;
pub mod body_field;
pub mod classify;
pub mod client_sampling;
pub mod content_terms;
pub mod drop_reason;
pub mod edge_platform;
pub mod endpoint_name;
pub mod entry_point;
pub mod exception;
pub mod exponential;
pub mod framework;
pub mod group_versions;
pub mod grouping_rules;
pub mod healthcheck;
pub mod http;
pub mod issue_group;
pub mod issue_similarity;
pub mod issue_state;
pub mod log_mapping;
pub mod metric_names;
pub mod native_ids;
pub mod owner;
pub mod peer;
pub mod prices;
pub mod profile_stack;
pub mod profile_temporality;
pub mod profile_type;
pub mod record_time;
pub mod recording_logs;
pub mod row_id;
pub mod sampling;
pub mod session;
pub mod span_facts;
pub mod span_index;
pub mod value_text;
