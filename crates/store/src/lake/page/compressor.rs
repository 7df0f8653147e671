//! Compression of the pages of one column chunk.

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};

pub struct Compressor {
    pub compression: Compression,
    /// Made for the first page, kept for the others.
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl Compressor {
    pub fn new(compression: Compression) -> Compressor {
        Compressor { compression, zstd: None }
    }

    /// Pages are compressed in a way that is known here.
    pub fn knows(compression: Compression) -> bool {
        matches!(compression, Compression::UNCOMPRESSED | Compression::ZSTD(_))
    }

    /// As they are, or compressed.
    pub fn compress(&mut self, bytes: Vec<u8>) -> Result<Bytes> {
        let level = match self.compression {
            Compression::UNCOMPRESSED => return Ok(Bytes::from(bytes)),
            Compression::ZSTD(level) => level.compression_level(),
            other => return Err(ParquetError::NYI(format!("{other:?} of pages"))),
        };
        let zstd = match &mut self.zstd {
            Some(zstd) => zstd,
            none => none.insert(zstd::bulk::Compressor::new(level)?),
        };
        Ok(Bytes::from(zstd.compress(&bytes)?))
    }
}
