//! A chunk's pages, and where they lie.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder, PageEncodingStats};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};

use super::bounds::Bounds;
use super::{NULL, ValueChunk};
use crate::page::{Compressor, PAGE_ROWS, rle_bit_packing};

/// Bytes of a page of plain values, about.
const PAGE_BYTES: usize = 1024 * 1024;
/// A dictionary of so many bytes is always made …
const DICTIONARY_BYTES: usize = 1024 * 1024;
/// … and a larger one, up to this, when it saves three quarters.
const DICTIONARY_BYTES_MAX: usize = 8 * 1024 * 1024;

pub fn write(
    chunk: &ValueChunk,
    properties: &WriterProperties,
    compressor: &Compressor,
) -> Result<(Bytes, ColumnCloseResult)> {
    let mut sink = TrackedWrite::new(Vec::new());
    let mut pages = Pages {
        writer: SerializedPageWriter::new(&mut sink),
        compressor,
        compression: properties.compression(chunk.column.path()),
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
    let (mut count, mut first) = (0, None);
    let mut bounds = Bounds::new(chunk, properties.statistics_enabled(chunk.column.path()));
    // In one page there is one head and one place, and passing over its rows costs nothing.
    let alike = chunk.rows.alike().filter(|_| has_dictionary && chunk.rows.len() > 0);
    if let Some(number) = alike {
        let rows = chunk.rows.len();
        first = Some(pages.write_data(&alike_page(chunk, number, rows), rows, encoding)?);
        bounds.page(chunk, &[number], if number == NULL { rows } else { 0 });
        count += 1;
    }
    for range in if alike.is_some() { Vec::new() } else { ranges(chunk, has_dictionary) } {
        let rows = &chunk.rows.of(range)[..];
        let nulls = match chunk.column.max_def_level() {
            0 => 0,
            _ => rows.iter().filter(|number| **number == NULL).count(),
        };
        let offset = pages.write_data(&page(chunk, rows, nulls, encoding), rows.len(), encoding)?;
        first.get_or_insert(offset);
        bounds.page(chunk, rows, nulls);
        count += 1;
    }
    let Pages { bytes: [compressed, uncompressed], offsets, .. } = pages;
    let mut encodings = vec![Encoding::PLAIN, Encoding::RLE];
    let mut kinds = Vec::new();
    if has_dictionary {
        encodings.push(Encoding::RLE_DICTIONARY);
        kinds.push(PageEncodingStats { page_type: PageType::DICTIONARY_PAGE, encoding: Encoding::PLAIN, count: 1 });
    }
    kinds.push(PageEncodingStats { page_type: PageType::DATA_PAGE, encoding, count });
    let mut metadata = ColumnChunkMetaData::builder(chunk.column.clone())
        .set_compression(properties.compression(chunk.column.path()))
        .set_encodings(encodings)
        .set_page_encoding_stats(kinds)
        .set_total_compressed_size(compressed as i64)
        .set_total_uncompressed_size(uncompressed as i64)
        .set_num_values(chunk.rows.len() as i64)
        .set_dictionary_page_offset(dictionary_offset)
        .set_data_page_offset(first.unwrap_or(0));
    let (statistics, column_index) = bounds.finish(chunk)?;
    if let Some(statistics) = statistics {
        metadata = metadata.set_statistics(statistics);
    }
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

fn has_dictionary(chunk: &ValueChunk) -> bool {
    let bytes = chunk.values.plain_bytes();
    let plain_bytes = || {
        let present = chunk.rows.iter().filter(|number| *number != NULL);
        present.map(|number| chunk.values.plain_length(number)).sum::<usize>()
    };
    bytes <= DICTIONARY_BYTES || (bytes <= DICTIONARY_BYTES_MAX && bytes * 4 <= plain_bytes())
}

/// The rows of each page.
fn ranges(chunk: &ValueChunk, has_dictionary: bool) -> Vec<Range<usize>> {
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

/// The page of a chunk with a dictionary whose rows are alike.
fn alike_page(chunk: &ValueChunk, number: u32, rows: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    if chunk.column.max_def_level() > 0 {
        rle_bit_packing::repeat_level(u32::from(number != NULL), rows, &mut bytes);
    }
    // Numbers of one value take no bits.
    bytes.push(0);
    if number != NULL {
        rle_bit_packing::repeat(0, number, rows, &mut bytes);
    }
    bytes
}

/// A page of these rows, so many of them null.
fn page(chunk: &ValueChunk, rows: &[u32], nulls: usize, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    if chunk.column.max_def_level() > 0 {
        let is_there: Vec<u32> = rows.iter().map(|number| u32::from(*number != NULL)).collect();
        rle_bit_packing::encode_levels(&is_there, &mut bytes);
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

struct Pages<'s> {
    writer: SerializedPageWriter<'s, Vec<u8>>,
    compressor: &'s Compressor,
    compression: Compression,
    /// Compressed and not, heads of pages included.
    bytes: [usize; 2],
    offsets: OffsetIndexBuilder,
}

impl Pages<'_> {
    fn write_dictionary(&mut self, chunk: &ValueChunk) -> Result<()> {
        let mut plain = Vec::with_capacity(chunk.values.plain_bytes());
        (0..chunk.values.len()).for_each(|number| chunk.values.write_plain(number as u32, &mut plain));
        let page = Page::DictionaryPage {
            buf: self.compressor.compress(self.compression, &plain)?,
            num_values: chunk.values.len() as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let written = self.writer.write_page(CompressedPage::new(page, plain.len()))?;
        self.bytes = [self.bytes[0] + written.compressed_size, self.bytes[1] + written.uncompressed_size];
        Ok(())
    }

    /// Where the page of so many rows lies.
    fn write_data(&mut self, bytes: &[u8], rows: usize, encoding: Encoding) -> Result<i64> {
        let length = bytes.len();
        let page = Page::DataPage {
            buf: self.compressor.compress(self.compression, bytes)?,
            num_values: rows as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let written = self.writer.write_page(CompressedPage::new(page, length))?;
        self.bytes = [self.bytes[0] + written.compressed_size, self.bytes[1] + written.uncompressed_size];
        self.offsets.append_offset_and_size(written.offset as i64, written.compressed_size as i32);
        self.offsets.append_row_count(rows as i64);
        Ok(written.offset as i64)
    }
}
