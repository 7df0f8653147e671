//! Values of consecutive windows of time, from roll-ups where there are some. One window and many run the same plans.
//!
//! - `counts`: records that arrived, and those that were refused or dropped. `issues`: occurrences of Issues. `served`:
//!   requests and runs by Endpoint or Task. `search`: rows that meet a query. `ai_rows`: single rows of AI Traces, and
//!   the costs of conversations.

mod ai_rows;
mod counts;
mod issues;
mod search;
mod served;

use tidewatch_store::plan::{Key, Plan};

use crate::answer::Row;
use crate::plans;
use crate::time::{Buckets, Range};

pub use ai_rows::{AiRow, ai_rows, ai_rows_since, conversation_costs};
pub use counts::{dropped, last_record, records};
pub use issues::{IssueCount, exceptions, first_seen, issue_counts, issue_title, known_issues, regressed};
pub use search::{SearchMeasure, measured, parsed_query};
pub use served::{Served, ServedKind, served};

/// Consecutive windows of equal width. Their start is a full minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Windows {
    /// Start of the first one, nanoseconds since the epoch.
    pub from: i64,
    /// Width, nanoseconds, at least a minute.
    pub width: i64,
    /// Number of windows, at least 1.
    pub count: i64,
}

impl Windows {
    /// The time of all windows.
    pub fn range(self) -> Range {
        Range { from: self.from, to: self.from.saturating_add(self.width.saturating_mul(self.count)) }
    }

    /// Start of a window.
    pub fn start(self, index: i64) -> i64 {
        self.from.saturating_add(self.width.saturating_mul(index))
    }

    /// End of a window, exclusive.
    pub fn end(self, index: i64) -> i64 {
        self.start(index.saturating_add(1))
    }

    /// The same windows, and `more` before them.
    #[must_use]
    pub fn and_before(self, more: i64) -> Windows {
        Windows { from: self.start(-more), width: self.width, count: self.count + more }
    }

    /// The key of the windows in a plan; one window needs none.
    fn key(self) -> Option<Key> {
        let buckets = Buckets { origin: self.from, width: self.width, count: self.count };
        (self.count > 1).then(|| plans::bucket(&buckets))
    }

    /// The index of the window of a group.
    fn index(self, row: Row<'_>) -> i64 {
        if self.count == 1 { 0 } else { (row.int(plans::BUCKET) - self.from) / self.width }
    }
}

/// A plan of groups by `keys` and window.
fn grouped(
    table: tidewatch_store::tables::Table,
    project: u32,
    windows: Windows,
    filter: tidewatch_store::plan::Filter,
    mut keys: Vec<Key>,
    aggregates: Vec<tidewatch_store::plan::Aggregate>,
) -> Plan {
    keys.extend(windows.key());
    plans::groups(table, &[project], windows.range(), filter, keys, aggregates)
}
