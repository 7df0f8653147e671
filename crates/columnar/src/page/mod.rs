//! Code shared by dictionary and plain columns: the pages of a chunk, compression, the RLE and bit-packing hybrid,
//! levels, strings.
//!
//! Nothing here depends on the type of the values. All columns of a part share one compressor.

mod chunk;
mod compressor;
pub mod rle_bit_packing;
mod strings;

pub use chunk::{ChunkMetadata, Pages};
pub use compressor::Compressor;
pub use strings::Strings;

/// Maximum number of rows of a data page.
pub const PAGE_ROWS: usize = 8192;
