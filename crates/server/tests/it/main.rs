//! The promises of the specification, held against the real server over real sockets. One binary, one harness.

#[macro_use]
mod engines;

mod account;
mod account_nodes;
mod ai;
mod ask;
mod authorization;
mod client;
mod configuration;
mod corpus;
mod drops;
mod durability;
mod endpoints;
mod full_disk;
mod gates;
mod harness;
mod headers;
mod hostile;
mod issues;
mod limits;
mod listen;
mod log_exceptions;
mod logs;
mod metrics;
mod metrics_query;
mod openapi;
mod otlp;
mod otlp_answers;
mod otlp_bodies;
mod outside_bytes;
mod own_traces;
mod per_ip;
mod process;
mod slow;
mod symbols;
mod tidy;
mod tls;
mod traces;
mod ui;
mod uploads;
