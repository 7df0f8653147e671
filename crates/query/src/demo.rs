//! Whether an organization has any telemetry.

use tidewatch_store::tables::Table;

use super::executor::Executor;
use super::filters;
use super::plans::{self, Window};
use super::time::Range;
use crate::error::QueryError;

/// Whether no project of the organization has stored records. Reads the counts per minute, no rows of telemetry.
pub async fn is_empty(executor: &Executor, organization: i64) -> Result<bool, QueryError> {
    let projects = executor.context.projects.project_numbers(organization);
    let (filter, columns) = (filters::text("outcome", "kept"), vec!["time"]);
    let plan = plans::rows(Table::IngestCounts, &projects, Range::ALL, filter, columns, vec![], Window::first(1));
    Ok(executor.run(plan).await?.is_empty())
}
