//! Compression of the pages of a part, column after column with the same memory.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use zstd::zstd_safe::compress_bound;

/// Pages are compressed into room of so many bytes at most that is kept for the next ones; larger ones are few.
const ROOM_BYTES_MAX: usize = 256 * 1024;

/// Of all columns of a part: a context of each column's own would take a megabyte.
#[derive(Clone, Default)]
pub struct Compressor(Arc<Mutex<Option<Zstd>>>);

struct Zstd {
    level: i32,
    context: zstd::bulk::Compressor<'static>,
    room: Vec<u8>,
}

impl Compressor {
    /// Pages are compressed in a way that is known here.
    pub fn knows(compression: Compression) -> bool {
        matches!(compression, Compression::UNCOMPRESSED | Compression::ZSTD(_))
    }

    /// As they are, or compressed; in no more memory than they need.
    pub fn compress(&self, compression: Compression, page: &[u8]) -> Result<Bytes> {
        let level = match compression {
            Compression::UNCOMPRESSED => return Ok(Bytes::copy_from_slice(page)),
            Compression::ZSTD(level) => level.compression_level(),
            other => return Err(ParquetError::NYI(format!("{other:?} of pages"))),
        };
        let mut zstd = self.0.lock();
        let zstd = match &mut *zstd {
            Some(zstd) => zstd,
            none => none.insert(Zstd { level, context: zstd::bulk::Compressor::new(level)?, room: Vec::new() }),
        };
        if zstd.level != level {
            zstd.context.set_compression_level(level)?;
            zstd.level = level;
        }
        let bytes_max = compress_bound(page.len());
        let mut own = Vec::new();
        let room = if bytes_max <= ROOM_BYTES_MAX { &mut zstd.room } else { &mut own };
        room.clear();
        room.reserve_exact(bytes_max);
        zstd.context.compress_to_buffer(page, room)?;
        Ok(Bytes::copy_from_slice(room))
    }
}
