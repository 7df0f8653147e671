/// Factor of a long run.
const LONG: u64 = 20;

/// Whether tests that repeat faults run long: `TIDEWATCH_TEST_LONG=1`.
pub fn is_long() -> bool {
    std::env::var("TIDEWATCH_TEST_LONG").is_ok_and(|value| value == "1")
}

/// Number of rounds or seeds of a test that repeats faults: `short`, or 20 times as many in a long run.
pub fn rounds(short: u64) -> u64 {
    if is_long() { short * LONG } else { short }
}
