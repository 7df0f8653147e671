//! Minimum and maximum of a chunk and its pages, for scans that skip pages without matching rows.

use std::cmp::Ordering;

use parquet::basic::Type;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::metadata::ColumnIndexBuilder;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::properties::EnabledStatistics;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescriptor;

use super::chunk::DictionaryColumnWriter;
use super::numbers::NULL;

/// Maximum length of the bounds in metadata, in bytes.
const BOUND_BYTES: usize = 64;

/// The numbers of the minimum and the maximum.
type Pair = (u32, u32);

/// Collects the bounds of a chunk, page by page.
pub struct Bounds {
    enabled: EnabledStatistics,
    compare: Compare,
    index: ColumnIndexBuilder,
    is_double: bool,
    chunk: Option<Pair>,
    nulls: usize,
    pages: u32,
    /// By value, the last page that has it, counted from one.
    last_page: Vec<u32>,
}

/// Comparison of a column's values.
#[derive(Clone, Copy)]
enum Compare {
    Bytes,
    I32,
    U32,
    I64,
    U64,
    F64,
}

impl Compare {
    fn of(column: &ColumnDescriptor) -> Compare {
        let is_signed = column.sort_order() == parquet::basic::SortOrder::SIGNED;
        match column.physical_type() {
            Type::INT32 if is_signed => Compare::I32,
            Type::INT32 => Compare::U32,
            Type::INT64 if is_signed => Compare::I64,
            Type::INT64 => Compare::U64,
            Type::DOUBLE => Compare::F64,
            _ => Compare::Bytes,
        }
    }

    fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Compare::Bytes => a.cmp(b),
            Compare::I32 => u32_of(a).cast_signed().cmp(&u32_of(b).cast_signed()),
            Compare::U32 => u32_of(a).cmp(&u32_of(b)),
            Compare::I64 => u64_of(a).cast_signed().cmp(&u64_of(b).cast_signed()),
            Compare::U64 => u64_of(a).cmp(&u64_of(b)),
            Compare::F64 => f64::from_bits(u64_of(a)).total_cmp(&f64::from_bits(u64_of(b))),
        }
    }
}

fn u32_of(value: &[u8]) -> u32 {
    u32::from_le_bytes(*value.first_chunk().expect("a number of four bytes"))
}

fn u64_of(value: &[u8]) -> u64 {
    u64::from_le_bytes(*value.first_chunk().expect("a number of eight bytes"))
}

impl Bounds {
    pub fn new(chunk: &DictionaryColumnWriter, enabled: EnabledStatistics) -> Bounds {
        let kind = chunk.column.physical_type();
        let is_double = kind == Type::DOUBLE;
        // A chunk with NaN values has no bounds.
        let is_nan = |number| f64::from_bits(u64_of(chunk.values.get(number as u32))).is_nan();
        let is_supported = !is_double || !(0..chunk.values.len()).any(is_nan);
        Bounds {
            enabled: if is_supported { enabled } else { EnabledStatistics::None },
            compare: Compare::of(&chunk.column),
            index: ColumnIndexBuilder::new(kind),
            is_double,
            chunk: None,
            nulls: 0,
            pages: 0,
            last_page: vec![0; chunk.values.len()],
        }
    }

    /// Adds a page of these rows, `nulls` of which are null.
    pub fn page(&mut self, chunk: &DictionaryColumnWriter, rows: &[u32], nulls: usize) {
        self.nulls += nulls;
        if self.enabled != EnabledStatistics::Page {
            return;
        }
        self.pages += 1;
        let mut page = None;
        for number in rows.iter().copied().filter(|number| *number != NULL) {
            // Each value is compared once per page.
            if std::mem::replace(&mut self.last_page[number as usize], self.pages) != self.pages {
                page = self.widest(chunk, page, (number, number));
            }
        }
        let (low, high) =
            page.map_or((&[][..], &[][..]), |(low, high)| (chunk.values.get(low), chunk.values.get(high)));
        let (low, high) = match self.compare {
            Compare::Bytes => (cut_low(low), cut_high(high).0),
            _ => (low, high.to_vec()),
        };
        let nans = self.is_double.then_some(0);
        self.index.append(page.is_none(), low.to_vec(), high, nulls as i64, nans);
        if let Some(page) = page {
            self.chunk = self.widest(chunk, self.chunk, page);
        }
    }

