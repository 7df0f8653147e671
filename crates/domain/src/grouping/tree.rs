//! The frames and exceptions of a trace that count.

use xxhash_rust::xxh3::xxh3_64;

use super::parts::{BETWEEN, Basis, ExceptionComponent, FrameComponent, INSIDE, LeftOut};
use crate::frames::{Frame, Language, Relation, Role, Stack, Thrown, is_minified};

/// Frames of an exception that count.
const FRAMES_MAX: usize = 32;
/// Exceptions of a chain that count: half from each end.
const CHAIN_MAX: usize = 10;
/// Members of a group that count.
const MEMBERS_MAX: usize = 10;
/// Longest run of frames that a recursion repeats.
const PERIOD_MAX: usize = 4;
/// Longest cycle of a stack overflow.
const CYCLE_MAX: usize = 8;
/// Levels of groups that count.
const DEPTH_MAX: usize = 8;

/// Wrappers that say nothing where they have no frame of the application.
const TRANSPARENT: &[&str] = &[
    "ExecutionException",
    "CompletionException",
    "InvocationTargetException",
    "UndeclaredThrowableException",
    "NestedServletException",
    "ServletException",
    "UncheckedExecutionException",
    "AggregateException",
    "TargetInvocationException",
];

/// A frame in its canonical form.
#[derive(Clone, Copy, Default)]
struct Canonical {
    start: usize,
    end: usize,
    hash: u64,
}

/// An exception with the frames that count.
struct Node {
    exception: usize,
    /// Indexes of counted frames, innermost first.
    frames: Vec<usize>,
    is_counted: bool,
    members: Vec<Node>,
    cause: Option<Box<Node>>,
}

/// A stack with its choices.
pub(super) struct Tree<'s, 'a> {
    stack: &'s Stack<'a>,
    language: Language,
    text: String,
    /// One per frame of the stack.
    canonical: Vec<Canonical>,
    is_application: bool,
    is_minified: bool,
    root: Option<Node>,
}

impl<'s, 'a> Tree<'s, 'a> {
    /// Chooses the frames of a stack.
    pub(super) fn of(stack: &'s Stack<'a>) -> Tree<'s, 'a> {
        let language = stack.language.unwrap_or(Language::Native);
        let mut tree = Tree {
            stack,
            language,
            text: String::with_capacity(stack.frames.len().min(64) * 40),
            canonical: Vec::with_capacity(stack.frames.len()),
            is_application: false,
            is_minified: false,
            root: None,
        };
        if stack.frames.is_empty() {
            return tree;
        }
        // Lines move with every release: they count only where nothing else is known.
        let with_line = !stack.frames.iter().any(|frame| !frame.function.is_empty());
        for frame in &stack.frames {
            tree.add(frame, with_line);
        }
        let chained = stack.exceptions.iter().filter(|thrown| thrown.relation != Relation::Suppressed);
        tree.is_application = has_application(stack, chained);
        let with_suppressed = !tree.is_application && has_application(stack, stack.exceptions.iter());
        tree.is_application |= with_suppressed;
        let own = stack.frames.iter().filter(|frame| frame.role == Role::Application);
        tree.is_minified = language == Language::JavaScript && tree.is_application && own.clone().all(is_minified);
        if stack.outermost < stack.exceptions.len() {
            let mut seen = 0u64;
            tree.root = Some(tree.node(stack.outermost, &[], with_suppressed, &mut seen, 0));
        }
        tree
    }

    fn add(&mut self, frame: &Frame<'_>, with_line: bool) {
        let start = self.text.len();
        frame.write_canonical(self.language, with_line, INSIDE, &mut self.text);
        let hash = xxh3_64(&self.text.as_bytes()[start..]);
        self.canonical.push(Canonical { start, end: self.text.len(), hash });
    }

