//! Traces of ahead-of-time compiled Dart (`--split-debug-info`, `--obfuscate`) and of Linux and Android native code.
//!
//! Both print one address per frame. Dart traces also contain the symbol, and a header with the build id. Addresses are
//! those of the calls, so nothing is subtracted.

use super::preamble::{is_separator, split_preamble};
use super::{ArtifactRequest, ArtifactSet, Hints, Resolved, out::Out};
use crate::{
    Arch, DebugId,
    limits::FRAMES_MAX,
    native::{DART_ISOLATE, DART_VM, Native},
};

#[derive(Debug)]
pub(super) struct DartTrace<'t> {
    text: &'t str,
    preamble: Option<&'t str>,
    header: Header,
    lines: Vec<Line<'t>>,
}

/// The header lines above the frames.
#[derive(Debug, Default)]
struct Header {
    arch: Option<Arch>,
    build_id: Option<DebugId>,
    isolate: Option<u64>,
    vm: Option<u64>,
    dso_base: Option<u64>,
    /// Deferred units of the program: start of their instructions, and their build ids.
    units: Vec<(u64, Option<DebugId>)>,
}

#[derive(Debug)]
enum Line<'t> {
    Frame(&'t str, RawFrame),
    Other(&'t str),
}

/// The addresses in a frame line, preferred ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct RawFrame {
    /// Offset from the isolate's (`false`) or the VM's (`true`) instructions.
    symbol: Option<(bool, u64)>,
    /// Address in the process.
    absolute: Option<u64>,
    /// Address in the file.
    in_file: Option<u64>,
    /// The build id on the frame's own line.
    id: Option<DebugId>,
}

impl<'t> DartTrace<'t> {
    pub(super) fn read(text: &'t str, hints: &Hints<'_>) -> Option<Self> {
        if !text.contains("abs ") && !text.contains("pc ") {
            return None;
        }
        let split = split_preamble(text);
        let mut trace = Self { text, preamble: split.map(|s| s.0), header: Header::default(), lines: Vec::new() };
        let mut frames = 0;
        for raw in split.map_or(text, |s| s.1).lines() {
            if let Some(frame) = frame(raw).filter(|_| frames < FRAMES_MAX) {
                frames += 1;
                trace.lines.push(Line::Frame(raw, frame));
            } else if !(trace.header.read(raw) || is_separator(raw)) || split.is_none() {
                trace.lines.push(Line::Other(raw));
            }
        }
        trace.header.build_id = trace.header.build_id.or(hints.debug_id);
        // Without any id, only Dart frames are unambiguous.
        let known = |l: &Line<'_>| matches!(l, Line::Frame(_, f) if f.id.is_some() || f.symbol.is_some());
        (trace.header.build_id.is_some() || trace.lines.iter().any(known)).then_some(trace).filter(|_| frames > 0)
    }

    fn id_of(&self, frame: &RawFrame) -> Option<DebugId> {
        let unit = frame.absolute.and_then(|at| self.header.units.iter().filter(|u| u.0 <= at).max_by_key(|u| u.0));
        frame.id.or_else(|| unit.and_then(|u| u.1)).or(self.header.build_id).filter(|id| !id.is_zero())
    }

    pub(super) fn requests(&self, add: &mut dyn FnMut(ArtifactRequest)) {
        let arch = self.header.arch.unwrap_or(Arch::Unknown);
        for line in &self.lines {
            if let Line::Frame(_, frame) = line {
                add(match self.id_of(frame) {
                    Some(id) => ArtifactRequest::Native { id, arch },
                    None => ArtifactRequest::OnlyDart { arch },
                });
            }
        }
    }

    pub(super) fn resolve(&self, artifacts: &ArtifactSet<'_>) -> Resolved {
        let mut out = Out::new(self.text.len());
        if let Some(preamble) = self.preamble {
            out.preamble(preamble);
        }
        let arch = self.header.arch.unwrap_or(Arch::Unknown);
        for line in &self.lines {
            match line {
                Line::Other(raw) => out.verbatim(raw),
                Line::Frame(raw, frame) => {
                    let native = match self.id_of(frame) {
                        Some(id) => artifacts.native(&id, arch),
                        None => artifacts.only_dart(),
                    };
                    match native.and_then(|n| Some((n, self.address(frame, n)?))) {
                        Some((native, address)) => out.native_frame(raw, Some(native), address),
                        None => out.raw_frame(raw),
                    }
                }
            }
        }
        out.finish(self.text)
    }

