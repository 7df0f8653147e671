//! Writes Parquet files column by column. The crate is independent of the tables: schemas and properties come from the
//! caller.
//!
//! - [`group_writer`]: writes a file, row group by row group, each column with the writer for its values.
//! - [`dictionary_column`]: columns with few distinct values. [`plain_column`]: identifiers, times, numbers, other
//!   strings.
//! - [`page`]: code that both share: compression, levels, the RLE/bit-packing hybrid.
//! - [`shared_column_chunks`]: equal column chunks of one row group are stored once.
//! - [`row_ranges`]: ranges of consecutive rows, copied range by range. [`materialize`]: dictionary arrays converted to
//!   plain arrays.
//!
//! Decision 0010 says why these writers are our own.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod dictionary_column;
pub mod group_writer;
pub mod materialize;
pub mod page;
mod plain_column;
pub mod row_ranges;
mod shared_column_chunks;