    fn widest(&self, chunk: &DictionaryColumnWriter, a: Option<Pair>, (low, high): Pair) -> Option<Pair> {
        let is_less = |a: u32, b: u32| self.compare.compare(chunk.values.get(a), chunk.values.get(b)).is_lt();
        Some(a.map_or((low, high), |(least, greatest)| {
            (if is_less(low, least) { low } else { least }, if is_less(greatest, high) { high } else { greatest })
        }))
    }

    /// The bounds of the chunk and of its pages, as far as they are enabled.
    pub fn finish(
        mut self,
        chunk: &DictionaryColumnWriter,
    ) -> Result<(Option<Statistics>, Option<ColumnIndexMetaData>)> {
        match self.enabled {
            EnabledStatistics::None => return Ok((None, None)),
            // Every value occurs in some row.
            EnabledStatistics::Chunk => {
                for number in 0..chunk.values.len() as u32 {
                    self.chunk = self.widest(chunk, self.chunk, (number, number));
                }
            }
            EnabledStatistics::Page => {}
        }
        let bounds = self.chunk.map(|(low, high)| (chunk.values.get(low), chunk.values.get(high)));
        let statistics = statistics(self.compare, bounds, self.nulls as u64);
        let index = match self.enabled {
            EnabledStatistics::Page => Some(self.index.build()?),
            _ => None,
        };
        Ok((Some(statistics), index))
    }
}

fn statistics(compare: Compare, bounds: Option<(&[u8], &[u8])>, nulls: u64) -> Statistics {
    let (low, high) = bounds.unzip();
    let signed = |value: &[u8]| u32_of(value).cast_signed();
    let wide = |value: &[u8]| u64_of(value).cast_signed();
    let double = |value: &[u8]| f64::from_bits(u64_of(value));
    match compare {
        Compare::I32 | Compare::U32 => Statistics::int32(low.map(signed), high.map(signed), None, Some(nulls), false),
        Compare::I64 | Compare::U64 => Statistics::int64(low.map(wide), high.map(wide), None, Some(nulls), false),
        Compare::F64 => Statistics::double(low.map(double), high.map(double), None, Some(nulls), false),
        Compare::Bytes => {
            let is_exact = |cut: Option<usize>, whole: Option<usize>| cut == whole;
            let (cut, raised) = (low.map(cut_low), high.map(cut_high));
            let low_is_exact = is_exact(cut.map(<[u8]>::len), low.map(<[u8]>::len));
            let high_is_exact = raised.as_ref().is_none_or(|(_, is_exact)| *is_exact);
            let low = cut.map(|low| ByteArray::from(low.to_vec()));
            let high = raised.map(|(high, _)| ByteArray::from(high));
            let statistics = ValueStatistics::new(low, high, None, Some(nulls), false);
            Statistics::ByteArray(statistics.with_min_is_exact(low_is_exact).with_max_is_exact(high_is_exact))
        }
    }
}

/// A prefix of the value, of at most [`BOUND_BYTES`], that ends at a character boundary.
fn cut_low(value: &[u8]) -> &[u8] {
    if value.len() <= BOUND_BYTES {
        return value;
    }
    let is_start = |at: &usize| value[*at] & 0xc0 != 0x80;
    let end = (BOUND_BYTES - 3..=BOUND_BYTES).rev().find(is_start).unwrap_or(BOUND_BYTES);
    &value[..end]
}

/// An upper bound of the value, shortened if possible, and whether it is the value itself.
fn cut_high(value: &[u8]) -> (Vec<u8>, bool) {
    if value.len() <= BOUND_BYTES {
        return (value.to_vec(), true);
    }
    // Increments the last ASCII character that stays ASCII.
    match value[..BOUND_BYTES].iter().rposition(|byte| *byte < 0x7f) {
        Some(at) => {
            let mut high = value[..=at].to_vec();
            high[at] += 1;
            (high, false)
        }
        None => (value.to_vec(), true),
    }
}
