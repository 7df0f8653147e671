//! Queries of the dashboard API: request to plans to JSON view, one file per resource.
//!
//! ```text
//! views (request) ─> filters, time, page (validation) ─> plans, executor (store) ─> answer (cells) ─> views (response)
//! ```
//!
//! - [`views`]: the bodies of requests and responses.
//! - [`context`], [`executor`], [`threads`]: running plans in the store. [`plans`], [`answer`]: building plans, reading
//!   their results. [`retention`], [`incomplete`]: rows that are left out, rows that are missing.
//! - [`time`], [`page`], [`ids`], [`filters`], [`attributes`], [`projects`]: the values of requests and responses.
//! - [`entities`]: the queries that [`endpoints`], [`tasks`] and [`ai_traces`] (with [`ai_metrics`],
//!   [`ai_flags`] and [`conversation`]) share. [`ai_conversations`] (with [`ai_totals`]), [`conversation_turns`]: lists of
//!   conversations and users, one conversation.
//! - [`issues`], [`logs`], [`spans`] (with [`span_search`]), [`distributed`], [`metrics`], [`discover`], [`overview`],
//!   [`drops`], [`services`], [`demo`]: the other resources.
//! - [`changes`]: what changed for the worse. [`compare`]: another period. [`answers`]: what is always bad, what is new, what AI
//!   costs. [`deploys`], [`versions`]: when versions went live, and what they changed.
//! - [`global_filter`]: the services and environments that a request selects, in every plan.
//! - [`grouping_rules`]: rules of projects that group exceptions. [`row_groups`]: the group of a stored one.
//! - [`language`]: queries of the query language as filters.
//! - [`explain`]: what distinguishes some rows from others. [`heatmap`]: counts by time and duration.
//! - [`profiles`]: series, flame graphs, functions and downloads of profiles.
//! - [`time_windows`]: values of consecutive windows of time.
//! - [`export`]: the rows of a table as a file.
//! - [`trace_search`]: traces by conditions on any span. [`trace`]: the waterfall of one trace,
//!   [`trace_columns`]: without attributes, in columns. [`occurrences`], [`owners`]: exceptions and the entities that own them.
//!   [`trend`], [`chart`]: time series of lists and charts. [`grouping`]: what their groups are formed by.
//!
//! No HTTP types here. Formulas are in `domain::ranking`, order and ownership of spans in `domain::waterfall`.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod ai_conversations;
pub mod ai_flags;
pub mod ai_metrics;
pub mod ai_totals;
pub mod ai_traces;
pub mod answer;
pub mod answers;
pub mod executor;

pub mod attributes;
pub mod changes;
pub mod chart;
pub mod compare;
pub mod context;
pub mod conversation;
pub mod conversation_turns;
pub mod demo;
pub mod deploys;
pub mod discover;
pub mod distributed;
pub mod drops;
pub mod endpoints;
pub mod entities;
pub mod error;
pub mod explain;
pub mod export;
pub mod filters;
pub mod global_filter;
pub mod grouping;
pub mod grouping_rules;
pub mod heatmap;
pub mod ids;
pub mod incomplete;
pub mod issues;
pub mod language;
pub mod logs;
pub mod metrics;
pub mod occurrences;
pub mod overview;
pub mod owners;
pub mod page;
pub mod plans;
pub mod profiles;
pub mod projects;
pub mod retention;
pub mod row_groups;
pub mod service_map;
pub mod services;
pub mod sessions;
pub mod span_search;
pub mod spans;
pub mod tasks;
pub mod threads;
pub mod time;
pub mod time_windows;
pub mod trace;
pub mod trace_columns;
pub mod trace_search;
pub mod trend;
pub mod versions;
pub mod views;
