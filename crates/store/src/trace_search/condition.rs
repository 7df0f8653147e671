//! Conditions on traces.

use std::collections::HashSet;

use tidewatch_domain::query_language::Relation;

use super::span_key::TraceSpan;
use super::summary::Tree;
use crate::plan::Filter;

/// A condition on a trace.
#[derive(Debug, Clone, PartialEq)]
pub enum TraceCondition {
    /// All of them are true; true when empty.
    All(Vec<TraceCondition>),
    /// At least one of them is true; false when empty.
    Any(Vec<TraceCondition>),
    /// It is false.
    Not(Box<TraceCondition>),
    /// The trace has such spans.
    Spans(SpanPath),
}

/// Spans of one trace: the first passes a filter, and each further one is below the one before.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanPath {
    /// Filter of the first span.
    pub first: Filter,
    /// The relation to the span before, and the filter.
    pub rest: Vec<(Relation, Filter)>,
}

/// A condition with its distinct filters.
pub(super) struct Conditions {
    filters: Vec<Filter>,
    root: Node,
}

/// A condition; filters by number, none: every span passes.
pub(super) enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Spans { first: Option<usize>, rest: Vec<(Relation, Option<usize>)> },
}

impl Conditions {
    pub fn of(condition: &TraceCondition) -> Conditions {
        let mut filters = Vec::new();
        let root = node(condition, &mut filters);
        Conditions { filters, root }
    }

    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Whether the condition holds for a trace. `matches`: by filter, the spans that pass it.
    pub fn hold(&self, tree: &Tree, trace: &[u8; 16], matches: &[HashSet<TraceSpan>]) -> bool {
        let passes: Vec<Vec<bool>> =
            matches.iter().map(|set| tree.keys().map(|key| set.contains(&(*trace, key))).collect()).collect();
        holds(&self.root, tree, &passes)
    }
}

fn node(condition: &TraceCondition, filters: &mut Vec<Filter>) -> Node {
    match condition {
        TraceCondition::All(all) => Node::All(all.iter().map(|one| node(one, filters)).collect()),
        TraceCondition::Any(any) => Node::Any(any.iter().map(|one| node(one, filters)).collect()),
        TraceCondition::Not(one) => Node::Not(Box::new(node(one, filters))),
        TraceCondition::Spans(SpanPath { first, rest }) => Node::Spans {
            first: number(first, filters),
            rest: rest.iter().map(|(relation, filter)| (*relation, number(filter, filters))).collect(),
        },
    }
}

fn number(filter: &Filter, filters: &mut Vec<Filter>) -> Option<usize> {
    if *filter == Filter::True {
        return None;
    }
    Some(filters.iter().position(|known| known == filter).unwrap_or_else(|| {
        filters.push(filter.clone());
        filters.len() - 1
    }))
}

fn holds(node: &Node, tree: &Tree, passes: &[Vec<bool>]) -> bool {
    match node {
        Node::All(all) => all.iter().all(|one| holds(one, tree, passes)),
        Node::Any(any) => any.iter().any(|one| holds(one, tree, passes)),
        Node::Not(one) => !holds(one, tree, passes),
        Node::Spans { first, rest } => {
            let passing = |filter: &Option<usize>, span: usize| filter.is_none_or(|filter| passes[filter][span]);
            let mut found: Vec<bool> = (0..tree.len()).map(|span| passing(first, span)).collect();
            for (relation, filter) in rest {
                // Parents come before their children.
                let mut is_below = vec![false; tree.len()];
                for span in 0..tree.len() {
                    if let Some(parent) = tree.parent(span) {
                        is_below[span] = found[parent] || *relation == Relation::Descendant && is_below[parent];
                    }
                }
                found = (0..tree.len()).map(|span| is_below[span] && passing(filter, span)).collect();
            }
            found.contains(&true)
        }
    }
}
