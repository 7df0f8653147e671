//! Divides a chunk into pages and encodes them.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;

use super::bounds::Bounds;
use super::chunk::DictionaryColumnWriter;
use super::numbers::NULL;
use crate::page::{ChunkMetadata, Compressor, PAGE_ROWS, Pages, rle_bit_packing};

/// Approximate size of a page of plain values.
const PAGE_BYTES: usize = 1024 * 1024;
/// A dictionary of at most this size is always written.
const DICTIONARY_BYTES: usize = 1024 * 1024;
/// A larger dictionary, up to this size, is written when it saves three quarters.
const DICTIONARY_BYTES_MAX: usize = 8 * 1024 * 1024;

pub fn write(
    chunk: &DictionaryColumnWriter,
    properties: &WriterProperties,
    compressor: &Compressor,
) -> Result<(Bytes, ColumnCloseResult)> {
    let compression = properties.compression(chunk.column.path());
    let unknown = || ParquetError::NYI(format!("{compression:?} of pages"));
    let mut pages = Pages::new(&chunk.column, properties, compressor).ok_or_else(unknown)?;
    let has_dictionary = has_dictionary(chunk);
    if has_dictionary {
        let mut plain = Vec::with_capacity(chunk.values.plain_bytes());
        (0..chunk.values.len()).for_each(|number| chunk.values.write_plain(number as u32, &mut plain));
        pages.push_dictionary(&plain, chunk.values.len())?;
    }
    let encoding = if has_dictionary { Encoding::RLE_DICTIONARY } else { Encoding::PLAIN };
    let mut bounds = Bounds::new(chunk, properties.statistics_enabled(chunk.column.path()));
    // Rows of one value are one page: there is one header and one location, and skipping its rows costs nothing.
    let constant = chunk.rows.constant().filter(|_| has_dictionary && chunk.rows.len() > 0);
    if let Some(number) = constant {
        let rows = chunk.rows.len();
        pages.push(&constant_page(chunk, number, rows), rows, encoding)?;
        bounds.page(chunk, &[number], if number == NULL { rows } else { 0 });
    }
    for range in if constant.is_some() { Vec::new() } else { ranges(chunk, has_dictionary) } {
        let rows = &chunk.rows.of(range)[..];
        let nulls = match chunk.column.max_def_level() {
            0 => 0,
            _ => rows.iter().filter(|number| **number == NULL).count(),
        };
        pages.push(&page(chunk, rows, nulls, encoding), rows.len(), encoding)?;
        bounds.page(chunk, rows, nulls);
    }
    let (statistics, index) = bounds.finish(chunk)?;
    pages.finish(ChunkMetadata { statistics, index, bloom: None })
}

fn has_dictionary(chunk: &DictionaryColumnWriter) -> bool {
    let bytes = chunk.values.plain_bytes();
    let plain_bytes = || {
        let present = chunk.rows.iter().filter(|number| *number != NULL);
        present.map(|number| chunk.values.plain_length(number)).sum::<usize>()
    };
    bytes <= DICTIONARY_BYTES || (bytes <= DICTIONARY_BYTES_MAX && bytes * 4 <= plain_bytes())
}

/// The rows of each page.
fn ranges(chunk: &DictionaryColumnWriter, has_dictionary: bool) -> Vec<Range<usize>> {
    let length = chunk.rows.len();
    if has_dictionary {
        return (0..length).step_by(PAGE_ROWS).map(|start| start..length.min(start + PAGE_ROWS)).collect();
    }
    let (mut ranges, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (row, number) in chunk.rows.iter().enumerate() {
        if row - start == PAGE_ROWS || bytes >= PAGE_BYTES {
            ranges.push(start..row);
            (start, bytes) = (row, 0);
        }
        if number != NULL {
            bytes += chunk.values.plain_length(number);
        }
    }
    if start < length {
        ranges.push(start..length);
    }
    ranges
}

/// The page of a dictionary-encoded chunk whose rows are equal.
fn constant_page(chunk: &DictionaryColumnWriter, number: u32, rows: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    if chunk.column.max_def_level() > 0 {
        rle_bit_packing::repeat_level(u32::from(number != NULL), rows, &mut bytes);
    }
    // Indices into a dictionary of one value take no bits.
    bytes.push(0);
    if number != NULL {
        rle_bit_packing::repeat(0, number, rows, &mut bytes);
    }
    bytes
}

/// A page of these rows, `nulls` of which are null.
fn page(chunk: &DictionaryColumnWriter, rows: &[u32], nulls: usize, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    if chunk.column.max_def_level() > 0 {
        let has_value: Vec<u32> = rows.iter().map(|number| u32::from(*number != NULL)).collect();
        rle_bit_packing::encode_levels(&has_value, &mut bytes);
    }
    let present: Cow<'_, [u32]> = match nulls {
        0 => Cow::Borrowed(rows),
        _ => rows.iter().copied().filter(|number| *number != NULL).collect(),
    };
    if encoding == Encoding::RLE_DICTIONARY {
        let width = rle_bit_packing::width(chunk.values.len().saturating_sub(1) as u32);
        bytes.push(width);
        rle_bit_packing::encode(width, &present, &mut bytes);
    } else {
        present.iter().for_each(|number| chunk.values.write_plain(*number, &mut bytes));
    }
    bytes
}
