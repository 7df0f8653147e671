//! The OTLP endpoints.

pub mod cors;
pub mod grpc;
pub mod otlp;
mod response;
pub mod starting;
