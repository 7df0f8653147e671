//! Rows of log records, and of the exceptions in them for projects with Issues from logs (DECISIONS 9).

use tidewatch_domain::model::{Layout, LogBatch, LogRecord, NativeId, Signal};
use tidewatch_domain::project::{KeptLog, LogProjection, ProjectContext};

use super::attributes::{SharedAttributes, SortedEncoder, trimmed};
use super::block::BLOCK_ROWS;
use super::senders::environment_of;
use super::traces::write_exception;
use super::{ExceptionKeys, Rows, Senders, TableRows};
use crate::tables::Table;

impl Rows {
    /// Builds the rows of a log export. `project`: number of the project in the control database.
    pub fn logs(project: u32, _context: &ProjectContext, batch: &LogBatch<'_>, projection: &LogProjection<'_>) -> Rows {
        let mut resource_repeats = vec![0; batch.resources.len()];
        let mut scope_repeats = vec![0; batch.scopes.len()];
        for log in &projection.logs {
            let record = &batch.records[log.record as usize];
            resource_repeats[record.resource as usize] += 1;
            scope_repeats[record.scope as usize] += 1;
        }
        for exception in &projection.exceptions {
            let repeats = &mut resource_repeats[batch.records[exception.span as usize].resource as usize];
            *repeats = (*repeats).max(1);
        }
        let resources = batch.resources.iter().zip(resource_repeats);
        let scopes = batch.scopes.iter().zip(scope_repeats);
        let shared = ResourcesAndScopes {
            resources: resources
                .map(|(r, repeats)| SharedAttributes::new(batch.attributes(r.attributes).0, repeats))
                .collect(),
            scopes: scopes
                .map(|(s, repeats)| SharedAttributes::new(batch.attributes(s.attributes).0, repeats))
                .collect(),
        };

        let mut logs = TableRows::new(Table::Logs);
        let mut exceptions = TableRows::new(Table::Exceptions);
        write_logs(&mut logs, project, batch, &shared, &projection.logs);
        for exception in &projection.exceptions {
            let record = &batch.records[exception.span as usize];
            let attributes = batch.attributes(record.attributes).0;
            let event = batch.attributes(exception.event_attributes).0;
            let ids = (&record.trace_id.0, &record.span_id.0);
            let native = NativeId::default();
            let attributes = [attributes, event];
            let of_resource = batch.attributes(batch.resources[record.resource as usize].attributes);
            let resource = (environment_of(of_resource), shared.resources[record.resource as usize].bytes());
            write_exception(&mut exceptions, project, (ids.0, ids.1, native), exception, attributes, resource);
            exceptions.exception_keys.push(ExceptionKeys::new(project, ids, exception, true));
        }
        let mut rows =
            Rows::new(project, Signal::Logs, vec![logs, exceptions], batch.records.len(), &projection.dropped);
        let is_trimmed = |log: &KeptLog<'_>| {
            let record = &batch.records[log.record as usize];
            shared.resources[record.resource as usize].is_trimmed || shared.scopes[record.scope as usize].is_trimmed
        };
        let stored = projection.logs.iter();
        rows.senders = Senders::new(
            stored.map(|log| (log.record, batch.records[log.record as usize].resource, log.server_name, log.time_ns)),
            |resource| batch.attributes(batch.resources[resource as usize].attributes),
        );
        rows.is_untimed = batch.records.iter().any(|record| record.time_ns == 0 && record.observed_time_ns == 0);
        rows.trimmed = trimmed(projection.logs.iter().map(|log| (log.record, is_trimmed(log))));
        rows
    }
}

/// By index; empty where no kept record has them.
struct ResourcesAndScopes {
    resources: Vec<SharedAttributes>,
    scopes: Vec<SharedAttributes>,
}

fn write_logs(
    table: &mut TableRows,
    project: u32,
    batch: &LogBatch<'_>,
    shared: &ResourcesAndScopes,
    all: &[KeptLog<'_>],
) {
    let mut pairs = Vec::with_capacity(BLOCK_ROWS.min(all.len()));
    let mut attributes = SortedEncoder::new(&batch.body, &batch.attributes);
    for block in all.chunks(BLOCK_ROWS) {
        pairs.clear();
        pairs.extend(block.iter().map(|log| (log, &batch.records[log.record as usize])));
        let rows = || pairs.iter().copied();
        let scope = |record: &LogRecord<'_>| &batch.scopes[record.scope as usize];
        table
            .block(block.iter().map(|log| log.record))
            .u32(rows().map(|_| project))
            .text(rows().map(|(log, _)| log.server_name))
            .i64(rows().map(|(log, _)| log.time_ns))
            .i64(rows().map(|(_, record)| i64::try_from(record.observed_time_ns).unwrap_or(i64::MAX)))
            .u8(rows().map(|(log, _)| log.severity_number))
            .text(rows().map(|(log, _)| log.severity_text))
            .text(rows().map(|(log, _)| log.body))
            .id16(rows().map(|(_, record)| record.trace_id.0))
            .id8(rows().map(|(_, record)| record.span_id.0))
            .text(rows().map(|(_, record)| record.event_name))
            .u32(rows().map(|(_, record)| record.flags))
            .text(rows().map(|(_, record)| scope(record).name))
            .text(rows().map(|(_, record)| scope(record).version))
            .dictionary(shared.scopes.iter().map(SharedAttributes::bytes), rows().map(|(_, record)| record.scope))
            .bytes_with(rows(), |(_, record), out| attributes.encode(record.attributes, Layout::default(), out))
            .dictionary(shared.resources.iter().map(SharedAttributes::bytes), rows().map(|(_, record)| record.resource))
            .u32(rows().map(|(_, record)| record.dropped_attributes));
    }
}
