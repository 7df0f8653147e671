//! Mangled names of C++, Rust and Swift as people write them; Objective-C and plain names as they are.

use std::{borrow::Cow, fmt};

use symbolic_demangle::{Demangle as _, DemangleOptions};

use crate::{limits::MANGLED_BYTES_MAX, safe};

/// Nesting that C++ names are followed to.
const CPP_DEPTH_MAX: u32 = 160;
/// Bytes of a demangled name before it is given up: substitutions can repeat each other.
const OUTPUT_BYTES_MAX: usize = 16 << 10;

/// Whether a symbol's name is mangled in one of the known ways.
pub(crate) fn is_mangled(name: &[u8]) -> bool {
    [b"_Z" as &[u8], b"__Z", b"_R", b"$s", b"$S", b"_$s", b"_$S", b"_T0"].iter().any(|prefix| name.starts_with(prefix))
}

/// The name as it is printed: demangled if it can be, on one line, of bounded length.
pub fn demangle(name: &str) -> String {
    safe::one_line(&demangled(name)).into_owned()
}

fn demangled(name: &str) -> Cow<'_, str> {
    if !is_mangled(name.as_bytes()) || name.len() > MANGLED_BYTES_MAX {
        return Cow::Borrowed(name);
    }
    // Swift's linkage names start with an underscore or not, depending on who wrote them.
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
    // The alternate form leaves out the hash of legacy names.
    fmt::write(&mut out, format_args!("{demangled:#}")).ok()?;
    Some(out.0)
}

fn swift(name: &str) -> Option<String> {
    if !name.starts_with(['$', '_']) || name.starts_with("_Z") || name.starts_with("__Z") {
        return None;
    }
    let name = symbolic_demangle_name(name);
    name.demangle(DemangleOptions::complete()).filter(|out| !out.starts_with("$s"))
}

fn symbolic_demangle_name(name: &str) -> symbolic_common::Name<'_> {
    symbolic_common::Name::new(name, symbolic_common::NameMangling::Mangled, symbolic_common::Language::Swift)
}

fn cpp(name: &str) -> Option<String> {
    let stripped = name.strip_prefix('_').filter(|n| n.starts_with("_Z")).unwrap_or(name);
    // What optimisers append (`.llvm.123`, `.cold`, `.part.0`) is no part of the name.
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

    #[track_caller]
    fn check(mangled: &str, expected: &str) {
        assert_eq!(demangle(mangled), expected);
    }

    #[test]
    fn names_are_printed_as_people_write_them() {
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
    fn what_cannot_be_demangled_stays() {
        check("$s7MyApp7ContentV4bodyQrvg", "$s7MyApp7ContentV4bodyQrvg");
        check("_Z", "_Z");
        check("_Z7größel", "_Z7größel");
        check("", "");
    }

    #[test]
    fn a_name_that_explodes_stays_mangled() {
        let bomb = format!("_Z1f{}{}", "S_".repeat(100), "PFv".repeat(2000));
        check(&bomb, &bomb[..crate::limits::NAME_BYTES_MAX.min(bomb.len())]);
    }
}
