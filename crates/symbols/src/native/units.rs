//! The compilation units. Abbreviation tables are shared, and parsing them is charged to [`Work`].

use std::sync::Arc;

use gimli::{EndianSlice, Reader as _, RunTimeEndian, Section as _};
use hashbrown::HashMap;

use super::work::Work;
use crate::error::Result;

pub(super) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Maximum number of cached units to which entries of other units refer.
const OPEN_MAX: usize = 64;

/// Maximum number of cached abbreviation tables.
const TABLES_MAX: usize = 1024;

pub(super) struct Units<'a> {
    pub dwarf: gimli::Dwarf<Slice<'a>>,
    /// Headers, ascending by offset.
    pub headers: Vec<gimli::UnitHeader<Slice<'a>>>,
    open: HashMap<usize, Option<Arc<gimli::Unit<Slice<'a>>>>>,
    tables: HashMap<usize, Arc<gimli::Abbreviations>>,
}

impl<'a> Units<'a> {
    /// Reads all headers. A malformed one ends the list.
    pub(super) fn read(dwarf: gimli::Dwarf<Slice<'a>>, work: &mut Work) -> Result<Self> {
        let mut headers = Vec::new();
        let mut iterator = dwarf.units();
        while let Ok(Some(header)) = iterator.next() {
            work.pay(16)?;
            headers.push(header);
        }
        Ok(Self { dwarf, headers, open: HashMap::new(), tables: HashMap::new() })
    }

    /// Opens a unit; `None` if it cannot be read.
    pub(super) fn open(
        &mut self,
        header: gimli::UnitHeader<Slice<'a>>,
        work: &mut Work,
    ) -> Result<Option<gimli::Unit<Slice<'a>>>> {
        let Some(table) = self.abbreviations(&header, work)? else { return Ok(None) };
        let Ok(unit) = gimli::Unit::new_with_abbreviations(&self.dwarf, header, table) else { return Ok(None) };
        let line_header = unit.line_program.as_ref().map_or(0, |p| p.header().header_length());
        work.pay(16 + line_header as u64)?;
        Ok(Some(unit))
    }

    /// The unit that contains an offset of `.debug_info`.
    pub(super) fn containing(&mut self, at: usize, work: &mut Work) -> Result<Option<Arc<gimli::Unit<Slice<'a>>>>> {
        let start = |h: &gimli::UnitHeader<Slice<'a>>| h.debug_info_offset().map_or(0, |o| o.0);
        let after = self.headers.partition_point(|h| start(h) <= at);
        let Some(header) = self.headers[..after].last().copied() else { return Ok(None) };
        let key = start(&header);
        if at - key >= header.length_including_self() {
            return Ok(None);
        }
        if let Some(unit) = self.open.get(&key) {
            return Ok(unit.clone());
        }
        let unit = self.open(header, work)?.map(Arc::new);
        if self.open.len() >= OPEN_MAX {
            self.open.clear();
        }
        self.open.insert(key, unit.clone());
        Ok(unit)
    }

    fn abbreviations(
        &mut self,
        header: &gimli::UnitHeader<Slice<'a>>,
        work: &mut Work,
    ) -> Result<Option<Arc<gimli::Abbreviations>>> {
        let at = header.debug_abbrev_offset().0;
        if let Some(table) = self.tables.get(&at) {
            return Ok(Some(table.clone()));
        }
        let mut rest = *self.dwarf.debug_abbrev.reader();
        if rest.skip(at).is_err() {
            return Ok(None);
        }
        // Many units may refer to overlapping tables. Each is charged by its length before it is parsed.
        work.pay(table_len(rest.slice()))?;
        let Ok(table) = header.abbreviations(&self.dwarf.debug_abbrev) else { return Ok(None) };
        if self.tables.len() >= TABLES_MAX {
            self.tables.clear();
        }
        let table = Arc::new(table);
        self.tables.insert(at, table.clone());
        Ok(Some(table))
    }
}

/// Length of an abbreviation table, which ends with a zero code.
fn table_len(bytes: &[u8]) -> u64 {
    let mut at = 0;
    let leb = |at: &mut usize| -> Option<u64> {
        let (mut value, mut shift) = (0u64, 0u32);
        loop {
            let byte = *bytes.get(*at)?;
            *at += 1;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift = shift.saturating_add(7);
            if byte < 0x80 {
                return Some(value);
            }
        }
    };
    let mut table = || -> Option<()> {
        while leb(&mut at)? != 0 {
            leb(&mut at)?;
            at += 1;
            loop {
                let (name, form) = (leb(&mut at)?, leb(&mut at)?);
                if form == u64::from(gimli::constants::DW_FORM_implicit_const.0) {
                    leb(&mut at)?;
                }
                if name == 0 && form == 0 {
                    break;
                }
            }
        }
        Some(())
    };
    let _ = table();
    at as u64
}
