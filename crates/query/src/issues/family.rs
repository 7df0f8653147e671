//! The hashes of an Issue: its own, merged ones, and those that versions of the grouping rule made.
//!
//! A hash that was never seen is compared with the hashes that earlier versions of the rule give the same exception.
//! Issues: a change of the rule makes no Issue new. A hash whose earlier hash is known, by stored rows or by a decision,
//! an assignee or an activity, is pointed at it, so it belongs to the same Issue, with its state. Pointers are read after
//! that, so no reader sees such a hash as an Issue of its own. Comparing again gives the same result.

use std::collections::{HashMap, HashSet};

use tidewatch_accounts::{HashCause, HashPointer};
use tidewatch_domain::grouping::Occurrence;
use tidewatch_domain::rules::grouping_rules::FINGERPRINT_VERSION;
use tidewatch_limits as limits;
use tidewatch_store::plan::{Filter, Function, Key, Value};
use tidewatch_store::tables::Table;

use super::columns::{GROUP, LATEST, ROWS};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans::{self, Window};
use crate::time::Range;
use crate::{filters, ids};

/// The pointers of the hashes of a project. Every other hash is a family of one.
#[derive(Debug, Default)]
pub struct Families {
    /// By hash. Without those of hashes that are Issues of their own.
    primaries: HashMap<u64, u64>,
    /// By primary, ascending.
    members: HashMap<u64, Vec<u64>>,
    pointers: HashMap<u64, HashPointer>,
}

impl Families {
    /// Compares new hashes with earlier versions of the grouping rule, and reads the pointers of a project.
    pub async fn load(executor: &Executor, project: u32) -> Result<Families, QueryError> {
        compare(executor, project).await?;
        Families::stored(executor, project).await
    }

    /// Reads the pointers of a project.
    pub(super) async fn stored(executor: &Executor, project: u32) -> Result<Families, QueryError> {
        Ok(Families::new(executor.context.projects.issue_hashes(project).await?))
    }

    fn new(pointers: HashMap<u64, HashPointer>) -> Families {
        let last = |hash: u64| {
            let mut chain = vec![hash];
            let mut at = hash;
            while let Some(pointer) = pointers.get(&at) {
                // A hash that is its own; or a cycle, whose least hash is the Issue from wherever it is read.
                if let Some(start) = chain.iter().position(|one| *one == pointer.to) {
                    return chain[start..].iter().copied().min().unwrap_or(at);
                }
                at = pointer.to;
                chain.push(at);
            }
            at
        };
        let primaries: HashMap<u64, u64> =
            pointers.keys().map(|hash| (*hash, last(*hash))).filter(|(hash, primary)| hash != primary).collect();
        let mut members: HashMap<u64, Vec<u64>> = HashMap::new();
        for (hash, primary) in &primaries {
            members.entry(*primary).or_default().push(*hash);
        }
        members.values_mut().for_each(|hashes| hashes.sort_unstable());
        Families { primaries, members, pointers }
    }

    /// The hash of the Issue that shows the occurrences of `hash`.
    pub fn primary(&self, hash: u64) -> u64 {
        self.primaries.get(&hash).copied().unwrap_or(hash)
    }

    /// The pointer of a hash.
    pub fn pointer(&self, hash: u64) -> Option<&HashPointer> {
        self.pointers.get(&hash)
    }

    /// The hashes of an Issue besides its own, ascending.
    pub fn members(&self, primary: u64) -> &[u64] {
        self.members.get(&primary).map_or(&[], Vec::as_slice)
    }

    /// The hashes that users merged into an Issue, ascending.
    pub fn merged_into(&self, primary: u64) -> impl Iterator<Item = u64> + '_ {
        let is_merged = |hash: &u64| self.pointers.get(hash).is_some_and(|one| one.cause == HashCause::Merge);
        self.members(primary).iter().copied().filter(is_merged)
    }

    /// The hashes of an Issue, its own first.
    pub fn hashes(&self, primary: u64) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(primary).chain(self.members(primary).iter().copied())
    }

    /// The primaries of some hashes, each once, in their order.
    pub fn primaries(&self, hashes: &[u64]) -> Vec<u64> {
        let mut known = std::collections::HashSet::new();
        hashes.iter().map(|hash| self.primary(*hash)).filter(|hash| known.insert(*hash)).collect()
    }

    /// The occurrences of some Issues.
    pub fn filter(&self, primaries: impl IntoIterator<Item = u64>) -> Filter {
        let hashes = primaries.into_iter().flat_map(|primary| self.hashes(primary)).map(Value::U64);
        Filter::In { column: GROUP, values: hashes.collect() }
    }
}

