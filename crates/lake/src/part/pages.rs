//! Reads all rows of several parts for a merge, with one decompressor for all columns of all parts. The `parquet`
//! crate's readers of eight parts have six hundred decompressors of a hundred kilobytes each.
//!
//! Invariant: the rows equal those that the reader of the `parquet` crate gives.

use std::sync::Arc;

use arrow::datatypes::Fields;
use bytes::Bytes;
use parking_lot::Mutex;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::arrow::parquet_to_arrow_field_levels;
use parquet::basic::{Compression, Type as PhysicalType};
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

use crate::part::{Part, PartFile};
use tidewatch_store::StoreError;

/// An empty string in a dictionary page: its length.
const EMPTY_STRING: [u8; 4] = [0; 4];

/// A decompressor shared by any number of readers, which decompresses one page at a time.
#[derive(Clone, Default)]
pub struct Decompressor(Arc<Mutex<zstd::bulk::Decompressor<'static>>>);

impl Decompressor {
    /// Decompresses a page. Fails for pages larger than `bytes_max`, which are damaged.
    fn decompress(&self, page: &[u8], bytes_max: usize) -> Result<Bytes> {
        let length = zstd::zstd_safe::get_frame_content_size(page).ok().flatten();
        let length = length.map_or(Some(bytes_max), |length| usize::try_from(length).ok());
        let length = length.filter(|length| *length <= bytes_max);
        let length = length.ok_or_else(|| ParquetError::General("a page is larger than its column".to_owned()))?;
        Ok(Bytes::from(self.0.lock().decompress(page, length)?))
    }
}

/// A reader of all rows of the part, with the columns and types of `fields`.
pub fn open(
    part: &Part,
    fields: &Fields,
    batch_rows: usize,
    decompressor: &Decompressor,
) -> std::result::Result<ParquetRecordBatchReader, StoreError> {
    let metadata = Arc::clone(part.metadata()?.metadata());
    rows(part.file()?, metadata, fields, batch_rows, decompressor).map_err(|e| crate::error::parquet(part.path(), e))
}

fn rows(
    file: PartFile,
    metadata: Arc<ParquetMetaData>,
    fields: &Fields,
    batch_rows: usize,
    decompressor: &Decompressor,
) -> Result<ParquetRecordBatchReader> {
    let schema = metadata.file_metadata().schema_descr_ptr();
    let levels = parquet_to_arrow_field_levels(&schema, ProjectionMask::all(), Some(fields))?;
    let columns = Columns { file: Arc::new(file), metadata, decompressor: decompressor.clone() };
    let columns: Arc<dyn FileReader> = Arc::new(columns);
    ParquetRecordBatchReader::try_new_with_row_groups(&levels, &columns, batch_rows, None)
}

/// The columns of a part.
struct Columns {
    file: Arc<PartFile>,
    metadata: Arc<ParquetMetaData>,
    decompressor: Decompressor,
}

impl Columns {
    fn pages(&self, group: usize, column: usize) -> Result<Box<dyn PageReader>> {
        let chunk = self.metadata.row_group(group).column(column);
        let rows = self.metadata.row_group(group).num_rows() as usize;
        let index = self.metadata.page_index();
        let places = index.and_then(|index| index.page_locations(group, column).cloned());
        let file = Arc::clone(&self.file);
        if !matches!(chunk.compression(), Compression::ZSTD(_)) {
            return Ok(Box::new(SerializedPageReader::new(file, chunk, rows, places)?));
        }
        let bytes_max = usize::try_from(chunk.uncompressed_size())?;
        // The reader returns pages without decompressing them.
        let chunk = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        let compressed = SerializedPageReader::new(file, &chunk, rows, places)?;
        let has_strings = chunk.column_type() == PhysicalType::BYTE_ARRAY;
        Ok(Box::new(Pages { compressed, bytes_max, has_strings, decompressor: self.decompressor.clone() }))
    }
}

impl FileReader for Columns {
    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    fn num_row_groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    fn get_row_group(&self, group: usize) -> Result<Box<dyn RowGroupReader + '_>> {
        Ok(Box::new(Group { columns: self, group }))
    }

    fn get_row_iter(&self, _: Option<Type>) -> Result<RowIter<'_>> {
        Err(by_column())
    }
}

struct Group<'c> {
    columns: &'c Columns,
    group: usize,
}

impl RowGroupReader for Group<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.columns.metadata.row_group(self.group)
    }

    fn num_columns(&self) -> usize {
        self.metadata().num_columns()
    }

    fn get_column_page_reader(&self, column: usize) -> Result<Box<dyn PageReader>> {
        self.columns.pages(self.group, column)
    }

    fn get_column_bloom_filter(&self, _: usize) -> Option<&Sbbf> {
        None
    }

    fn get_row_iter(&self, _: Option<Type>) -> Result<RowIter<'_>> {
        Err(by_column())
    }
}

fn by_column() -> ParquetError {
    ParquetError::NYI("rows are read by column here".to_owned())
}

