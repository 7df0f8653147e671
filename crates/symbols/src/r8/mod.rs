//! R8 and ProGuard: `mapping.txt`, which maps obfuscated names and lines to original ones.
//!
//! `parse.rs` reads the text, `build.rs` writes the artifact, `read.rs` looks up frames in it.
//!
//! Invariant: every loop over untrusted data is charged to a work budget.

mod build;
mod parse;
mod read;

pub use build::{convert, convert_unless};
pub(crate) use parse::{looks_like_mapping, map_id};
pub(crate) use read::Retraced;
pub use read::{JavaFrame, Mapping};

/// Marks an absent string or number.
const NONE: u32 = u32::MAX;

/// Flag of a compiler-generated member, which traces omit.
const SYNTHESIZED: u32 = 1;

/// Flag of code that several callers share. The caller's line determines the original position.
const OUTLINE: u32 = 2;
