//! Which format is this upload?

use crate::{SymbolError, error::Result, native};

/// What an uploaded file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upload {
    /// Mach-O or ELF.
    Native {
        /// One per architecture; an ELF file has one.
        slices: Vec<native::Slice>,
        /// Mach-O, as opposed to ELF.
        is_macho: bool,
    },
}

/// Recognises a file by its content; `name` only breaks ties.
pub fn detect(bytes: &[u8], _name: Option<&str>) -> Result<Upload> {
    match bytes.get(..4) {
        Some([0xca, 0xfe, 0xba, 0xbe | 0xbf] | [0xcf | 0xce, 0xfa, 0xed, 0xfe] | [0xfe, 0xed, 0xfa, 0xcf | 0xce]) => {
            Ok(Upload::Native { slices: native::slices_of(bytes)?, is_macho: true })
        }
        Some(b"\x7fELF") => Ok(Upload::Native { slices: vec![native::elf_slice(bytes)?], is_macho: false }),
        _ => Err(SymbolError::unusable("not a symbol file of a known format")),
    }
}
