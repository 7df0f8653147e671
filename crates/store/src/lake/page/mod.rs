//! What the pages of `value_chunk` and `fixed_chunk` have in common: small numbers packed, levels, compression.

mod compressor;
pub mod hybrid;

pub use compressor::Compressor;

/// Rows of a page at most.
pub const PAGE_ROWS: usize = 8192;
