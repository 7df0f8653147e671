//! The rows that an export reads.

use tidewatch_query::export::Format;
use tidewatch_query::time::Range;
use tidewatch_store::tables::Table;

/// Table, projects and range of an export.
pub struct Request<'a> {
    pub table: Table,
    pub range: Range,
    pub project: Option<&'a str>,
    pub format: Format,
}
