//! A chunk's pages, where they lie, and between which values.

use std::ops::Range;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType, Type};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};

use super::{NULL, TextChunk, hybrid};

/// Rows of a page, and bytes of one of plain values.
const PAGE_ROWS: usize = 8192;
const PAGE_BYTES: usize = 1024 * 1024;
/// A dictionary of so many bytes is always made …
const DICTIONARY_BYTES: usize = 1024 * 1024;
/// … and a larger one, up to this, when it saves three quarters.
const DICTIONARY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bounds in metadata are cut to so many bytes.
const BOUND_BYTES: usize = 64;

pub fn write(chunk: &TextChunk, properties: &WriterProperties) -> Result<(Bytes, ColumnCloseResult)> {
    let statistics = properties.statistics_enabled(chunk.column.path());
    let mut sink = TrackedWrite::new(Vec::new());
    let mut pages = Pages {
        writer: SerializedPageWriter::new(&mut sink),
        compression: properties.compression(chunk.column.path()),
        compressor: None,
        bytes: [0, 0],
        offsets: OffsetIndexBuilder::new(),
    };
    let has_dictionary = has_dictionary(chunk);
    let mut dictionary_offset = None;
    if has_dictionary {
        pages.write_dictionary(chunk)?;
        dictionary_offset = Some(0);
    }
    let encoding = if has_dictionary { Encoding::RLE_DICTIONARY } else { Encoding::PLAIN };
    let (mut bounds, mut nulls, mut count, mut first) = (None, 0, 0, None);
    let mut index = ColumnIndexBuilder::new(Type::BYTE_ARRAY);
    let mut is_seen = vec![u32::MAX; chunk.values.len()];
    for range in ranges(chunk, has_dictionary) {
        let rows = &chunk.rows[range];
        let page_nulls = rows.iter().filter(|number| **number == NULL).count();
        let offset = pages.write_data(chunk, rows, encoding)?;
        first.get_or_insert(offset);
        if statistics != EnabledStatistics::None {
            let page = page_bounds(chunk, rows, count, &mut is_seen);
            let (low, high) = page.map_or((&[][..], &[][..]), |(low, high)| (low, high));
            index.append(page.is_none(), cut_low(low).to_vec(), cut_high(high).0, page_nulls as i64, None);
            bounds = widest(bounds, page);
        }
        nulls += page_nulls as u64;
        count += 1;
    }
    let Pages { bytes: [compressed, uncompressed], offsets, .. } = pages;
    let mut encodings = vec![Encoding::PLAIN, Encoding::RLE];
    let mut kinds = Vec::new();
    if has_dictionary {
        encodings.push(Encoding::RLE_DICTIONARY);
        kinds.push(PageEncodingStats { page_type: PageType::DICTIONARY_PAGE, encoding: Encoding::PLAIN, count: 1 });
    }
    kinds.push(PageEncodingStats { page_type: PageType::DATA_PAGE, encoding, count: count as i32 });
    let mut metadata = ColumnChunkMetaData::builder(chunk.column.clone())
        .set_compression(properties.compression(chunk.column.path()))
        .set_encodings(encodings)
        .set_page_encoding_stats(kinds)
        .set_total_compressed_size(compressed as i64)
        .set_total_uncompressed_size(uncompressed as i64)
        .set_num_values(chunk.rows.len() as i64)
        .set_dictionary_page_offset(dictionary_offset)
        .set_data_page_offset(first.unwrap_or(0));
    if statistics != EnabledStatistics::None {
        metadata = metadata.set_statistics(chunk_statistics(bounds, nulls));
    }
    let column_index = match statistics {
        EnabledStatistics::Page => Some(index.build()?),
        _ => None,
    };
    let result = ColumnCloseResult {
        bytes_written: compressed as u64,
        rows_written: chunk.rows.len() as u64,
        metadata: metadata.build()?,
        bloom_filter: None,
        column_index,
        offset_index: Some(offsets.build()),
    };
    Ok((Bytes::from(sink.into_inner()?), result))
}

fn has_dictionary(chunk: &TextChunk) -> bool {
    let bytes = chunk.values.bytes.len() + 4 * chunk.values.len();
    let plain_bytes = || {
        let present = chunk.rows.iter().filter(|number| **number != NULL);
        present.map(|number| chunk.values.get(*number).len() + 4).sum::<usize>()
    };
    bytes <= DICTIONARY_BYTES || (bytes <= DICTIONARY_BYTES_MAX && bytes * 4 <= plain_bytes())
}

/// The rows of each page.
fn ranges(chunk: &TextChunk, has_dictionary: bool) -> Vec<Range<usize>> {
    let (mut ranges, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (row, number) in chunk.rows.iter().enumerate() {
        if row - start == PAGE_ROWS || bytes >= PAGE_BYTES {
            ranges.push(start..row);
            (start, bytes) = (row, 0);
        }
        if !has_dictionary && *number != NULL {
            bytes += chunk.values.get(*number).len() + 4;
        }
    }
    if start < chunk.rows.len() {
        ranges.push(start..chunk.rows.len());
    }
    ranges
}

struct Pages<'s> {
    writer: SerializedPageWriter<'s, Vec<u8>>,
    compression: Compression,
    compressor: Option<zstd::bulk::Compressor<'static>>,
    /// Compressed and not, heads of pages included.
    bytes: [usize; 2],
    offsets: OffsetIndexBuilder,
}

