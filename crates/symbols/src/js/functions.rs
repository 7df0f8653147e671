//! Maps every position of a script to its innermost function, and functions to their original names.

use super::{
    names::{Name, Originals},
    scanner::{Function, Scanner},
};
use crate::covers::{Cover, innermost};

/// A function that is innermost from this script position on (zero-based line, column in UTF-16 units).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub line: u32,
    pub column: u32,
    /// Index of the function; `None` outside of all functions.
    pub function: Option<usize>,
}

/// The pieces of a script, sorted, and the original name of every function.
pub(super) fn named_pieces(script: &str, originals: &Originals<'_>) -> (Vec<Piece>, Vec<Name>) {
    if u32::try_from(script.len()).is_err() {
        return (Vec::new(), Vec::new());
    }
    let functions = Scanner::new(script.as_bytes()).scan();
    let covers = (0u32..).zip(&functions).filter(|(_, f)| f.end > f.start).map(|(number, f)| Cover {
        start: f.start as u32,
        end: f.end as u32,
        scope: number,
        depth: number,
    });
    let pieces = innermost(covers.collect());
    let mut offsets: Vec<usize> =
        pieces.iter().flat_map(|(range, _)| [range.start as usize, range.end as usize]).collect();
    offsets.push(0);
    offsets.extend(functions.iter().filter_map(|f| f.name.map(|n| n.start)));
    let positions = Positions::of(script, offsets);
    let name = |function: &Function| match function.name.and_then(|token| Some((token, positions.at(token.start)?))) {
        Some((token, position)) => originals.name_of(position, token.start..token.end, token.is_property),
        None => Name::None,
    };
    let names = functions.iter().map(name).collect();
    let mut out: Vec<Piece> = Vec::with_capacity(pieces.len() * 2);
    let mut push = |offset: u32, function: Option<usize>| {
        out.extend(positions.at(offset as usize).map(|(line, column)| Piece { line, column, function }));
    };
    let mut end = 0;
    for (range, scope) in &pieces {
        if range.start != end {
            push(end, None);
        }
        push(range.start, Some(*scope as usize));
        end = range.end;
    }
    push(end, None);
    (out, names)
}

/// Lines and columns of byte offsets, computed in one pass over the script.
struct Positions(Vec<(usize, (u32, u32))>);

impl Positions {
    fn of(script: &str, mut offsets: Vec<usize>) -> Self {
        offsets.sort_unstable();
        offsets.dedup();
        let mut found = Vec::with_capacity(offsets.len());
        let (mut line, mut column) = (0u32, 0u32);
        let mut wanted = offsets.into_iter().peekable();
        for (at, c) in script.char_indices() {
            while wanted.peek().is_some_and(|w| *w <= at) {
                found.extend(wanted.next().map(|w| (w, (line, column))));
            }
            match c {
                '\n' => (line, column) = (line + 1, 0),
                c => column += c.len_utf16() as u32,
            }
        }
        found.extend(wanted.map(|w| (w, (line, column))));
        Self(found)
    }

    fn at(&self, offset: usize) -> Option<(u32, u32)> {
        let index = self.0.binary_search_by_key(&offset, |p| p.0).ok()?;
        Some(self.0[index].1)
    }
}
