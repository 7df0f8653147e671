//! The tree of a flame graph.

use std::cmp::Reverse;
use std::collections::HashMap;

use tidewatch_domain::project::TRUNCATED;
use tidewatch_domain::rules::profile_stack::Frame;
use xxhash_rust::xxh3::Xxh3Builder;

use super::names::Names;
use crate::views::profile::FlameNodes;

/// Name of the root.
const ROOT: &str = "total";
const NO_NODE: u32 = u32::MAX;
/// Maximum number of nodes while stacks are added. Frames of later stacks that need more are merged per parent.
const BUILT_NODES_MAX: usize = 1 << 19;

/// Values of the selection and of the baseline.
type Pair = [f64; 2];

#[derive(Debug, Clone, Copy)]
struct Node {
    name: u32,
    parent: u32,
    level: u32,
    own: Pair,
    total: Pair,
}

/// A tree of merged stacks.
pub struct Tree {
    /// Names of the nodes.
    pub names: Names,
    /// A parent precedes its children.
    nodes: Vec<Node>,
    children: HashMap<(u32, u32), u32, Xxh3Builder>,
    /// The nodes of the last stack that was appended by time.
    path: Vec<u32>,
    /// Number of nodes from which on no frame gets one.
    built_max: usize,
    /// Stacks with frames that have no node.
    merged: usize,
}

impl Tree {
    /// A tree with a root only.
    pub fn new() -> Tree {
        let mut names = Names::default();
        let name = names.add(ROOT, "");
        let root = Node { name, parent: NO_NODE, level: 0, own: [0.0; 2], total: [0.0; 2] };
        Tree {
            names,
            nodes: vec![root],
            children: HashMap::default(),
            path: Vec::new(),
            built_max: BUILT_NODES_MAX,
            merged: 0,
        }
    }

