//! What the pages of `value_chunk` and `fixed_chunk` have in common: small numbers packed, levels, compression,
//! texts.

mod compressor;
pub mod rle_bit_packing;
mod texts;

pub use compressor::Compressor;
pub use texts::Texts;

/// Rows of a page at most.
pub const PAGE_ROWS: usize = 8192;
