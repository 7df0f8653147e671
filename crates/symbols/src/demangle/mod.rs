//! Demangles names of C++, Rust and Swift. Objective-C and plain names stay unchanged.
//!
//! Substitutions in a mangled name can refer to each other, so a short name can expand to an enormous one. C++ and Rust
//! names are printed into [`Bounded`]. Swift's demangler builds the complete name first, so [`swift_size`] computes a
//! bound before it runs.

mod swift_size;

use std::{borrow::Cow, fmt};

use symbolic_demangle::{Demangle as _, DemangleOptions};

use crate::{
    limits::{MANGLED_BYTES_MAX, SWIFT_MANGLED_BYTES_MAX, SWIFT_PRINTED_BYTES_MAX},
    safe,
};

/// Maximum nesting depth of C++ names.
const CPP_DEPTH_MAX: u32 = 160;

/// Maximum size of a demangled name. Larger ones stay mangled.
const OUTPUT_BYTES_MAX: usize = 16 << 10;

/// Printed bytes per step of a conversion's budget.
const BYTES_PER_STEP: usize = 16;

/// Whether a symbol's name has one of the known mangling prefixes.
pub(crate) fn is_mangled(name: &[u8]) -> bool {
    [b"_Z" as &[u8], b"__Z", b"_R", b"$s", b"$S", b"_$s", b"_$S", b"_T0"].iter().any(|prefix| name.starts_with(prefix))
}

/// The name for display: demangled if possible, on one line, of bounded length.
pub fn demangle(name: &str) -> String {
    safe::one_line(&demangled(name)).into_owned()
}

/// The cost of demangling this name, in steps of a conversion's budget.
pub(crate) fn steps(name: &[u8]) -> u64 {
    let printed = match swift_body(name) {
        Some(body) if name.len() <= SWIFT_MANGLED_BYTES_MAX => {
            let body = String::from_utf8_lossy(body);
            swift_size::printed_max(&body, SWIFT_PRINTED_BYTES_MAX).unwrap_or(0)
        }
        _ => 0,
    };
    (name.len() / 8 + printed / BYTES_PER_STEP) as u64
}

/// A Swift name without its prefix.
fn swift_body(name: &[u8]) -> Option<&[u8]> {
    let name = name.strip_prefix(b"_").filter(|name| name.starts_with(b"$")).unwrap_or(name);
    [&b"$s"[..], b"$S", b"_T0"].iter().find_map(|prefix| name.strip_prefix(*prefix))
}

fn demangled(name: &str) -> Cow<'_, str> {
    if !is_mangled(name.as_bytes()) || name.len() > MANGLED_BYTES_MAX {
        return Cow::Borrowed(name);
    }
    // Swift's linkage names start with an underscore, depending on the tool.
    let name = name.strip_prefix('_').filter(|n| n.starts_with("$s") || n.starts_with("$S")).unwrap_or(name);
    rust(name)
        .or_else(|| swift(name))
        .or_else(|| cpp(name))
        .filter(|n| !n.is_empty())
        .map_or(Cow::Borrowed(name), Cow::Owned)
}

fn rust(name: &str) -> Option<String> {
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    let mut out = Bounded(String::new());
    // The alternate form omits the hash of legacy names.
    fmt::write(&mut out, format_args!("{demangled:#}")).ok()?;
    Some(out.0)
}

fn swift(name: &str) -> Option<String> {
    let body = swift_body(name.as_bytes()).filter(|_| name.len() <= SWIFT_MANGLED_BYTES_MAX)?;
    swift_size::printed_max(std::str::from_utf8(body).ok()?, SWIFT_PRINTED_BYTES_MAX)?;
    let name = symbolic_demangle_name(name);
    name.demangle(DemangleOptions::complete()).filter(|out| !out.starts_with("$s"))
}

fn symbolic_demangle_name(name: &str) -> symbolic_common::Name<'_> {
    symbolic_common::Name::new(name, symbolic_common::NameMangling::Mangled, symbolic_common::Language::Swift)
}

fn cpp(name: &str) -> Option<String> {
    let stripped = name.strip_prefix('_').filter(|n| n.starts_with("_Z")).unwrap_or(name);
    // Optimizers append suffixes (`.llvm.123`, `.cold`, `.part.0`).
    let stripped = stripped.split_once(".llvm.").map_or(stripped, |(head, _)| head);
    let options = cpp_demangle::ParseOptions::default().recursion_limit(CPP_DEPTH_MAX);
    let symbol = cpp_demangle::Symbol::new_with_options(stripped, &options).ok()?;
    let mut out = Bounded(String::new());
    let options = cpp_demangle::DemangleOptions::default().recursion_limit(CPP_DEPTH_MAX);
    symbol.structured_demangle(&mut out, &options).ok()?;
    Some(out.0)
}

struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > OUTPUT_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// Names built from the operators that create entries are never printed longer than their bound.
        #[test]
        fn printed_swift_names_are_within_their_bound(
            parts in proptest::collection::vec(proptest::sample::select(SWIFT_PARTS.to_vec()), 1..14)
        ) {
            let body = parts.concat();
            let limit = crate::limits::SWIFT_PRINTED_BYTES_MAX;
            if let Some(most) = swift_size::printed_max(&body, limit) {
                let name = format!("$s{body}");
                let printed = demangled(&name);
                proptest::prop_assert!(printed == name || printed.len() <= most, "{name}: {printed} of {most}");
            }
        }
    }

    const SWIFT_PARTS: [&str; 34] = [
        "4main",
        "3Foo",
        "3bar",
        "1x",
        "0A3Baz",
        "V",
        "C",
        "O",
        "AA",
        "AB",
        "AC",
        "AD",
        "AaB",
        "A2B",
        "A3C",
        "Si",
        "SS",
        "S2i",
        "Say",
        "SDy",
        "SiG",
        "SSG",
        "G",
        "Sg",
        "y",
        "yy",
        "_",
        "t",
        "c",
        "F",
        "x",
        "vg",
        "7ElementQz",
        "XE",
    ];

    #[track_caller]
    fn check(mangled: &str, expected: &str) {
        assert_eq!(demangle(mangled), expected);
    }

    #[test]
    fn names_are_demangled() {
        check("_ZN4acme3geo4areaEii", "acme::geo::area(int, int)");
        check("_ZN4acme5driveEi.llvm.123456", "acme::drive(int)");
        check("_RNvC7mycrate3foo", "mycrate::foo");
        check("_ZN3std2io4Read11read_to_end17hb85a0f6802e14499E", "std::io::Read::read_to_end");
        check("$s5MyApp9ViewModelC5fetchyyYaKF", "MyApp.ViewModel.fetch() async throws -> ()");
        check("-[ACPlayer playTrack:atVolume:]", "-[ACPlayer playTrack:atVolume:]");
        check("main", "main");
        check("_CartState.build.<anonymous closure>", "_CartState.build.<anonymous closure>");
    }

    #[test]
    fn invalid_mangled_names_stay() {
        check("$s7MyApp7ContentV4bodyQrvg", "$s7MyApp7ContentV4bodyQrvg");
        check("_Z", "_Z");
        check("_Z7größel", "_Z7größel");
        check("", "");
    }

    /// Each level contains the previous one twice.
    fn swift_bomb(levels: usize) -> String {
        let mut name = format!("$s4main1fyy{}SiSiG", "SDy".repeat(levels + 1));
        for entry in 2..levels + 2 {
            match entry {
                0..26 => name.extend(['A', char::from(b'A' + entry as u8)]),
                26 => name.push_str("A_"),
                _ => name.push_str(&format!("A{}_", entry - 27)),
            }
            name.push('G');
        }
        name.push('F');
        name
    }

    #[test]
    fn a_swift_name_that_explodes_stays_mangled() {
        // A name of few levels is printed, so the name is valid.
        let printed = demangle(&swift_bomb(4));
        assert_eq!(printed.matches("Swift.Int").count(), 32, "{printed}");
        for levels in [14, 22, 30, 60] {
            let bomb = swift_bomb(levels);
            assert_eq!(demangle(&bomb), bomb);
            assert_eq!(demangle(&format!("_{bomb}")), bomb);
        }
        // Repeat counts, nested optionals, words of identifiers, and unsupported operators.
        let words = format!("$s4main{}{}yyF", 600, "a".repeat(600)) + &format!("0{}A", "a".repeat(900));
        for bomb in [
            format!("$s4main1aVy{}AD2048A_2048A_tG", "A2000D".repeat(300)),
            format!("$s4main1aV{}", "SDyA2047AA2047AG".repeat(40)),
            format!("{words}{}", "A2000C".repeat(200)),
            format!("$s4main1aVTW{}", "SDyADADG".repeat(40)),
            format!("$sSDyS2048iS2048iG{}", "SDyA2048AA2048AG".repeat(80)),
            format!("$s1a1bVSg{}", "SDyACSgAESgG".repeat(30)),
            format!("_T0SDySiSiG{}", "SDyAAAAGSDyABABGSDyACACGSDyADADGSDyAEAEG".repeat(6)),
        ] {
            assert!(demangle(&bomb).len() <= crate::limits::NAME_BYTES_MAX, "{bomb}");
        }
    }

    #[test]
    fn a_name_that_explodes_stays_mangled() {
        let bomb = format!("_Z1f{}{}", "S_".repeat(100), "PFv".repeat(2000));
        check(&bomb, &bomb[..crate::limits::NAME_BYTES_MAX.min(bomb.len())]);
    }
}
