//! HTTP: the socket, the routes, the gates before them, and the handlers.

pub mod account;
pub mod dashboard;
pub mod gate;
pub mod openapi;
pub mod routes;
