//! Any bytes as a RAM bundle of React Native.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[expect(dead_code, reason = "each target uses its part")]
#[path = "../../crates/symbols/tests/it/outside_bytes.rs"]
mod outside_bytes;

fuzz_target!(|input: &[u8]| outside_bytes::ram_bundle(input));
