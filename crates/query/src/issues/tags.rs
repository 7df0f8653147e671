//! The distributions of tags: service, version and attributes, counted over all occurrences of an Issue.

use std::collections::{BTreeMap, HashMap};

use tidewatch_accounts::Project;
use tidewatch_store::plan::Filter;
use tidewatch_store::tables::Table;

use crate::answer::{Answer, Row};
use crate::attributes;
use crate::entities::whole;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans::{self, Window};
use crate::time::Range;
use crate::views::issue::{TagDistribution, TagValue};
use tidewatch_limits as limits;

const KEYS_MAX: usize = 50;
const VALUES_MAX: usize = 10;
/// Memory of a counted value beside its characters, bytes.
const VALUE_BYTES: usize = 64;
/// The column with the number of exceptions that a row stands for.
const WEIGHT: &str = "weight";

/// Counted values of occurrences.
#[derive(Debug, Default)]
pub struct Tags {
    /// Stored occurrences.
    pub rows: u64,
    weight: f64,
    by_key: BTreeMap<String, Counts>,
    bytes: usize,
}

/// Counts of one key.
#[derive(Debug, Default)]
struct Counts {
    values: HashMap<String, f64>,
    total: f64,
    is_partial: bool,
}

/// Counts the tags of all occurrences in `range` that pass `filter`.
pub async fn count(executor: &Executor, project: &Project, range: Range, filter: Filter) -> Result<Tags, QueryError> {
    let columns = vec!["server_name", "app_version", "attributes", "event_attributes", WEIGHT];
    let window = Window::first(usize::MAX);
    let plan = plans::rows(Table::Exceptions, &[project.number], range, filter, columns, vec![], window);
    let each = |tags: &mut Tags, answer: &Answer| {
        answer.rows().for_each(|row| tags.add(row));
        true
    };
    executor.read(plan, Tags::default(), each).await
}

impl Tags {
    fn add(&mut self, row: Row<'_>) {
        let weight = row.number(WEIGHT);
        self.rows += 1;
        self.weight += weight;
        let mut all = attributes::map(row.bytes("attributes")).0;
        all.extend(attributes::map(row.bytes("event_attributes")).0);
        for column in ["server_name", "app_version"] {
            all.insert(column.to_owned(), row.text(column).to_owned());
        }
        for (key, value) in all {
            if !value.is_empty() && !key.starts_with("exception.") {
                self.add_value(key, value, weight);
            }
        }
    }

    /// Beyond [`limits::ISSUE_TAG_BYTES_MAX`], values that are not counted yet only count in the total of their key.
    fn add_value(&mut self, key: String, value: String, weight: f64) {
        let has_space = self.bytes < limits::ISSUE_TAG_BYTES_MAX;
        let (key_bytes, value_bytes) = (key.len() + VALUE_BYTES, value.len() + VALUE_BYTES);
        if !self.by_key.contains_key(&key) {
            if !has_space {
                return;
            }
            self.bytes += key_bytes;
        }
        let counts = self.by_key.entry(key).or_default();
        counts.total += weight;
        if let Some(count) = counts.values.get_mut(&value) {
            *count += weight;
        } else if has_space {
            self.bytes += value_bytes;
            counts.values.insert(value, weight);
        } else {
            counts.is_partial = true;
        }
    }

    /// Occurrences, weighted.
    pub fn count(&self) -> u64 {
        whole(self.weight)
    }

    /// The distributions: service, version, then attributes by key.
    pub fn distributions(self) -> Vec<TagDistribution> {
        let mut tags: Vec<TagDistribution> =
            self.by_key.into_iter().map(|(key, counts)| distribution(key, counts)).collect();
        tags.sort_by_key(|tag| match tag.key.as_str() {
            "server_name" => 0,
            "app_version" => 1,
            _ => 2,
        });
        tags.truncate(KEYS_MAX);
        tags
    }
}

fn distribution(key: String, counts: Counts) -> TagDistribution {
    let Counts { values, total, is_partial } = counts;
    let distinct = values.len() as u64;
    let mut values: Vec<TagValue> =
        values.into_iter().map(|(value, count)| TagValue { value, count: whole(count) }).collect();
    values.sort_by(|left, right| right.count.cmp(&left.count).then_with(|| left.value.cmp(&right.value)));
    values.truncate(VALUES_MAX);
    TagDistribution { key, values, distinct, count: whole(total), partial: is_partial }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_values_stay_exact_beyond_the_space_for_more() {
        let mut tags = Tags::default();
        tags.add_value("plan".into(), "pro".into(), 1.0);
        let long = "x".repeat(limits::ISSUE_TAG_BYTES_MAX);
        tags.add_value("body".into(), long, 1.0);
        for _ in 0..2 {
            tags.add_value("plan".into(), "pro".into(), 1.0);
            tags.add_value("plan".into(), "free".into(), 1.0);
        }
        tags.add_value("late".into(), "key".into(), 1.0);
        let found = tags.distributions();
        let keys: Vec<_> = found.iter().map(|tag| tag.key.as_str()).collect();
        assert_eq!(keys, ["body", "plan"]);
        let pro = TagValue { value: "pro".into(), count: 3 };
        let expected = TagDistribution { key: "plan".into(), values: vec![pro], distinct: 1, count: 5, partial: true };
        assert_eq!(found[1], expected);
        assert!(!found[0].partial);
    }
}