/// The column with the version of the rule that made the hash.
const VERSION: &str = "group_version";

/// Compares the hashes of a project that arrived since the last call.
async fn compare(executor: &Executor, project: u32) -> Result<(), QueryError> {
    let new = executor.context.projects.new_hashes().clone();
    if new.waiting(project).is_none() {
        return Ok(());
    }
    let _one = new.comparing.lock().await;
    let Some(waiting) = new.waiting(project) else { return Ok(()) };
    // An Issue does not depend on what is selected.
    let executor = &executor.unfiltered();
    let mut hashes: HashSet<u64> = waiting.hashes.into_iter().collect();
    if waiting.stored.is_some() {
        hashes.extend(stored(executor, project).await?);
    }
    let hashes = new.not_compared(project, hashes);
    for some in hashes.chunks(limits::NEW_HASHES_COMPARED) {
        point(executor, project, some).await?;
        new.compared(project, some);
    }
    if let Some(stored) = waiting.stored {
        new.read_stored(project, stored);
    }
    Ok(())
}

/// The latest hashes of stored rows that the first version did not make.
async fn stored(executor: &Executor, project: u32) -> Result<Vec<u64>, QueryError> {
    let plan = plans::ordered_groups(
        Table::Exceptions,
        &[project],
        Range::ALL,
        // Rows of the first version have none.
        filters::not(Filter::IsNull { column: VERSION }),
        vec![Key::column(GROUP)],
        vec![Function::Max("time").named(LATEST)],
        vec![plans::greatest(LATEST)],
        Window::first(limits::KNOWN_ISSUES_MAX),
    );
    Ok(executor.run(plan).await?.rows().map(|row| row.u64(GROUP)).collect())
}

/// Points those of the hashes that have no pointer at their earlier hashes.
async fn point(executor: &Executor, project: u32, hashes: &[u64]) -> Result<(), QueryError> {
    let context = &executor.context;
    let families = Families::stored(executor, project).await?;
    let unknown: Vec<u64> = hashes.iter().copied().filter(|hash| families.pointer(*hash).is_none()).collect();
    let earlier = earlier(executor, project, &unknown).await?;
    let mut candidates: Vec<u64> = earlier.iter().flat_map(|one| one.hashes.iter().copied()).collect();
    candidates.sort_unstable();
    candidates.dedup();
    let mut known: HashSet<u64> = candidates.iter().copied().filter(|hash| families.pointer(*hash).is_some()).collect();
    for some in candidates.chunks(limits::NEW_HASHES_COMPARED) {
        known.extend(context.projects.triaged_issues(project, some).await?);
        let count = vec![Function::Count.named(ROWS)];
        let keys = vec![Key::column(GROUP)];
        let filter = in_groups(some.iter().copied());
        let plan = plans::groups(Table::Exceptions, &[project], Range::ALL, filter, keys, count);
        known.extend(executor.run(plan).await?.rows().map(|row| row.u64(GROUP)));
    }
    let (mut pairs, mut fingerprints) = (Vec::new(), Vec::new());
    for Earlier { hash, hashes, is_fingerprint } in earlier {
        match hashes.into_iter().find(|one| known.contains(one)) {
            // A rule of a user decides what is one Issue. It has the state of the Issue that the exception had.
            Some(before) if is_fingerprint => fingerprints.push((hash, families.primary(before))),
            Some(before) => pairs.push((hash, before)),
            None => {}
        }
    }
    if !fingerprints.is_empty() {
        context.projects.inherit_issues(project, &fingerprints).await?;
    }
    if pairs.is_empty() {
        return Ok(());
    }
    let version = context.grouping.newest().version;
    if !context.projects.point_hashes(project, &pairs, version).await? {
        let (hash, count) = (ids::format_hash(pairs[0].0), limits::ISSUE_HASHES_MAX);
        tracing::warn!(project, hash, "a project has {count} hashes of earlier rules: further ones are new Issues");
    }
    Ok(())
}

