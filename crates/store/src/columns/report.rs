//! Rows of native reports: spans, entities, exceptions and metric points of one request.

use tidewatch_domain::model::{NativeId, RequestKind};
use tidewatch_domain::project::{DropReason, ProjectContext, ReportProjection};
use xxhash_rust::xxh3::Xxh3;

use super::{Fate, NO_KEY, Rows};

impl Rows {
    /// The rows of a native report. `project` is the number of the project in the control database.
    ///
    /// Records are the entries of [`ReportProjection::traces`], then the metric points, then the items that cannot be
    /// read and those that are not stored.
    pub fn report(project: u32, context: &ProjectContext, report: &ReportProjection<'_>) -> Rows {
        let mut rows = Rows::traces(project, context, &report.traces, &report.rows);
        rows.kind = RequestKind::Report;
        rows.keys = report.records.iter().map(|record| record_key(project, *record)).collect();
        let metrics = Rows::metrics(project, context, &report.metrics, &report.metric_rows);
        rows.append(metrics);
        for (count, reason) in
            [(report.invalid, DropReason::InvalidItem), (report.unsupported, DropReason::UnsupportedItem)]
        {
            rows.fates.resize(rows.fates.len() + count as usize, Fate::Dropped(reason));
        }
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
fn record_key(project: u32, record: NativeId) -> u128 {
    let mut hasher = Xxh3::with_seed(u64::from(project));
    hasher.update(b"native");
    hasher.update(&record.0);
    hasher.digest128().max(1)
}
