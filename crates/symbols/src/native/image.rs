//! Reads object files: the slices of an upload, and one slice for conversion.

use std::ops::Range;

use object::{
    Architecture, Object, ObjectSection, ObjectSegment, ObjectSymbol, SectionKind, SubArchitecture, SymbolKind,
    read::macho::{FatArch, MachOFatFile32, MachOFatFile64},
};

use super::{DART_ISOLATE, DART_VM};
use crate::{Arch, DebugId, SymbolError, error::Result, limits::SLICES_MAX};

/// One image inside an uploaded file. Only a fat Mach-O file has several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// `LC_UUID` or the GNU build id. Always present for Mach-O; an ELF file may lack it.
    pub id: Option<DebugId>,
    /// Architecture of the image.
    pub arch: Arch,
    /// Byte range in the uploaded file.
    pub range: Range<usize>,
    /// Whether it has DWARF. A slice without must not replace one with.
    pub has_debug_info: bool,
    /// Whether it is a Dart snapshot (`.symbols` of Flutter).
    pub is_dart: bool,
}

/// The slices of a thin or fat Mach-O file.
///
/// # Errors
/// For files without slices, with more than [`SLICES_MAX`], with overlapping or nested ones, with two of the same id and
/// architecture, and for slices whose `LC_UUID` is missing or zero, which no trace could refer to.
pub fn slices_of(bytes: &[u8]) -> Result<Vec<Slice>> {
    let ranges = match bytes.get(..4) {
        Some([0xca, 0xfe, 0xba, 0xbe]) => fat_ranges(bytes, false)?,
        Some([0xca, 0xfe, 0xba, 0xbf]) => fat_ranges(bytes, true)?,
        _ => std::iter::once(0..bytes.len()).collect(),
    };
    let mut slices: Vec<Slice> = Vec::new();
    for (number, range) in ranges.into_iter().enumerate() {
        let slice = macho_slice(bytes, range)
            .map_err(|e| SymbolError::malformed(format!("cannot read slice {} of the Mach-O file: {e}", number + 1)))?;
        if slices.iter().any(|s| s.id == slice.id && s.arch == slice.arch) {
            return Err(SymbolError::malformed(format!(
                "slice {} repeats the id and architecture of another",
                number + 1
            )));
        }
        slices.push(slice);
    }
    Ok(slices)
}

fn fat_ranges(bytes: &[u8], wide: bool) -> Result<Vec<Range<usize>>> {
    let count = bytes.get(4..8).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]) as usize);
    match count {
        None | Some(0) => return Err(SymbolError::malformed("the fat binary has no slices")),
        // A Java class file has the same magic number, and its version (45 or more) in place of the count.
        Some(45..1000) if !wide => {
            return Err(SymbolError::unusable("this is a Java class file, not a fat Mach-O binary"));
        }
        Some(n) if n > SLICES_MAX => {
            return Err(SymbolError::TooLarge { what: "the number of slices", limit: SLICES_MAX as u64 });
        }
        Some(_) => {}
    }
    let mut ranges: Vec<(u64, u64)> = match wide {
        true => MachOFatFile64::parse(bytes)?.arches().iter().map(FatArch::file_range).collect(),
        false => MachOFatFile32::parse(bytes)?.arches().iter().map(FatArch::file_range).collect(),
    };
    for (number, &(offset, size)) in ranges.iter().enumerate() {
        if offset.checked_add(size).is_none_or(|end| end > bytes.len() as u64) {
            return Err(SymbolError::malformed(format!(
                "cannot read slice {} of the fat binary: offset {offset} and size {size} are past the end ({} bytes)",
                number + 1,
                bytes.len()
            )));
        }
    }
    ranges.sort_unstable();
    if ranges.windows(2).any(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
        return Err(SymbolError::malformed("slices of the fat binary overlap"));
    }
    Ok(ranges.into_iter().map(|(offset, size)| offset as usize..(offset + size) as usize).collect())
}

