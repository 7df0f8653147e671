//! The extent of Issues: users affected, versions, the first occurrence of all time.

use std::collections::{HashMap, HashSet};

use tidewatch_store::plan::{AttributeScope, Filter, Function, Key, KeySource, Op, Value};
use tidewatch_store::tables::Table;

use super::GROUP;
use super::family::Families;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans;
use crate::time::Range;

/// The attributes that name a user, the first one that an occurrence has. Issues: users affected.
const USER_KEYS: [&str; 3] = ["user.id", "enduser.id", "client.address"];

/// The numbers of distinct users of some occurrences, by Issue.
#[derive(Debug, Default)]
pub struct Users {
    counts: HashMap<u64, u64>,
    is_complete: bool,
}

impl Users {
    /// The users of an Issue; `None` when there are more pairs of Issue and user than one plan returns.
    pub fn of(&self, primary: u64) -> Option<u64> {
        self.is_complete.then(|| self.counts.get(&primary).copied().unwrap_or(0))
    }
}

/// Counts the users of the occurrences that pass `filter`.
pub async fn users(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
    families: &Families,
) -> Result<Users, QueryError> {
    let attribute =
        |key: &'static str| KeySource::Attribute { scope: AttributeScope::Nearest, key: key.to_owned() }.named(key);
    let keys = std::iter::once(Key::column(GROUP)).chain(USER_KEYS.map(attribute)).collect();
    let plan = plans::groups(Table::Exceptions, &[project], range, filter, keys, Vec::new());
    let answer = executor.run(plan).await?;
    let mut users: HashMap<u64, HashSet<(usize, &str)>> = HashMap::new();
    for row in answer.rows() {
        let named = |(index, key): (usize, &&'static str)| {
            row.opt_text(key).filter(|user| !user.is_empty()).map(|user| (index, user))
        };
        if let Some(user) = USER_KEYS.iter().enumerate().find_map(named) {
            users.entry(families.primary(row.u64(GROUP))).or_default().insert(user);
        }
    }
    let counts = users.into_iter().map(|(hash, users)| (hash, users.len() as u64)).collect();
    Ok(Users { counts, is_complete: answer.len() < plans::GROUPS_MAX })
}

/// The times and versions of an Issue over all time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// Time of the first occurrence, nanoseconds since the epoch.
    pub first_ns: i64,
    /// The version of the first occurrence with a version; empty when none has.
    pub first_version: String,
    /// The version of the latest occurrence with a version; empty when none has.
    pub last_version: String,
    first_version_ns: i64,
    last_version_ns: i64,
}

const FIRST: &str = "first";
const FIRST_VERSION: &str = "first_version";
const LAST_VERSION: &str = "last_version";
const FIRST_VERSION_TIME: &str = "first_version_time";
const LAST_VERSION_TIME: &str = "last_version_time";

/// The histories of Issues.
pub async fn histories(
    executor: &Executor,
    project: u32,
    families: &Families,
    primaries: impl IntoIterator<Item = u64>,
) -> Result<HashMap<u64, History>, QueryError> {
    // Over all time, and over all services and environments.
    let executor = &executor.unfiltered();
    let has_version = || Filter::Compare { column: "app_version", op: Op::Ne, value: Value::Text(String::new()) };
    let aggregates = vec![
        Function::Min("time").named(FIRST),
        Function::Earliest { column: "app_version" }.named(FIRST_VERSION).only(has_version()),
        Function::Latest { column: "app_version" }.named(LAST_VERSION).only(has_version()),
        Function::Min("time").named(FIRST_VERSION_TIME).only(has_version()),
        Function::Max("time").named(LAST_VERSION_TIME).only(has_version()),
    ];
    let filter = families.filter(primaries);
    let keys = vec![Key::column(GROUP)];
    let plan = plans::groups(Table::Exceptions, &[project], Range::ALL, filter, keys, aggregates);
    let mut found: HashMap<u64, History> = HashMap::new();
    for row in executor.run(plan).await?.rows() {
        let one = History {
            first_ns: row.int(FIRST),
            first_version: row.text(FIRST_VERSION).to_owned(),
            last_version: row.text(LAST_VERSION).to_owned(),
            first_version_ns: row.opt_int(FIRST_VERSION_TIME).unwrap_or(i64::MAX),
            last_version_ns: row.opt_int(LAST_VERSION_TIME).unwrap_or(i64::MIN),
        };
        let primary = families.primary(row.u64(GROUP));
        let whole = match found.remove(&primary) {
            Some(other) => one.join(other),
            None => one,
        };
        found.insert(primary, whole);
    }
    Ok(found)
}

/// The times of the first occurrences of Issues.
pub async fn first_occurrences(
    executor: &Executor,
    project: u32,
    families: &Families,
    primaries: impl IntoIterator<Item = u64>,
) -> Result<HashMap<u64, i64>, QueryError> {
    // Over all time, and over all services and environments.
    let executor = &executor.unfiltered();
    let first = vec![Function::Min("time").named(FIRST)];
    let (filter, keys) = (families.filter(primaries), vec![Key::column(GROUP)]);
    let plan = plans::groups(Table::Exceptions, &[project], Range::ALL, filter, keys, first);
    let mut found: HashMap<u64, i64> = HashMap::new();
    for row in executor.run(plan).await?.rows() {
        let first = found.entry(families.primary(row.u64(GROUP))).or_insert(i64::MAX);
        *first = (*first).min(row.int(FIRST));
    }
    Ok(found)
}

impl History {
    /// The history of the occurrences of both.
    fn join(self, other: History) -> History {
        let first_ns = self.first_ns.min(other.first_ns);
        let early = if self.first_version_ns <= other.first_version_ns { &self } else { &other };
        let late = if self.last_version_ns > other.last_version_ns { &self } else { &other };
        History {
            first_ns,
            first_version: early.first_version.clone(),
            first_version_ns: early.first_version_ns,
            last_version: late.last_version.clone(),
            last_version_ns: late.last_version_ns,
        }
    }
}
