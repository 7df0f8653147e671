//! What the pages of dictionary and plain columns share: the pages of a chunk, compression, the RLE and bit-packing
//! hybrid, levels, strings.

mod chunk;
mod compressor;
pub mod rle_bit_packing;
mod texts;

pub use chunk::{ChunkMetadata, Pages};
pub use compressor::Compressor;
pub use texts::Texts;

/// Rows of a page at most.
pub const PAGE_ROWS: usize = 8192;
