//! Any text as a mangled name.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[expect(dead_code, reason = "each target uses its part")]
#[path = "../../crates/symbols/tests/it/outside_bytes.rs"]
mod outside_bytes;

fuzz_target!(|input: &str| outside_bytes::name(input));
