//! Ingest quotas of projects: bytes and records per day (UTC), and records per second. A project's token is public
//! where browsers send, so only a quota bounds what is sent with it.
//!
//! A request is refused when earlier requests have used up the quota, so the last accepted one may exceed it. After a
//! start, today's usage is read from the store's counts; after that it is counted here.
//!
//! A request is refused before its body is read, and counted under a named reason.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tidewatch_domain::units::{DAY_NS, SECOND_NS};
use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;

use crate::error::random_in;
use tidewatch_accounts::{Project, Quota};
use tidewatch_ingest::error::ExportError;
use tidewatch_ingest::outcome::{Refused, RejectReason};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::plans;
use tidewatch_query::time::Range;

/// Usage of projects that have a quota.
#[derive(Default)]
pub struct Quotas {
    used: Mutex<HashMap<u32, Used>>,
}

/// Usage of one project.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Used {
    /// Days since the epoch.
    day: i64,
    bytes: u64,
    records: u64,
    /// Tokens of the rate limit, in records; negative after a request that took more.
    left: f64,
    /// When `left` was computed, nanoseconds since the epoch.
    at_ns: i64,
}

impl Quotas {
    /// Checks whether the project may send now. `of_all`: the quota of every project, besides its own. Over quota: 429
    /// with the seconds until the next attempt.
    pub async fn admit(
        &self,
        query: &Arc<QueryContext>,
        project: &Project,
        of_all: Quota,
        now_ns: i64,
    ) -> Result<(), Refused> {
        let quota = project.settings.quota.and(of_all);
        if quota.is_none() {
            return Ok(());
        }
        let is_known = self.used.lock().contains_key(&project.number);
        if !is_known {
            // When the query fails nothing is refused, and the next request queries again.
            let Some(used) = stored(query, project.number, now_ns).await else { return Ok(()) };
            self.used.lock().entry(project.number).or_insert(Used { left: burst(quota), ..used });
        }
        let mut all = self.used.lock();
        match all.get_mut(&project.number) {
            Some(used) => used.check(quota, now_ns),
            None => Ok(()),
        }
    }

    /// Adds an accepted request to the usage.
    pub fn charge(&self, project: u32, bytes: u64, records: u64) {
        if let Some(used) = self.used.lock().get_mut(&project) {
            used.bytes += bytes;
            used.records += records;
            used.left -= records as f64;
        }
    }
}

impl Used {
    fn check(&mut self, quota: Quota, now_ns: i64) -> Result<(), Refused> {
        let day = now_ns.div_euclid(DAY_NS);
        if day != self.day {
            (self.day, self.bytes, self.records) = (day, 0, 0);
        }
        let is_full = |used: u64, most: u64| most > 0 && used >= most;
        if is_full(self.bytes, quota.bytes_a_day) || is_full(self.records, quota.records_a_day) {
            let seconds = spread(seconds((day + 1) * DAY_NS - now_ns));
            let message = "the project has used up its quota of today";
            return Err(Refused::new(RejectReason::OverQuota, ExportError::OverQuota(message, seconds)));
        }
        if quota.records_a_second > 0 {
            let rate = quota.records_a_second as f64;
            let since = now_ns.saturating_sub(self.at_ns).max(0) as f64 / SECOND_NS as f64;
            self.left = (self.left + since * rate).min(burst(quota));
            self.at_ns = now_ns;
            if self.left <= 0.0 {
                let seconds = spread((-self.left / rate).ceil() as u64);
                let message = "the project sends more records a second than it may";
                return Err(Refused::new(RejectReason::OverRate, ExportError::OverQuota(message, seconds)));
            }
        }
        Ok(())
    }
}

/// Maximum number of records that a project may send at once after a pause.
fn burst(quota: Quota) -> f64 {
    quota.records_a_second as f64 * limits::RATE_BURST.as_secs_f64()
}

/// `Retry-After` in seconds: `seconds`, at least one, plus a random delay of up to a tenth. The daily quota of every
/// project resets at the same moment; the delay spreads the retries after it, and none comes before it. DECISIONS 19.
fn spread(seconds: u64) -> u64 {
    let few = limits::RETRY_AFTER_SECONDS.end() - limits::RETRY_AFTER_SECONDS.start();
    let most = limits::QUOTA_RETRY_SPREAD_MAX.as_secs();
    seconds.max(1).saturating_add(random_in(0, (seconds / 10).clamp(few, most)))
}

