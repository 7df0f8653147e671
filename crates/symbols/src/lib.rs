//! Symbolication: detects uploaded debug files, converts them to `.tw` artifacts and resolves raw stack traces.
//!
//! All functions are pure. The server stores files, maps artifacts into memory and decides when to convert.
//!
//! | step | call | notes |
//! |---|---|---|
//! | an upload arrives | [`detect`] | returns format, ids and slices, or one sentence on why it is refused |
//! | off the request path | [`convert_native`], [`convert_source_map`], [`convert_mapping`] | bounded by [`limits`], iterative, no clock |
//! | an artifact is opened | [`Artifact::open`], [`Artifact::verify`], [`Artifact::made_from`] | [`Stale`]: rebuild it from the original |
//! | a trace arrives | [`Trace::read`], [`Trace::requests`], [`Trace::resolve`] | unresolved frames stay raw |
//! | a trace is displayed | [`Trace::context`] | source lines embedded in source maps |
//!
//! ```
//! use tidewatch_symbols::{Artifact, ArtifactSet, Hints, Trace, convert_source_map};
//!
//! let map = br#"{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA;EAEE"}"#;
//! let artifact = convert_source_map(map, None, None)?;
//! let hints = Hints { language: Some("javascript"), ..Hints::default() };
//! let trace = Trace::read("Error: empty\n    at t (https://shop.example/app.min.js:2:5)", &hints).expect("a stack");
//! // The server opens the artifacts in `trace.requests()`.
//! let mut artifacts = ArtifactSet::new();
//! artifacts.add_script_file("app.min.js", Artifact::open(&artifact).expect("just written"));
//! assert_eq!(trace.resolve(&artifacts).text, "Error: empty\n    at t (cart.ts:3:3)");
//! # Ok::<(), tidewatch_symbols::SymbolError>(())
//! ```
//!
//! # The `.tw` artifact
//! A cache: it is rebuilt from the original when its version, its source's hash or its checksum does not match. It is flat
//! and little-endian, so it can be used from a memory map. One container has three layouts. (Crash records of the iOS SDK
//! have the extension `.tw`, too, but are unrelated.)
//!
//! ## Header, 320 bytes
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 4 | `TWSY` |
//! | 4 | 2 | [`FORMAT_VERSION`] |
//! | 6 | 2 | layout: 1 native, 2 R8, 3 script ([`Kind`]) |
//! | 8 | 4 | architecture ([`Arch`]) |
//! | 12 | 4 | flags; native: the bucket shift |
//! | 16 | 8 | length of the original |
//! | 24 | 16 | XXH3-128 of the original |
//! | 40 | 8 | native: address that offsets are relative to (`__TEXT` of Mach-O, 0 of ELF) |
//! | 48 | 8 | native: length of that segment |
//! | 56 | 8 | length of the body, everything after the header |
//! | 64 | 8 | XXH3-64 of the body |
//! | 72 | 64 | debug id, lower-case hex digits |
//! | 136 | 1 | number of those digits |
//! | 144 | 128 | 16 sections: offset from the start of the file and length, 4 bytes each |
//! | 312 | 8 | XXH3-64 of the 312 bytes before |
//!
//! Sections start at multiples of eight. A string is a LEB128 length and UTF-8 bytes in the string section, referred to by
//! its offset. Equal strings are stored once; all are on one line without control characters. `0xffffffff` means none.
//!
//! ## Native: Mach-O, ELF, Dart
//! | section | row | contents |
//! |---|---|---|
//! | 0 | | strings |
//! | 1 | 4 | files: string; number 0 is the unknown file |
//! | 2 | 16 | callers: function (string), file number (high 20 bits) and column (low 12), line, number of frames from here outwards (high 8 bits, 255: or more) and caller (low 24, all set: none) |
//! | 3 | 8 | columns of 4095 and more: caller, or range with the highest bit set, and column; sorted |
//! | 4 | 20 | ranges: start (relative to the base), and the innermost frame encoded like a caller; sorted, without gaps: unknown ranges have no frames |
//! | 5 | 4 | buckets: for every `1 << shift` addresses the first range that starts there or later; one more at the end |
//! | 6 | 4 | the addresses of `_kDartIsolateSnapshotInstructions` and `_kDartVmSnapshotInstructions`, or none |
//!
//! A look-up finds the bucket, then the last range that starts at or before the address, then follows callers from the
//! innermost frame outwards. Places with the same outer frames share a caller, which is written before its callees. There
//! are about as many buckets as ranges.
//!
//! ## R8: `mapping.txt`
//! | section | row | contents |
//! |---|---|---|
//! | 0 | | strings |
//! | 1 | 20 | classes: obfuscated name, original name, source file, first member, members; sorted by obfuscated name |
//! | 2 | 4 | class numbers sorted by original name |
//! | 3 | 36 | members: obfuscated name, first and last obfuscated line, class, name, first and last original line, flags (1 synthesized, 2 outline), position in the file; by class, then obfuscated name, then position |
//! | 4 | 12 | call sites of outlines: member, line in the outline, line in the caller; sorted |
//! | 5 | 12 | rewritten frames: member, exception, number of frames to omit; sorted |
//!
//! ## Script: source maps
//! | section | row | contents |
//! |---|---|---|
//! | 0 | | strings |
//! | 1 | 8 | lines with segments: zero-based number, first segment; one more at the end |
//! | 2 | 4 | columns of the segments |
//! | 3 | 4 | every 32nd of those columns |
//! | 4 | 16 | original positions of the segments: source, line, column (zero-based), name |
//! | 5 | 12 | sources: name, offset and length in the content |
//! | 6 | | content of the sources |
//! | 7 | 12 | scopes: script line, column, name of the function from there on; sorted |
//! | 8 | 16 | functions by original position (React Native): source, line (one-based), column, name; sorted |
//! | 9 | 4 | modules of a RAM bundle (React Native), by number: first line (zero-based) in the map, or none; absent in artifacts of older servers |
//! | 10 | 16 | files of a bundle in segments (React Native): number of the segment, first line of its file in sections 1 and 9 (zero-based), its first row in section 9, number of rows; empty for a bundle in one file |
//!
//! ## Versions
//! 1. The first version.
//! 2. Native: the innermost frame is part of its range, and only callers are in a table; one bucket per range instead of
//!    per eight.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod artifact;
mod covers;
mod demangle;
mod detect;
mod error;
mod id;
mod js;
pub mod limits;
mod native;
mod r8;
mod safe;
mod trace;

pub use artifact::{Artifact, FORMAT_VERSION, Kind, Stale, source_hash};
pub use demangle::demangle;
pub use detect::{Upload, detect};
pub use error::SymbolError;
pub use id::{Arch, DebugId};
pub use js::{Place, Script, convert as convert_source_map, convert_unless as convert_source_map_unless};
pub use native::{
    Chain, Frame, Native, Slice, convert as convert_native, convert_unless as convert_native_unless, slices_of,
};
pub use r8::{JavaFrame, Mapping, convert as convert_mapping, convert_unless as convert_mapping_unless};
pub use trace::{ArtifactRequest, ArtifactSet, Hints, Resolved, SourceContext, Trace};