    /// The chain below an exception. `outer` has the frames of the exception above. Iterative along the chain.
    fn node(&self, first: usize, outer: &[u64], with_suppressed: bool, seen: &mut u64, depth: usize) -> Node {
        let mut chain = Vec::new();
        let mut next = Some(first);
        while let Some(index) = next.filter(|index| *seen & (1 << (index % 64)) == 0) {
            *seen |= 1 << (index % 64);
            chain.push(index);
            next = self.children(index, Relation::Cause).next();
        }
        let mut outer = outer.to_vec();
        let mut whole: Vec<usize> = Vec::new();
        let mut nodes = Vec::with_capacity(chain.len());
        for (position, index) in chain.iter().enumerate() {
            let thrown = &self.stack.exceptions[*index];
            let shared = whole.len().saturating_sub(thrown.shared);
            let all: Vec<usize> = match thrown.shared {
                0 => (thrown.frames.0..thrown.frames.1).collect(),
                _ => (thrown.frames.0..thrown.frames.1).chain(whole[shared..].iter().copied()).collect(),
            };
            let mut frames = self.chosen(&all, thrown);
            let hashes: Vec<u64> = frames.iter().map(|frame| self.canonical[*frame].hash).collect();
            let common = hashes.iter().rev().zip(outer.iter().rev()).take_while(|(one, other)| one == other).count();
            frames.truncate(frames.len() - common);
            let is_long = chain.len() > CHAIN_MAX;
            let is_middle = is_long && position >= CHAIN_MAX / 2 && position < chain.len() - CHAIN_MAX / 2;
            let members = self.members(*index, &hashes, with_suppressed, seen, depth);
            frames.truncate(FRAMES_MAX);
            let is_copy = chain.get(position + 1).is_some_and(|cause| self.is_recovered_copy(*index, *cause));
            nodes.push(Node { exception: *index, frames, is_counted: !is_middle && !is_copy, members, cause: None });
            (outer, whole) = (hashes, all);
        }
        // The wrapper of an exception of the application says nothing itself.
        let mut below: Option<Box<Node>> = None;
        while let Some(mut node) = nodes.pop() {
            let has_more =
                below.as_ref().is_some_and(|below| below.has_frames()) || node.members.iter().any(Node::has_frames);
            let name = self.stack.exceptions[node.exception].exception_type;
            let name = name.rsplit(['.', '$']).next().unwrap_or(name);
            node.is_counted &=
                !(self.is_application && node.frames.is_empty() && has_more && TRANSPARENT.contains(&name));
            node.cause = below;
            below = Some(Box::new(node));
        }
        match below {
            Some(node) => *node,
            None => Node { exception: first, frames: Vec::new(), is_counted: false, members: Vec::new(), cause: None },
        }
    }

    fn members(&self, of: usize, outer: &[u64], with_suppressed: bool, seen: &mut u64, depth: usize) -> Vec<Node> {
        if depth >= DEPTH_MAX {
            return Vec::new();
        }
        let suppressed = self.children(of, Relation::Suppressed).filter(|_| with_suppressed);
        let members: Vec<usize> = self.children(of, Relation::Member).chain(suppressed).collect();
        members.into_iter().map(|member| self.node(member, outer, with_suppressed, seen, depth + 1)).collect()
    }

    fn children(&self, of: usize, relation: Relation) -> impl Iterator<Item = usize> {
        let all = self.stack.exceptions.iter().enumerate();
        all.filter(move |(index, thrown)| thrown.parent == of && *index != of && thrown.relation == relation)
            .map(|(index, _)| index)
    }

    /// A coroutine that resumes copies its exception and makes the original the cause.
    fn is_recovered_copy(&self, index: usize, cause: usize) -> bool {
        let (copy, original) = (&self.stack.exceptions[index], &self.stack.exceptions[cause]);
        copy.exception_type == original.exception_type
            && self.stack.frames_of(copy).iter().any(|frame| frame.module.starts_with("_COROUTINE."))
    }

    /// Frames that count, without repeated runs.
    fn chosen(&self, all: &[usize], thrown: &Thrown<'a>) -> Vec<usize> {
        let hash = |frame: &usize| self.canonical[*frame].hash;
        let is_candidate = |frame: &&usize| match self.stack.frames[**frame].role {
            Role::Application => true,
            Role::Library => !self.is_application,
            Role::Plumbing => false,
        };
        let candidates: Vec<usize> = all.iter().filter(is_candidate).copied().collect();
        if is_overflow(thrown.exception_type, self.language)
            && let Some(cycle) = cycle(&candidates, hash)
        {
            return cycle;
        }
        let mut kept: Vec<usize> = Vec::with_capacity(candidates.len().min(64));
        for frame in candidates {
            kept.push(frame);
            for period in 1..=PERIOD_MAX.min(kept.len() / 2) {
                let (before, last) = kept.split_at(kept.len() - period);
                if before[before.len() - period..].iter().map(hash).eq(last.iter().map(hash)) {
                    kept.truncate(kept.len() - period);
                    break;
                }
            }
        }
        kept
    }

    /// Material of the key; `None` where no frame counts.
    pub(super) fn basis(&self) -> Option<Basis> {
        let root = self.root.as_ref().filter(|_| !self.is_minified)?;
        root.has_frames().then_some(match self.is_application {
            true => Basis::ApplicationFrames,
            false => Basis::AllFrames,
        })
    }

