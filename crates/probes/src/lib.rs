//! Checks of targets: one request, connection, query or script, and its observations.
//!
//! - [`http`], [`tcp`], [`dns`]: the kinds of checks. [`connection`]: connections to checked addresses, with the duration
//!   of each step. [`http_client`]: one HTTP request to one server.
//! - [`browser`]: scripts in a browser, in processes of their own.
//!
//! A check observes; its caller decides whether the observations are good. Nothing here knows a monitor, a project or an
//! account.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod browser;
pub mod connection;
pub mod dns;
pub mod http;
pub mod http_client;
pub mod tcp;
