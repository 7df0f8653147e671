//! The OTLP endpoints and native reports.

pub mod cors;
pub mod grpc;
pub mod otlp;
pub mod report;
mod response;
pub mod starting;
