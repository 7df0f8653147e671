//! Covers of a condition: filters such that every matching trace has a span that passes.

use super::condition::{Conditions, Node};
use crate::plan::{Filter, Value};

/// Passes the spans by which a trace enters a project: those without a parent, and those of kind SERVER and CONSUMER.
pub fn is_entry() -> Filter {
    Filter::Any(vec![
        Filter::eq("parent_span_id", Value::Bytes(vec![0; 8])),
        Filter::In { column: "kind", values: vec![Value::U64(2), Value::U64(5)] },
    ])
}

impl Conditions {
    /// At most `max` covers, at least one: that of entry spans when the condition needs no span.
    pub(super) fn covers(&self, max: usize) -> Vec<Filter> {
        let mut covers = covers(self.root());
        if covers.is_empty() {
            return vec![is_entry()];
        }
        // One filter is quicker than several.
        covers.sort_by_key(Vec::len);
        covers.truncate(max);
        let filter = |number: &usize| self.filters()[*number].clone();
        let union = |cover: Vec<usize>| match cover.as_slice() {
            [one] => filter(one),
            several => Filter::Any(several.iter().map(filter).collect()),
        };
        covers.into_iter().map(union).collect()
    }
}

/// Sets of filters by number; a matching trace has a span that passes one of the set.
fn covers(node: &Node) -> Vec<Vec<usize>> {
    match node {
        Node::All(all) => {
            let mut found: Vec<Vec<usize>> = all.iter().flat_map(covers).collect();
            found.sort();
            found.dedup();
            found
        }
        // An absence needs no span.
        Node::Not(_) => Vec::new(),
        Node::Spans { first, rest } => {
            let filters = std::iter::once(first).chain(rest.iter().map(|(_, filter)| filter));
            let mut found: Vec<Vec<usize>> = filters.flatten().map(|filter| vec![*filter]).collect();
            found.sort();
            found.dedup();
            found
        }
        Node::Any(any) => {
            let mut union = Vec::new();
            for one in any {
                match covers(one).into_iter().min_by_key(Vec::len) {
                    Some(cover) => union.extend(cover),
                    None => return Vec::new(),
                }
            }
            union.sort_unstable();
            union.dedup();
            vec![union]
        }
    }
}
