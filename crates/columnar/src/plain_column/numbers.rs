//! Numbers, delta-encoded or plain. Booleans are numbers of one bit.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray};
use arrow::datatypes::{ArrowPrimitiveType, DataType, Float64Type, Int64Type, UInt64Type};
use bytes::Bytes;
use parquet::basic::{Encoding, Type};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescPtr;

use super::bounds::{Bounds, ChunkBounds};
use super::delta;
use crate::page::{ChunkMetadata, Compressor, PAGE_ROWS, Pages, rle_bit_packing};
use crate::row_ranges::{RowRange, places};

/// Number of 64-bit differences per bit-packed group.
const GROUP: usize = 64;

pub struct NumberColumnWriter {
    kind: Kind,
    /// Rows may have no value.
    is_nullable: bool,
    /// Definition levels of the open page, by row; empty when the column is not nullable.
    levels: Vec<u32>,
    /// The bits of the values of the open page.
    open: Vec<u64>,
    rows: usize,
    encoding: Encoding,
    bounds: Bounds<i128>,
    pages: Pages,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    I64,
    U64,
    F64,
    Bool,
}

impl NumberColumnWriter {
    pub fn new(
        column: &ColumnDescPtr,
        kind: &DataType,
        properties: &WriterProperties,
        compressor: &Compressor,
    ) -> Option<NumberColumnWriter> {
        let kind = match kind {
            DataType::Int64 => Kind::I64,
            DataType::UInt64 => Kind::U64,
            DataType::Float64 => Kind::F64,
            DataType::Boolean => Kind::Bool,
            _ => return None,
        };
        let path = column.path();
        let encoding = match (properties.dictionary_enabled(path), properties.encoding(path)) {
            (false, Some(Encoding::DELTA_BINARY_PACKED)) if kind == Kind::I64 => Encoding::DELTA_BINARY_PACKED,
            (false, None | Some(Encoding::PLAIN)) => Encoding::PLAIN,
            // Booleans never have a dictionary.
            (true, None) if kind == Kind::Bool => Encoding::PLAIN,
            _ => return None,
        };
        let is_supported = column.max_def_level() <= 1
            && column.max_rep_level() == 0
            && properties.bloom_filter_properties(path).is_none();
        let pages = Pages::new(column, properties, compressor).filter(|_| is_supported)?;
        Some(NumberColumnWriter {
            kind,
            is_nullable: column.max_def_level() == 1,
            levels: Vec::new(),
            open: Vec::new(),
            rows: 0,
            encoding,
            bounds: Bounds::new(properties.statistics_enabled(path), kind.stored()),
            pages,
        })
    }

    pub fn write_from(&mut self, arrays: &[&ArrayRef], places: impl Iterator<Item = (usize, usize)>) -> Result<()> {
        match self.kind {
            Kind::I64 => self.write_of::<Int64Type>(arrays, places, i64::cast_unsigned),
            Kind::U64 => self.write_of::<UInt64Type>(arrays, places, |value| value),
            Kind::F64 => self.write_of::<Float64Type>(arrays, places, f64::to_bits),
            Kind::Bool => {
                let arrays: Vec<&BooleanArray> = arrays.iter().map(|array| array.as_boolean()).collect();
                for (array, row) in places {
                    let array = arrays[array];
                    self.push(array.is_valid(row).then(|| u64::from(array.value(row))))?;
                }
                Ok(())
            }
        }
    }

    pub fn write_ranges(&mut self, arrays: &[&ArrayRef], ranges: &[RowRange]) -> Result<()> {
        match self.kind {
            Kind::I64 => self.write_ranges_of::<Int64Type>(arrays, ranges, i64::cast_unsigned),
            Kind::U64 => self.write_ranges_of::<UInt64Type>(arrays, ranges, |value| value),
            Kind::F64 => self.write_ranges_of::<Float64Type>(arrays, ranges, f64::to_bits),
            Kind::Bool => self.write_from(arrays, places(ranges)),
        }
    }

    fn write_ranges_of<T: ArrowPrimitiveType>(
        &mut self,
        arrays: &[&ArrayRef],
        ranges: &[RowRange],
        bits: impl Fn(T::Native) -> u64,
    ) -> Result<()> {
        let arrays: Vec<&PrimitiveArray<T>> = arrays.iter().map(|array| array.as_primitive()).collect();
        for RowRange { batch, rows } in ranges {
            let (values, nulls) = (arrays[*batch].values(), arrays[*batch].nulls());
            let mut start = rows.start;
            while start < rows.end {
                let now = start..rows.end.min(start + PAGE_ROWS - self.rows);
                match nulls.filter(|_| self.is_nullable) {
                    Some(nulls) => {
                        self.levels.extend(now.clone().map(|row| u32::from(nulls.is_valid(row))));
                        let present = now.clone().filter(|row| nulls.is_valid(*row));
                        self.open.extend(present.map(|row| bits(values[row])));
                    }
                    None => {
                        self.open.extend(values[now.clone()].iter().map(|value| bits(*value)));
                        if self.is_nullable {
                            self.levels.resize(self.levels.len() + now.len(), 1);
                        }
                    }
                }
                self.rows += now.len();
                start = now.end;
                if self.rows == PAGE_ROWS {
                    self.close_page()?;
                }
            }
        }
        Ok(())
    }