/// The hashes that an exception had before.
struct Earlier {
    hash: u64,
    /// The newest first.
    hashes: Vec<u64>,
    /// Whether a grouping rule of the project made `hash`.
    is_fingerprint: bool,
}

/// The hashes that earlier versions give the latest occurrence of each hash; those of a fingerprint begin with the hash
/// of the newest version. Without hashes that no version changes, and without captured messages.
async fn earlier(executor: &Executor, project: u32, hashes: &[u64]) -> Result<Vec<Earlier>, QueryError> {
    if hashes.is_empty() {
        return Ok(Vec::new());
    }
    let of_hashes = || in_groups(hashes.iter().copied()).and(filters::not(filters::is("is_message")));
    let keys = vec![Key::column(GROUP)];
    let latest = vec![Function::Latest { column: "row_id" }.named(LATEST)];
    let plan = plans::groups(Table::Exceptions, &[project], Range::ALL, of_hashes(), keys, latest);
    let answer = executor.run(plan).await?;
    let rows: Vec<[u8; 16]> = answer.rows().map(|row| row.id16(LATEST)).collect();
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let window = Window::first(2 * rows.len());
    let filter: Filter = of_hashes().and(filters::ids("row_id", rows));
    let columns = vec![GROUP, VERSION, "exception_type", "message", "stack_trace"];
    let plan = plans::rows(Table::Exceptions, &[project], Range::ALL, filter, columns, vec![], window);
    let versions = executor.context.grouping;
    let mut found: HashMap<u64, Earlier> = HashMap::new();
    for row in executor.run(plan).await?.rows() {
        let input = Occurrence::new(row.text("exception_type"), row.text("message"), row.text("stack_trace"));
        let hash = row.u64(GROUP);
        let is_fingerprint = row.opt_int(VERSION) == Some(i64::from(FINGERPRINT_VERSION));
        let newest = is_fingerprint.then(|| versions.newest());
        let hashes: Vec<u64> =
            newest.into_iter().chain(versions.older()).map(|version| (version.hash)(&input)).collect();
        if !hashes.contains(&hash) {
            found.insert(hash, Earlier { hash, hashes, is_fingerprint });
        }
    }
    Ok(found.into_values().collect())
}

fn in_groups(hashes: impl IntoIterator<Item = u64>) -> Filter {
    Filter::In { column: GROUP, values: hashes.into_iter().map(Value::U64).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn families(pointers: &[(u64, u64, HashCause)]) -> Families {
        let pointer = |(hash, to, cause): &(u64, u64, HashCause)| {
            (*hash, HashPointer { to: *to, cause: *cause, rule_version: 1 })
        };
        Families::new(pointers.iter().map(pointer).collect())
    }

    // Issues: merged hashes are shown as one Issue.
    #[test]
    fn a_merged_hash_belongs_to_its_primary() {
        use HashCause::Merge;
        let families = families(&[(3, 1, Merge), (2, 1, Merge), (5, 4, Merge)]);
        assert_eq!([1, 2, 3, 4, 5, 6].map(|hash| families.primary(hash)), [1, 1, 1, 4, 4, 6]);
        assert_eq!(families.hashes(1).collect::<Vec<_>>(), [1, 2, 3]);
        let merged = |hash| families.merged_into(hash).collect::<Vec<_>>();
        assert_eq!((merged(4), merged(6)), (vec![5], vec![]));
        assert_eq!(families.primaries(&[5, 6, 4, 2]), [4, 6, 1]);
    }

    // Issues: what points at a merged Issue comes along; a hash of its own belongs to nobody.
    #[test]
    fn chains_lead_to_the_last_hash() {
        use HashCause::{Merge, Own, Rule};
        let families = families(&[(3, 2, Rule), (2, 1, Merge), (7, 7, Own), (8, 7, Rule)]);
        assert_eq!([1, 2, 3, 7, 8].map(|hash| families.primary(hash)), [1, 1, 1, 7, 7]);
        assert_eq!(families.hashes(1).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(families.merged_into(1).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_cycle_has_one_issue() {
        use HashCause::Merge;
        let families = families(&[(2, 3, Merge), (3, 2, Merge), (4, 3, Merge)]);
        assert_eq!([2, 3, 4].map(|hash| families.primary(hash)), [2, 2, 2]);
    }
}
