//! Issues that are new.

use tidewatch_store::plan::{Filter, Function, Key, Value};
use tidewatch_store::tables::Table;

use super::{minute, time_of_day};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::time::{MINUTE, Range};
use crate::views::changes::{ChangeCard, ChangeKind};
use crate::{filters, ids, plans};
use tidewatch_limits as limits;

/// Occurrences of a new Issue that is shown.
const OCCURRENCES: f64 = 5.0;
/// Minutes of telemetry before its first occurrence: everything is new to a new project.
const KNOWN_MINUTES: i64 = 60;
/// Minutes in which an Issue is new.
const NEW_MINUTES: i64 = 24 * 60;

/// Output columns.
const COUNT: &str = "count";
const FIRST: &str = "first";

/// An Issue that first occurred within a day.
#[derive(Debug, Clone, PartialEq)]
pub struct NewIssue {
    /// Hash of the Issue.
    pub hash: u64,
    /// Type of the exception.
    pub title: String,
    /// Name of the Endpoint or Task that most recently had it; empty when none owns it.
    pub owner: String,
    service: String,
    version: String,
    /// First minute, since the epoch.
    pub since: i64,
    count: f64,
    an_hour: f64,
}

/// The Issues whose first occurrence is within a day before the minute `end`, with at least five occurrences. At most
/// [`limits::NEW_ISSUES_MAX`], the most frequent ones.
pub async fn new(
    executor: &Executor,
    project: u32,
    data_since: Option<i64>,
    end: i64,
) -> Result<Vec<NewIssue>, QueryError> {
    let Some(data_since) = data_since else { return Ok(Vec::new()) };
    let (from, to) = ((end - NEW_MINUTES).saturating_mul(MINUTE), end.saturating_mul(MINUTE));
    let exceptions = filters::not(filters::is("is_message"));
    let frequent = vec![Function::Weight.named(COUNT), Function::Min("time").named(FIRST)];
    let keys = || vec![Key::column("group")];
    let plan = plans::groups(Table::Exceptions, &[project], Range { from, to }, Filter::True, keys(), frequent);
    let answer = executor.run(plan).await?;
    let is_new = |first: i64| first.div_euclid(MINUTE) - data_since >= KNOWN_MINUTES;
    let mut found: Vec<(u64, f64, i64)> = answer
        .rows()
        .map(|row| (row.u64("group"), row.number(COUNT), row.int(FIRST)))
        .filter(|(_, count, first)| *count >= OCCURRENCES && is_new(*first))
        .collect();
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let groups = |found: &[(u64, f64, i64)]| Filter::In {
        column: "group",
        values: found.iter().map(|(hash, _, _)| Value::U64(*hash)).collect(),
    };
    let before = Range { from: Range::ALL.from, to: from };
    let plan = plans::groups(
        Table::Exceptions,
        &[project],
        before,
        groups(&found),
        keys(),
        vec![Function::Weight.named(COUNT)],
    );
    let known: Vec<u64> = executor.run(plan).await?.rows().map(|row| row.u64("group")).collect();
    found.retain(|(hash, _, _)| !known.contains(hash));
    found.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    found.truncate(limits::NEW_ISSUES_MAX);
    let latest = |column| Function::Latest { column }.named(column);
    let columns = ["exception_type", "owner_name", "server_name", "app_version"].map(latest).to_vec();
    let filter = exceptions.and(groups(&found));
    let plan = plans::groups(Table::Exceptions, &[project], Range { from, to }, filter, keys(), columns);
    let answer = executor.run(plan).await?;
    let issue = |(hash, count, first): &(u64, f64, i64)| {
        let row = answer.rows().find(|row| row.u64("group") == *hash)?;
        let title = Some(row.text("exception_type")).filter(|title| !title.is_empty()).unwrap_or("exception");
        let since = first.div_euclid(MINUTE);
        Some(NewIssue {
            hash: *hash,
            title: title.to_owned(),
            owner: row.text("owner_name").to_owned(),
            service: row.text("server_name").to_owned(),
            version: row.text("app_version").to_owned(),
            since,
            count: *count,
            an_hour: count * 60.0 / (end - since).max(60) as f64,
        })
    };
    Ok(found.iter().filter_map(issue).collect())
}

impl NewIssue {
    /// The Issue as a card of its own.
    pub fn view(&self) -> ChangeCard {
        let place = if self.owner.is_empty() { String::new() } else { format!(" in {}", self.owner) };
        let version = Some(self.version.clone()).filter(|version| !version.is_empty());
        let seen = version.as_ref().map_or(String::new(), |version| format!("; seen with version {version}"));
        let (count, clock) = (self.count.round(), time_of_day(self.since));
        ChangeCard {
            kind: ChangeKind::Issue,
            name: self.title.clone(),
            exception_hash: Some(ids::format_hash(self.hash)),
            service: self.service.clone(),
            since: minute(self.since),
            since_exact: true,
            version: None,
            version_relation: None,
            sentence: format!("New issue {}{place}: {count} times since {clock}{seen}.", self.title),
            score: self.an_hour,
            effects: Vec::new(),
            slow_ms: None,
            new_issues: Vec::new(),
            recovered: None,
        }
    }
}
