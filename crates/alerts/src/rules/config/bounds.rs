//! Errors of configurations that no single field shows.

use tidewatch_query::ids::parse_hash;
use tidewatch_query::time_windows;

use super::keys::{IssueSpike, QueryThreshold};
use super::values::QueryMeasure;

/// Checks the query of a search and its measure.
pub(super) fn query(config: &QueryThreshold) -> Result<(), String> {
    let Some(kind) = config.rows else { return Ok(()) };
    time_windows::parsed_query(kind, &config.query).map_err(|error| error.to_string())?;
    let table = kind.table();
    let has = |column: &str| table.columns().iter().any(|one| one.name == column);
    let is_known = match config.measure {
        QueryMeasure::Count => true,
        QueryMeasure::ErrorRate => has("is_error"),
        QueryMeasure::P50 | QueryMeasure::P95 | QueryMeasure::P99 => has("duration"),
    };
    if is_known { Ok(()) } else { Err(format!("{} have no such measure", kind.noun())) }
}

/// Checks the hash of an Issue.
pub(super) fn issue_spike(config: &IssueSpike) -> Result<(), String> {
    if config.exception_hash == "*" {
        return Ok(());
    }
    parse_hash(&config.exception_hash).map(drop).map_err(|error| error.to_string())
}
