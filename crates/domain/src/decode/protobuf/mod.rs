//! OTLP protobuf: one pass over the body, field by field.

pub(crate) mod reader;
pub(crate) mod value;
