//! React Native's indexed RAM bundle: a binary file with the code of every module, by number.
//!
//! ```text
//! magic 0xFB0BD1E5   modules n   length of the startup code   n x (offset, length)   startup code 0   code 0   code 0 ...
//! ```
//!
//! Numbers are little-endian and have 32 bits. Offsets are relative to the startup code. Lengths include the terminating
//! zero; a module of length 0 is absent. In the source map, the startup code begins at line 0 and module k at line
//! `x_facebook_offsets[k]`.

use crate::{SymbolError, artifact::u32_at, error::Result, limits::SCRIPT_BYTES_MAX};

const MAGIC: [u8; 4] = 0xFB0B_D1E5_u32.to_le_bytes();
const HEADER_BYTES: usize = 12;
const ENTRY_BYTES: usize = 8;

/// Whether the file is a RAM bundle, by its magic number.
pub(crate) fn is_ram_bundle(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// A view of a file whose offsets and lengths have been validated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RamBundle<'a> {
    table: &'a [u8],
    /// From the startup code to the end of the file.
    code: &'a [u8],
    startup_bytes: usize,
}

impl<'a> RamBundle<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self> {
        let truncated = || SymbolError::malformed("the RAM bundle is cut off");
        let (header, rest) = bytes.split_at_checked(HEADER_BYTES).ok_or_else(truncated)?;
        let (modules, startup_bytes) = (u32_at(header, 1) as usize, u32_at(header, 2) as usize);
        let (table, code) =
            modules.checked_mul(ENTRY_BYTES).and_then(|bytes| rest.split_at_checked(bytes)).ok_or_else(truncated)?;
        let bundle = Self { table, code, startup_bytes };
        if !is_ram_bundle(header) || bundle.text(0, startup_bytes).is_none() {
            return Err(truncated());
        }
        let is_whole = |number: usize| match bundle.entry(number) {
            (_, 0) => true,
            (offset, len) => bundle.text(offset, len).is_some(),
        };
        if !(0..modules).all(is_whole) {
            return Err(truncated());
        }
        Ok(bundle)
    }

    /// The startup code, which runs first.
    pub(crate) fn startup(&self) -> &'a [u8] {
        self.text(0, self.startup_bytes).unwrap_or_default()
    }

    /// The code of a module; `None` when it is absent.
    pub(crate) fn module(&self, number: usize) -> Option<&'a [u8]> {
        let is_there = number < self.table.len() / ENTRY_BYTES;
        let (offset, len) = is_there.then(|| self.entry(number))?;
        if len == 0 { None } else { self.text(offset, len) }
    }

    fn entry(&self, number: usize) -> (usize, usize) {
        (u32_at(self.table, number * 2) as usize, u32_at(self.table, number * 2 + 1) as usize)
    }

    /// Code without its terminating zero.
    fn text(&self, offset: usize, len: usize) -> Option<&'a [u8]> {
        let text = self.code.get(offset..offset.checked_add(len)?)?;
        Some(text.strip_suffix(b"\0").unwrap_or(text))
    }

    /// The code as one script with the lines of the source map. `lines`: first line of each module. Modules that would
    /// begin within another one or exceed [`SCRIPT_BYTES_MAX`] are omitted.
    pub(crate) fn as_script(&self, lines: &[Option<u32>]) -> String {
        let mut modules: Vec<(u32, &[u8])> =
            (0..).zip(lines).filter_map(|(number, line)| Some(((*line)?, self.module(number)?))).collect();
        modules.sort_by_key(|(line, _)| *line);
        let mut script = String::from_utf8_lossy(self.startup()).into_owned();
        let mut line = breaks(&script);
        for (begins, code) in modules {
            let text = String::from_utf8_lossy(code);
            let Some(missing) = (begins as usize).checked_sub(line).filter(|missing| *missing > 0) else { continue };
            if script.len().saturating_add(missing).saturating_add(text.len()) > SCRIPT_BYTES_MAX {
                continue;
            }
            script.extend(std::iter::repeat_n('\n', missing));
            script.push_str(&text);
            line = begins as usize + breaks(&text);
        }
        script
    }
}

fn breaks(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Encodes a bundle as Metro does.
    fn written(startup: &str, modules: &[Option<String>]) -> Vec<u8> {
        let (mut table, mut code) = (Vec::new(), [startup.as_bytes(), b"\0"].concat());
        for module in modules {
            let (offset, len) = module.as_ref().map_or((0, 0), |text| (code.len(), text.len() + 1));
            table.extend([offset as u32, len as u32].into_iter().flat_map(u32::to_le_bytes));
            code.extend(module.iter().flat_map(|text| text.bytes().chain([0])));
        }
        let numbers = [modules.len() as u32, startup.len() as u32 + 1].map(u32::to_le_bytes).concat();
        [&MAGIC[..], &numbers, &table, &code].concat()
    }

    #[test]
    fn modules_begin_at_their_lines() {
        let modules = ["a", "b\nb", "c", "d", "e"].map(|text| Some(text.to_owned()));
        let bytes = written("s\ns", &modules);
        let bundle = RamBundle::read(&bytes).expect("a valid bundle");
        // `d` would begin within `b`, `e` within the startup code; a sixth module does not exist.
        let lines = [Some(6), Some(3), None, Some(4), Some(1), Some(9)];
        assert_eq!(bundle.as_script(&lines), "s\ns\n\nb\nb\n\na");
    }

    #[test]
    fn truncated_bundles_are_refused() {
        let bytes = written("start", &[Some("one".to_owned()), None]);
        for len in 0..bytes.len() {
            assert!(RamBundle::read(&bytes[..len]).is_err(), "{len}");
        }
        assert!(RamBundle::read(&[b"x", &bytes[1..]].concat()).is_err());
        assert_eq!(RamBundle::read(&bytes).expect("a valid bundle").module(1), None);
    }

    proptest! {
        #[test]
        fn bundles_round_trip(
            startup in "[a-z;\n]{0,20}",
            modules in proptest::collection::vec(proptest::option::of("[a-zé;\n]{0,20}"), 0..9),
        ) {
            let bytes = written(&startup, &modules);
            let bundle = RamBundle::read(&bytes).expect("a valid bundle");
            prop_assert_eq!(bundle.startup(), startup.as_bytes());
            for (number, module) in modules.iter().enumerate() {
                prop_assert_eq!(bundle.module(number), module.as_ref().map(|text| text.as_bytes()));
            }
            prop_assert_eq!(bundle.module(modules.len()), None);
        }

        #[test]
        fn any_bytes_are_read_or_refused(
            tail in proptest::collection::vec(any::<u8>(), 0..200),
            lines in proptest::collection::vec(proptest::option::of(any::<u32>()), 0..20),
        ) {
            let bytes = [&MAGIC[..], &tail].concat();
            if let Ok(bundle) = RamBundle::read(&bytes) {
                prop_assert!(bundle.as_script(&lines).len() <= SCRIPT_BYTES_MAX);
            }
        }
    }
}
