//! Any bytes as a segment of the journal, and as a recipe for one whose checksums are right.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    tidewatch_journal::fuzz::segment(bytes);
    tidewatch_journal::fuzz::recipe(bytes);
});
