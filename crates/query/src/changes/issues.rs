//! Issues that are new, or back.

use std::collections::{BTreeMap, HashMap};

use tidewatch_accounts::Project;
use tidewatch_domain::rules::issue_state::Decision;
use tidewatch_domain::units::{DAY_NS, MINUTE_NS};
use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;

use super::found::{Found, NEAR_MINUTES, minute, sentence_of, text_of};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::issues::Families;
use crate::time::Range;
use crate::views::changes::{ChangeCard, ChangeKind};
use crate::{filters, ids, issues, plans};
use tidewatch_limits as limits;

/// Occurrences of a new Issue that is shown.
const OCCURRENCES: f64 = 5.0;
/// Occurrences of one that is shown with a failing owner.
const OCCURRENCES_OF_FAILING: f64 = 2.0;
/// Time without an Issue after which it is back, nanoseconds.
const SILENT: i64 = 7 * DAY_NS;
/// Minutes of telemetry before its first occurrence: everything is new to a new project.
const KNOWN_MINUTES: i64 = 60;
/// Minutes in which an Issue is new.
const NEW_MINUTES: i64 = 24 * 60;

/// Output columns.
const COUNT: &str = "count";
const FIRST: &str = "first";
const LAST: &str = "last";

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
    back: Option<Back>,
}

/// Reasons for which an Issue is back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Back {
    /// It did not occur for this many days.
    Silent(i64),
    /// A user had archived it.
    Archived,
    /// A user had resolved it.
    Resolved,
}

/// The Issues whose first occurrence is within a day before the minute `end`, or the first after a week without any or
/// after it was archived or resolved. Muted ones are left out. At most [`limits::NEW_ISSUES_MAX`], the most frequent ones.
pub async fn new(
    executor: &Executor,
    project: &Project,
    data_since: Option<i64>,
    end: i64,
) -> Result<Vec<NewIssue>, QueryError> {
    let Some(data_since) = data_since else { return Ok(Vec::new()) };
    let (from, to) = ((end - NEW_MINUTES).saturating_mul(MINUTE_NS), end.saturating_mul(MINUTE_NS));
    let exceptions = filters::not(filters::is("is_message"));
    let frequent = vec![Function::Weight.named(COUNT), Function::Min("time").named(FIRST)];
    let keys = || vec![Key::column("group")];
    let plan = plans::groups(Table::Exceptions, &[project.number], Range { from, to }, Filter::True, keys(), frequent);
    let answer = executor.run(plan).await?;
    let is_new = |first: i64| first.div_euclid(MINUTE_NS) - data_since >= KNOWN_MINUTES;
    // Merged Issues are one.
    let families = Families::load(executor, project.number).await?;
    let mut candidates: BTreeMap<u64, Candidate> = BTreeMap::new();
    for row in answer.rows() {
        let hash = families.primary(row.u64("group"));
        let one = candidates.entry(hash).or_insert(Candidate { hash, count: 0.0, first: i64::MAX, back: None });
        (one.count, one.first) = (one.count + row.number(COUNT), one.first.min(row.int(FIRST)));
    }
    let found: Vec<Candidate> = candidates.into_values().filter(|one| one.count >= OCCURRENCES_OF_FAILING).collect();
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let groups = |found: &[Candidate]| families.filter(found.iter().map(|one| one.hash));
    let before = Range { from: Range::ALL.from, to: from };
    let plan = plans::groups(
        Table::Exceptions,
        &[project.number],
        before,
        groups(&found),
        keys(),
        vec![Function::Max("time").named(LAST)],
    );
    let answer = executor.run(plan).await?;
    let mut known: HashMap<u64, i64> = HashMap::new();
    for row in answer.rows() {
        let last = known.entry(families.primary(row.u64("group"))).or_insert(i64::MIN);
        *last = row.int(LAST).max(*last);
    }
    let hashes: Vec<u64> = found.iter().map(|one| one.hash).collect();
    let standings = issues::standings(executor, project.number, &hashes).await?;
    let mut kept = Vec::new();
    for mut one in found {
        let standing = standings.get(&one.hash);
        if standing.is_some_and(|standing| !standing.state.is_open()) {
            continue;
        }
        // A mute that is over is no news.
        let back = standing.and_then(|standing| match standing.decision.decision {
            Decision::Archived => Some((standing.decision.decided_ns, Back::Archived)),
            Decision::Resolved | Decision::ResolvedInNextVersion => {
                Some((standing.decision.decided_ns, Back::Resolved))
            }
            Decision::Muted { .. } => None,
        });
        match (back, known.get(&one.hash)) {
            (Some((decided_ns, back)), _) => {
                // Occurrences before the decision do not count.
                if decided_ns >= one.first {
                    let after = Range { from: decided_ns.saturating_add(1), to: to.max(decided_ns.saturating_add(2)) };
                    let again = vec![Function::Weight.named(COUNT), Function::Min("time").named(FIRST)];
                    let of_one = families.filter([one.hash]);
                    let plan = plans::groups(Table::Exceptions, &[project.number], after, of_one, vec![], again);
                    let answer = executor.run(plan).await?;
                    let Some(row) = answer.first().filter(|row| row.number(COUNT) > 0.0) else { continue };
                    (one.count, one.first) = (row.number(COUNT), row.int(FIRST));
                }
                one.back = Some(back);
            }
            (None, Some(last)) if one.first.saturating_sub(*last) >= SILENT => {
                one.back = Some(Back::Silent(one.first.saturating_sub(*last) / DAY_NS));
            }
            (None, Some(_)) => continue,
            (None, None) if !is_new(one.first) => continue,
            (None, None) => {}
        }
        kept.push(one);
    }
    let mut found = kept;
    found.sort_by(|one, other| other.count.total_cmp(&one.count).then(one.hash.cmp(&other.hash)));
    found.truncate(limits::NEW_ISSUES_MAX);
    let latest = |column| Function::Latest { column }.named(column);
    let columns = ["exception_type", "owner_name", "server_name", "app_version"].map(latest).to_vec();
    let filter = exceptions.and(groups(&found));
    let plan = plans::groups(Table::Exceptions, &[project.number], Range { from, to }, filter, keys(), columns);
    let answer = executor.run(plan).await?;
    let issue = |one: &Candidate| {
        let Candidate { hash, count, first, back } = *one;
        let row = answer.rows().find(|row| families.primary(row.u64("group")) == hash)?;
        let title = Some(row.text("exception_type")).filter(|title| !title.is_empty()).unwrap_or("exception");
        let since = first.div_euclid(MINUTE_NS);
        Some(NewIssue {
            hash,
            title: title.to_owned(),
            owner: row.text("owner_name").to_owned(),
            service: row.text("server_name").to_owned(),
            version: row.text("app_version").to_owned(),
            since,
            count,
            an_hour: count * 60.0 / (end - since).max(60) as f64,
            back,
        })
    };
    Ok(found.iter().filter_map(issue).collect())
}