/// The pages of a column chunk.
struct Pages {
    compressed: SerializedPageReader<PartFile>,
    bytes_max: usize,
    has_strings: bool,
    decompressor: Decompressor,
}

impl Pages {
    fn decompressed(&self, mut page: Page) -> Result<Page> {
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => {
                *buf = self.decompressor.decompress(buf, self.bytes_max)?;
            }
            Page::DataPageV2 { .. } => return Err(ParquetError::NYI("a merge of pages of version 2".to_owned())),
        }
        // For a dictionary without values, the crate builds one by comparing as many null strings as there are rows. It
        // does not do so for a dictionary with a value that no row has.
        if let Page::DictionaryPage { buf, num_values: num_values @ 0, .. } = &mut page
            && self.has_strings
        {
            (*buf, *num_values) = (Bytes::from_static(&EMPTY_STRING), 1);
        }
        Ok(page)
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.compressed.get_next_page()?.map(|page| self.decompressed(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.compressed.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.compressed.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.compressed.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>> {
        self.compressed.take_deferred_dictionary()?.map(|page| self.decompressed(page)).transpose()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.compressed.at_record_boundary()
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, FixedSizeBinaryArray, Int64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
    use parquet::basic::ZstdLevel;
    use parquet::file::metadata::PageIndexPolicy;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::schema::types::ColumnPath;
    use tidewatch_journal::disk::sim::SimDisk;
    use tidewatch_journal::disk::{Disk, DiskFile};

    use super::*;

    const ROWS: i64 = 5000;

    fn batch() -> RecordBatch {
        let strings = (0..ROWS).map(|n| (n % 7 > 0).then(|| format!("value {}", n % 50)));
        let unique = (0..ROWS).map(|n| Some(format!("{:x}", n.wrapping_mul(0x9E37_79B9_7F4A))));
        let ids = (0..ROWS).map(|n| n.to_le_bytes());
        let columns: [(&str, ArrayRef); 6] = [
            ("strings", Arc::new(strings.collect::<StringArray>())),
            ("unique", Arc::new(unique.collect::<StringArray>())),
            ("numbers", Arc::new((0..ROWS).map(|n| n * n % 1000).collect::<Int64Array>())),
            ("nothing", Arc::new(Int64Array::from(vec![None; ROWS as usize]))),
            // One value, in the second row group.
            ("rare", Arc::new((0..ROWS).map(|n| (n == 2000).then_some("rare")).collect::<StringArray>())),
            ("ids", Arc::new(FixedSizeBinaryArray::try_from_iter(ids).unwrap())),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
    }

    /// Row groups of 1,500 rows, pages of 200.
    fn file(version: WriterVersion) -> (PartFile, ArrowReaderMetadata) {
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
            .set_column_compression(ColumnPath::from("ids"), Compression::UNCOMPRESSED)
            .set_max_row_group_row_count(Some(1500))
            .set_data_page_row_count_limit(200)
            .set_write_batch_size(100)
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch().schema(), Some(properties)).unwrap();
        writer.write(&batch()).unwrap();
        let bytes = writer.into_inner().unwrap();
        let disk = SimDisk::new(1);
        let file = disk.create("/part".as_ref()).unwrap();
        file.write_at(&bytes, 0).unwrap();
        let file: Arc<dyn DiskFile> = Arc::from(file);
        let file = PartFile::new(file, bytes.len() as u64, Arc::default());
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata = ArrowReaderMetadata::load(&file, options).unwrap();
        (file, metadata)
    }

    #[test]
    fn rows_are_those_that_the_parquet_crate_reads() {
        let (file, metadata) = file(WriterVersion::PARQUET_1_0);
        let theirs = ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), metadata.clone());
        let theirs: Vec<_> = theirs.with_batch_size(256).build().unwrap().map(|batch| batch.unwrap()).collect();
        let decompressor = Decompressor::default();
        let (fields, metadata) = (metadata.schema().fields(), metadata.metadata());
        // Two readers share the decompressor.
        let mut readers =
            [(); 2].map(|()| rows(file.clone(), Arc::clone(metadata), fields, 256, &decompressor).unwrap());
        for expected in theirs {
            readers.iter_mut().for_each(|reader| assert_eq!(reader.next().unwrap().unwrap(), expected));
        }
        readers.iter_mut().for_each(|reader| assert!(reader.next().is_none()));
    }

    #[test]
    fn unreadable_pages_are_errors() {
        let (file, metadata) = file(WriterVersion::PARQUET_2_0);
        let (fields, metadata) = (metadata.schema().fields(), metadata.metadata());
        let mut reader = rows(file, Arc::clone(metadata), fields, 256, &Decompressor::default()).unwrap();
        assert!(reader.next().unwrap().is_err());
        let page = zstd::bulk::compress(&[7; 1000], 1).unwrap();
        let decompressor = Decompressor::default();
        assert_eq!(decompressor.decompress(&page, 1000).unwrap(), [7; 1000][..]);
        assert!(decompressor.decompress(&page, 999).is_err(), "larger than its column");
        assert!(decompressor.decompress(&page[1..], 1000).is_err(), "no page");
    }
}