    /// Adds a stack, root first; `side`: 0 for the selection, 1 for the baseline. A full tree gets one more child per
    /// node at most, for the frames of all stacks that have no node.
    pub fn add<'f>(&mut self, frames: impl Iterator<Item = Frame<'f>>, value: f64, side: usize) {
        let mut at = 0;
        self.nodes[0].total[side] += value;
        for frame in frames {
            let known = match self.nodes.len() < self.built_max {
                true => Some(self.names.number(&frame)),
                false => self.names.known(&frame).filter(|name| self.children.contains_key(&(at, *name))),
            };
            let name = known.unwrap_or_else(|| self.names.add(TRUNCATED, ""));
            at = self.child(at, name);
            self.nodes[at as usize].total[side] += value;
            if known.is_none() {
                self.merged += 1;
                break;
            }
        }
        self.nodes[at as usize].own[side] += value;
    }

    /// The child of this name, which is added if it is missing.
    fn child(&mut self, parent: u32, name: u32) -> u32 {
        if let Some(known) = self.children.get(&(parent, name)) {
            return *known;
        }
        let child = self.push(parent, name);
        self.children.insert((parent, name), child);
        child
    }

    /// Adds the next stack in time: it is merged with the one before as far as their frames are equal.
    pub fn append<'f>(&mut self, frames: impl Iterator<Item = Frame<'f>>, value: f64) {
        let mut at = 0;
        self.nodes[0].total[0] += value;
        let mut depth = 0;
        for frame in frames {
            let name = self.names.number(&frame);
            match self.path.get(depth) {
                Some(node) if self.nodes[*node as usize].name == name => at = *node,
                _ => {
                    self.path.truncate(depth);
                    at = self.push(at, name);
                    self.path.push(at);
                }
            }
            self.nodes[at as usize].total[0] += value;
            depth += 1;
        }
        self.path.truncate(depth);
        self.nodes[at as usize].own[0] += value;
    }

    fn push(&mut self, parent: u32, name: u32) -> u32 {
        let level = self.nodes[parent as usize].level + 1;
        self.nodes.push(Node { name, parent, level, own: [0.0; 2], total: [0.0; 2] });
        self.nodes.len() as u32 - 1
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes in depth-first order, children by value (or in the order of creation), and the number of nodes that
    /// were merged so that at most `nodes_max` are left.
    pub fn into_nodes(mut self, nodes_max: usize, by_value: bool, has_baseline: bool) -> (Names, FlameNodes, usize) {
        let truncated = self.merged + self.truncate(nodes_max);
        // Children of each node, as a list from the last to the first.
        let mut order: Vec<u32> = (1..self.nodes.len() as u32).collect();
        if by_value {
            let weight = |node: &u32| {
                let [value, baseline] = self.nodes[*node as usize].total;
                value + baseline
            };
            order.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        }
        let (mut first, mut next) = (vec![NO_NODE; self.nodes.len()], vec![NO_NODE; self.nodes.len()]);
        for node in order.into_iter().rev() {
            let parent = self.nodes[node as usize].parent as usize;
            next[node as usize] = first[parent];
            first[parent] = node;
        }
        let mut out = FlameNodes::default();
        let (mut own, mut total) = (Vec::new(), Vec::new());
        let mut pending = vec![0_u32];
        while let Some(at) = pending.pop() {
            let node = &self.nodes[at as usize];
            out.name.push(node.name);
            out.level.push(node.level);
            out.own.push(node.own[0]);
            out.total.push(node.total[0]);
            own.push(node.own[1]);
            total.push(node.total[1]);
            pending.extend(Some(next[at as usize]).filter(|next| *next != NO_NODE));
            pending.extend(Some(first[at as usize]).filter(|first| *first != NO_NODE));
        }
        if has_baseline {
            (out.baseline_self, out.baseline_total) = (Some(own), Some(total));
        }
        (self.names, out, truncated)
    }

    /// Merges the lightest nodes of each parent into one, so that at most `nodes_max` are left. Returns the number of
    /// merged nodes.
    fn truncate(&mut self, nodes_max: usize) -> usize {
        if self.nodes.len() <= nodes_max {
            return 0;
        }
        // A parent is at least as heavy as its children, and of equal nodes the first is the parent.
        let mut heaviest: Vec<u32> = (0..self.nodes.len() as u32).collect();
        let weight = |node: &Node| node.total[0].abs() + node.total[1].abs();
        heaviest.sort_by(|a, b| {
            weight(&self.nodes[*b as usize]).total_cmp(&weight(&self.nodes[*a as usize])).then(a.cmp(b))
        });
        let mut rank = vec![0_usize; self.nodes.len()];
        for (place, node) in heaviest.iter().enumerate() {
            // With negative values a child can be heavier: it comes after its parent all the same.
            rank[*node as usize] = place;
        }
        for node in 1..self.nodes.len() {
            rank[node] = rank[node].max(rank[self.nodes[node].parent as usize]);
        }
        let left = |kept: usize| {
            let is_kept = |node: usize| node == 0 || rank[node] < kept;
            let mut parents: Vec<u32> = (1..self.nodes.len())
                .filter(|node| !is_kept(*node) && is_kept(self.nodes[*node].parent as usize))
                .map(|node| self.nodes[node].parent)
                .collect();
            parents.sort_unstable();
            parents.dedup();
            (0..self.nodes.len()).filter(|node| is_kept(*node)).count() + parents.len()
        };
        // At least half of the nodes always fit; more are found by bisection.
        let (mut fits, mut excess) = (nodes_max / 2, nodes_max);
        while fits + 1 < excess {
            let middle = fits.midpoint(excess);
            *(if left(middle) <= nodes_max { &mut fits } else { &mut excess }) = middle;
        }
        let name = self.names.add(TRUNCATED, "");
        let (mut moved, mut merged) = (vec![NO_NODE; self.nodes.len()], 0);
        let mut kept: Vec<Node> = Vec::with_capacity(nodes_max);
        let mut rests: HashMap<u32, u32, Xxh3Builder> = HashMap::default();
        for node in 0..self.nodes.len() {
            let mut copy = self.nodes[node];
            if node == 0 || rank[node] < fits {
                if node > 0 {
                    copy.parent = moved[copy.parent as usize];
                }
                moved[node] = kept.len() as u32;
                kept.push(copy);
                continue;
            }
            merged += 1;
            let parent = moved[copy.parent as usize];
            if parent == NO_NODE {
                continue;
            }
            let rest = *rests.entry(parent).or_insert_with(|| {
                kept.push(Node { name, parent, level: copy.level, own: [0.0; 2], total: [0.0; 2] });
                kept.len() as u32 - 1
            });
            let rest = &mut kept[rest as usize];
            for side in 0..2 {
                rest.own[side] += copy.total[side];
                rest.total[side] += copy.total[side];
            }
        }
        self.nodes = kept;
        merged
    }
}

