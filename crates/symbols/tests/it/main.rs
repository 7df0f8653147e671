//! Tests of the public API with `fixtures/symbols` against expected results of other tools.
//!
//! `TIDEWATCH_SYMBOLS_DIR` may name another folder of the same layout. The tests then run on both.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::allow_attributes,
    reason = "tests say what went wrong, and may fail"
)]

mod fixtures;
mod hostile;
mod java_traces;
mod library;
mod native;
mod native_traces;
mod outside_bytes;
mod scripts;
mod source_map_spec;
mod swift_names;
mod uploads;
