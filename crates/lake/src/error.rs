//! Conversion of Parquet errors to [`StoreError`]s.

use std::path::Path;

use parquet::errors::ParquetError;
use tidewatch_store::StoreError;

/// Maps a Parquet error that occurred while `path` was read.
pub fn parquet(path: &Path, source: ParquetError) -> StoreError {
    match source {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => StoreError::io("read", path, *source),
            Err(source) => StoreError::Corrupt { path: path.to_path_buf(), why: source.to_string() },
        },
        other => StoreError::Corrupt { path: path.to_path_buf(), why: other.to_string() },
    }
}
