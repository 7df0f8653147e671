//! The rules of the specification as pure functions: no clock, no files, no network, no async.
//!
//! Data flows in one direction:
//!
//! ```text
//! body bytes ──decode──> model views ──project──> projection (rows, and a drop reason for every other record)
//! ```
//!
//! - [`model`]: flat views that borrow from a request body.
//! - [`decode`]: decodes OTLP protobuf and JSON into these views.
//! - [`rules`]: the rules of the specification, one file each, with the rule's table as its test.
//! - [`project`]: applies the rules in order. Every input record becomes rows or is dropped with a reason.
//! - [`wire`]: the stored encoding of attributes, events and links, and the text form of any value.
//! - [`encode`]: encodes OTLP export requests.
//! - [`changes`]: what got worse in a subject, since when and with which version, from its minutes.
//! - [`explain`]: ranks the attributes that distinguish some requests from others.
//! - [`frames`]: parses printed stack traces. [`grouping`]: groups exceptions by them.
//! - [`patterns`]: patterns of log lines.
//! - [`query_language`]: the language of searches and rules, and its meaning on one row.
//! - [`units`]: units of time.
//! - [`ranking`] and [`waterfall`]: statistics and trees that queries compute from stored rows.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod base64;
pub mod changes;
pub mod decode;
pub mod encode;
pub mod explain;
pub mod frames;
pub mod grouping;
pub mod model;
pub mod patterns;
pub mod project;
pub mod query_language;
pub mod ranking;
pub mod rules;
pub mod service_map;
pub mod units;
pub mod waterfall;
pub mod wire;
