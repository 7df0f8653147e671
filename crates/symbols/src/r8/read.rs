//! Looks up classes and frames in a mapping's artifact.
//!
//! The crate's documentation describes the sections.

use std::{borrow::Cow, cmp::Ordering};

use super::{NONE, OUTLINE, SYNTHESIZED};
use crate::artifact::{Artifact, Kind, text_at, u32_at};

const STRINGS: usize = 0;
const CLASSES: usize = 1;
const BY_ORIGINAL: usize = 2;
const MEMBERS: usize = 3;
const CALLSITES: usize = 4;
const REWRITES: usize = 5;

/// Maximum number of original frames per obfuscated frame.
const INLINE_MAX: usize = 256;

/// Maximum number of ranges considered per obfuscated method name.
const OVERLOADS_MAX: usize = 1 << 14;

/// An original frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JavaFrame<'a> {
    /// Fully qualified class name.
    pub class: &'a str,
    /// Method name without the class.
    pub method: Cow<'a, str>,
    /// Source file in R8's comment, or derived from the class name.
    pub file: Cow<'a, str>,
    /// `None` when the trace or the mapping has no line.
    pub line: Option<u32>,
}

/// The result of retracing a frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Retraced<'a> {
    /// Original frames, innermost first.
    Frames(Vec<JavaFrame<'a>>),
    /// Outlined code: the frame is omitted, and its line determines the call site of the next frame.
    Outline(u32),
}

/// A mapping's artifact.
#[derive(Debug, Clone, Copy)]
pub struct Mapping<'a> {
    artifact: Artifact<'a>,
    strings: &'a [u8],
    classes: &'a [u8],
    members: &'a [u8],
}

#[derive(Debug, Clone, Copy)]
struct Class<'a> {
    original: &'a str,
    source_file: u32,
    first: usize,
    count: usize,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    lines: (u32, u32),
    class: u32,
    name: u32,
    original: (u32, u32),
    flags: u32,
    number: u32,
}

impl<'a> Mapping<'a> {
    /// `None` if the artifact is of another kind.
    pub fn open(artifact: Artifact<'a>) -> Option<Self> {
        (artifact.kind() == Kind::R8).then(|| Self {
            artifact,
            strings: artifact.section(STRINGS),
            classes: artifact.section(CLASSES),
            members: artifact.section(MEMBERS),
        })
    }

