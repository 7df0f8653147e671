//! Converts an image to a `.tw` artifact.
//!
//! Units are read one by one, without recursion: functions and inlined calls become scopes with address ranges, the line
//! table becomes rows, and both are merged into ranges that refer to hash-consed nodes. Every loop is charged to [`Work`].

use std::ops::Range;

use gimli::{AttributeValue, Section as _, constants as c};

use super::{
    image::{Image, Slice as ImageSlice},
    lines::{self, Row},
    names::{NameAttributes, Names},
    nodes::{CALLER_MAX, COLUMN_WIDE, FILE_MAX, NONE, Node, Nodes, numbered},
    ranges::{buckets, gapless},
    read::{OF_RANGE, bucket_shift},
    scopes::{Scope, TOP},
    sections,
    units::{Slice, Units},
    work::Work,
};
use hashbrown::HashMap;

use crate::{
    SymbolError,
    artifact::{Kind, Strings, Writer},
    covers::{Cover, innermost},
    demangle,
    error::Result,
    limits::{INLINE_DEPTH_MAX, RANGES_MAX, UNIT_SCOPES_MAX},
    safe,
};

/// Marks a scope whose caller's node has not been created.
const NOT_MADE: u32 = u32::MAX - 1;

/// Converts one slice of an uploaded file.
///
/// `upload` is the complete file, whose hash the artifact contains. Peak memory is at most about twice the slice. Run it
/// on a separate thread, off the request path.
///
/// # Errors
/// For a malformed image, one without debug information, and one that exceeds a limit.
pub fn convert(upload: &[u8], slice: &ImageSlice) -> Result<Vec<u8>> {
    convert_unless(upload, slice, &|| false)
}

/// Like [`convert`], but returns [`SymbolError::Interrupted`] soon after `stop` returns true. `stop` is called about every
/// millisecond.
pub fn convert_unless(upload: &[u8], slice: &ImageSlice, stop: &dyn Fn() -> bool) -> Result<Vec<u8>> {
    let bytes =
        upload.get(slice.range.clone()).ok_or_else(|| SymbolError::malformed("the slice is outside the file"))?;
    let image = Image::open(bytes)?;
    let sections = sections::load(&image.file)?;
    let endian = match object::Object::is_little_endian(&image.file) {
        true => gimli::RunTimeEndian::Little,
        false => gimli::RunTimeEndian::Big,
    };
    let mut work = Work::for_file(bytes.len(), stop);
    let dwarf = sections.borrow(|section| gimli::EndianSlice::new(section, endian));
    if dwarf.debug_info.reader().is_empty() {
        return Err(SymbolError::unusable("the file has no debug information (no .debug_info section)"));
    }
    let mut units = Units::read(dwarf, &mut work)?;
    let mut build = Build {
        image: &image,
        names: Names::default(),
        strings: Strings::new(),
        nodes: Nodes::default(),
        files: Files::new(),
        ranges: Vec::new(),
        work,
    };
    for number in 0..units.headers.len() {
        let header = units.headers[number];
        if let Some(unit) = units.open(header, &mut build.work)? {
            build.unit(&mut units, unit)?;
        }
    }
    if build.ranges.is_empty() {
        return Err(SymbolError::unusable("the debug information names no line of code"));
    }
    build.write(upload, slice)
}

/// File names by number; number 0 is the unknown file.
struct Files {
    numbers: HashMap<u32, u32>,
    /// Offsets in the string section.
    names: Vec<u32>,
}

/// State of the conversion.
struct Build<'i, 'a, 's> {
    image: &'i Image<'i>,
    names: Names<'a>,
    strings: Strings,
    nodes: Nodes,
    files: Files,
    /// Start, end, node.
    ranges: Vec<(u32, u32, u32)>,
    work: Work<'s>,
}

/// State of one unit.
struct UnitState<'a> {
    unit: gimli::Unit<Slice<'a>>,
    header: gimli::LineProgramHeader<Slice<'a>>,
    /// Numbers of the line table's files, filled in on demand.
    files: HashMap<u32, u32>,
    scopes: Vec<Scope>,
    covers: Vec<Cover>,
}

/// The attributes of a function or an inlined call.
#[derive(Default)]
struct EntryAttributes<'a> {
    name: NameAttributes<'a>,
    low: Option<AttributeValue<Slice<'a>>>,
    high: Option<AttributeValue<Slice<'a>>>,
    ranges: Option<AttributeValue<Slice<'a>>>,
    call_file: u32,
    call_line: u32,
    call_column: u32,
}

