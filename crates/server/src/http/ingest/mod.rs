//! The doors for telemetry.

mod answer;
pub mod cors;
pub mod otlp;
