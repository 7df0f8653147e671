//! Any text as a query of rows and of traces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidewatch_domain::query_language::{ParseLimits, parse, parse_trace};

fuzz_target!(|text: &str| {
    let limits = ParseLimits { bytes: 4096, terms: 64, depth: 16 };
    let wide = ParseLimits { bytes: 1 << 20, terms: 1 << 16, depth: 64 };
    for error in [parse(text, limits).err(), parse_trace(text, limits).err()].into_iter().flatten() {
        assert!(error.position <= text.len().max(limits.bytes) && !error.message.contains('\n'));
    }
    if let Ok(expr) = parse(text, limits) {
        assert_eq!(parse(&expr.to_string(), wide), Ok(expr));
    }
    if let Ok(expr) = parse_trace(text, limits) {
        assert_eq!(parse_trace(&expr.to_string(), wide), Ok(expr));
    }
});