    /// The file of the innermost frame of a bundle without source map.
    pub(super) fn minified_file(&self) -> Option<&'a str> {
        let own = self.stack.frames.iter().find(|frame| frame.role == Role::Application);
        own.filter(|_| self.is_minified).map(|frame| frame.file)
    }

    /// Appends the chain of types and frames.
    pub(super) fn write(&self, key: &mut String) {
        if let Some(root) = &self.root {
            self.write_node(root, key);
        }
    }

    fn write_node(&self, root: &Node, key: &mut String) {
        let mut next = Some(root);
        while let Some(node) = next {
            next = node.cause.as_deref();
            if node.is_counted {
                key.push(BETWEEN);
                key.push(INSIDE);
                key.push_str(self.stack.exceptions[node.exception].exception_type.trim());
                for frame in &node.frames {
                    key.push(BETWEEN);
                    let canonical = self.canonical[*frame];
                    key.push_str(&self.text[canonical.start..canonical.end]);
                }
            }
            if node.members.is_empty() {
                continue;
            }
            let mut members: Vec<String> = node
                .members
                .iter()
                .map(|member| {
                    let mut key = String::new();
                    self.write_node(member, &mut key);
                    key
                })
                .collect();
            members.sort_unstable();
            members.dedup();
            for member in members.iter().take(MEMBERS_MAX) {
                key.push_str("\u{1e}\u{1d}");
                key.push_str(member);
            }
        }
    }

    /// All exceptions with their frames, outermost first.
    pub(super) fn components(&self) -> Vec<ExceptionComponent> {
        let mut out = Vec::new();
        if let Some(root) = &self.root {
            self.explain(root, &mut out);
        }
        out
    }

    fn explain(&self, root: &Node, out: &mut Vec<ExceptionComponent>) {
        let mut next = Some(root);
        while let Some(node) = next {
            next = node.cause.as_deref();
            let thrown = &self.stack.exceptions[node.exception];
            let counted: Vec<u64> = node.frames.iter().map(|frame| self.canonical[*frame].hash).collect();
            let is_counted = node.is_counted && !self.is_minified;
            let frames = (thrown.frames.0..thrown.frames.1).map(|frame| {
                let canonical = self.canonical[frame];
                let is_chosen = is_counted && node.frames.contains(&frame);
                let left_out = match self.stack.frames[frame].role {
                    _ if is_chosen => None,
                    Role::Plumbing => Some(LeftOut::Plumbing),
                    Role::Library if self.is_application => Some(LeftOut::Library),
                    _ if self.is_minified || counted.len() >= FRAMES_MAX => Some(LeftOut::Limit),
                    _ if counted.contains(&canonical.hash) => Some(LeftOut::Repeated),
                    _ => Some(LeftOut::Shared),
                };
                FrameComponent { text: self.text[canonical.start..canonical.end].replace(INSIDE, " "), left_out }
            });
            let frames = frames.collect();
            let exception_type = thrown.exception_type.trim().to_owned();
            out.push(ExceptionComponent { exception_type, relation: thrown.relation, is_counted, frames });
            node.members.iter().for_each(|member| self.explain(member, out));
        }
    }
}

impl Node {
    fn has_frames(&self) -> bool {
        let mut next = Some(self);
        while let Some(node) = next {
            if !node.frames.is_empty() || node.members.iter().any(Node::has_frames) {
                return true;
            }
            next = node.cause.as_deref();
        }
        false
    }
}

fn has_application<'t, 'a: 't>(stack: &Stack<'a>, exceptions: impl Iterator<Item = &'t Thrown<'a>>) -> bool {
    let mut frames = exceptions.flat_map(|thrown| stack.frames_of(thrown));
    frames.any(|frame| frame.role == Role::Application)
}

/// Whether a type reports a stack that grew too deep. The frames then begin and end anywhere in the cycle.
fn is_overflow(exception_type: &str, language: Language) -> bool {
    let name = exception_type.rsplit(['.', ':', '\\']).next().unwrap_or(exception_type);
    matches!(
        name,
        "StackOverflowError"
            | "RecursionError"
            | "SystemStackError"
            | "StackOverflowException"
            | "InsufficientExecutionStackException"
            | "InternalError"
    ) || name == "RangeError" && language == Language::JavaScript
}

/// The cycle that the longest repeated run of the frames consists of, from its least frame. `None` without one.
fn cycle(frames: &[usize], hash: impl Fn(&usize) -> u64) -> Option<Vec<usize>> {
    let hashes: Vec<u64> = frames.iter().map(hash).collect();
    // The longest run, its start and its period.
    let mut best = (0, 0, 0);
    for period in 1..=CYCLE_MAX.min(hashes.len() / 2) {
        let mut run = 0;
        for at in 0..hashes.len() - period {
            run = if hashes[at] == hashes[at + period] { run + 1 } else { 0 };
            if run >= period && run + period > best.0 + best.2 {
                best = (run, at + 1 - run, period);
            }
        }
    }
    let (run, start, period) = best;
    if run == 0 {
        return None;
    }
    let rotation = (0..period).min_by_key(|shift| {
        let shift = *shift;
        (0..period).map(|at| hashes[start + (at + shift) % period]).collect::<Vec<_>>()
    });
    let rotation = rotation.unwrap_or(0);
    Some((0..period).map(|at| frames[start + (at + rotation) % period]).collect())
}
