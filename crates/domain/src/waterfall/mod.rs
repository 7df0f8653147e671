//! Builds the ordered tree of a trace's stored spans: missing parents, cycles, graph limits. SPEC span, rules 1, 3, 4.
//!
//! [`StoredOwners`] finds the owner of an Issue among stored spans, when it was not in the same request.

mod owners;

pub use owners::{StoredOwner, StoredOwners, StoredSpan};

use crate::model::SpanId;

/// The fields of a stored span that determine its place in the waterfall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Node {
    /// Unique per side of a shared span id.
    pub span_id: SpanId,
    /// Whether the kind is SERVER or CONSUMER. Zipkin and B3 share one span id between caller and callee. DECISIONS 11.
    pub is_server_side: bool,
    /// All zero for a root.
    pub parent_span_id: SpanId,
    /// Nanoseconds since the epoch.
    pub start_ns: i64,
    /// Nanoseconds.
    pub duration_ns: i64,
}

/// One line of the waterfall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Index into the given nodes.
    pub node: u32,
    /// 0 for roots and orphans.
    pub depth: u32,
    /// Whether the parent is not among the nodes, or the chain of parents is a cycle.
    pub has_missing_parent: bool,
}

/// Reasons for which a waterfall is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The parent of a span is not stored.
    MissingParents,
    /// The trace has more spans than the waterfall shows.
    SpanLimit,
}

impl Gap {
    /// The name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Gap::MissingParents => "missing_parents",
            Gap::SpanLimit => "span_limit",
        }
    }
}

/// The waterfall of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Waterfall {
    /// Parents before their children, children in chronological order.
    pub rows: Vec<Row>,
    /// Empty when complete.
    pub gaps: Vec<Gap>,
    /// Number of distinct spans, of which `rows.len()` are shown.
    pub total: usize,
}

/// Lays out the spans of one trace in at most `rows_max` rows. Duplicates of one side of a span id are ignored.
///
/// With a shared span id, the callee's side is the child of the caller's side and the parent of the spans below the id.
pub fn waterfall(nodes: &[Node], rows_max: usize) -> Waterfall {
    let tree = Tree::new(nodes);
    let mut rows: Vec<Row> = Vec::with_capacity(nodes.len());
    let mut seen = vec![false; nodes.len()];
    for root in tree.tops.iter().copied() {
        tree.write_from(root, &mut seen, &mut rows);
    }
    let total = rows.len();
    let mut gaps = Vec::new();
    if rows.iter().any(|row| row.has_missing_parent) {
        gaps.push(Gap::MissingParents);
    }
    if total > rows_max {
        gaps.push(Gap::SpanLimit);
        rows.truncate(rows_max);
    }
    Waterfall { rows, gaps, total }
}

const NO_PARENT: u32 = u32::MAX;

struct Tree<'n> {
    nodes: &'n [Node],
    /// By node: the index of its parent, or [`NO_PARENT`].
    parents: Vec<u32>,
    /// Nodes with a parent, ascending by (parent, time).
    children: Vec<u32>,
    /// Roots, orphans and one node of each cycle, in chronological order.
    tops: Vec<u32>,
}

impl<'n> Tree<'n> {
    fn new(nodes: &'n [Node]) -> Self {
        let mut by_id: Vec<u32> = (0..nodes.len() as u32).collect();
        let side = |node: &u32| (nodes[*node as usize].span_id, nodes[*node as usize].is_server_side);
        by_id.sort_by_key(side);
        by_id.dedup_by_key(|node| side(node));
        // The callee's side of a shared id comes last.
        let position_of = |id: SpanId| {
            let after = by_id.partition_point(|node| nodes[*node as usize].span_id <= id);
            let node = *by_id.get(after.checked_sub(1)?)?;
            (nodes[node as usize].span_id == id).then_some(node)
        };
        let mut parents = vec![NO_PARENT; nodes.len()];
        for (place, node) in by_id.iter().enumerate() {
            let caller = place.checked_sub(1).map(|before| by_id[before]);
            let parent = match (caller, nodes[*node as usize].parent_span_id) {
                (Some(caller), _) if nodes[caller as usize].span_id == nodes[*node as usize].span_id => Some(caller),
                (_, parent) if parent.is_none() => None,
                (_, parent) => position_of(parent),
            };
            parents[*node as usize] = parent.unwrap_or(NO_PARENT);
        }
        break_cycles(nodes, &by_id, &mut parents);
        let chronological = |node: &u32| {
            let Node { start_ns, span_id, .. } = nodes[*node as usize];
            (start_ns, span_id)
        };
        let (mut tops, mut children): (Vec<u32>, Vec<u32>) =
            by_id.into_iter().partition(|node| parents[*node as usize] == NO_PARENT);
        tops.sort_by_key(chronological);
        children.sort_by_key(|node| (parents[*node as usize], chronological(node)));
        Tree { nodes, parents, children, tops }
    }

    fn children_of(&self, parent: u32) -> &[u32] {
        let start = self.children.partition_point(|node| self.parents[*node as usize] < parent);
        let end = self.children.partition_point(|node| self.parents[*node as usize] <= parent);
        &self.children[start..end]
    }

    fn write_from(&self, top: u32, seen: &mut [bool], rows: &mut Vec<Row>) {
        let mut stack = vec![(top, 0)];
        while let Some((node, depth)) = stack.pop() {
            if std::mem::replace(&mut seen[node as usize], true) {
                continue;
            }
            let has_missing_parent = depth == 0 && !self.nodes[node as usize].parent_span_id.is_none();
            rows.push(Row { node, depth, has_missing_parent });
            stack.extend(self.children_of(node).iter().rev().map(|child| (*child, depth + 1)));
        }
    }
}

/// Removes the parent of the earliest span of each cycle.
fn break_cycles(nodes: &[Node], distinct: &[u32], parents: &mut [u32]) {
    // The number of the walk that first visited each node; 0 for none.
    let mut walked = vec![0u32; nodes.len()];
    for (number, start) in distinct.iter().enumerate() {
        let walk = number as u32 + 1;
        let mut current = *start;
        while current != NO_PARENT && walked[current as usize] == 0 {
            walked[current as usize] = walk;
            current = parents[current as usize];
        }
        if current == NO_PARENT || walked[current as usize] != walk {
            continue;
        }
        let mut earliest = current;
        let mut step = parents[current as usize];
        while step != current {
            let key = |node: u32| (nodes[node as usize].start_ns, nodes[node as usize].span_id);
            if key(step) < key(earliest) {
                earliest = step;
            }
            step = parents[step as usize];
        }
        parents[earliest as usize] = NO_PARENT;
    }
}

#[cfg(test)]
mod tests;