    /// Appends the bits of the next row's value.
    #[inline]
    fn push(&mut self, value: Option<u64>) -> Result<()> {
        if self.is_nullable {
            self.levels.push(u32::from(value.is_some()));
        }
        self.open.extend(value);
        self.rows += 1;
        if self.rows == PAGE_ROWS { self.close_page() } else { Ok(()) }
    }

    fn write_of<T: ArrowPrimitiveType>(
        &mut self,
        arrays: &[&ArrayRef],
        places: impl Iterator<Item = (usize, usize)>,
        bits: impl Fn(T::Native) -> u64,
    ) -> Result<()> {
        let arrays: Vec<&PrimitiveArray<T>> = arrays.iter().map(|array| array.as_primitive()).collect();
        for (array, row) in places {
            let array = arrays[array];
            let has_value = !self.is_nullable || array.is_valid(row);
            self.push(has_value.then(|| bits(array.value(row))))?;
        }
        Ok(())
    }

    fn close_page(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        if rows == 0 {
            return Ok(());
        }
        let kind = self.kind;
        if self.bounds.are_enabled() {
            let nans = self.open.iter().filter(|value| kind.is_nan(**value)).count();
            let nans = (kind == Kind::F64).then_some(nans as i64);
            let counts = (rows - self.open.len(), self.open.len());
            self.bounds.page(kind.bounds(&self.open), counts, nans, |key| kind.bytes(key));
        }
        let mut bytes = Vec::new();
        if self.is_nullable {
            rle_bit_packing::encode_levels(&self.levels, &mut bytes);
            self.levels.clear();
        }
        let encoding = self.encoding;
        match encoding {
            Encoding::DELTA_BINARY_PACKED => {
                let values: Vec<i64> = self.open.iter().map(|value| value.cast_signed()).collect();
                delta::encode(&values, GROUP, &mut bytes);
            }
            _ if kind == Kind::Bool => {
                let byte = |bits: &[u64]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | *bit as u8);
                bytes.extend(self.open.chunks(8).map(byte));
            }
            _ => self.open.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes())),
        }
        self.open.clear();
        self.pages.push(&bytes, rows, encoding)
    }

    pub fn bytes(&self) -> usize {
        self.open.capacity() * 8 + self.levels.capacity() * 4 + self.pages.bytes()
    }

    pub fn finish(mut self) -> Result<(Bytes, ColumnCloseResult)> {
        self.close_page()?;
        let written = self.bounds.finish()?;
        let statistics = written.statistics.map(|written| self.kind.statistics(written));
        self.pages.finish(ChunkMetadata { statistics, index: written.index, bloom: None })
    }
}

impl Kind {
    /// The physical type in Parquet.
    fn stored(self) -> Type {
        match self {
            Kind::I64 | Kind::U64 => Type::INT64,
            Kind::F64 => Type::DOUBLE,
            Kind::Bool => Type::BOOLEAN,
        }
    }

    fn is_nan(self, value: u64) -> bool {
        self == Kind::F64 && f64::from_bits(value).is_nan()
    }

    /// The key of a value. Keys have the order of the values.
    fn key(self, value: u64) -> i128 {
        match self {
            Kind::U64 | Kind::Bool => i128::from(value),
            Kind::I64 => i128::from(value.cast_signed()),
            Kind::F64 => i128::from(ordered_bits(value.cast_signed())),
        }
    }

    fn of_key(self, key: i128) -> u64 {
        match self {
            Kind::F64 => ordered_bits(key as i64).cast_unsigned(),
            _ => key as u64,
        }
    }

    /// The value of a key, as statistics store it.
    fn bytes(self, key: i128) -> Vec<u8> {
        let bytes = self.of_key(key).to_le_bytes();
        let length = if self == Kind::Bool { 1 } else { bytes.len() };
        bytes[..length].to_vec()
    }

    fn bounds(self, values: &[u64]) -> Option<(i128, i128)> {
        let widest = |bounds: Option<(i128, i128)>, value: &u64| {
            let key = self.key(*value);
            Some(bounds.map_or((key, key), |(low, high)| (low.min(key), high.max(key))))
        };
        match self {
            Kind::F64 => values.iter().filter(|value| !self.is_nan(**value)).fold(None, widest),
            _ => values.iter().fold(None, widest),
        }
    }

    fn statistics(self, written: ChunkBounds<i128>) -> Statistics {
        let (low, high) = written.bounds.map(|(low, high)| (self.of_key(low), self.of_key(high))).unzip();
        macro_rules! of {
            ($of:expr) => {
                ValueStatistics::new(low.map($of), high.map($of), None, Some(written.nulls), false)
            };
        }
        match self {
            Kind::U64 => Statistics::Int64(of!(u64::cast_signed)),
            Kind::Bool => Statistics::Boolean(of!(|bit| bit != 0)),
            Kind::I64 => Statistics::Int64(of!(u64::cast_signed).with_backwards_compatible_min_max(true)),
            Kind::F64 => {
                let statistics = of!(f64::from_bits).with_backwards_compatible_min_max(true);
                Statistics::Double(statistics.with_nan_count(written.nans))
            }
        }
    }
}

/// Maps the bits of a float to an integer in the order of the floats, and back.
fn ordered_bits(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}