fn is_macho(bytes: &[u8]) -> bool {
    matches!(bytes.get(..4), Some([0xcf | 0xce, 0xfa, 0xed, 0xfe] | [0xfe, 0xed, 0xfa, 0xcf | 0xce]))
}

fn macho_slice(bytes: &[u8], range: Range<usize>) -> Result<Slice> {
    let image = &bytes[range.clone()];
    if !is_macho(image) {
        return Err(SymbolError::malformed("it does not start like a Mach-O image"));
    }
    let file = object::File::parse(image)?;
    let uuid = file.mach_uuid()?.ok_or_else(|| SymbolError::unusable("it has no LC_UUID"))?;
    let id = DebugId::from_bytes(&uuid).filter(|id| !id.is_zero());
    let id = id.ok_or_else(|| SymbolError::unusable("its LC_UUID is all zeros"))?;
    Ok(describe(&file, Some(id), range))
}

/// The only slice of an ELF file.
pub(crate) fn elf_slice(bytes: &[u8]) -> Result<Slice> {
    let file = object::File::parse(bytes)?;
    let id = file.build_id()?.and_then(DebugId::from_bytes).filter(|id| !id.is_zero());
    Ok(describe(&file, id, 0..bytes.len()))
}

fn describe(file: &object::File<'_>, id: Option<DebugId>, range: Range<usize>) -> Slice {
    let has_debug_info = file.section_by_name(".debug_info").is_some_and(|s| s.size() > 0);
    let is_dart =
        file.symbols().chain(file.dynamic_symbols()).any(|s| is_dart_anchor(s.name_bytes().unwrap_or_default()));
    Slice { id, arch: arch_of(file), range, has_debug_info, is_dart }
}

fn is_dart_anchor(name: &[u8]) -> bool {
    let name = name.strip_prefix(b"_").filter(|n| n.starts_with(b"_k")).unwrap_or(name);
    name == DART_ISOLATE.as_bytes() || name == DART_VM.as_bytes()
}

fn arch_of(file: &object::File<'_>) -> Arch {
    match (file.architecture(), file.sub_architecture()) {
        (Architecture::Aarch64, Some(SubArchitecture::Arm64E)) => Arch::Arm64e,
        (Architecture::Aarch64 | Architecture::Aarch64_Ilp32, _) => Arch::Arm64,
        (Architecture::X86_64 | Architecture::X86_64_X32, _) => Arch::X64,
        (Architecture::Arm, _) => Arch::Arm,
        (Architecture::I386, _) => Arch::Ia32,
        (Architecture::Riscv64, _) => Arch::Riscv64,
        _ => Arch::Unknown,
    }
}

/// A function of the symbol table. Addresses are relative to the image's base.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbol<'a> {
    pub start: u32,
    /// Size; 0 where the format does not say, for a symbol that extends to the next one.
    pub size: u32,
    pub name: &'a [u8],
}

/// One image, opened for conversion.
pub(super) struct Image<'a> {
    pub file: object::File<'a>,
    pub arch: Arch,
    pub is_macho: bool,
    /// Base address of all offsets: `__TEXT` of Mach-O, 0 of ELF.
    pub base: u64,
    pub base_len: u64,
    /// Executable address ranges, relative to `base`, sorted. If empty, all addresses count as code.
    pub code: Vec<Range<u32>>,
    /// Sorted by start; one per address.
    pub symbols: Vec<Symbol<'a>>,
    /// Addresses of the Dart isolate and VM instructions, relative to `base`.
    pub dart: [Option<u32>; 2],
}

