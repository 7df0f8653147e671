//! Counts of received records by outcome, summed per minute until they are flushed as rows of [`Table::IngestCounts`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{Int64Type, UInt32Type, UInt64Type};
use tidewatch_domain::model::RequestKind;
use tidewatch_domain::project::DropReason;
use tidewatch_domain::units::MINUTE_NS;

use crate::OTHER_NAME;
use tidewatch_store::columns::{Fate, Rows, TableBuffer};
use tidewatch_store::tables::Table;
use tidewatch_store::{Outcome, OutcomeCount};

type CowStr = Cow<'static, str>;

/// Counts by project, minute, kind, outcome and reason: the sort order of the table.
#[derive(Debug, Clone, Default)]
pub struct Counts(BTreeMap<Key, u64>);

type Key = (u32, i64, CowStr, CowStr, CowStr);

const SENT: CowStr = Cow::Borrowed("sent");

/// Reason of [`Outcome::Trimmed`]: the record's resource or scope has more attributes than can be stored with each
/// record.
const SHARED_ATTRIBUTES_TOO_LARGE: &str = "shared_attributes_too_large";

/// Reason of [`Outcome::Trimmed`]: the record's Endpoint, Task or AI Trace has the name [`crate::OTHER_NAME`].
const TOO_MANY_NAMES: &str = "too_many_names";

/// Maximum number of senders of one project and signal in one minute; further ones are counted as
/// [`crate::OTHER_NAME`].
const SENDERS_MAX: usize = 500;

/// Start of the minute, nanoseconds.
pub fn minute(time_ns: i64) -> i64 {
    time_ns - time_ns.rem_euclid(MINUTE_NS)
}

impl Counts {
    /// Adds `count` records. `minute_ns` is the start of a minute.
    pub fn add(
        &mut self,
        project: u32,
        minute_ns: i64,
        kind: RequestKind,
        outcome: Outcome,
        reason: CowStr,
        count: u64,
    ) {
        if count > 0 {
            let key = (project, minute_ns, Cow::Borrowed(kind.as_str()), Cow::Borrowed(outcome.as_str()), reason);
            *self.0.entry(key).or_default() += count;
        }
    }

    /// Adds an accepted request and its records. `duplicate` tells which records were received before, `refused_before`
    /// is the number of these that were not built, `renamed` the number of other records whose name was beyond the
    /// limit.
    pub fn add_request(
        &mut self,
        received_ns: i64,
        rows: &Rows,
        duplicate: impl Fn(usize) -> bool,
        refused_before: usize,
        renamed: u64,
    ) {
        let minute = minute(received_ns);
        let Rows { project, kind, ref fates, .. } = *rows;
        self.add(project, minute, kind, Outcome::Accepted, Cow::Borrowed(""), 1);
        self.add(project, minute, kind, Outcome::Bytes, Cow::Borrowed(""), rows.body_bytes);
        let mut kept = 0;
        let mut dropped: Vec<(DropReason, u64)> = Vec::new();
        let refused = (rows.refused - refused_before) as u64;
        let at_first = [(DropReason::InvalidId, refused), (DropReason::Duplicate, refused_before as u64)];
        dropped.extend(at_first.into_iter().filter(|(_, count)| *count > 0));
        for (record, fate) in fates.iter().enumerate() {
            let reason = match fate {
                _ if duplicate(record) => DropReason::Duplicate,
                Fate::Dropped(reason) => *reason,
                Fate::Kept => {
                    kept += 1;
                    continue;
                }
            };
            match dropped.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, count)) => *count += 1,
                None => dropped.push((reason, 1)),
            }
        }
        self.add(project, minute, kind, Outcome::Kept, Cow::Borrowed(""), kept);
        let trimmed = rows.trimmed.iter().filter(|record| !duplicate(**record as usize)).count() as u64;
        let reason = Cow::Borrowed(SHARED_ATTRIBUTES_TOO_LARGE);
        self.add(project, minute, kind, Outcome::Trimmed, reason, trimmed);
        self.add(project, minute, kind, Outcome::Trimmed, Cow::Borrowed(TOO_MANY_NAMES), renamed);
        // A request whose records are all stored needs no second pass over them.
        let is_stored = |record: usize| fates[record] == Fate::Kept && !duplicate(record);
        let is_whole = kept == fates.len() as u64;
        for (sender, count) in rows.senders.counts((!is_whole).then_some(is_stored)) {
            self.add_sent(project, minute, kind, sender, count);
        }
        for (reason, count) in dropped {
            self.add(project, minute, kind, Outcome::Dropped, Cow::Borrowed(reason.as_str()), count);
        }
    }

    fn add_sent(&mut self, project: u32, minute: i64, kind: RequestKind, sender: &str, count: u64) {
        let key = |sender: CowStr| (project, minute, Cow::Borrowed(kind.as_str()), SENT, sender);
        let mut sender: CowStr = Cow::Owned(sender.to_owned());
        if count > 0 && !self.0.contains_key(&key(sender.clone())) {
            let others = self.0.range(key(Cow::Borrowed(""))..).map(|(known, _)| known);
            let is_alike = |known: &&Key| (known.0, known.1) == (project, minute) && known.2 == kind.as_str();
            let known = others.take_while(|known| is_alike(known) && known.3 == SENT).take(SENDERS_MAX);
            if known.count() == SENDERS_MAX {
                sender = Cow::Borrowed(OTHER_NAME);
            }
        }
        self.add(project, minute, kind, Outcome::Sent, sender, count);
    }

    /// Adds rows of the table.
    pub fn add_batch(&mut self, batch: &RecordBatch) {
        let projects = batch.column(0).as_primitive::<UInt32Type>();
        let times = batch.column(1).as_primitive::<Int64Type>();
        let strings: [_; 3] = [2, 3, 4].map(|column| batch.column(column).as_string::<i32>());
        let counts = batch.column(5).as_primitive::<UInt64Type>();
        for row in 0..batch.num_rows() {
            let [signal, outcome, reason] = strings.map(|text| Cow::Owned(text.value(row).to_owned()));
            let key = (projects.value(row), times.value(row), signal, outcome, reason);
            *self.0.entry(key).or_default() += counts.value(row);
        }
    }

    /// Adds the counts of `other` except the senders, summed over projects and minutes (as project 0, minute 0).
    pub fn add_summed(&mut self, other: &Counts) {
        let counted = other.0.iter().filter(|((.., outcome, _), _)| *outcome != SENT);
        for ((_, _, signal, outcome, reason), count) in counted {
            *self.0.entry((0, 0, signal.clone(), outcome.clone(), reason.clone())).or_default() += count;
        }
    }

    /// Returns signal, outcome, reason and count of each that grew since `before`, which was summed in the same way.
    pub fn since(&self, before: &Counts) -> Vec<OutcomeCount> {
        let grown = self.0.iter().filter_map(|(key, count)| {
            let (_, _, signal, outcome, reason) = key.clone();
            let count = count - before.0.get(key).copied().unwrap_or(0).min(*count);
            (count > 0).then_some(OutcomeCount { signal, outcome, reason, count })
        });
        grown.collect()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Rows of the table, sorted.
    pub fn to_batch(&self) -> RecordBatch {
        let mut buffer = TableBuffer::new(Table::IngestCounts);
        for ((project, minute, signal, outcome, reason), count) in &self.0 {
            buffer.row().u32(*project).i64(*minute).text(signal).text(outcome).text(reason).u64(*count);
        }
        buffer.into_batch()
    }
}
