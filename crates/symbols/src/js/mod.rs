//! JavaScript: source maps, and the functions of minified scripts.
//!
//! `json.rs` reads the file, `mappings.rs` its segments; `scanner.rs` finds functions in a script, `functions.rs` maps
//! positions to them, `names.rs` finds their original names; `ram_bundle.rs` unpacks React Native's binary bundles;
//! `build.rs` writes the artifact, `read.rs` looks up positions in it.
//!
//! Invariant: nothing recurses, and every loop over untrusted data is charged to a work budget.

mod build;
mod functions;
mod json;
mod mappings;
mod names;
mod ram_bundle;
mod read;
mod scanner;

pub use build::{convert, convert_unless};
pub(crate) use json::{debug_id_of_map, inline_map, script_debug_id, strip_prefixes};
pub(crate) use ram_bundle::{RamBundle, is_ram_bundle};
pub use read::{Place, Script};
