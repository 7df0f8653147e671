//! Merged Issues: the hashes whose occurrences are shown as one Issue.

use std::collections::HashMap;

use tidewatch_store::plan::{Filter, Value};

use crate::error::QueryError;
use crate::executor::Executor;

/// The merged hashes of a project. Every other hash is a family of one.
#[derive(Debug, Default)]
pub struct Families {
    primaries: HashMap<u64, u64>,
    /// By primary, ascending.
    merged: HashMap<u64, Vec<u64>>,
}

impl Families {
    /// Reads the merges of a project.
    pub async fn load(executor: &Executor, project: u32) -> Result<Families, QueryError> {
        Ok(Families::new(executor.context.projects.issue_merges(project).await?))
    }

    fn new(primaries: HashMap<u64, u64>) -> Families {
        let mut merged: HashMap<u64, Vec<u64>> = HashMap::new();
        for (hash, primary) in &primaries {
            merged.entry(*primary).or_default().push(*hash);
        }
        merged.values_mut().for_each(|hashes| hashes.sort_unstable());
        Families { primaries, merged }
    }

    /// The hash of the Issue that shows the occurrences of `hash`.
    pub fn primary(&self, hash: u64) -> u64 {
        self.primaries.get(&hash).copied().unwrap_or(hash)
    }

    /// The hashes that are merged into an Issue, ascending.
    pub fn merged_into(&self, primary: u64) -> &[u64] {
        self.merged.get(&primary).map_or(&[], Vec::as_slice)
    }

    /// The hashes of an Issue, its own first.
    pub fn hashes(&self, primary: u64) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(primary).chain(self.merged_into(primary).iter().copied())
    }

    /// The primaries of some hashes, each once, in their order.
    pub fn primaries(&self, hashes: &[u64]) -> Vec<u64> {
        let mut known = std::collections::HashSet::new();
        hashes.iter().map(|hash| self.primary(*hash)).filter(|hash| known.insert(*hash)).collect()
    }

    /// The occurrences of some Issues.
    pub fn filter(&self, primaries: impl IntoIterator<Item = u64>) -> Filter {
        let hashes = primaries.into_iter().flat_map(|primary| self.hashes(primary)).map(Value::U64);
        Filter::In { column: super::columns::GROUP, values: hashes.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merged_hash_belongs_to_its_primary() {
        let families = Families::new([(3, 1), (2, 1), (5, 4)].into());
        assert_eq!([1, 2, 3, 4, 5, 6].map(|hash| families.primary(hash)), [1, 1, 1, 4, 4, 6]);
        assert_eq!(families.hashes(1).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!((families.merged_into(4), families.merged_into(6)), (&[5][..], &[][..]));
        assert_eq!(families.primaries(&[5, 6, 4, 2]), [4, 6, 1]);
    }
}
