//! The turns of a conversation: its model calls in time order, the runs of tools of each, and the messages that each
//! call adds.
//!
//! Instrumentations nest the run of a tool below the model call, or beside it below the span of an agent:
//!
//! 1. A run of a tool below another run belongs to the tree of that run, and so does a model call below a run.
//! 2. A run below a model call belongs to that turn.
//! 3. Any other run belongs to the latest turn of its trace that started before it; one with the same parent comes first.
//! 4. A run without any such turn is a turn of its own.
//!
//! Invariant: every call and every run of a tool is a turn or in the tree of one.

use std::collections::HashMap;

use super::messages::Message;
use crate::model::{SpanId, TraceId};

/// Spans above a span that are considered.
const ANCESTORS_MAX: usize = 64;
/// Spans in the tree of one turn; further ones are left out.
pub const TREE_SPANS_MAX: usize = 500;

/// A span of the traces of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Trace of the span.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: SpanId,
    /// Its parent; zeros for a root.
    pub parent: SpanId,
    /// Start, nanoseconds since the epoch.
    pub start_ns: i64,
    /// Its part in the conversation.
    pub kind: StepKind,
}

/// The part of a span in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// A model call of the conversation.
    Model,
    /// A run of a tool.
    Tool,
    /// Any other span.
    Other,
}

/// A turn: a model call, or a run of a tool without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Index of its step.
    pub call: usize,
    /// Runs of tools and the spans below them, parents first, siblings by start.
    pub tree: Vec<TreeNode>,
    /// Whether [`TREE_SPANS_MAX`] left spans out.
    pub is_cut: bool,
}

/// A span in the tree of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeNode {
    /// Index of its step.
    pub step: usize,
    /// 0 for the runs that belong to the turn directly.
    pub depth: usize,
}

/// The turns of a conversation, by start. `steps` has each span once; the result refers to them by index.
pub fn turns(steps: &[Step]) -> Vec<Turn> {
    let index: HashMap<(TraceId, SpanId), usize> =
        steps.iter().enumerate().map(|(at, step)| ((step.trace_id, step.span_id), at)).collect();
    let mut by_start: Vec<usize> = (0..steps.len()).collect();
    by_start.sort_by_key(|at| (steps[*at].start_ns, *at));

    let mut turns: Vec<Turn> = Vec::new();
    let turn = |call| Turn { call, tree: Vec::new(), is_cut: false };
    // The turns of each trace, by start.
    let mut of_trace: HashMap<TraceId, Vec<usize>> = HashMap::new();
    let mut turn_of: HashMap<usize, usize> = HashMap::new();
    let is_model = |at: &usize| steps[*at].kind == StepKind::Model;
    for at in by_start.iter().copied().filter(is_model) {
        if ancestors(steps, &index, at).all(|above| steps[above].kind != StepKind::Tool) {
            of_trace.entry(steps[at].trace_id).or_default().push(turns.len());
            turn_of.insert(at, turns.len());
            turns.push(turn(at));
        }
    }

    let mut roots: Vec<Vec<usize>> = vec![Vec::new(); turns.len()];
    for at in by_start.iter().copied().filter(|at| steps[*at].kind == StepKind::Tool) {
        if ancestors(steps, &index, at).any(|above| steps[above].kind == StepKind::Tool) {
            continue;
        }
        let above = ancestors(steps, &index, at).find_map(|above| turn_of.get(&above).copied());
        let owner = above.or_else(|| {
            let run = &steps[at];
            let in_trace = of_trace.get(&run.trace_id)?;
            let before = in_trace.partition_point(|turn| steps[turns[*turn].call].start_ns <= run.start_ns);
            let before = in_trace[..before].iter().rev();
            let sibling = before.clone().find(|turn| steps[turns[**turn].call].parent == run.parent);
            sibling.or_else(|| before.clone().next()).copied()
        });
        match owner {
            Some(owner) => roots[owner].push(at),
            None => {
                turns.push(turn(at));
                roots.push(vec![at]);
            }
        }
    }

    let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
    for at in by_start {
        let step = &steps[at];
        if let Some(parent) = index.get(&(step.trace_id, step.parent)).filter(|_| !step.parent.is_none()) {
            children.entry(*parent).or_default().push(at);
        }
    }
    for (turn, roots) in turns.iter_mut().zip(roots) {
        (turn.tree, turn.is_cut) = tree(&children, &roots);
    }
    turns.sort_by_key(|turn| (steps[turn.call].start_ns, turn.call));
    turns
}