    /// The container.
    pub fn artifact(&self) -> Artifact<'a> {
        self.artifact
    }

    /// The original name of an obfuscated class.
    pub fn class(&self, obfuscated: &str) -> Option<&'a str> {
        self.class_row(obfuscated).map(|c| c.original)
    }

    /// The original frames of an obfuscated frame, innermost first; empty for an unknown class.
    pub fn frames(&self, class: &str, method: &str, line: Option<u32>) -> Vec<JavaFrame<'a>> {
        match self.retrace(class, method, line, None, None) {
            Some(Retraced::Frames(frames)) => frames,
            _ => Vec::new(),
        }
    }

    /// Retraces a frame. `outline` is the line of an outlined frame before it; `thrown` is the exception if this is its
    /// first frame.
    pub(crate) fn retrace(
        &self,
        obfuscated: &str,
        method: &str,
        line: Option<u32>,
        outline: Option<u32>,
        thrown: Option<&str>,
    ) -> Option<Retraced<'a>> {
        let class = self.class_row(obfuscated)?;
        let members = self.members_named(&class, method);
        let mut group = self.group(&members, line);
        let mut line = line;
        if let Some(at) = outline
            && let Some(caller_line) = group.iter().find_map(|m| self.callsite(m.number, at))
        {
            line = Some(caller_line);
            group = self.group(&members, line);
        }
        if group.iter().any(|m| m.flags & OUTLINE != 0) {
            return Some(Retraced::Outline(line.unwrap_or(0)));
        }
        if group.is_empty() {
            return Some(Retraced::Frames(vec![JavaFrame {
                class: class.original,
                method: Cow::Owned(self.only_name(&members).map_or_else(|| method.to_owned(), str::to_owned)),
                file: self.file(&class),
                line,
            }]));
        }
        let skip =
            thrown.map_or(0, |exception| group.iter().map(|m| self.rewrite(m.number, exception)).max().unwrap_or(0));
        let mut frames: Vec<(bool, JavaFrame<'a>)> =
            group.iter().map(|m| (m.flags & SYNTHESIZED != 0, self.frame(&class, m, line))).collect();
        // Compiler-generated frames are omitted, unless no other frame is left.
        if frames.iter().any(|(synthesized, _)| !synthesized) {
            frames.retain(|(synthesized, _)| !synthesized);
        }
        let skip = skip.min(frames.len().saturating_sub(1));
        Some(Retraced::Frames(frames.into_iter().skip(skip).map(|(_, frame)| frame).collect()))
    }

    fn class_row(&self, obfuscated: &str) -> Option<Class<'a>> {
        let at = |i: usize| text_at(self.strings, u32_at(self.classes, i * 5)).cmp(obfuscated);
        search(self.classes.len() / 20, at).map(|i| self.class_at(i))
    }

    fn class_at(&self, number: usize) -> Class<'a> {
        let field = |n: usize| u32_at(self.classes, number * 5 + n);
        Class {
            original: text_at(self.strings, field(1)),
            source_file: field(2),
            first: field(3) as usize,
            count: field(4) as usize,
        }
    }

    fn members_named(&self, class: &Class<'a>, name: &str) -> Vec<Member> {
        let name_of = |i: usize| text_at(self.strings, u32_at(self.members, i * 9));
        let end = (class.first.saturating_add(class.count)).min(self.members.len() / 36);
        let (mut low, mut high) = (class.first.min(end), end);
        while low < high {
            let middle = low + (high - low) / 2;
            match name_of(middle) < name {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        (low..end).take(OVERLOADS_MAX).take_while(|i| name_of(*i) == name).map(|i| self.member_at(i)).collect()
    }

    fn member_at(&self, number: usize) -> Member {
        let field = |n: usize| u32_at(self.members, number * 9 + n);
        Member {
            lines: (field(1), field(2)),
            class: field(3),
            name: field(4),
            original: (field(5), field(6)),
            flags: field(7),
            number: field(8),
        }
    }

    /// The ranges of a line: the first match and the following ones with equal lines.
    fn group(&self, members: &[Member], line: Option<u32>) -> Vec<Member> {
        let with_line = line
            .and_then(|line| members.iter().position(|m| m.lines.0 != NONE && (m.lines.0..=m.lines.1).contains(&line)));
        match with_line {
            Some(first) => {
                let lines = members[first].lines;
                members[first..].iter().take_while(|m| m.lines == lines).take(INLINE_MAX).copied().collect()
            }
            // Without a line range, the name must be unambiguous.
            None => match members {
                [only] if only.lines.0 == NONE || line.is_none() => vec![*only],
                _ => members
                    .iter()
                    .find(|m| m.lines.0 == NONE)
                    .filter(|_| self.only_name(members).is_some())
                    .into_iter()
                    .copied()
                    .collect(),
            },
        }
    }

    /// The original name, if all candidates share it.
    fn only_name(&self, members: &[Member]) -> Option<&'a str> {
        let first = members.first()?;
        members
            .iter()
            .all(|m| m.name == first.name && m.class == first.class)
            .then(|| text_at(self.strings, first.name))
    }

    fn frame(&self, class: &Class<'a>, member: &Member, line: Option<u32>) -> JavaFrame<'a> {
        let (name, file) = match member.class {
            NONE => (class.original, self.file(class)),
            name => {
                let name = text_at(self.strings, name);
                (name, self.by_original(name).map_or_else(|| file_of(name), |c| self.file(&c)))
            }
        };
        JavaFrame {
            class: name,
            method: Cow::Borrowed(text_at(self.strings, member.name)),
            file,
            line: original_line(member, line).filter(|l| *l > 0 || member.original.0 == 0),
        }
    }

    fn file(&self, class: &Class<'a>) -> Cow<'a, str> {
        match class.source_file {
            NONE => file_of(class.original),
            file => Cow::Borrowed(text_at(self.strings, file)),
        }
    }

    fn by_original(&self, original: &str) -> Option<Class<'a>> {
        let numbers = self.artifact.section(BY_ORIGINAL);
        let class = |i: usize| self.class_at(u32_at(numbers, i) as usize);
        search(numbers.len() / 4, |i| class(i).original.cmp(original)).map(class)
    }

    fn callsite(&self, member: u32, at: u32) -> Option<u32> {
        let rows = self.artifact.section(CALLSITES);
        let found = search(rows.len() / 12, |i| (u32_at(rows, i * 3), u32_at(rows, i * 3 + 1)).cmp(&(member, at)))?;
        Some(u32_at(rows, found * 3 + 2))
    }

    fn rewrite(&self, member: u32, exception: &str) -> usize {
        let rows = self.artifact.section(REWRITES);
        let row =
            |i: usize| (u32_at(rows, i * 3), text_at(self.strings, u32_at(rows, i * 3 + 1)), u32_at(rows, i * 3 + 2));
        let Some(found) = search(rows.len() / 12, |i| row(i).0.cmp(&member)) else { return 0 };
        // A member may have rules for several exceptions.
        let same = |i: &usize| row(*i).0 == member;
        let first = (0..=found).rev().take_while(same).last().unwrap_or(found);
        (first..rows.len() / 12).take_while(same).find(|i| row(*i).1 == exception).map_or(0, |i| row(i).2 as usize)
    }
}

fn original_line(member: &Member, line: Option<u32>) -> Option<u32> {
    let ((from, to), (original_from, original_to)) = (member.lines, member.original);
    match (line, original_from) {
        (None, NONE) => None,
        (None, first) => Some(first).filter(|_| from == NONE || original_to == NONE || original_to == first),
        (line, NONE) => line,
        // Lines of a range advance together. A single original line is the position of an inlined call.
        (Some(line), first) if from != NONE && original_to != NONE && original_to != first && to >= from => {
            Some(first.saturating_add(line.saturating_sub(from)).min(original_to.max(first)))
        }
        (Some(_), first) => Some(first),
    }
}

/// The conventional source file of a class, named after its outermost class.
fn file_of(class: &str) -> Cow<'_, str> {
    let simple = class.rsplit('.').next().unwrap_or(class);
    let outer = simple.split('$').next().filter(|o| !o.is_empty()).unwrap_or(simple);
    Cow::Owned(if outer.ends_with("Kt") {
        format!("{}.kt", outer.trim_end_matches("Kt"))
    } else {
        format!("{outer}.java")
    })
}

fn search(count: usize, compare: impl Fn(usize) -> Ordering) -> Option<usize> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        match compare(middle) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Some(middle),
        }
    }
    None
}