    /// The address in the file: by symbol, else by the base addresses of the process, else as printed.
    fn address(&self, frame: &RawFrame, native: &Native<'_>) -> Option<u64> {
        let by_symbol = frame.symbol.and_then(|(is_vm, offset)| {
            let anchor = if is_vm { native.dart_vm() } else { native.dart_isolate() };
            u64::from(anchor?).checked_add(offset)
        });
        let by_bases = || {
            let at = frame.absolute.filter(|at| *at != 0)?;
            let from = |base: Option<u64>, anchor: Option<u32>| Some((at.checked_sub(base?)?, u64::from(anchor?)));
            let unit = self.header.units.iter().map(|u| u.0).filter(|u| *u <= at).max();
            let isolate = from(unit.or(self.header.isolate), native.dart_isolate());
            let vm = from(self.header.vm, native.dart_vm());
            let nearest = [isolate, vm].into_iter().flatten().min_by_key(|(distance, _)| *distance);
            nearest.and_then(|(distance, anchor)| anchor.checked_add(distance))
        };
        let by_image = || frame.absolute.filter(|at| *at != 0)?.checked_sub(self.header.dso_base?);
        by_symbol.or_else(by_bases).or(frame.in_file).or_else(by_image)
    }
}

impl Header {
    /// Reads a header line; `false` for other lines.
    fn read(&mut self, line: &str) -> bool {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("loading_unit: ") {
            let instructions = field(rest, "instructions").and_then(hex);
            self.units.extend(instructions.map(|at| (at, field(rest, "build_id").and_then(DebugId::parse))));
            return true;
        }
        let mut known = ["pid: ", "pid="].iter().any(|p| line.starts_with(p));
        for name in ["build_id", "BuildId"] {
            if let Some(id) = field(line, name).and_then(DebugId::parse).filter(|_| line.starts_with(name)) {
                self.build_id.get_or_insert(id);
                known = true;
            }
        }
        if line.starts_with("os: ") || line.starts_with("os=") {
            self.arch = field(line, "arch").and_then(Arch::parse).or(self.arch);
            known = true;
        }
        for (name, slot) in [
            ("isolate_instructions", &mut self.isolate),
            ("vm_instructions", &mut self.vm),
            ("isolate_dso_base", &mut self.dso_base),
        ] {
            if let Some(value) = field(line, name).and_then(hex).filter(|_| line.starts_with("isolate_")) {
                slot.get_or_insert(value);
                known = true;
            }
        }
        known
    }
}

/// The value after `name: ` or `name=`, up to a blank or comma, without quotes. `name` must be at the start of a word.
fn field<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let at = line.match_indices(name).map(|(at, _)| at).find(|&at| {
        let starts_word = !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        starts_word && line[at + name.len()..].starts_with([':', '='])
    })?;
    let value = line[at + name.len() + 1..].trim_start();
    let end = value.find([' ', ',', '\t']).unwrap_or(value.len());
    Some(value[..end].trim_matches(['\'', '"']))
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

/// Parses a frame line of any format.
fn frame(line: &str) -> Option<RawFrame> {
    vm_frame(line).or_else(|| signal_frame(line)).or_else(|| tombstone_frame(line))
}

/// Parses `#NN abs <hex>[ virt <hex>] <symbol>+0x<hex>` after any text.
fn vm_frame(line: &str) -> Option<RawFrame> {
    let hash = line.match_indices('#').map(|(at, _)| at).find(|&at| {
        line[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" abs ")
            && line[at + 1..].starts_with(|c: char| c.is_ascii_digit())
    })?;
    let mut words = line[hash..].split_ascii_whitespace().skip(2);
    let absolute = hex(words.next()?)?;
    let mut rest = words.next();
    let mut in_file = None;
    if rest == Some("virt") {
        in_file = Some(hex(words.next()?)?);
        rest = words.next();
    }
    Some(RawFrame { symbol: rest.and_then(dart_symbol), absolute: Some(absolute), in_file, id: None })
}