/// The spans above a span, nearest first.
fn ancestors<'s>(
    steps: &'s [Step],
    index: &'s HashMap<(TraceId, SpanId), usize>,
    at: usize,
) -> impl Iterator<Item = usize> + 's {
    let above = |at: &usize| {
        let step = &steps[*at];
        index.get(&(step.trace_id, step.parent)).copied().filter(|_| !step.parent.is_none())
    };
    std::iter::successors(Some(at), above).skip(1).take(ANCESTORS_MAX)
}

/// The trees below `roots`, parents first. Spans whose parents form a cycle are bounded by [`TREE_SPANS_MAX`].
fn tree(children: &HashMap<usize, Vec<usize>>, roots: &[usize]) -> (Vec<TreeNode>, bool) {
    let mut found = Vec::new();
    let mut pending: Vec<TreeNode> = roots.iter().rev().map(|step| TreeNode { step: *step, depth: 0 }).collect();
    while let Some(node) = pending.pop() {
        if found.len() == TREE_SPANS_MAX {
            return (found, true);
        }
        found.push(node);
        let below = children.get(&node.step).map_or(&[] as &[usize], Vec::as_slice);
        pending.extend(below.iter().rev().map(|step| TreeNode { step: *step, depth: node.depth + 1 }));
    }
    (found, false)
}

/// Number of the first messages of `input` that an earlier call already had. `earlier`: the messages of that call,
/// input and output.
///
/// A message of an assistant with tool calls equals one with the same tools, because SDKs repeat its text differently.
pub fn repeated(earlier: &[Message], input: &[Message]) -> usize {
    earlier.iter().zip(input).take_while(|(left, right)| is_same(left, right)).count()
}

