//! HTTP: the socket, the routes, the gates before them, and the handlers.
//!
//! - [`socket`], [`listen`], [`connections`], `streamed_body`, `activity`, `framing`, `unread`, `lasting`, `request_body`: connections. [`door`]: what every request and answer passes.
//! - [`routes`]: every path; [`api`]: with what describes it. [`gate`]: who may, how much, how fast.
//! - [`ingest`]: the doors for telemetry; [`uploads`]: for symbol files. [`account`], [`auth`], [`dashboard`]: the API of the UI. [`ui`]: the UI itself.
//! - [`setup_code`]: what the first account is made with. [`security_headers`]: headers on every answer. [`openapi`]: the document. [`exposition`]: the server's own metrics.

pub mod account;
pub mod api;
pub mod auth;
pub mod connections;
pub mod dashboard;
pub mod door;
pub mod exposition;
mod framing;
pub mod gate;
pub mod health;
mod in_flight_body;
pub mod incomplete;
pub mod ingest;
pub mod listen;
pub mod openapi;
mod request_body;
pub mod routes;
pub mod security_headers;
pub mod setup_code;
pub mod socket;
mod streamed_body;
mod timeouts;
pub mod ui;
mod unparsed_request;
pub mod uploads;
