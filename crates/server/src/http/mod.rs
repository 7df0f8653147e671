//! HTTP: connections, routes, authentication and limits, handlers.
//!
//! - [`connection`]: sockets, connections and their timeouts. [`request_context`]: the service behind every socket.
//! - [`routes`]: every path. [`api`]: routes with their OpenAPI descriptions. [`gate`]: authentication, rate limits,
//!   request bodies.
//! - [`ingest`]: OTLP. [`uploads`]: symbol files. [`account`], [`auth`], [`dashboard`]: the API of the UI. [`ui`]: the
//!   UI itself. [`confirmation`]: bodies that confirm a change. [`health`]: probes. [`heartbeats`]: reports of jobs.
//! - [`status`]: incidents and status pages.
//! - [`setup_code`]: authorizes the first account. [`security_headers`]: headers of every response. [`incomplete`]: the
//!   header of responses that lack rows. [`openapi`]: the OpenAPI document. [`exposition`]: the server's own metrics.

pub mod account;
pub mod api;
pub mod auth;
pub mod confirmation;
pub mod connection;
pub mod dashboard;
pub mod exposition;
pub mod gate;
pub mod health;
pub mod heartbeats;
pub mod incomplete;
pub mod ingest;
pub mod oncall;
pub mod openapi;
pub mod request_context;
pub mod routes;
pub mod security_headers;
pub mod setup_code;
pub mod status;
pub mod ui;
pub mod uploads;
