//! Request to question to JSON view; one file per dashboard resource.
//!
//! ```text
//! views (what was asked) ─> filters, time, page (checked) ─> ask (Plans to the store) ─> answer (cells) ─> views
//! ```
//!
//! - [`views`]: what the API says and hears. [`ask`], [`answer`]: the store's side of it.
//! - [`time`], [`page`], [`ids`], [`filters`], [`attributes`]: what requests and answers are made of.
//! - [`entities`]: what [`endpoints`], [`tasks`] and [`ai_traces`] (with [`ai_metrics`] and [`conversation`]) have in
//!   common. [`issues`], [`logs`], [`spans`], [`distributed`], [`metrics`], [`discover`], [`overview`], [`drops`], [`services`], [`demo`]: the resources.
//! - [`export`]: a table as a file.
//! - [`trace`] lays out one trace; [`occurrences`] and [`owners`] say whose an exception is; [`trend`] and [`chart`] draw.
//!
//! Nothing here knows of HTTP; formulas come from `domain::ranking`, order and ownership from `domain::waterfall`.

#![forbid(unsafe_code)]

pub mod ai_metrics;
pub mod ai_traces;
pub mod answer;
pub mod ask;
pub mod attributes;
pub mod chart;
pub mod context;
pub mod conversation;
pub mod demo;
pub mod discover;
pub mod distributed;
pub mod drops;
pub mod endpoints;
pub mod entities;
pub mod error;
pub mod export;
pub mod filters;
pub mod ids;
pub mod incomplete;
pub mod issues;
pub mod logs;
pub mod metrics;
pub mod occurrences;
pub mod overview;
pub mod owners;
pub mod page;
pub mod projects;
pub mod retention;
pub mod services;
pub mod span_search;
pub mod spans;
pub mod tasks;
pub mod threads;
pub mod time;
pub mod trace;
pub mod trend;
pub mod views;
