//! The compressed pages of one column chunk and the metadata of the chunk.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType};
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder, PageEncodingStats};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::Compressor;

/// Collects the pages of a column chunk.
pub struct Pages {
    column: ColumnDescPtr,
    compression: Compression,
    compressor: Compressor,
    /// The dictionary page, encoded `PLAIN`, when the chunk has one.
    dictionary: Option<CompressedPage>,
    /// Each data page with its number of rows.
    pages: Vec<(usize, CompressedPage)>,
    bytes: usize,
}

/// Metadata of a column chunk that does not follow from its pages.
#[derive(Default)]
pub struct ChunkMetadata {
    /// Bounds and null count of the chunk; `None` omits them.
    pub statistics: Option<Statistics>,
    /// Bounds and null counts of the pages; `None` omits the column index.
    pub index: Option<ColumnIndexMetaData>,
    /// Bloom filter of the chunk's values; `None` omits it.
    pub bloom: Option<Sbbf>,
}

impl Pages {
    /// Starts a chunk without pages. `None` when [`Compressor`] does not support the column's compression.
    pub fn new(column: &ColumnDescPtr, properties: &WriterProperties, compressor: &Compressor) -> Option<Pages> {
        let compression = properties.compression(column.path());
        Compressor::supports(compression).then(|| Pages {
            column: column.clone(),
            compression,
            compressor: compressor.clone(),
            dictionary: None,
            pages: Vec::new(),
            bytes: 0,
        })
    }

    /// Size of the compressed pages, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds the dictionary page: `values` values, encoded `PLAIN`. Fails when the compression fails.
    pub fn push_dictionary(&mut self, bytes: &[u8], values: usize) -> Result<()> {
        let page = Page::DictionaryPage {
            buf: self.compressor.compress(self.compression, bytes)?,
            num_values: values as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        self.bytes += page.buffer().len();
        self.dictionary = Some(CompressedPage::new(page, bytes.len()));
        Ok(())
    }

    /// Adds a data page of `rows` rows. Fails when the compression fails.
    pub fn push(&mut self, bytes: &[u8], rows: usize, encoding: Encoding) -> Result<()> {
        let length = bytes.len();
        let page = Page::DataPage {
            buf: self.compressor.compress(self.compression, bytes)?,
            num_values: rows as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.bytes += page.buffer().len();
        self.pages.push((rows, CompressedPage::new(page, length)));
        Ok(())
    }

    /// Returns the bytes of the chunk and its metadata. Offsets count from the chunk's first byte.
    pub fn finish(self, chunk: ChunkMetadata) -> Result<(Bytes, ColumnCloseResult)> {
        let mut sink = TrackedWrite::new(Vec::with_capacity(self.bytes + 64 * (self.pages.len() + 1)));
        let mut writer = SerializedPageWriter::new(&mut sink);
        let (mut compressed, mut uncompressed) = (0, 0);
        let mut offsets = OffsetIndexBuilder::new();
        let mut kinds: Vec<PageEncodingStats> = Vec::new();
        let mut encodings = vec![Encoding::RLE];
        let (mut dictionary_offset, mut first) = (None, None);
        let mut all_rows = 0;
        if let Some(page) = self.dictionary {
            kinds.push(PageEncodingStats { page_type: PageType::DICTIONARY_PAGE, encoding: Encoding::PLAIN, count: 1 });
            encodings.push(Encoding::PLAIN);
            let written = writer.write_page(page)?;
            compressed += written.compressed_size;
            uncompressed += written.uncompressed_size;
            dictionary_offset = Some(written.offset as i64);
        }
        for (rows, page) in self.pages {
            let encoding = page.encoding();
            match kinds.last_mut() {
                Some(last) if last.page_type == PageType::DATA_PAGE && last.encoding == encoding => last.count += 1,
                _ => kinds.push(PageEncodingStats { page_type: PageType::DATA_PAGE, encoding, count: 1 }),
            }
            if !encodings.contains(&encoding) {
                encodings.push(encoding);
            }
            let written = writer.write_page(page)?;
            compressed += written.compressed_size;
            uncompressed += written.uncompressed_size;
            offsets.append_offset_and_size(written.offset as i64, written.compressed_size as i32);
            offsets.append_row_count(rows as i64);
            first.get_or_insert(written.offset as i64);
            all_rows += rows;
        }
        let mut metadata = ColumnChunkMetaData::builder(self.column)
            .set_compression(self.compression)
            .set_encodings(encodings)
            .set_page_encoding_stats(kinds)
            .set_total_compressed_size(compressed as i64)
            .set_total_uncompressed_size(uncompressed as i64)
            .set_num_values(all_rows as i64)
            .set_dictionary_page_offset(dictionary_offset)
            .set_data_page_offset(first.unwrap_or(0));
        if let Some(statistics) = chunk.statistics {
            metadata = metadata.set_statistics(statistics);
        }
        let result = ColumnCloseResult {
            bytes_written: compressed as u64,
            rows_written: all_rows as u64,
            metadata: metadata.build()?,
            bloom_filter: chunk.bloom,
            column_index: chunk.index,
            offset_index: Some(offsets.build()),
        };
        Ok((Bytes::from(sink.into_inner()?), result))
    }
}
