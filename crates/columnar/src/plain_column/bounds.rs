//! Minimum and maximum of the pages and of their chunk.

use parquet::basic::{BoundaryOrder, Type};
use parquet::errors::Result;
use parquet::file::metadata::ColumnIndexBuilder;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::properties::EnabledStatistics;

/// Collects the bounds of a chunk page by page. `K` is a key in the order of the values.
pub struct Bounds<K> {
    enabled: EnabledStatistics,
    chunk: Option<(K, K)>,
    nulls: u64,
    nans: Option<u64>,
    index: ColumnIndexBuilder,
    last: Option<(K, K)>,
    is_ascending: bool,
    is_descending: bool,
    /// Some page has values but no bounds.
    is_unknown: bool,
}

/// The bounds as they are written to the file.
pub struct WrittenBounds<K> {
    /// `None` when statistics are disabled.
    pub statistics: Option<ChunkBounds<K>>,
    pub index: Option<ColumnIndexMetaData>,
}

pub struct ChunkBounds<K> {
    /// Minimum and maximum; `None` when there are none.
    pub bounds: Option<(K, K)>,
    /// Number of rows without a value.
    pub nulls: u64,
    /// Number of NaN values; `None` for types other than floats.
    pub nans: Option<u64>,
}

impl<K: Copy + Ord> Bounds<K> {
    pub fn new(enabled: EnabledStatistics, kind: Type) -> Bounds<K> {
        let index = ColumnIndexBuilder::new(kind);
        Bounds {
            enabled,
            chunk: None,
            nulls: 0,
            nans: None,
            index,
            last: None,
            is_ascending: true,
            is_descending: true,
            is_unknown: false,
        }
    }

    pub fn are_enabled(&self) -> bool {
        self.enabled != EnabledStatistics::None
    }

    /// Adds a page with `nulls` null rows and `values` other rows. `nans` is the number of NaN values; `bytes` encodes
    /// the value of a key.
    pub fn page(
        &mut self,
        bounds: Option<(K, K)>,
        (nulls, values): (usize, usize),
        nans: Option<i64>,
        bytes: impl Fn(K) -> Vec<u8>,
    ) {
        self.nulls += nulls as u64;
        if values > 0 {
            self.nans = nans.map(|nans| self.nans.unwrap_or(0) + nans.cast_unsigned());
        }
        let (Some((low, high)), Some(_)) = (bounds, self.are_enabled().then_some(())) else {
            self.is_unknown |= values > 0;
            self.index.append(true, Vec::new(), Vec::new(), nulls as i64, nans);
            return;
        };
        self.index.append(false, bytes(low), bytes(high), nulls as i64, nans);
        if let Some((last_low, last_high)) = self.last {
            self.is_ascending &= last_low <= low && last_high <= high;
            self.is_descending &= last_low >= low && last_high >= high;
        }
        self.last = Some((low, high));
        self.chunk = Some(self.chunk.map_or((low, high), |chunk| (chunk.0.min(low), chunk.1.max(high))));
    }

    pub fn finish(mut self) -> Result<WrittenBounds<K>> {
        self.index.set_boundary_order(match (self.is_ascending, self.is_descending) {
            (true, _) => BoundaryOrder::ASCENDING,
            (false, true) => BoundaryOrder::DESCENDING,
            (false, false) => BoundaryOrder::UNORDERED,
        });
        let has_index = self.enabled == EnabledStatistics::Page && !self.is_unknown;
        let chunk = self.chunk.filter(|_| !self.is_unknown);
        Ok(WrittenBounds {
            statistics: (self.enabled != EnabledStatistics::None).then_some(ChunkBounds {
                bounds: chunk,
                nulls: self.nulls,
                nans: self.nans,
            }),
            index: if has_index { Some(self.index.build()?) } else { None },
        })
    }
}
