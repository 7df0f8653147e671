//! Machine code: Mach-O and ELF images with DWARF.
//!
//! `image.rs` reads the object file, `units.rs` and `names.rs` the debug information, `lines.rs` the line tables;
//! `scopes.rs` defines the scopes of functions and inlined calls; `build.rs` writes the artifact, `read.rs` looks up
//! addresses in it.
//!
//! Invariant: nothing recurses, and every loop over untrusted data is charged to a work budget.

mod build;
mod image;
mod lines;
mod names;
mod nodes;
mod ranges;
mod read;
mod scopes;
mod sections;
mod units;
mod work;

pub use build::{convert, convert_unless};
pub(crate) use image::elf_slice;
pub use image::{Slice, slices_of};
pub use read::{Chain, Frame, Native};

/// The Dart symbols to which offsets in AOT traces are relative.
pub(crate) const DART_ISOLATE: &str = "_kDartIsolateSnapshotInstructions";
/// See [`DART_ISOLATE`].
pub(crate) const DART_VM: &str = "_kDartVmSnapshotInstructions";
