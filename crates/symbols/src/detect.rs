//! Detects the format of an upload.
//!
//! A file that is refused gets one sentence that names the reason.

use std::borrow::Cow;

use crate::{
    DebugId, SymbolError,
    error::Result,
    js::{RamBundle, debug_id_of_map, inline_map, is_ram_bundle, script_debug_id, strip_prefixes},
    native,
    r8::{looks_like_mapping, map_id},
};

/// The format of an uploaded file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upload {
    /// Mach-O or ELF.
    Native {
        /// One slice per architecture; an ELF file has one.
        slices: Vec<native::Slice>,
        /// Whether it is Mach-O instead of ELF.
        is_macho: bool,
    },
    /// `mapping.txt` of R8 or ProGuard.
    Mapping {
        /// The `pg_map_id` of its header.
        map_id: Option<DebugId>,
    },
    /// A source map, plain or index.
    SourceMap {
        /// Its `debugId`.
        debug_id: Option<DebugId>,
    },
    /// A script, with or without an inline source map, or a RAM bundle of React Native.
    Script {
        /// Its `//# debugId=` comment.
        debug_id: Option<DebugId>,
        /// The map in its `sourceMappingURL` comment, if that is a data URL.
        inline_map: Option<Vec<u8>>,
    },
}

/// Magic numbers of archives and other unsupported containers.
const CONTAINERS: [(&[u8], &str); 8] = [
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"BZh", "a bzip2 file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"MZ", "a Windows program; its debug information (PDB) is not supported"),
    (b"Microsoft C/C++ MSF", "a PDB file, which is not supported"),
];

/// Detects a file's format by its content. `name` is the file name, by which scripts are recognized.
///
/// The error is one sentence for the person who uploaded the file.
pub fn detect(bytes: &[u8], name: Option<&str>) -> Result<Upload> {
    if bytes.is_empty() {
        return Err(SymbolError::unusable("the file is empty"));
    }
    match bytes.get(..4) {
        Some([0xca, 0xfe, 0xba, 0xbe | 0xbf] | [0xcf | 0xce, 0xfa, 0xed, 0xfe] | [0xfe, 0xed, 0xfa, 0xcf | 0xce]) => {
            return Ok(Upload::Native { slices: native::slices_of(bytes)?, is_macho: true });
        }
        Some(b"\x7fELF") => {
            return Ok(Upload::Native { slices: vec![native::elf_slice(bytes)?], is_macho: false });
        }
        _ => {}
    }
    if let Some((_, what)) = CONTAINERS.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(SymbolError::unusable(format!("this is {what}: upload the files in it")));
    }
    let is_script = name.and_then(|n| n.rsplit('.').next()).is_some_and(is_script_extension);
    if is_ram_bundle(bytes) {
        let startup = String::from_utf8_lossy(RamBundle::read(bytes)?.startup());
        return Ok(Upload::Script { debug_id: script_debug_id(&startup), inline_map: inline_map(&startup) });
    }
    if !is_script && strip_prefixes(bytes).trim_ascii_start().starts_with(b"{") {
        return Ok(Upload::SourceMap { debug_id: debug_id_of_map(bytes)? });
    }
    if is_script {
        let script: Cow<'_, str> = String::from_utf8_lossy(bytes);
        return Ok(Upload::Script { debug_id: script_debug_id(&script), inline_map: inline_map(&script) });
    }
    if looks_like_mapping(bytes) {
        return Ok(Upload::Mapping { map_id: map_id(bytes) });
    }
    Err(SymbolError::unusable("not a symbol file of a known format"))
}

fn is_script_extension(extension: &str) -> bool {
    ["js", "cjs", "mjs", "bundle", "jsbundle"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}
