//! The least and greatest values of pages and of their chunk.

use parquet::basic::{BoundaryOrder, Type};
use parquet::errors::Result;
use parquet::file::metadata::ColumnIndexBuilder;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::properties::EnabledStatistics;

/// Values by a key that orders them; `bytes` of a key are those of the value.
pub struct Bounds<K> {
    enabled: EnabledStatistics,
    chunk: Option<(K, K)>,
    nulls: u64,
    nans: Option<u64>,
    index: ColumnIndexBuilder,
    last: Option<(K, K)>,
    is_ascending: bool,
    is_descending: bool,
    /// Some page has values and no bounds.
    is_unknown: bool,
}

/// What is told of a chunk's values.
pub struct Told<K> {
    /// `None`: nothing is told.
    pub statistics: Option<ChunkBounds<K>>,
    pub index: Option<ColumnIndexMetaData>,
}

pub struct ChunkBounds<K> {
    pub bounds: Option<(K, K)>,
    /// Rows without a value.
    pub nulls: u64,
    /// Values that are no numbers; of floats.
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

    pub fn are_wanted(&self) -> bool {
        self.enabled != EnabledStatistics::None
    }

    /// Of a page with so many rows without a value, and with one; `nans`: of those that are no numbers.
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
        let (Some((low, high)), Some(_)) = (bounds, self.are_wanted().then_some(())) else {
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

    pub fn finish(mut self) -> Result<Told<K>> {
        self.index.set_boundary_order(match (self.is_ascending, self.is_descending) {
            (true, _) => BoundaryOrder::ASCENDING,
            (false, true) => BoundaryOrder::DESCENDING,
            (false, false) => BoundaryOrder::UNORDERED,
        });
        let has_index = self.enabled == EnabledStatistics::Page && !self.is_unknown;
        let chunk = self.chunk.filter(|_| !self.is_unknown);
        Ok(Told {
            statistics: (self.enabled != EnabledStatistics::None).then_some(ChunkBounds {
                bounds: chunk,
                nulls: self.nulls,
                nans: self.nans,
            }),
            index: if has_index { Some(self.index.build()?) } else { None },
        })
    }
}
