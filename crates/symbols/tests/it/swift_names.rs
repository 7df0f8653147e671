//! Swift names, as Swift's own demangler prints them.

use serde::Deserialize;

use crate::fixtures;

#[derive(Deserialize)]
struct Name {
    mangled: String,
    complete: String,
}

#[test]
fn swift_names_are_demangled_completely() {
    for root in fixtures::roots() {
        for name in fixtures::json::<Vec<Name>>(&root.join("swift_names.json")).unwrap_or_default() {
            assert_eq!(tidewatch_symbols::demangle(&name.mangled), name.complete);
            assert_eq!(tidewatch_symbols::demangle(&format!("_{}", name.mangled)), name.complete);
        }
    }
}
