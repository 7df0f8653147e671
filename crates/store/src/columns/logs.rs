//! Log records, and the exceptions some projects make of them (DECISIONS 9).

use tidewatch_domain::model::{LogBatch, Signal};
use tidewatch_domain::project::{KeptLog, LogProjection, ProjectContext};

use super::traces::write_exception;
use super::{Rows, Shared, TableRows, Twin, encode_sorted, trimmed};
use crate::tables::Table;

impl Rows {
    /// The rows of a log export. `project` is the number of the project in the control database.
    pub fn logs(project: u32, _context: &ProjectContext, batch: &LogBatch<'_>, projection: &LogProjection<'_>) -> Rows {
        let mut resource_repeats = vec![0; batch.resources.len()];
        let mut scope_repeats = vec![0; batch.scopes.len()];
        for log in &projection.logs {
            let record = &batch.records[log.record as usize];
            resource_repeats[record.resource as usize] += 1;
            scope_repeats[record.scope as usize] += 1;
        }
        let resources = batch.resources.iter().zip(resource_repeats);
        let scopes = batch.scopes.iter().zip(scope_repeats);
        let shared = ResourcesAndScopes {
            resources: resources.map(|(r, repeats)| Shared::new(batch.attributes(r.attributes).0, repeats)).collect(),
            scopes: scopes.map(|(s, repeats)| Shared::new(batch.attributes(s.attributes).0, repeats)).collect(),
        };

        let mut logs = TableRows::new(Table::Logs);
        let mut exceptions = TableRows::new(Table::Exceptions);
        for log in &projection.logs {
            write_log(&mut logs, project, batch, &shared, log);
        }
        for exception in &projection.exceptions {
            let record = &batch.records[exception.span as usize];
            let attributes = batch.attributes(record.attributes).0;
            let event = batch.attributes(exception.event_attributes).0;
            let ids = (&record.trace_id.0, &record.span_id.0);
            write_exception(&mut exceptions, project, ids, exception, attributes, event);
            exceptions.twins.push(Twin::new(project, ids, exception, true));
        }
        let mut rows =
            Rows::new(project, Signal::Logs, vec![logs, exceptions], batch.records.len(), &projection.dropped);
        let is_trimmed = |log: &KeptLog<'_>| {
            let record = &batch.records[log.record as usize];
            shared.resources[record.resource as usize].is_trimmed || shared.scopes[record.scope as usize].is_trimmed
        };
        rows.trimmed = trimmed(projection.logs.iter().map(|log| (log.record, is_trimmed(log))));
        rows
    }
}

/// By index; empty where no kept record has them.
struct ResourcesAndScopes {
    resources: Vec<Shared>,
    scopes: Vec<Shared>,
}

fn write_log(
    table: &mut TableRows,
    project: u32,
    batch: &LogBatch<'_>,
    shared: &ResourcesAndScopes,
    log: &KeptLog<'_>,
) {
    let record = &batch.records[log.record as usize];
    let scope = &batch.scopes[record.scope as usize];
    table
        .row(log.record)
        .u32(project)
        .text(log.server_name)
        .i64(log.time_ns)
        .i64(i64::try_from(record.observed_time_ns).unwrap_or(i64::MAX))
        .u8(log.severity_number)
        .text(log.severity_text)
        .text(log.body)
        .id(&record.trace_id.0)
        .id(&record.span_id.0)
        .text(record.event_name)
        .u32(record.flags)
        .text(scope.name)
        .text(scope.version)
        .bytes(&shared.scopes[record.scope as usize].bytes)
        .bytes_with(|out| encode_sorted(batch.attributes(record.attributes).0, out))
        .bytes(&shared.resources[record.resource as usize].bytes)
        .u32(record.dropped_attributes);
}
