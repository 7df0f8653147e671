//! The OTLP endpoints, over HTTP and gRPC, and native reports.

pub mod cors;
pub mod grpc;
pub mod otlp;
pub mod report;
mod response;
pub mod starting;
mod unread_body;