fn is_same(left: &Message, right: &Message) -> bool {
    let tools = |message: &Message| message.tool_calls.iter().map(|call| call.name.clone()).collect::<Vec<_>>();
    left.role == right.role
        && tools(left) == tools(right)
        && (!left.tool_calls.is_empty() || left.content.trim() == right.content.trim())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::messages::ToolCall;
    use super::*;

    fn step(id: u8, parent: u8, start_ns: i64, kind: StepKind) -> Step {
        let span = |id: u8| SpanId([0, 0, 0, 0, 0, 0, 0, id]);
        Step { trace_id: TraceId([1; 16]), span_id: span(id), parent: span(parent), start_ns, kind }
    }

    /// The turns as (span, [(span, depth)]).
    #[track_caller]
    fn check(steps: &[Step], expected: &[(u8, &[(u8, usize)])]) {
        let id = |at: usize| steps[at].span_id.0[7];
        let found: Vec<(u8, Vec<(u8, usize)>)> = turns(steps)
            .into_iter()
            .map(|turn| (id(turn.call), turn.tree.iter().map(|node| (id(node.step), node.depth)).collect()))
            .collect();
        let expected: Vec<(u8, Vec<(u8, usize)>)> =
            expected.iter().map(|(call, tree)| (*call, tree.to_vec())).collect();
        assert_eq!(found, expected);
    }

    use StepKind::{Model, Other, Tool};

    // OpenTelemetry: invoke_agent with chat and execute_tool below it. Rules 2 and 3.
    #[test]
    fn runs_beside_a_call_belong_to_the_call_before_them() {
        let agent = [
            step(1, 0, 0, Other),
            step(2, 1, 10, Model),
            step(3, 1, 20, Tool),
            step(4, 3, 21, Other),
            step(5, 1, 25, Tool),
            step(6, 1, 30, Model),
        ];
        check(&agent, &[(2, &[(3, 0), (4, 1), (5, 0)]), (6, &[])]);
        let nested = [step(1, 0, 0, Model), step(2, 1, 10, Tool), step(3, 0, 5, Model)];
        check(&nested, &[(1, &[(2, 0)]), (3, &[])]);
    }

    // Rule 3: two agents in one trace take turns.
    #[test]
    fn a_call_with_the_same_parent_comes_first() {
        let agents = [
            step(1, 0, 0, Other),
            step(2, 0, 0, Other),
            step(3, 1, 10, Model),
            step(4, 2, 11, Model),
            step(5, 1, 12, Tool),
            step(6, 9, 13, Tool),
        ];
        check(&agents, &[(3, &[(5, 0)]), (4, &[(6, 0)])]);
    }

    // Rule 1: a tool that is an agent itself.
    #[test]
    fn calls_below_a_run_are_in_its_tree() {
        let steps = [
            step(1, 0, 0, Model),
            step(2, 1, 10, Tool),
            step(3, 2, 11, Model),
            step(4, 2, 12, Tool),
            step(5, 3, 13, Tool),
        ];
        check(&steps, &[(1, &[(2, 0), (3, 1), (5, 2), (4, 1)])]);
    }

    // Rule 4.
    #[test]
    fn a_run_without_a_call_is_a_turn() {
        check(&[step(1, 0, 0, Tool), step(2, 0, 5, Model)], &[(1, &[(1, 0)]), (2, &[])]);
        check(&[], &[]);
    }

    #[test]
    fn a_cycle_of_parents_ends() {
        let steps = [step(1, 2, 0, Other), step(2, 1, 1, Other), step(3, 2, 2, Model), step(4, 3, 3, Tool)];
        check(&steps, &[(3, &[(4, 0)])]);
        check(&[step(1, 1, 0, Model)], &[(1, &[])]);
    }

    #[test]
    fn repeated_messages_table() {
        let message = |role: &str, content: &str| Message {
            role: role.to_owned(),
            content: content.to_owned(),
            tool_calls: Vec::new(),
        };
        let calls = |content: &str, tool: &str| Message {
            tool_calls: vec![ToolCall { name: tool.to_owned(), arguments: "{}".to_owned(), ..ToolCall::default() }],
            ..message("assistant", content)
        };
        let first = [message("system", "be brief"), message("user", "hi"), message("assistant", "hello")];
        let with = |more: &[Message]| [&first[..], more].concat();
        for (earlier, input, expected) in [
            (&first[..], with(&[message("user", "more")]), 3),
            (&first, first.to_vec(), 3),
            (&first, vec![message("system", "be brief"), message("user", "other")], 1),
            (&first, vec![message("user", "hi")], 0),
            (&first, vec![], 0),
            (&[message("user", "hi ")], vec![message("user", "hi")], 1),
            (&[calls("", "find")], vec![calls("Let me see.", "find")], 1),
            (&[calls("", "find")], vec![calls("", "send")], 0),
        ] {
            assert_eq!(repeated(earlier, &input), expected, "{earlier:?} {input:?}");
        }
    }

    proptest! {
        // Every model call and run of a tool is shown, whatever the parents are.
        #[test]
        fn every_call_is_a_turn_or_in_a_tree(parents in prop::collection::vec((0_u8..20, 0_i64..50, 0_u8..3), 0..20)) {
            let steps: Vec<Step> = parents
                .iter()
                .enumerate()
                // A parent comes before its children, so that there are no cycles.
                .map(|(at, (parent, start, kind))| {
                    let kind = [Model, Tool, Other][usize::from(*kind)];
                    step(at as u8 + 1, (*parent).min(at as u8), *start, kind)
                })
                .collect();
            let found = turns(&steps);
            for (at, one) in steps.iter().enumerate().filter(|(_, step)| step.kind != Other) {
                let shown = found.iter().filter(|turn| turn.call == at || turn.tree.iter().any(|node| node.step == at));
                prop_assert!(shown.count() >= 1, "{one:?}");
            }
            prop_assert!(found.is_sorted_by_key(|turn| steps[turn.call].start_ns));
        }
    }
}
