//! The OTLP endpoints, over HTTP and gRPC, native reports and profiles.

pub mod cors;
pub mod grpc;
mod native;
pub mod otlp;
pub mod profile;
mod profile_attributes;
pub mod report;
mod response;
pub mod starting;
mod unread_body;