impl<'i: 'a, 'a> Build<'i, 'a, '_> {
    fn unit(&mut self, units: &mut Units<'a>, mut unit: gimli::Unit<Slice<'a>>) -> Result<()> {
        let Some(program) = unit.line_program.take() else { return Ok(()) };
        let header = program.header().clone();
        let rows = lines::rows(program, self.image, &mut self.work)?;
        // docs/decisions/0005, 2: a function without a line is not a match, so a unit without rows is skipped.
        if rows.is_empty() {
            return Ok(());
        }
        let mut state = UnitState { unit, header, files: HashMap::new(), scopes: Vec::new(), covers: Vec::new() };
        self.walk(units, &mut state)?;
        let pieces = innermost(std::mem::take(&mut state.covers));
        self.merge(units, &mut state, &rows, &pieces)
    }

    /// Visits every entry of the unit once, without recursion. A malformed entry ends the unit.
    fn walk(&mut self, units: &mut Units<'a>, state: &mut UnitState<'a>) -> Result<()> {
        let abbreviations = state.unit.abbreviations.clone();
        let header = state.unit.header;
        let Ok(mut entries) = header.entries_raw(&abbreviations, None) else { return Ok(()) };
        let mut open: Vec<(isize, u32)> = Vec::new();
        while !entries.is_empty() {
            self.work.pay(1)?;
            let depth = entries.next_depth();
            let abbreviation = match entries.read_abbreviation() {
                Ok(Some(abbreviation)) => abbreviation,
                Ok(None) => continue,
                Err(_) => break,
            };
            // At every entry and not only at functions: a block beside an inlined call is not inside it.
            while open.last().is_some_and(|&(d, _)| d >= depth) {
                open.pop();
            }
            let tag = abbreviation.tag();
            if tag != c::DW_TAG_subprogram && tag != c::DW_TAG_inlined_subroutine {
                if entries.skip_attributes(abbreviation.attributes()).is_err() {
                    break;
                }
                continue;
            }
            let mut attributes = EntryAttributes::default();
            let mut is_malformed = false;
            for &spec in abbreviation.attributes() {
                match entries.read_attribute(spec) {
                    Ok(attribute) => attributes.take(&attribute),
                    Err(_) => is_malformed = true,
                }
            }
            if is_malformed {
                break;
            }
            let parent = match tag {
                c::DW_TAG_subprogram => None,
                _ => match open.last() {
                    Some(&(_, scope)) => Some(scope),
                    None => continue,
                },
            };
            if let Some(scope) = self.scope(units, state, &attributes, parent)? {
                open.push((depth, scope));
            }
        }
        Ok(())
    }

    /// Adds a scope if the entry covers code, has a name and is not too deep.
    fn scope(
        &mut self,
        units: &mut Units<'a>,
        state: &mut UnitState<'a>,
        attributes: &EntryAttributes<'a>,
        parent: Option<u32>,
    ) -> Result<Option<u32>> {
        let depth = parent.map_or(1, |p| state.scopes[p as usize].depth + 1);
        if depth as usize > INLINE_DEPTH_MAX {
            return Ok(None);
        }
        if state.scopes.len() >= UNIT_SCOPES_MAX {
            return Err(SymbolError::TooLarge { what: "the functions of a unit", limit: UNIT_SCOPES_MAX as u64 });
        }
        let number = state.scopes.len() as u32;
        let covers_before = state.covers.len();
        self.covers(units, state, attributes, number, depth)?;
        let Some(first) = state.covers.get(covers_before).copied() else { return Ok(None) };
        let mut name = self.names.of(units, &state.unit, &attributes.name, &mut self.strings, &mut self.work)?;
        if parent.is_none() {
            // The symbol table has the right name where functions were merged, and more names than line tables alone.
            let symbol = self.image.symbol_starting_at(first.start);
            if let Some(symbol) = symbol.filter(|s| self.image.is_macho || name == 0 || demangle::is_mangled(s)) {
                name = self.names.demangled(symbol, &mut self.strings, &mut self.work)?;
            }
        }
        if name == 0 {
            state.covers.truncate(covers_before);
            return Ok(None);
        }
        let call = match parent {
            Some(_) => {
                (self.file_number(units, state, attributes.call_file)?, attributes.call_line, attributes.call_column)
            }
            None => (0, 0, 0),
        };
        let parent = parent.unwrap_or(TOP);
        state.scopes.push(Scope { function: name, parent, call, depth, caller_node: NOT_MADE });
        Ok(Some(number))
    }

