//! Finds function names through abstract origins and specifications. Linkage names take precedence over plain ones.

use gimli::{AttributeValue, DebugInfoOffset, constants as c};
use hashbrown::HashMap;

use super::{
    units::{Slice, Units},
    work::Work,
};
use crate::{artifact::Strings, demangle, error::Result};

/// Maximum number of references from an inlined call to the entry with its function's name.
const HOPS_MAX: usize = 16;

/// The attributes of an entry that name it.
#[derive(Default, Clone, Copy)]
pub(super) struct NameAttributes<'a> {
    pub linkage: Option<AttributeValue<Slice<'a>>>,
    pub plain: Option<AttributeValue<Slice<'a>>>,
    /// `DW_AT_abstract_origin` or `DW_AT_specification`.
    pub origin: Option<AttributeValue<Slice<'a>>>,
}

impl<'a> NameAttributes<'a> {
    #[inline]
    pub(super) fn take(&mut self, attribute: &gimli::Attribute<Slice<'a>>) {
        match attribute.name() {
            c::DW_AT_linkage_name | c::DW_AT_MIPS_linkage_name => self.linkage = Some(attribute.value()),
            c::DW_AT_name => self.plain = Some(attribute.value()),
            c::DW_AT_abstract_origin | c::DW_AT_specification => self.origin = Some(attribute.value()),
            _ => {}
        }
    }
}

/// Offset of the empty name.
const NAMELESS: u32 = 0;

/// Caches the name of every entry and every mangled name.
#[derive(Default)]
pub(super) struct Names<'a> {
    by_entry: HashMap<usize, u32>,
    by_mangled: HashMap<&'a [u8], u32>,
}

impl<'a> Names<'a> {
    /// The offset of the name of an entry of `unit` with these attributes; 0 if it has none.
    pub(super) fn of(
        &mut self,
        units: &mut Units<'a>,
        unit: &gimli::Unit<Slice<'a>>,
        attributes: &NameAttributes<'a>,
        strings: &mut Strings,
        work: &mut Work,
    ) -> Result<u32> {
        let mut plain = None;
        let mut attributes = *attributes;
        let mut unit_of_entry: Option<std::sync::Arc<gimli::Unit<Slice<'a>>>> = None;
        let mut passed = [0usize; HOPS_MAX];
        let mut hops = 0;
        let mut name = NAMELESS;
        loop {
            work.pay(4)?;
            let here = unit_of_entry.as_deref().unwrap_or(unit);
            if let Some(linkage) = attributes.linkage.and_then(|v| units.dwarf.attr_string(here, v).ok()) {
                name = self.demangled(linkage.slice(), strings, work)?;
                break;
            }
            if plain.is_none() {
                plain = attributes.plain.and_then(|v| units.dwarf.attr_string(here, v).ok());
            }
            let Some(at) = attributes.origin.and_then(|v| entry_offset(here, v)) else { break };
            if let Some(&known) = self.by_entry.get(&at) {
                name = known;
                break;
            }
            if hops == HOPS_MAX {
                break;
            }
            passed[hops] = at;
            hops += 1;
            let inside = here
                .header
                .debug_info_offset()
                .is_some_and(|unit_at| at >= unit_at.0 && at - unit_at.0 < here.header.length_including_self());
            if !inside {
                unit_of_entry = units.containing(at, work)?;
                if unit_of_entry.is_none() {
                    break;
                }
            }
            let here = unit_of_entry.as_deref().unwrap_or(unit);
            match read_attributes(here, at) {
                Some(read) => attributes = read,
                None => break,
            }
        }
        if name == NAMELESS
            && let Some(plain) = plain
        {
            name = self.demangled(plain.slice(), strings, work)?;
        }
        self.by_entry.extend(passed[..hops].iter().map(|&at| (at, name)));
        Ok(name)
    }

    /// The offset of the demangled form of a mangled or plain name.
    pub(super) fn demangled(&mut self, bytes: &'a [u8], strings: &mut Strings, work: &mut Work) -> Result<u32> {
        // Many entries may share one long name, and each look-up hashes all of it.
        work.pay(bytes.len() as u64 / 8)?;
        if let Some(&offset) = self.by_mangled.get(bytes) {
            return Ok(offset);
        }
        work.pay(demangle::steps(bytes))?;
        let offset = strings.intern(&demangle::demangle(&String::from_utf8_lossy(bytes)));
        self.by_mangled.insert(bytes, offset);
        Ok(offset)
    }
}

fn entry_offset(unit: &gimli::Unit<Slice<'_>>, value: AttributeValue<Slice<'_>>) -> Option<usize> {
    match value {
        AttributeValue::UnitRef(offset) => offset.to_debug_info_offset(&unit.header).map(|o| o.0),
        AttributeValue::DebugInfoRef(DebugInfoOffset(offset)) => Some(offset),
        _ => None,
    }
}

fn read_attributes<'a>(unit: &gimli::Unit<Slice<'a>>, at: usize) -> Option<NameAttributes<'a>> {
    let offset = DebugInfoOffset(at).to_unit_offset(&unit.header)?;
    let mut entries = unit.entries_raw(Some(offset)).ok()?;
    let abbreviation = entries.read_abbreviation().ok()??;
    let mut attributes = NameAttributes::default();
    for &spec in abbreviation.attributes() {
        attributes.take(&entries.read_attribute(spec).ok()?);
    }
    Some(attributes)
}
