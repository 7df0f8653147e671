//! The promises of the specification, held against the real server over real sockets. One binary, one harness.

mod account;
mod ai;
mod ask;
mod client;
mod corpus;
mod drops;
mod durability;
mod endpoints;
mod full_disk;
mod harness;
mod issues;
mod limits;
mod listen;
mod log_exceptions;
mod logs;
mod metrics_query;
mod openapi;
mod otlp;
mod otlp_answers;
mod otlp_bodies;
mod process;
mod tidy;
mod traces;
mod ui;
