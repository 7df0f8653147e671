//! R8 and ProGuard: `mapping.txt`, and the obfuscated names and lines it explains.
//!
//! `parse.rs` reads the text, `build.rs` writes the artifact, `read.rs` looks frames up in it.

mod build;
mod parse;
mod read;

pub use build::{convert, convert_unless};
pub(crate) use parse::{looks_like_mapping, map_id};
pub(crate) use read::Retraced;
pub use read::{JavaFrame, Mapping};

/// No text, no number.
const NONE: u32 = u32::MAX;

/// The member was made by the compiler and is left out of traces.
const SYNTHESIZED: u32 = 1;
/// The member is code shared by several callers; its caller's line says which.
const OUTLINE: u32 = 2;
