//! Limits that bound the cost of hostile input.

/// Inline frames kept per address. The innermost ones of deeper chains are dropped (`docs/decisions/0005`, 7).
pub const INLINE_DEPTH_MAX: usize = 256;

/// Frames read from one trace. Further frames stay raw.
pub const FRAMES_MAX: usize = 512;

/// Frames printed for one trace, inline frames included.
pub const FRAMES_OUT_MAX: usize = 4096;

/// Bytes printed for one trace. Beyond them, frames stay raw.
pub const TRACE_OUT_BYTES_MAX: usize = 8 << 20;

/// Size of a trace. A longer one is not resolved.
pub const TRACE_BYTES_MAX: usize = 4 << 20;

/// Frames of one trace with source lines.
pub const CONTEXT_FRAMES_MAX: usize = 64;

/// Source lines before a frame's line, and after it.
pub const CONTEXT_LINES_AROUND: u32 = 5;

/// Bytes of one source line. A longer one is cut around the frame's column.
pub const CONTEXT_LINE_BYTES_MAX: usize = 200;

/// Bytes of a source that are searched for lines.
pub const CONTEXT_SOURCE_BYTES_MAX: usize = 4 << 20;

/// Bytes of one function name, stored and printed.
pub const NAME_BYTES_MAX: usize = 2048;

/// Bytes of a mangled name. Longer ones stay mangled.
pub const MANGLED_BYTES_MAX: usize = 8192;

/// Bytes of a mangled Swift name, whose demangler builds its complete output first.
pub const SWIFT_MANGLED_BYTES_MAX: usize = 2048;

/// Estimated bytes of a demangled Swift name; the estimate is never too small. Larger ones stay mangled.
pub const SWIFT_PRINTED_BYTES_MAX: usize = 256 << 10;

/// Slices of one fat Mach-O file.
pub const SLICES_MAX: usize = 16;

/// Inflated size of all compressed ELF sections of one file.
pub const INFLATED_BYTES_MAX: u64 = 384 << 20;

/// Address ranges of one native artifact, before equal neighbors are joined.
pub const RANGES_MAX: usize = 16 << 20;

/// Rows of one unit's line table.
pub const UNIT_ROWS_MAX: usize = 4 << 20;

/// Scopes (functions and inlined calls) of one unit.
pub const UNIT_SCOPES_MAX: usize = 4 << 20;

/// Segments of one source map, over all sections.
pub const SEGMENTS_MAX: usize = 8 << 20;

/// Entries in `sources` or `names` of one source map.
pub const MAP_LIST_MAX: usize = 1 << 20;

/// Sections of an index map, nested ones included; segments of a React Native bundle.
pub const MAP_SECTIONS_MAX: usize = 4096;

/// Nesting depth of index maps.
pub const MAP_NESTING_MAX: usize = 4;

/// Function scopes of one script.
pub const SCRIPT_SCOPES_MAX: usize = 2 << 20;

/// Bytes of one script that are scanned for function scopes.
pub const SCRIPT_BYTES_MAX: usize = 64 << 20;

/// Steps of a conversion: `WORK_BASE + WORK_PER_BYTE * file length`. One step takes about 5 to 20 ns.
pub const WORK_BASE: u64 = 16 << 20;

/// See [`WORK_BASE`].
pub const WORK_PER_BYTE: u64 = 12;

/// Members (methods and fields) of one `mapping.txt`.
pub const MAPPING_MEMBERS_MAX: usize = 8 << 20;
