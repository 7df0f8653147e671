//! Debug files and stack frames: which file an upload is, the `.tw` artifact made from it, and raw traces resolved.
//!
//! Pure: bytes in, bytes or text out. The server keeps files, maps artifacts into memory and decides when to convert.
//!
//! | step | call | notes |
//! |---|---|---|
//! | an upload arrives | [`detect`] | names the format, the ids and slices, or says in one sentence why not |
//! | off the request path | [`convert_native`], [`convert_source_map`], [`convert_mapping`] | bounded by [`limits`], iterative, no clock |
//! | an artifact is opened | [`Artifact::open`], [`Artifact::verify`], [`Artifact::made_from`] | [`Stale`]: build it again from the original |
//! | a trace arrives | [`Trace::read`], [`Trace::needs`], [`Trace::resolve`] | `None` and every miss: the raw text stays |
//! | a person looks at it | [`Trace::context`] | lines of the sources that maps embed |
//!
//! ```
//! use tidewatch_symbols::{Artifact, Hints, Shelf, Trace, convert_source_map};
//!
//! let map = br#"{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA;EAEE"}"#;
//! let artifact = convert_source_map(map, None, None)?;
//! let hints = Hints { language: Some("javascript"), ..Hints::default() };
//! let trace = Trace::read("Error: empty\n    at t (https://shop.example/app.min.js:2:5)", &hints).expect("a stack");
//! // The server looks at `trace.needs()` and fetches what it has.
//! let mut shelf = Shelf::new();
//! shelf.add_script_file("app.min.js", Artifact::open(&artifact).expect("just written"));
//! assert_eq!(trace.resolve(&shelf).text, "Error: empty\n    at t (cart.ts:3:3)");
//! # Ok::<(), tidewatch_symbols::SymbolError>(())
//! ```
//!
//! # The `.tw` artifact
//! A cache, never a source of truth: it is built again from the original when its version, its source's hash or its
//! checksum does not match. Flat and little-endian, so it can be mapped into memory and used as it is. One container
//! with three layouts. (The iOS SDK also calls its crash records on the device `.tw`: unrelated.)
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
//! Sections start at multiples of eight. A text is a LEB128 length and UTF-8 bytes in the string section, named by its
//! offset; equal texts are stored once; all are one line without control characters. `0xffffffff` is "none".
//!
//! ## Native: Mach-O, ELF, Dart
//! | section | row | contents |
//! |---|---|---|
//! | 0 | | strings |
//! | 1 | 4 | files: text; number 0 is the unknown file |
//! | 2 | 16 | callers: function (text), file number (high 20 bits) and column (low 12), line, number of frames from here outwards (high 8 bits, 255: or more) and caller (low 24, all set: none) |
//! | 3 | 8 | columns of 4095 and more: caller, or range with the highest bit set, and column; sorted |
//! | 4 | 20 | ranges: start (relative to the base), and the innermost frame as the callers are; sorted, without gaps: what nothing is known about has no frames |
//! | 5 | 4 | buckets: for every `1 << shift` addresses the first range that starts there or later; one more at the end |
//! | 6 | 4 | the addresses of `_kDartIsolateSnapshotInstructions` and `_kDartVmSnapshotInstructions`, or none |
//!
//! A look-up finds the bucket, then the last range that starts at or before the address, then follows callers: the
//! innermost frame first. A caller stands for all places with the same frames outside it, and is written before what
//! it calls. There are about as many buckets as ranges.
//!
//! ## R8: `mapping.txt`
//! | section | row | contents |
//! |---|---|---|
//! | 0 | | strings |
//! | 1 | 20 | classes: obfuscated name, original name, source file, first member, members; sorted by obfuscated name |
//! | 2 | 4 | class numbers sorted by original name |
//! | 3 | 36 | members: obfuscated name, first and last obfuscated line, class, name, first and last original line, flags (1 synthesized, 2 outline), place in the file; by class, then obfuscated name, then place |
//! | 4 | 12 | call sites of outlines: member, line in the outline, line in the caller; sorted |
//! | 5 | 12 | rewritten frames: member, exception, frames to leave out; sorted |
//!
//! ## Script: source maps
//! | section | row | contents |
//! |---|---|---|
//! | 0 | | strings |
//! | 1 | 8 | lines that have segments: zero-based number, first segment; one more at the end |
//! | 2 | 4 | columns of the segments |
//! | 3 | 4 | every 32nd of those columns |
//! | 4 | 16 | places of the segments: source, line, column (zero-based), name |
//! | 5 | 12 | sources: name, offset and length in the content |
//! | 6 | | content of the sources |
//! | 7 | 12 | scopes: script line, column, name of the function from there on; sorted |
//! | 8 | 16 | functions by original position (React Native): source, line (one-based), column, name; sorted |
//! | 9 | 4 | modules of a RAM bundle (React Native), by number: the map's line (zero-based) that the module begins at, or none; artifacts of older servers have no such section |
//! | 10 | 16 | files of a bundle in segments (React Native): number of the segment, the first line of its file in sections 1 and 9 (zero-based), its first row in section 9, how many; empty for a bundle in one file |
//!
//! ## Versions
//! 1. The first one.
//! 2. Native: the innermost frame lies in its range, and only callers in a table; a bucket for each range, not for eight.

#![forbid(unsafe_code)]

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
pub use trace::{Hints, Need, Resolved, Shelf, SourceContext, Trace};
