//! The doors for telemetry.

mod answer;
pub mod cors;
pub mod grpc;
pub mod otlp;
pub mod starting;
