//! Any bytes: see `outside_bytes::grpc_frame`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[expect(dead_code, reason = "each target uses its function")]
#[path = "../../crates/server/tests/it/outside_bytes.rs"]
mod outside_bytes;

fuzz_target!(|bytes: &[u8]| outside_bytes::grpc_frame(bytes));
