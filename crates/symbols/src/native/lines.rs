//! Reads the line table of a unit: rows as disjoint address ranges, and file paths.

use gimli::ColumnType;

use super::{image::Image, units::Slice, work::Work};
use crate::{SymbolError, error::Result, limits::UNIT_ROWS_MAX};

/// The address range of a source position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub start: u32,
    pub end: u32,
    /// Index into the line table's files.
    pub file: u32,
    /// 0 for compiler-generated code.
    pub line: u32,
    pub column: u32,
}

/// All rows of a unit, sorted and disjoint.
pub(super) fn rows<'a>(
    program: gimli::IncompleteLineProgram<Slice<'a>>,
    image: &Image<'_>,
    work: &mut Work,
) -> Result<Vec<Row>> {
    let mut out: Vec<Row> = Vec::new();
    let mut sequence: Vec<(u64, Row)> = Vec::new();
    let mut rows = program.rows();
    loop {
        work.pay(1)?;
        // A malformed program ends the table; earlier rows stay valid.
        let Ok(Some((_, row))) = rows.next_row() else { break };
        if row.end_sequence() {
            end_sequence(&mut sequence, row.address(), image, &mut out);
            continue;
        }
        if sequence.len() + out.len() >= UNIT_ROWS_MAX {
            return Err(SymbolError::TooLarge { what: "the rows of a line table", limit: UNIT_ROWS_MAX as u64 });
        }
        let new = Row {
            start: 0,
            end: 0,
            file: u32::try_from(row.file_index()).unwrap_or(u32::MAX),
            line: row.line().map_or(0, |l| u32::try_from(l.get()).unwrap_or(0)),
            column: match row.column() {
                ColumnType::LeftEdge => 0,
                ColumnType::Column(c) => u32::try_from(c.get()).unwrap_or(0),
            },
        };
        match sequence.last_mut() {
            // The last of several rows at one address wins.
            Some((address, last)) if *address == row.address() => *last = new,
            _ => sequence.push((row.address(), new)),
        }
    }
    if out.windows(2).any(|pair| pair[0].end > pair[1].start) {
        make_disjoint(&mut out);
    }
    Ok(out)
}

fn end_sequence(sequence: &mut Vec<(u64, Row)>, end: u64, image: &Image<'_>, out: &mut Vec<Row>) {
    if sequence.windows(2).any(|pair| pair[0].0 > pair[1].0) {
        sequence.sort_by_key(|(address, _)| *address);
    }
    for i in 0..sequence.len() {
        let (address, row) = sequence[i];
        let until = sequence.get(i + 1).map_or(end, |next| next.0);
        if let Some(range) = image.clip(address, until) {
            let row = Row { start: range.start, end: range.end, ..row };
            match out.last_mut() {
                Some(last)
                    if last.end == row.start
                        && (last.file, last.line, last.column) == (row.file, row.line, row.column) =>
                {
                    last.end = row.end;
                }
                _ => out.push(row),
            }
        }
    }
    sequence.clear();
}

fn make_disjoint(rows: &mut Vec<Row>) {
    rows.sort_by_key(|r| r.start);
    let mut end = 0;
    rows.retain_mut(|row| {
        row.start = row.start.max(end);
        let keep = row.start < row.end;
        if keep {
            end = row.end;
        }
        keep
    });
}

/// The path of a line table's file. Directories are joined without normalization.
pub(super) fn path(
    dwarf: &gimli::Dwarf<Slice<'_>>,
    unit: &gimli::Unit<Slice<'_>>,
    header: &gimli::LineProgramHeader<Slice<'_>>,
    file: u32,
) -> Option<String> {
    let file = header.file(u64::from(file))?;
    let name = text(dwarf.attr_string(unit, file.path_name()).ok()?);
    if is_absolute(&name) {
        return Some(name);
    }
    let directory = file.directory(header).and_then(|d| dwarf.attr_string(unit, d).ok()).map(text).unwrap_or_default();
    let mut path = String::new();
    if !is_absolute(&directory)
        && let Some(comp_dir) = unit.comp_dir
    {
        path = text(comp_dir);
    }
    if !path.ends_with(directory.as_str()) || path.len() != directory.len() {
        join(&mut path, &directory);
    }
    join(&mut path, &name);
    Some(path)
}

fn join(path: &mut String, next: &str) {
    if !next.is_empty() {
        if !path.is_empty() && !path.ends_with(['/', '\\']) {
            path.push('/');
        }
        path.push_str(next);
    }
}

/// Whether the path is absolute: a Unix, Windows or URL-like one (`org-dartlang-sdk:///…`).
fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':') || path.contains("://")
}

/// Decodes a name in debug information, which is usually UTF-8.
pub(super) fn text(slice: Slice<'_>) -> String {
    slice.to_string_lossy().into_owned()
}