/// An Issue with occurrences within a day.
struct Candidate {
    hash: u64,
    count: f64,
    first: i64,
    back: Option<Back>,
}

impl NewIssue {
    /// Whether it is shown without a failing owner.
    pub fn is_frequent(&self) -> bool {
        self.count >= OCCURRENCES
    }

    /// Whether it began with the failures of its owner.
    pub(super) fn is_of(&self, card: &Found<'_>) -> bool {
        let mut began = card.changes.iter().map(|change| change.since).chain(card.failing_since);
        self.owner == card.subject.name
            && card.failing_since.is_some()
            && began.any(|since| self.since.abs_diff(since) <= NEAR_MINUTES)
    }

    /// The Issue as a card of its own.
    pub fn view(&self) -> ChangeCard {
        let place = if self.owner.is_empty() { String::new() } else { format!(" in {}", self.owner) };
        let version = Some(self.version.clone()).filter(|version| !version.is_empty());
        let seen = version.as_ref().map_or(String::new(), |version| format!("; seen with version {version}"));
        let count = self.count.round();
        let sentence = |clock: String| match self.back {
            None => format!("New issue {}{place}: {count} times since {clock}{seen}.", self.title),
            Some(Back::Silent(days)) => {
                let title = &self.title;
                format!("Issue {title}{place} is back: {count} times since {clock}, after {days} days without it.")
            }
            Some(back @ (Back::Archived | Back::Resolved)) => {
                let (title, done) = (&self.title, if back == Back::Archived { "archived" } else { "resolved" });
                format!("Issue {title}{place} is back after it was {done}: {count} times since {clock}{seen}.")
            }
        };
        let sentence_parts = sentence_of(|clock| sentence(clock(self.since)));
        ChangeCard {
            kind: ChangeKind::Issue,
            name: self.title.clone(),
            exception_hash: Some(ids::format_hash(self.hash)),
            service: self.service.clone(),
            since: minute(self.since),
            since_exact: true,
            version: None,
            version_relation: None,
            sentence: text_of(&sentence_parts),
            sentence_parts,
            score: self.an_hour,
            effects: Vec::new(),
            slow_ms: None,
            new_issues: Vec::new(),
            suffering: Vec::new(),
            recovered: None,
        }
    }
}
