//! Issues that began in a range of time: new ones, and those that returned after they were resolved.

use std::collections::{HashMap, HashSet};

use tidewatch_domain::rules::issue_group::issue_title;
use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;

use super::family::Families;
use super::{extent, standing};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::time::Range;
use crate::{ids, plans};

/// The column with the hash of the Issue.
const GROUP: &str = "group";
const COUNT: &str = "onset_count";

/// Kinds of the beginning of an Issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OnsetKind {
    /// It occurred for the first time.
    New,
    /// It occurred again after a user had resolved it.
    Regressed,
}

/// The beginning of an Issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Onset {
    /// The hash of the Issue, as in addresses.
    pub hash: String,
    /// Its title, from its latest occurrence.
    pub title: String,
    /// Kind of the beginning.
    pub kind: OnsetKind,
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
}

/// The beginnings of Issues in a range, ascending by time: the first `max`, and the number of all.
pub async fn in_range(
    executor: &Executor,
    project: u32,
    range: Range,
    max: usize,
) -> Result<(Vec<Onset>, usize), QueryError> {
    let families = Families::load(executor, project).await?;
    let count = vec![Function::Count.named(COUNT)];
    let plan = plans::groups(Table::Exceptions, &[project], range, Filter::True, vec![Key::column(GROUP)], count);
    let occurred: Vec<u64> = executor.run(plan).await?.rows().map(|row| row.u64(GROUP)).collect();
    let primaries: HashSet<u64> = families.primaries(&occurred).into_iter().collect();
    let primaries: Vec<u64> = primaries.into_iter().collect();
    let (first, standings, stored) = tokio::try_join!(
        extent::first_occurrences(executor, project, &families, primaries.iter().copied()),
        standing::of(executor, project, &families, &primaries),
        async { Ok(executor.context.projects.issue_regressions(project, range.from, range.to).await?) },
    )?;
    let regressions = standing::regressions(executor, project, &families, &standings).await?;
    let mut found: HashSet<(i64, u64, OnsetKind)> = HashSet::new();
    found.extend(first.into_iter().map(|(hash, at_ns)| (at_ns, hash, OnsetKind::New)));
    found.extend(regressions.into_iter().map(|(hash, one)| (one.at_ns, hash, OnsetKind::Regressed)));
    // Those of Issues that a user has decided about again.
    found.extend(stored.into_iter().map(|(hash, at_ns)| (at_ns, families.primary(hash), OnsetKind::Regressed)));
    let mut found: Vec<_> = found.into_iter().filter(|(at_ns, ..)| (range.from..range.to).contains(at_ns)).collect();
    found.sort_unstable();
    let total = found.len();
    found.truncate(max);
    let titles = titles(executor, project, &families, found.iter().map(|(_, hash, _)| *hash)).await?;
    let onset = |(at_ns, hash, kind): (i64, u64, OnsetKind)| {
        let id = ids::format_hash(hash);
        Onset { title: titles.get(&hash).cloned().unwrap_or_else(|| id.clone()), hash: id, kind, at_ns }
    };
    Ok((found.into_iter().map(onset).collect(), total))
}

/// The titles of Issues, from their latest occurrences.
async fn titles(
    executor: &Executor,
    project: u32,
    families: &Families,
    primaries: impl IntoIterator<Item = u64>,
) -> Result<HashMap<u64, String>, QueryError> {
    const COLUMNS: [&str; 3] = ["exception_type", "message", "stack_trace"];
    const LAST: &str = "onset_last";
    let mut aggregates: Vec<_> = COLUMNS.into_iter().map(|column| Function::Latest { column }.named(column)).collect();
    aggregates.push(Function::Max("time").named(LAST));
    let (filter, keys) = (families.filter(primaries), vec![Key::column(GROUP)]);
    let plan = plans::groups(Table::Exceptions, &[project], Range::ALL, filter, keys, aggregates);
    let mut found: HashMap<u64, (i64, String)> = HashMap::new();
    for row in executor.run(plan).await?.rows() {
        let [kind, message, stack] = COLUMNS.map(|column| row.text(column));
        let (primary, last) = (families.primary(row.u64(GROUP)), row.int(LAST));
        if found.get(&primary).is_none_or(|(known, _)| *known < last) {
            found.insert(primary, (last, issue_title(kind, message, stack)));
        }
    }
    Ok(found.into_iter().map(|(hash, (_, title))| (hash, title)).collect())
}