    fn covers(
        &mut self,
        units: &Units<'a>,
        state: &mut UnitState<'a>,
        attributes: &EntryAttributes<'a>,
        scope: u32,
        depth: u32,
    ) -> Result<()> {
        let mut add = |begin: u64, end: u64| {
            if let Some(range) = self.image.clip(begin, end) {
                state.covers.push(Cover { start: range.start, end: range.end, scope, depth });
            }
        };
        let address = |value| units.dwarf.attr_address(&state.unit, value).ok().flatten();
        if let Some(low) = attributes.low.and_then(address) {
            let high = attributes.high.and_then(|value| match value.udata_value() {
                Some(size) => low.checked_add(size),
                None => address(value),
            });
            if let Some(high) = high {
                add(low, high);
            }
            return Ok(());
        }
        let Some(value) = attributes.ranges else { return Ok(()) };
        let Ok(Some(mut list)) = units.dwarf.attr_ranges(&state.unit, value) else { return Ok(()) };
        while let Ok(Some(range)) = list.next() {
            self.work.pay(2)?;
            add(range.begin, range.end);
        }
        Ok(())
    }

    fn file_number(&mut self, units: &Units<'a>, state: &mut UnitState<'a>, local: u32) -> Result<u32> {
        if let Some(&number) = state.files.get(&local) {
            return Ok(number);
        }
        let path = lines::path(&units.dwarf, &state.unit, &state.header, local).unwrap_or_default();
        self.work.pay(path.len() as u64 / 8)?;
        let number = self.files.number(self.strings.intern(&safe::one_line(&path)));
        state.files.insert(local, number);
        Ok(number)
    }

    /// Merges rows and pieces: a range ends where either of them does.
    fn merge(
        &mut self,
        units: &Units<'a>,
        state: &mut UnitState<'a>,
        rows: &[Row],
        pieces: &[(Range<u32>, u32)],
    ) -> Result<()> {
        let mut next = 0;
        for row in rows {
            let file = self.file_number(units, state, row.file)?;
            if file == 0 {
                continue;
            }
            let mut at = row.start;
            while pieces.get(next).is_some_and(|(piece, _)| piece.end <= at) {
                next += 1;
            }
            while at < row.end {
                self.work.pay(1)?;
                match pieces.get(next) {
                    Some((piece, scope)) if piece.start <= at => {
                        let end = piece.end.min(row.end);
                        let function = state.scopes[*scope as usize].function;
                        let parent = self.caller_node(&mut state.scopes, *scope);
                        let node = Node { function, file, line: row.line, column: row.column, parent };
                        self.emit(at..end, node)?;
                        at = end;
                        next += usize::from(piece.end <= at);
                    }
                    later => {
                        let end = later.map_or(row.end, |(piece, _)| piece.start.min(row.end));
                        self.name_by_symbols(at..end, file, row)?;
                        at = end;
                    }
                }
            }
        }
        Ok(())
    }

    /// The node of a scope's caller. Creates the nodes of outer callers first.
    fn caller_node(&mut self, scopes: &mut [Scope], scope: u32) -> u32 {
        let mut path = [0; INLINE_DEPTH_MAX + 1];
        let mut len = 0;
        let mut at = scope;
        while scopes[at as usize].caller_node == NOT_MADE && len < path.len() {
            path[len] = at;
            len += 1;
            match scopes[at as usize].parent {
                TOP => break,
                parent => at = parent,
            }
        }
        for &number in path[..len].iter().rev() {
            let scope = scopes[number as usize];
            scopes[number as usize].caller_node = match scope.parent {
                TOP => NONE,
                parent => {
                    let caller = scopes[parent as usize];
                    let (file, line, column) = scope.call;
                    self.nodes.intern(Node {
                        function: caller.function,
                        file,
                        line,
                        column,
                        parent: caller.caller_node,
                    })
                }
            };
        }
        scopes[scope as usize].caller_node
    }

    /// Names rows outside of the unit's functions by the symbol table.
    fn name_by_symbols(&mut self, range: Range<u32>, file: u32, row: &Row) -> Result<()> {
        let mut at = range.start;
        while at < range.end {
            self.work.pay(4)?;
            let (symbol, until) = self.image.symbol_at(at);
            let end = until.clamp(at + 1, range.end);
            if let Some(symbol) = symbol {
                let function = self.names.demangled(symbol.name, &mut self.strings, &mut self.work)?;
                if function != 0 {
                    self.emit(at..end, Node { function, file, line: row.line, column: row.column, parent: NONE })?;
                }
            }
            at = end;
        }
        Ok(())
    }

