//! Rows of native reports: spans, entities, exceptions, metric points, sessions and recordings of one request.

use tidewatch_domain::model::RequestKind;
use tidewatch_domain::project::{DropReason, ProjectContext, ReportProjection};
use xxhash_rust::xxh3::Xxh3;

use super::{Fate, NO_KEY, Rows};

impl Rows {
    /// The rows of a native report. `project` is the number of the project in the control database.
    ///
    /// Records are the entries of [`ReportProjection::traces`], then the metric points, the sessions, the segments of
    /// recordings, and the items that cannot be read.
    pub fn report(project: u32, context: &ProjectContext, report: &ReportProjection<'_>) -> Rows {
        let mut rows = Rows::traces(project, context, &report.traces, &report.rows);
        rows.kind = RequestKind::Report;
        rows.keys = report.records.iter().map(|record| record_key(project, &record.0)).collect();
        let metrics = Rows::metrics(project, context, &report.metrics, &report.metric_rows);
        rows.append(metrics);
        rows.keys.resize(rows.fates.len(), NO_KEY);
        rows.append(Rows::sessions(project, report));
        rows.keys.extend(report.session_records.iter().map(|record| match record {
            0 => NO_KEY,
            record => record_key(project, &record.to_be_bytes()),
        }));
        rows.fates.resize(rows.fates.len() + report.invalid as usize, Fate::Dropped(DropReason::InvalidItem));
        rows.keys.resize(rows.fates.len(), NO_KEY);
        rows.is_untimed = report.is_untimed;
        rows
    }

    /// Appends the rows and records of another signal of the same request.
    fn append(&mut self, other: Rows) {
        let base = self.fates.len() as u32;
        for mut table in other.tables {
            table.records.iter_mut().for_each(|record| *record += base);
            self.tables.push(table);
        }
        self.trimmed.extend(other.trimmed.iter().map(|record| record + base));
        self.senders.append(other.senders, base);
        self.fates.extend(other.fates);
    }
}

/// Identifies a record in a retry, whatever body it comes in.
fn record_key(project: u32, record: &[u8; 16]) -> u128 {
    let mut hasher = Xxh3::with_seed(u64::from(project));
    hasher.update(b"native");
    hasher.update(record);
    hasher.digest128().max(1)
}
