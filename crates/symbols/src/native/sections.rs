//! Loads the DWARF sections of an image. Inflates compressed ELF sections, up to a limit.

use std::{borrow::Cow, io::Read};

use gimli::SectionId;
use object::{CompressionFormat, Object, ObjectSection};

use crate::{SymbolError, error::Result, limits::INFLATED_BYTES_MAX};

/// All sections, borrowed from the file or inflated.
pub(super) fn load<'a>(file: &object::File<'a>) -> Result<gimli::DwarfSections<Cow<'a, [u8]>>> {
    let mut inflated = 0u64;
    gimli::DwarfSections::load(|id| section(file, id, &mut inflated))
}

fn section<'a>(file: &object::File<'a>, id: SectionId, inflated: &mut u64) -> Result<Cow<'a, [u8]>> {
    // The conversion does not read these sections.
    if matches!(id, SectionId::DebugMacro | SectionId::DebugMacinfo | SectionId::DebugLoc | SectionId::DebugLocLists) {
        return Ok(Cow::Borrowed(&[]));
    }
    let Some(section) = file.section_by_name(id.name()) else { return Ok(Cow::Borrowed(&[])) };
    // A section outside of the file counts as absent; others may still be useful.
    let Ok(data) = section.compressed_data() else { return Ok(Cow::Borrowed(&[])) };
    let declared = data.uncompressed_size;
    if data.format == CompressionFormat::None {
        return Ok(Cow::Borrowed(data.data));
    }
    *inflated = inflated.saturating_add(declared);
    if *inflated > INFLATED_BYTES_MAX {
        return Err(SymbolError::TooLarge { what: "the inflated debug sections in bytes", limit: INFLATED_BYTES_MAX });
    }
    let mut out = Vec::new();
    let done = match data.format {
        CompressionFormat::Zlib => flate2::read::ZlibDecoder::new(data.data).take(declared).read_to_end(&mut out).ok(),
        CompressionFormat::Zstandard => zstd::stream::read::Decoder::new(data.data)
            .and_then(|decoder| decoder.take(declared).read_to_end(&mut out))
            .ok(),
        _ => None,
    };
    match done {
        Some(_) => Ok(Cow::Owned(out)),
        None => Err(SymbolError::malformed(format!("cannot inflate section {}", id.name()))),
    }
}