    fn emit(&mut self, range: Range<u32>, node: Node) -> Result<()> {
        let node = self.nodes.intern(node);
        match self.ranges.last_mut() {
            Some((_, end, last)) if *end == range.start && *last == node => *end = range.end,
            _ => self.ranges.push((range.start, range.end, node)),
        }
        if self.ranges.len() > RANGES_MAX {
            return Err(SymbolError::TooLarge { what: "the number of address ranges", limit: RANGES_MAX as u64 });
        }
        Ok(())
    }

    fn write(mut self, upload: &[u8], slice: &ImageSlice) -> Result<Vec<u8>> {
        // Released before the artifact is written, to bound peak memory.
        self.names = Names::default();
        self.ranges.sort_by_key(|r| r.0);
        let (starts, nodes) = gapless(&self.ranges);
        self.ranges = Vec::new();
        let shift = bucket_shift(&starts);
        let all = self.nodes.as_slice();
        let too_many = SymbolError::TooLarge { what: "the number of inlined places", limit: u64::from(CALLER_MAX) };
        let callers = self.nodes.callers().ok_or(too_many)?;
        let used_callers = || callers.iter().zip(all).filter(|(caller, _)| caller.depth > 0);
        let hint = self.strings.bytes().len() + used_callers().count() * 16 + starts.len() * 25;
        let mut writer = Writer::new(Kind::Native, upload, hint);
        if let Some(id) = slice.id {
            writer.id(id, self.image.arch);
        }
        writer.base(self.image.base, self.image.base_len);
        writer.flags(shift);
        // The order of the section numbers in `read.rs`.
        writer.section(self.strings.bytes())?;
        writer.numbers(self.files.names.iter().copied())?;
        let row = |node: &Node| node.row(numbered(&callers, node.parent));
        writer.rows(used_callers().map(|(_, node)| row(node)))?;
        let innermost = || nodes.iter().map(|node| all.get(*node as usize));
        let is_wide = |node: &Node| node.column >= COLUMN_WIDE;
        let wide = used_callers().map(|(caller, node)| (caller.number, node)).filter(|(_, node)| is_wide(node));
        let of_ranges = (OF_RANGE..).zip(innermost()).filter_map(|(number, node)| Some((number, node?)));
        let wide = wide.chain(of_ranges.filter(|(_, node)| is_wide(node)));
        writer.rows(wide.map(|(number, node)| [number, node.column]))?;
        writer.rows(starts.iter().zip(innermost()).map(|(start, node)| {
            let [function, place, line, caller] = node.map_or([NONE, 0, 0, 0], row);
            [*start, function, place, line, caller]
        }))?;
        writer.numbers(buckets(&starts, shift))?;
        writer.numbers(self.image.dart.map(|a| a.unwrap_or(NONE)))?;
        Ok(writer.finish())
    }
}

impl<'a> EntryAttributes<'a> {
    #[inline]
    fn take(&mut self, attribute: &gimli::Attribute<Slice<'a>>) {
        let number = || attribute.udata_value().and_then(|v| u32::try_from(v).ok()).unwrap_or(0);
        match attribute.name() {
            c::DW_AT_low_pc => self.low = Some(attribute.value()),
            c::DW_AT_high_pc => self.high = Some(attribute.value()),
            c::DW_AT_ranges => self.ranges = Some(attribute.value()),
            c::DW_AT_call_file => {
                self.call_file = match attribute.value() {
                    AttributeValue::FileIndex(index) => u32::try_from(index).unwrap_or(u32::MAX),
                    _ => number(),
                };
            }
            c::DW_AT_call_line => self.call_line = number(),
            c::DW_AT_call_column => self.call_column = number(),
            _ => self.name.take(attribute),
        }
    }
}

impl Files {
    fn new() -> Self {
        Self { numbers: std::iter::once((0, 0)).collect(), names: vec![0] }
    }

    fn number(&mut self, name: u32) -> u32 {
        let next = self.names.len() as u32;
        if next > FILE_MAX {
            return *self.numbers.get(&name).unwrap_or(&0);
        }
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            next
        })
    }
}