fn seconds(ns: i64) -> u64 {
    (ns.max(0) as u64).div_ceil(SECOND_NS as u64)
}

/// Today's accepted bytes and records, from the store's counts. `None`: the query failed.
async fn stored(query: &Arc<QueryContext>, project: u32, now_ns: i64) -> Option<Used> {
    let day = now_ns.div_euclid(DAY_NS);
    let range = Range { from: day * DAY_NS, to: i64::MAX };
    let (keys, aggregates) = (vec![Key::column("outcome")], vec![Function::Sum("count").named("count")]);
    let plan = plans::groups(Table::IngestCounts, &[project], range, Filter::True, keys, aggregates);
    let answer = Executor::within(query.clone(), limits::LIST_DEADLINE).run(plan).await.ok()?;
    let mut used = Used { day, bytes: 0, records: 0, left: 0.0, at_ns: now_ns };
    for row in answer.rows() {
        match row.text("outcome") {
            "bytes" => used.bytes += row.count("count"),
            "kept" | "dropped" => used.records += row.count("count"),
            _ => {}
        }
    }
    Some(used)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// `Retry-After` of a refusal, in seconds.
    fn retry_after(refused: &Refused) -> Option<u64> {
        match &refused.error {
            ExportError::OverQuota(_, seconds) => Some(*seconds),
            _ => None,
        }
    }

    const NOON: i64 = 20_000 * DAY_NS + DAY_NS / 2;

    fn used() -> Used {
        Used { day: 20_000, bytes: 0, records: 0, left: 20.0, at_ns: NOON }
    }

    #[test]
    fn a_day_ends_at_midnight() {
        let quota = Quota { bytes_a_day: 100, records_a_day: 10, ..Quota::default() };
        for (bytes, records, expected) in
            [(0, 0, true), (99, 9, true), (100, 0, false), (0, 10, false), (101, 99, false)]
        {
            let mut project = Used { bytes, records, ..used() };
            let refused = project.check(quota, NOON);
            assert_eq!(refused.is_ok(), expected, "{bytes} bytes, {records} records");
            if refused.is_err() {
                const NOON_TO_MIDNIGHT: u64 = 12 * 60 * 60;
                let waits: BTreeSet<u64> =
                    (0..50).filter_map(|_| project.check(quota, NOON).err().as_ref().and_then(retry_after)).collect();
                let (first, last) = (waits.first().copied(), waits.last().copied());
                assert!(first >= Some(NOON_TO_MIDNIGHT) && last <= Some(NOON_TO_MIDNIGHT + 15 * 60), "{waits:?}");
                assert!(waits.len() > 9, "not all at once: {waits:?}");
            }
            assert!(project.check(quota, NOON + DAY_NS / 2).is_ok(), "the next day");
            assert_eq!((project.bytes, project.records), (0, 0));
        }
    }

    #[test]
    fn a_rate_allows_bursts_and_excess_delays_later_requests() {
        let quota = Quota { records_a_second: 2, ..Quota::default() };
        let mut project = used();
        assert!(project.check(quota, NOON).is_ok());
        project.left -= 30.0;
        let refused = project.check(quota, NOON).expect_err("ten records too many");
        let wait = retry_after(&refused).expect("it has a delay");
        assert!(refused.reason == RejectReason::OverRate && (5..=9).contains(&wait), "{wait}");
        assert!(project.check(quota, NOON + 5 * SECOND_NS).is_err(), "none is left");
        assert!(project.check(quota, NOON + 6 * SECOND_NS).is_ok());
        assert!(project.check(quota, NOON - DAY_NS / 4).is_ok(), "a clock that goes back takes nothing away");
    }

    #[test]
    fn the_smaller_quota_holds() {
        let quota = |bytes_a_day, records_a_day| Quota { bytes_a_day, records_a_day, records_a_second: 0 };
        assert_eq!(quota(0, 5).and(quota(7, 3)), quota(7, 3));
        assert_eq!(quota(9, 5).and(quota(7, 0)), quota(7, 5));
    }
}
