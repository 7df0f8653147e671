//! Writes Parquet files column by column. Knows no table: schemas and properties come from the caller.
//!
//! - [`group_writer`]: a file, row group by row group; each column goes to the writer that suits its values.
//! - [`dictionary_column`]: columns with few distinct values. [`plain_column`]: identifiers, times, numbers, other strings.
//! - [`page`]: what both share: compression, levels, the RLE/bit-packing hybrid.
//! - [`shared_column_chunks`]: equal column chunks of one row group are stored once.
//! - [`row_ranges`]: consecutive rows, copied range by range. [`materialize`]: dictionary arrays turned into plain ones.
//!
//! Decision 0010 says why these writers are our own.

#![forbid(unsafe_code)]

mod dictionary_column;
pub mod group_writer;
pub mod materialize;
pub mod page;
mod plain_column;
pub mod row_ranges;
mod shared_column_chunks;
