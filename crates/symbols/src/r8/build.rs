//! Converts a `mapping.txt` to a `.tw` artifact.

use super::{
    NONE, OUTLINE, SYNTHESIZED,
    parse::{self, Comment, Entry, Method},
};
use crate::{
    Arch, DebugId, SymbolError,
    artifact::{Kind, Strings, Writer, text_at},
    error::Result,
    limits::MAPPING_MEMBERS_MAX,
    safe,
};

/// Entries between two calls of `stop`.
const ENTRIES_BETWEEN_STOPS: usize = 4096;

struct Class {
    obfuscated: u32,
    original: u32,
    source_file: u32,
    first: u32,
    count: u32,
}

/// A method range. The first of several ranges with equal lines is the innermost frame.
struct Member {
    obfuscated: u32,
    lines: (u32, u32),
    class: u32,
    name: u32,
    original: (u32, u32),
    flags: u32,
    /// Position in the file, to which comments refer.
    number: u32,
}

/// Converts a mapping. `id` is the UUID for which it was uploaded, if its `pg_map_id` is not the key.
pub fn convert(mapping: &[u8], id: Option<DebugId>) -> Result<Vec<u8>> {
    convert_unless(mapping, id, &|| false)
}

/// Like [`convert`], but returns [`SymbolError::Interrupted`] soon after `stop` returns true.
pub fn convert_unless(mapping: &[u8], id: Option<DebugId>, stop: &dyn Fn() -> bool) -> Result<Vec<u8>> {
    let text = parse::text(mapping)?;
    let mut build = Build::default();
    for (number, entry) in parse::entries(text).enumerate() {
        if number.is_multiple_of(ENTRIES_BETWEEN_STOPS) && stop() {
            return Err(SymbolError::Interrupted);
        }
        build.entry(entry)?;
    }
    if build.classes.is_empty() {
        return Err(SymbolError::unusable("the mapping names no class"));
    }
    build.end_class();
    build.write(mapping, id.or_else(|| parse::map_id(mapping)))
}

#[derive(Default)]
struct Build {
    strings: Strings,
    classes: Vec<Class>,
    members: Vec<Member>,
    /// Member, line in the outline, line in the caller.
    callsites: Vec<[u32; 3]>,
    /// Member, exception, number of frames to omit.
    rewrites: Vec<[u32; 3]>,
}

impl Build {
    fn text(&mut self, text: &str) -> u32 {
        self.strings.intern(&safe::one_line(text))
    }

    fn entry(&mut self, entry: Entry<'_>) -> Result<()> {
        match entry {
            Entry::Class { original, obfuscated } => {
                self.end_class();
                let (obfuscated, original) = (self.text(obfuscated), self.text(original));
                let first = self.members.len() as u32;
                self.classes.push(Class { obfuscated, original, source_file: NONE, first, count: 0 });
            }
            Entry::Method(_) if self.classes.is_empty() => {}
            Entry::Method(method) => self.method(&method)?,
            Entry::Comment(comment) => self.comment(comment),
        }
        Ok(())
    }

    fn method(&mut self, method: &Method<'_>) -> Result<()> {
        if self.members.len() >= MAPPING_MEMBERS_MAX {
            return Err(SymbolError::TooLarge {
                what: "the methods of the mapping",
                limit: MAPPING_MEMBERS_MAX as u64,
            });
        }
        let member = Member {
            obfuscated: self.text(method.obfuscated),
            lines: method.lines.unwrap_or((NONE, NONE)),
            class: method.class.map_or(NONE, |class| self.text(class)),
            name: self.text(method.name),
            original: method.original_lines.map_or((NONE, NONE), |(from, to)| (from, to.unwrap_or(NONE))),
            flags: 0,
            number: self.members.len() as u32,
        };
        self.members.push(member);
        Ok(())
    }

    fn comment(&mut self, comment: Comment) {
        let Some(class) = self.classes.last() else { return };
        let is_about_class = class.first as usize == self.members.len();
        let member = self.members.len().wrapping_sub(1) as u32;
        match comment {
            Comment::SourceFile(file) => {
                let file = self.text(&file);
                if let Some(class) = self.classes.last_mut() {
                    class.source_file = file;
                }
            }
            _ if is_about_class => {}
            Comment::Synthesized => self.flag(SYNTHESIZED),
            Comment::Outline => self.flag(OUTLINE),
            Comment::OutlineCallsite(positions) => {
                self.callsites.extend(positions.into_iter().map(|(from, to)| [member, from, to]));
            }
            Comment::RewriteFrame { exception, remove } => {
                let exception = self.text(&exception);
                self.rewrites.push([member, exception, remove]);
            }
        }
    }

    fn flag(&mut self, flag: u32) {
        if let Some(member) = self.members.last_mut() {
            member.flags |= flag;
        }
    }

    /// Sorts the members of a class by obfuscated name, in the order of the file within a name.
    fn end_class(&mut self) {
        let Some(class) = self.classes.last_mut() else { return };
        let members = &mut self.members[class.first as usize..];
        class.count = members.len() as u32;
        let strings = self.strings.bytes();
        members.sort_by(|a, b| text_at(strings, a.obfuscated).cmp(text_at(strings, b.obfuscated)));
    }

    fn write(mut self, mapping: &[u8], id: Option<DebugId>) -> Result<Vec<u8>> {
        let strings = self.strings.bytes();
        self.classes.sort_by(|a, b| text_at(strings, a.obfuscated).cmp(text_at(strings, b.obfuscated)));
        let mut by_original: Vec<u32> = (0..self.classes.len() as u32).collect();
        by_original.sort_by_key(|c| text_at(strings, self.classes[*c as usize].original));
        self.callsites.sort_unstable();
        self.rewrites.sort_unstable();
        let mut writer =
            Writer::new(Kind::R8, mapping, strings.len() + self.members.len() * 36 + self.classes.len() * 24);
        if let Some(id) = id {
            writer.id(id, Arch::Unknown);
        }
        // The order of the section numbers in `read.rs`.
        writer.section(strings)?;
        writer.rows(self.classes.iter().map(|c| [c.obfuscated, c.original, c.source_file, c.first, c.count]))?;
        writer.numbers(by_original)?;
        writer.rows(self.members.iter().map(|m| {
            [m.obfuscated, m.lines.0, m.lines.1, m.class, m.name, m.original.0, m.original.1, m.flags, m.number]
        }))?;
        writer.rows(self.callsites)?;
        writer.rows(self.rewrites)?;
        Ok(writer.finish())
    }
}
