//! Stack traces: parsing and grouping never panic, and the explanation has the basis of the group.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidewatch_domain::grouping::{Occurrence, components, group};

fuzz_target!(|parts: (&str, &str, &str)| {
    let (exception_type, message, stack_trace) = parts;
    let of = Occurrence { exception_type, message, stack_trace, ..Occurrence::default() };
    assert_eq!(group(&of).basis, components(&of).basis);
});
