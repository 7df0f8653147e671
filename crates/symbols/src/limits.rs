//! The bounds of this crate: what keeps hostile input from costing more than its size.

/// Inline frames kept per address; deeper ones are dropped from the inside (`docs/decisions/0005`, 7).
pub const INLINE_DEPTH_MAX: usize = 256;

/// Frames read from one trace; what follows is passed through raw.
pub const FRAMES_MAX: usize = 512;

/// Frames printed for one trace, inline frames included.
pub const FRAMES_OUT_MAX: usize = 4096;

/// Bytes printed for one trace; once they are passed, frames stay raw.
pub const TRACE_OUT_BYTES_MAX: usize = 8 << 20;

/// Bytes of trace that are looked at; a longer trace passes through untouched.
pub const TRACE_BYTES_MAX: usize = 4 << 20;

/// Frames of one trace that source lines are shown for.
pub const CONTEXT_FRAMES_MAX: usize = 64;

/// Source lines shown before a frame's line, and after it.
pub const CONTEXT_LINES_AROUND: u32 = 5;

/// Bytes shown of one source line; a longer one is cut, around the frame's column.
pub const CONTEXT_LINE_BYTES_MAX: usize = 200;

/// Bytes of a source that lines are looked for in: what is beyond is not shown.
pub const CONTEXT_SOURCE_BYTES_MAX: usize = 4 << 20;

/// Bytes of one function name, as stored and as printed.
pub const NAME_BYTES_MAX: usize = 2048;

/// Bytes of one mangled name that is worth demangling.
pub const MANGLED_BYTES_MAX: usize = 8192;

/// The same of Swift, whose demangler builds all of its output before it is cut.
pub const SWIFT_MANGLED_BYTES_MAX: usize = 2048;

/// Bytes that a Swift name may stand for, by an estimate that is never too small; others stay mangled.
pub const SWIFT_PRINTED_BYTES_MAX: usize = 256 << 10;

/// Slices of one fat Mach-O file.
pub const SLICES_MAX: usize = 16;

/// Bytes that compressed ELF sections of one file may inflate to.
pub const INFLATED_BYTES_MAX: u64 = 384 << 20;

/// Address ranges of one native artifact, before equal neighbours are joined.
pub const RANGES_MAX: usize = 16 << 20;

/// Rows of one unit's line table.
pub const UNIT_ROWS_MAX: usize = 4 << 20;

/// Scopes (functions and inlined calls) of one unit.
pub const UNIT_SCOPES_MAX: usize = 4 << 20;

/// Segments of one source map, all sections together.
pub const SEGMENTS_MAX: usize = 8 << 20;

/// Entries of `sources` and of `names` of one source map.
pub const MAP_LIST_MAX: usize = 1 << 20;

/// Sections of an index map, those within sections included; segments of a React Native bundle.
pub const MAP_SECTIONS_MAX: usize = 4096;

/// Index maps within index maps.
pub const MAP_NESTING_MAX: usize = 4;

/// Function scopes taken from one script.
pub const SCRIPT_SCOPES_MAX: usize = 2 << 20;

/// Bytes of one script that are scanned for function scopes.
pub const SCRIPT_BYTES_MAX: usize = 64 << 20;

/// Steps of reading debug information: `WORK_BASE + WORK_PER_BYTE * file length`. One step is about 5 to 20 ns.
pub const WORK_BASE: u64 = 16 << 20;

/// See [`WORK_BASE`].
pub const WORK_PER_BYTE: u64 = 12;

/// Members (methods and fields) of one `mapping.txt`.
pub const MAPPING_MEMBERS_MAX: usize = 8 << 20;