/// A function or package with its values.
#[derive(Debug, Clone, Copy, Default)]
pub struct Summed {
    /// Value of samples that end in it.
    pub own: f64,
    /// Value of samples with it.
    pub total: f64,
}

/// Sums by number; a number that occurs more than once in a stack counts once.
#[derive(Default)]
pub struct Sums {
    /// By number.
    pub values: Vec<Summed>,
    /// By number, the last stack that was added to its total, from 1.
    seen: Vec<u32>,
    stacks: u32,
}

impl Sums {
    /// Adds a stack of these numbers, root first.
    pub fn add(&mut self, numbers: impl Iterator<Item = u32>, value: f64) {
        self.stacks += 1;
        let mut last = None;
        for number in numbers {
            let at = number as usize;
            if at >= self.values.len() {
                self.values.resize(at + 1, Summed::default());
                self.seen.resize(at + 1, 0);
            }
            if self.seen[at] != self.stacks {
                self.seen[at] = self.stacks;
                self.values[at].total += value;
            }
            last = Some(at);
        }
        if let Some(last) = last {
            self.values[last].own += value;
        }
    }

    /// The numbers with their values, greatest first.
    pub fn sorted(&self, key: impl Fn(&Summed) -> f64) -> Vec<(u32, Summed)> {
        let mut all: Vec<(u32, Summed)> =
            self.values.iter().enumerate().map(|(number, summed)| (number as u32, *summed)).collect();
        all.sort_by(|(one, a), (other, b)| key(b).total_cmp(&key(a)).then(Reverse(other).cmp(&Reverse(one))));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames(path: &'static str) -> impl Iterator<Item = Frame<'static>> {
        path.split(';').filter(|name| !name.is_empty()).map(|function| Frame { function, ..Frame::default() })
    }

    fn shown(names: &Names, nodes: &FlameNodes) -> Vec<(String, u32, f64, f64)> {
        let row =
            |at: usize| (names.names[nodes.name[at] as usize].clone(), nodes.level[at], nodes.own[at], nodes.total[at]);
        (0..nodes.name.len()).map(row).collect()
    }

    fn row(name: &str, level: u32, own: f64, total: f64) -> (String, u32, f64, f64) {
        (name.to_owned(), level, own, total)
    }

    #[test]
    fn stacks_are_merged_heaviest_first() {
        let mut tree = Tree::new();
        for (path, value) in [("a;b", 1.0), ("a;c", 5.0), ("d", 2.0), ("a;b", 1.0), ("a", 1.0), ("a;b;a", 0.5)] {
            tree.add(frames(path), value, 0);
        }
        let (names, nodes, truncated) = tree.into_nodes(100, true, false);
        assert_eq!(truncated, 0);
        let expected = [
            row("total", 0, 0.0, 10.5),
            row("a", 1, 1.0, 8.5),
            row("c", 2, 5.0, 5.0),
            row("b", 2, 2.0, 2.5),
            row("a", 3, 0.5, 0.5),
            row("d", 1, 2.0, 2.0),
        ];
        assert_eq!(shown(&names, &nodes), expected);
    }

    #[test]
    fn stacks_in_time_are_merged_with_their_neighbours_only() {
        let mut tree = Tree::new();
        for path in ["a;b", "a;c", "a;c", "d", "a;b", "a"] {
            tree.append(frames(path), 1.0);
        }
        let (names, nodes, _) = tree.into_nodes(100, false, false);
        let expected = [
            row("total", 0, 0.0, 6.0),
            row("a", 1, 0.0, 3.0),
            row("b", 2, 1.0, 1.0),
            row("c", 2, 2.0, 2.0),
            row("d", 1, 1.0, 1.0),
            row("a", 1, 1.0, 2.0),
            row("b", 2, 1.0, 1.0),
        ];
        assert_eq!(shown(&names, &nodes), expected);
    }

    // Hostile stacks of one project take no unbounded memory.
    #[test]
    fn a_full_tree_merges_new_frames_per_parent() {
        let mut tree = Tree { built_max: 3, ..Tree::new() };
        for path in ["a;b", "a;c;d", "a;e", "a;b;f", "x", "a;b"] {
            tree.add(frames(path), 1.0, 0);
        }
        let (names, nodes, truncated) = tree.into_nodes(100, true, false);
        assert_eq!(truncated, 4);
        let expected = [
            row("total", 0, 0.0, 6.0),
            row("a", 1, 0.0, 5.0),
            row("b", 2, 2.0, 3.0),
            row(TRUNCATED, 3, 1.0, 1.0),
            row(TRUNCATED, 2, 2.0, 2.0),
            row(TRUNCATED, 1, 1.0, 1.0),
        ];
        assert_eq!(shown(&names, &nodes), expected);
    }

    #[test]
    fn a_diff_has_both_values() {
        let mut tree = Tree::new();
        tree.add(frames("a"), 4.0, 0);
        tree.add(frames("a;b"), 6.0, 1);
        let (_, nodes, _) = tree.into_nodes(100, true, true);
        assert_eq!(nodes.total, [4.0, 4.0, 0.0]);
        assert_eq!(nodes.baseline_total, Some(vec![6.0, 6.0, 6.0]));
        assert_eq!(nodes.baseline_self, Some(vec![0.0, 0.0, 6.0]));
    }

    #[test]
    fn functions_count_once_per_stack() {
        let mut sums = Sums::default();
        sums.add([0, 1, 0].into_iter(), 2.0);
        sums.add([1].into_iter(), 1.0);
        let all: Vec<(u32, f64, f64)> =
            sums.sorted(|summed| summed.own).iter().map(|(number, of)| (*number, of.own, of.total)).collect();
        assert_eq!(all, [(0, 2.0, 2.0), (1, 1.0, 3.0)]);
    }

    proptest! {
        // No node and no value is lost, whatever the bound.
        #[test]
        fn bounded_trees_keep_their_totals(
            stacks in proptest::collection::vec((proptest::collection::vec(0..5_usize, 0..6), 1..100_u32), 1..60),
            nodes_max in 1..80_usize,
        ) {
            const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
            let mut tree = Tree::new();
            let mut sum = 0.0;
            for (path, value) in &stacks {
                let path = path.iter().map(|name| Frame { function: NAMES[*name], ..Frame::default() });
                tree.add(path, f64::from(*value), 0);
                sum += f64::from(*value);
            }
            let all = tree.len();
            let (_, nodes, truncated) = tree.into_nodes(nodes_max, true, false);
            prop_assert!(nodes.name.len() <= nodes_max.max(2), "{} of {all} for {nodes_max}", nodes.name.len());
            prop_assert_eq!(nodes.total[0], sum);
            prop_assert_eq!(nodes.own.iter().sum::<f64>(), sum);
            prop_assert!(all <= nodes_max || truncated > 0);
            // The order is that of a depth-first walk.
            prop_assert!(nodes.level.windows(2).all(|pair| pair[1] <= pair[0] + 1));
        }
    }
}
