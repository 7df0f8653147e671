//! What is true about telemetry, as pure functions: no clock, no files, no network, no async.
//!
//! The flow through the crate is one way:
//!
//! ```text
//! body bytes ──decode──> model views ──project──> Projection (rows, and a reason for every record that is no row)
//! ```
//!
//! - [`model`]: flat, borrowed views over a request body. Nothing is copied that the body already holds.
//! - [`decode`]: bytes to views, OTLP protobuf and JSON alike.
//! - [`rules`]: the specification's rules, one file per idea, each with its table as its test.
//! - [`project`]: calls the rules in order; every input record comes out exactly once, kept or dropped with a reason.
//! - [`wire`]: how attributes, events and links are stored, and how any value reads as text.
//! - [`encode`]: OTLP export requests, written.
//! - [`ranking`] and [`waterfall`]: what is computed from stored rows when somebody looks.

#![forbid(unsafe_code)]

mod base64;
pub mod decode;
pub mod encode;
pub mod model;
pub mod project;
pub mod ranking;
pub mod rules;
pub mod waterfall;
pub mod wire;