impl<'a> Image<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self> {
        let file = object::File::parse(bytes)?;
        let is_macho = is_macho(bytes);
        // Spec: symbolication, rule 5: program counter = the __TEXT address + offset.
        let text = file.segments().find(|s| is_macho && matches!(s.name_bytes(), Ok(Some(b"__TEXT"))));
        let (base, base_len) = text.map_or((0, 0), |s| (s.address(), s.size()));
        let mut image = Self {
            arch: arch_of(&file),
            is_macho,
            base,
            base_len,
            code: Vec::new(),
            symbols: Vec::new(),
            dart: [None; 2],
            file,
        };
        image.read_code();
        image.read_symbols();
        Ok(image)
    }

    pub(super) fn relative(&self, address: u64) -> Option<u32> {
        u32::try_from(address.checked_sub(self.base)?).ok().filter(|a| *a < u32::MAX - 1)
    }

    /// Clips an address range to the code section in which it starts; `None` outside of code.
    pub(super) fn clip(&self, begin: u64, end: u64) -> Option<Range<u32>> {
        let start = self.relative(begin)?;
        let end = u32::try_from(end.saturating_sub(self.base)).unwrap_or(u32::MAX - 1);
        let limit = match self.code.is_empty() {
            true => u32::MAX - 1,
            false => {
                let after = self.code.partition_point(|c| c.start <= start);
                self.code[..after].last().filter(|c| start < c.end)?.end
            }
        };
        let end = end.min(limit);
        (end > start).then_some(start..end)
    }

    fn read_code(&mut self) {
        let sections = self.file.sections().filter(|s| s.kind() == SectionKind::Text && s.size() > 0);
        let ranges = sections.filter_map(|s| {
            let start = self.relative(s.address())?;
            let end = s.address().saturating_add(s.size()).saturating_sub(self.base);
            Some(start..u32::try_from(end).unwrap_or(u32::MAX - 1))
        });
        let mut code: Vec<_> = ranges.collect();
        code.sort_unstable_by_key(|c| (c.start, c.end));
        self.code = code;
    }

    fn read_symbols(&mut self) {
        let mut symbols = Vec::new();
        for symbol in self.file.symbols().chain(self.file.dynamic_symbols()) {
            let Ok(name) = symbol.name_bytes() else { continue };
            if name.is_empty() || !symbol.is_definition() && symbol.kind() != SymbolKind::Text {
                continue;
            }
            let thumb = u64::from(self.arch == Arch::Arm && symbol.kind() == SymbolKind::Text);
            let Some(start) = self.relative(symbol.address() & !thumb) else { continue };
            // Mach-O prefixes every C name with an underscore.
            let name = if self.is_macho { name.strip_prefix(b"_").unwrap_or(name) } else { name };
            match name {
                _ if name == DART_ISOLATE.as_bytes() => self.dart[0] = Some(start),
                _ if name == DART_VM.as_bytes() => self.dart[1] = Some(start),
                _ if symbol.kind() == SymbolKind::Text => {
                    symbols.push(Symbol { start, size: u32::try_from(symbol.size()).unwrap_or(u32::MAX), name });
                }
                _ => {}
            }
        }
        // The last and longest of several symbols at one address is kept, as in LLVM.
        symbols.sort_by_key(|s| (s.start, s.size));
        let mut kept: Vec<Symbol<'_>> = Vec::with_capacity(symbols.len());
        for symbol in symbols {
            match kept.last_mut() {
                Some(last) if last.start == symbol.start => *last = symbol,
                _ => kept.push(symbol),
            }
        }
        self.symbols = kept;
    }

    /// The symbol that covers an address, and the end of its range.
    pub(super) fn symbol_at(&self, address: u32) -> (Option<&Symbol<'a>>, u32) {
        let after = self.symbols.partition_point(|s| s.start <= address);
        let next = self.symbols.get(after).map_or(u32::MAX - 1, |s| s.start);
        match self.symbols[..after].last() {
            Some(s) if s.size == 0 => (Some(s), next),
            Some(s) if address - s.start < s.size => (Some(s), next.min(s.start.saturating_add(s.size))),
            _ => (None, next),
        }
    }

    /// The symbol that starts exactly at an address.
    pub(super) fn symbol_starting_at(&self, address: u32) -> Option<&'a [u8]> {
        let at = self.symbols.binary_search_by_key(&address, |s| s.start).ok()?;
        Some(self.symbols[at].name)
    }
}
