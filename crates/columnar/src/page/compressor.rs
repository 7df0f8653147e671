//! Compresses pages with one context and one output buffer for all columns of a file.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use zstd::zstd_safe::compress_bound;

/// Maximum size of the output buffer that is reused for the next page. Larger pages, which are rare, get a buffer of
/// their own.
const BUFFER_BYTES_MAX: usize = 256 * 1024;

/// A compressor shared by all columns of a file: one context per column would take a megabyte each.
#[derive(Clone, Default)]
pub struct Compressor(Arc<Mutex<Option<Zstd>>>);

struct Zstd {
    level: i32,
    context: zstd::bulk::Compressor<'static>,
    buffer: Vec<u8>,
}

impl Compressor {
    /// Whether [`Compressor::compress`] supports `compression`.
    pub fn supports(compression: Compression) -> bool {
        matches!(compression, Compression::UNCOMPRESSED | Compression::ZSTD(_))
    }

    /// Returns the page compressed, or a copy of it for `UNCOMPRESSED`, in a buffer without spare capacity. Fails for
    /// an unsupported compression.
    pub fn compress(&self, compression: Compression, page: &[u8]) -> Result<Bytes> {
        let level = match compression {
            Compression::UNCOMPRESSED => return Ok(Bytes::copy_from_slice(page)),
            Compression::ZSTD(level) => level.compression_level(),
            other => return Err(ParquetError::NYI(format!("{other:?} of pages"))),
        };
        let mut zstd = self.0.lock();
        let zstd = match &mut *zstd {
            Some(zstd) => zstd,
            none => none.insert(Zstd { level, context: zstd::bulk::Compressor::new(level)?, buffer: Vec::new() }),
        };
        if zstd.level != level {
            zstd.context.set_compression_level(level)?;
            zstd.level = level;
        }
        let bytes_max = compress_bound(page.len());
        let mut large = Vec::new();
        let buffer = if bytes_max <= BUFFER_BYTES_MAX { &mut zstd.buffer } else { &mut large };
        buffer.clear();
        buffer.reserve_exact(bytes_max);
        zstd.context.compress_to_buffer(page, buffer)?;
        Ok(Bytes::copy_from_slice(buffer))
    }
}
