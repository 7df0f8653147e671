//! The promises of the specification, held against the real server over real sockets. One binary, one harness.

mod account;
mod client;
mod corpus;
mod durability;
mod harness;
mod listen;
mod otlp;
mod otlp_answers;
mod otlp_bodies;
mod tidy;
mod ui;
