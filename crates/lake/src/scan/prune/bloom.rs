//! Looks a few values up in a bloom filter: reads one block per value, not the whole filter.
//!
//! A query for a trace without a time range checks the filters of all row groups, which are megabytes together. One
//! block of 32 bytes decides for each filter and value (see the Parquet format, "split block bloom filters").

use parquet::bloom_filter::Sbbf;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;
use xxhash_rust::xxh64::xxh64;

/// For more values than this the whole filter is read.
const VALUES_MAX: usize = 4;
const BLOCK_BYTES: u64 = 32;
/// Largest plausible header before the blocks.
const HEADER_BYTES_MAX: u64 = 64;
const SALT: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// False when the column chunk certainly holds none of the values. True without a filter.
pub(crate) fn may_hold<'a>(
    chunk: &ColumnChunkMetaData,
    file: &impl ChunkReader,
    values: impl Iterator<Item = &'a [u8]> + Clone,
) -> Result<bool, ParquetError> {
    if chunk.bloom_filter_offset().is_none() {
        return Ok(true);
    }
    match blocks(chunk).filter(|_| values.clone().count() <= VALUES_MAX) {
        Some(blocks) => {
            for value in values {
                if blocks.may_hold(file, value)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        None => {
            let Some(bloom) = Sbbf::read_from_column_chunk(chunk, file)? else { return Ok(true) };
            let mut values = values;
            Ok(values.any(|value| bloom.check(&ByteArray::from(value.to_vec()))))
        }
    }
}

/// Position of the blocks of a filter in the file.
#[derive(Debug, Clone, Copy)]
struct Blocks {
    offset: u64,
    count: u64,
}

/// Locates the blocks: a power of two of bytes after the filter's header, up to its end. `None` when the sizes do not
/// match that.
fn blocks(chunk: &ColumnChunkMetaData) -> Option<Blocks> {
    let offset = u64::try_from(chunk.bloom_filter_offset()?).ok()?;
    let length = u64::try_from(chunk.bloom_filter_length()?).ok()?;
    let bytes = 1 << length.checked_ilog2()?;
    let header = length - bytes;
    let fits = bytes >= BLOCK_BYTES && (1..=HEADER_BYTES_MAX).contains(&header);
    fits.then_some(Blocks { offset: offset.checked_add(header)?, count: bytes / BLOCK_BYTES })
}

impl Blocks {
    fn may_hold(self, file: &impl ChunkReader, value: &[u8]) -> Result<bool, ParquetError> {
        let hash = xxh64(value, 0);
        let index = ((hash >> 32) * self.count) >> 32;
        let block = file.get_bytes(self.offset + index * BLOCK_BYTES, BLOCK_BYTES as usize)?;
        let words = block.chunks_exact(4).map(|word| word.try_into().map_or(0, u32::from_le_bytes));
        Ok(words.zip(SALT).all(|(word, salt)| word >> ((hash as u32).wrapping_mul(salt) >> 27) & 1 == 1))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, FixedSizeBinaryArray, RecordBatch};
    use bytes::Bytes;
    use parquet::arrow::ArrowWriter;
    use parquet::file::metadata::ParquetMetaDataReader;
    use parquet::file::properties::WriterProperties;

    use super::*;

    #[test]
    fn one_block_gives_the_result_of_the_whole_filter() {
        let id = |number: u64| {
            let mut id = [7; 16];
            id[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
            id
        };
        for count in [1_u64, 30, 3000] {
            let ids: ArrayRef = Arc::new(FixedSizeBinaryArray::try_from_iter((0..count).map(id)).unwrap());
            let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
            let properties = WriterProperties::builder().set_bloom_filter_enabled(true).build();
            let mut file = Vec::new();
            let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            let file = Bytes::from(file);
            let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
            let chunk = metadata.row_group(0).column(0);
            assert!(blocks(chunk).is_some(), "our own writer's filters are read by blocks");
            let whole = Sbbf::read_from_column_chunk(chunk, &file).unwrap().unwrap();
            let mut wrong = 0;
            for number in 0..2 * count + 1000 {
                let id = id(number);
                let by_block = may_hold(chunk, &file, [id.as_slice()].into_iter()).unwrap();
                assert_eq!(by_block, whole.check(&ByteArray::from(id.to_vec())), "{number} of {count}");
                assert!(by_block || number >= count);
                wrong += u64::from(by_block && number >= count);
            }
            assert!(wrong <= (count + 1000) / 5, "{wrong}");
            let many: Vec<[u8; 16]> = (count..count + 9).map(id).chain([id(0)]).collect();
            assert!(may_hold(chunk, &file, many.iter().map(|id| id.as_slice())).unwrap(), "the last of many");
        }
    }
}
