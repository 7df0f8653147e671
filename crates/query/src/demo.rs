//! Whether an organization has any telemetry.

use tidewatch_store::tables::Table;

use super::ask::{self, Ask, Window};
use super::filters;
use super::time::Range;
use crate::error::QueryError;

/// Whether no project of the organization has stored records. Reads the counts per minute, no telemetry row.
pub async fn is_empty(ask: &Ask, organization: i64) -> Result<bool, QueryError> {
    let projects = ask.context.control.project_numbers(organization);
    let (filter, columns) = (filters::text("outcome", "kept"), vec!["time"]);
    let plan = ask::rows(Table::IngestCounts, &projects, Range::ALL, filter, columns, vec![], Window::first(1));
    Ok(ask.ask(plan).await?.is_empty())
}