/// Parses `pc 0x<hex> fp 0x<hex> <symbol>+0x<hex>` of the VM's crash handler.
fn signal_frame(line: &str) -> Option<RawFrame> {
    let mut words = line.split_ascii_whitespace();
    let absolute = words.next().filter(|w| *w == "pc").and_then(|_| hex(words.next()?.strip_prefix("0x")?))?;
    words.next().filter(|w| *w == "fp")?;
    Some(RawFrame { symbol: words.nth(1).and_then(dart_symbol), absolute: Some(absolute), ..RawFrame::default() })
}

/// Parses `#NN pc <hex>  <path> (<symbol>+<offset>) (BuildId: <hex>)` of Android tombstones and other native traces.
fn tombstone_frame(line: &str) -> Option<RawFrame> {
    let rest = line.trim_start().strip_prefix('#')?;
    let mut words = rest.split_ascii_whitespace();
    words.next()?.parse::<u32>().ok()?;
    let in_file = words.next().filter(|w| *w == "pc").and_then(|_| hex(words.next()?))?;
    let id = rest.rsplit_once("(BuildId: ").and_then(|(_, id)| DebugId::parse(id.split(')').next()?))?;
    Some(RawFrame { in_file: Some(in_file), id: Some(id), ..RawFrame::default() })
}

fn dart_symbol(word: &str) -> Option<(bool, u64)> {
    let (name, offset) = word.split_once('+')?;
    let is_vm = match name.trim_start_matches('_') {
        name if name == DART_ISOLATE.trim_start_matches('_') => false,
        name if name == DART_VM.trim_start_matches('_') => true,
        _ => return None,
    };
    let is_hex = offset.starts_with("0x") || offset.bytes().any(|b| b.is_ascii_alphabetic());
    let offset = if is_hex { hex(offset)? } else { offset.parse().ok()? };
    Some((is_vm, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: RawFrame) {
        assert_eq!(frame(line), Some(expected), "{line}");
    }

    #[test]
    fn every_frame_format_is_read() {
        let base = RawFrame { symbol: Some((false, 0xc6)), absolute: Some(0x779061106), ..RawFrame::default() };
        check(
            "    #00 abs 0000000779061106 virt 0000000000001106 _kDartIsolateSnapshotInstructions+0xc6",
            RawFrame { in_file: Some(0x1106), ..base },
        );
        check("    #00 abs 0000000779061106 _kDartIsolateSnapshotInstructions+0xc6", base);
        check(
            "at . #09 abs 0 virt 1106 _kDartVmSnapshotInstructions+198",
            RawFrame { symbol: Some((true, 198)), absolute: Some(0), in_file: Some(0x1106), id: None },
        );
        check(
            "#00 abs 5 virt 3 /data/app/libapp.so+0x5",
            RawFrame { absolute: Some(5), in_file: Some(3), ..RawFrame::default() },
        );
        check("  pc 0x0000000779061106 fp 0x00007fff0a1377a9 _kDartIsolateSnapshotInstructions+0xc6", base);
        let id = DebugId::parse("ad4b15");
        check(
            "      #02 pc 00000000000010fa  /data/lib.so (offset 0x1000) (f+186) (BuildId: ad4b15)",
            RawFrame { in_file: Some(0x10fa), id, ..RawFrame::default() },
        );
    }

    #[test]
    fn other_lines_are_not_frames() {
        for line in ["#0 main (main.dart:3:1)", "#00 pc 12 /lib.so", "pc here", "#1 abs", "", "# abs 1"] {
            assert_eq!(frame(line), None, "{line}");
        }
    }

    #[test]
    fn header_lines_are_read() {
        let mut header = Header::default();
        for line in [
            "pid: 23021, tid: 15292, name 1.ui",
            "os: android arch: arm64 comp: yes sim: no",
            "build_id: 'AD4B'",
            "loading_unit: 2, build_id: 'ff00', dso_base: 10, instructions: 7f20",
            "isolate_dso_base: 10, vm_dso_base: 10",
            "isolate_instructions: 7f10, vm_instructions: 7f00",
        ] {
            assert!(header.read(line), "{line}");
        }
        assert!(!header.read("type 'Null' is not a subtype of type 'String'"));
        assert_eq!((header.arch, header.build_id), (Some(Arch::Arm64), DebugId::parse("ad4b")));
        assert_eq!((header.isolate, header.vm, header.dso_base), (Some(0x7f10), Some(0x7f00), Some(0x10)));
        assert_eq!(header.units, [(0x7f20, DebugId::parse("ff00"))]);
    }
}