impl Pages<'_> {
    fn write_dictionary(&mut self, chunk: &TextChunk) -> Result<()> {
        let mut plain = Vec::with_capacity(chunk.values.bytes.len() + 4 * chunk.values.len());
        (0..chunk.values.len()).for_each(|number| write_plain(chunk.values.get(number as u32), &mut plain));
        let page = Page::DictionaryPage {
            buf: self.compress(&plain)?,
            num_values: chunk.values.len() as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let written = self.writer.write_page(CompressedPage::new(page, plain.len()))?;
        self.bytes = [self.bytes[0] + written.compressed_size, self.bytes[1] + written.uncompressed_size];
        Ok(())
    }

    /// Where the page lies.
    fn write_data(&mut self, chunk: &TextChunk, rows: &[u32], encoding: Encoding) -> Result<i64> {
        let mut bytes = Vec::new();
        if chunk.column.max_def_level() > 0 {
            let is_there: Vec<u32> = rows.iter().map(|number| u32::from(*number != NULL)).collect();
            bytes.extend_from_slice(&[0; 4]);
            hybrid::encode(1, &is_there, &mut bytes);
            let length = (bytes.len() - 4) as u32;
            bytes[..4].copy_from_slice(&length.to_le_bytes());
        }
        let present = rows.iter().copied().filter(|number| *number != NULL);
        if encoding == Encoding::RLE_DICTIONARY {
            let width = hybrid::width(chunk.values.len().saturating_sub(1) as u32);
            bytes.push(width);
            match chunk.column.max_def_level() {
                0 => hybrid::encode(width, rows, &mut bytes),
                _ => hybrid::encode(width, &present.collect::<Vec<_>>(), &mut bytes),
            }
        } else {
            present.for_each(|number| write_plain(chunk.values.get(number), &mut bytes));
        }
        let page = Page::DataPage {
            buf: self.compress(&bytes)?,
            num_values: rows.len() as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let written = self.writer.write_page(CompressedPage::new(page, bytes.len()))?;
        self.bytes = [self.bytes[0] + written.compressed_size, self.bytes[1] + written.uncompressed_size];
        self.offsets.append_offset_and_size(written.offset as i64, written.compressed_size as i32);
        self.offsets.append_row_count(rows.len() as i64);
        Ok(written.offset as i64)
    }

    fn compress(&mut self, bytes: &[u8]) -> Result<Bytes> {
        let level = match self.compression {
            Compression::UNCOMPRESSED => return Ok(Bytes::copy_from_slice(bytes)),
            Compression::ZSTD(level) => level.compression_level(),
            other => return Err(ParquetError::NYI(format!("{other:?} of texts"))),
        };
        if self.compressor.is_none() {
            self.compressor = Some(zstd::bulk::Compressor::new(level)?);
        }
        let compressor = self.compressor.as_mut().expect("just made");
        Ok(Bytes::from(compressor.compress(bytes)?))
    }
}

fn write_plain(value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    out.extend_from_slice(value);
}

/// The least and greatest value of a page; each value is looked at once per page.
fn page_bounds<'c>(chunk: &'c TextChunk, rows: &[u32], page: u32, is_seen: &mut [u32]) -> Option<(&'c [u8], &'c [u8])> {
    let mut bounds = None;
    let mut last = NULL;
    for number in rows.iter().copied() {
        if number == last || number == NULL {
            continue;
        }
        last = number;
        if std::mem::replace(&mut is_seen[number as usize], page) != page {
            let value = chunk.values.get(number);
            bounds = widest(bounds, Some((value, value)));
        }
    }
    bounds
}

fn widest<'c>(a: Option<(&'c [u8], &'c [u8])>, b: Option<(&'c [u8], &'c [u8])>) -> Option<(&'c [u8], &'c [u8])> {
    match (a, b) {
        (Some((low, high)), Some((other_low, other_high))) => Some((low.min(other_low), high.max(other_high))),
        (a, b) => a.or(b),
    }
}

fn chunk_statistics(bounds: Option<(&[u8], &[u8])>, nulls: u64) -> Statistics {
    let low = bounds.map(|(low, _)| cut_low(low));
    let high = bounds.map(|(_, high)| cut_high(high));
    let is_exact = |cut: Option<usize>, whole: Option<usize>| cut == whole;
    let low_is_exact = is_exact(low.map(<[u8]>::len), bounds.map(|(low, _)| low.len()));
    let high_is_exact = high.as_ref().is_none_or(|(_, is_exact)| *is_exact);
    let low = low.map(|low| ByteArray::from(low.to_vec()));
    let high = high.map(|(high, _)| ByteArray::from(high));
    let statistics = ValueStatistics::new(low, high, None, Some(nulls), false);
    Statistics::ByteArray(statistics.with_min_is_exact(low_is_exact).with_max_is_exact(high_is_exact))
}

/// Not above the value, and short; whole characters stay whole.
fn cut_low(value: &[u8]) -> &[u8] {
    if value.len() <= BOUND_BYTES {
        return value;
    }
    let is_start = |at: &usize| value[*at] & 0xc0 != 0x80;
    let end = (BOUND_BYTES - 3..=BOUND_BYTES).rev().find(is_start).unwrap_or(BOUND_BYTES);
    &value[..end]
}

/// Not below the value, and short when that can be; and whether it is the value itself.
fn cut_high(value: &[u8]) -> (Vec<u8>, bool) {
    if value.len() <= BOUND_BYTES {
        return (value.to_vec(), true);
    }
    // One more in the last character that is ASCII before and after.
    match value[..BOUND_BYTES].iter().rposition(|byte| *byte < 0x7f) {
        Some(at) => {
            let mut high = value[..=at].to_vec();
            high[at] += 1;
            (high, false)
        }
        None => (value.to_vec(), true),
    }
}
