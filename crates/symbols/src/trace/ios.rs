//! Raw traces of the iOS SDK. Spec: symbolication of native iOS traces, rules 1 to 7.

use super::preamble::split_preamble;
use super::{ArtifactRequest, ArtifactSet, Resolved, out::Out};
use crate::{Arch, DebugId, limits::FRAMES_MAX};

#[derive(Debug)]
pub(super) struct IosTrace<'t> {
    text: &'t str,
    /// Includes line breaks.
    preamble: &'t str,
    has_separator: bool,
    arch: Arch,
    lines: Vec<Line<'t>>,
}

#[derive(Debug)]
enum Line<'t> {
    Frame { raw: &'t str, id: DebugId, offset: u64 },
    Other(&'t str),
}

impl<'t> IosTrace<'t> {
    /// Rule 1: recognized by language, or by the format of a frame when the language is absent.
    pub(super) fn read(text: &'t str, language: Option<&str>) -> Option<Self> {
        if language.is_some_and(|l| l != "swift" && l != "ios") {
            return None;
        }
        // Rule 3: without a separator, the complete raw trace is the preamble, and its frames are repeated below it.
        let split = split_preamble(text);
        let (preamble, body) = split.unwrap_or((text, text));
        let mut trace = Self { text, preamble, has_separator: split.is_some(), arch: Arch::Arm64, lines: Vec::new() };
        let mut frames = 0;
        for raw in body.lines() {
            if let Some(arch) = os_line(raw) {
                // Rule 4: this line determines the slice; arm64 when it is absent.
                trace.arch = arch.unwrap_or(trace.arch);
            } else if let Some((id, offset)) = frame(raw).filter(|_| frames < FRAMES_MAX) {
                trace.lines.push(Line::Frame { raw, id, offset });
                frames += 1;
            } else if split.is_some() || frame(raw).is_some() {
                trace.lines.push(Line::Other(raw));
            }
        }
        (frames > 0).then_some(trace)
    }

    pub(super) fn requests(&self, add: &mut dyn FnMut(ArtifactRequest)) {
        for line in &self.lines {
            if let Line::Frame { id, .. } = line
                && !id.is_zero()
            {
                add(ArtifactRequest::Native { id: *id, arch: self.arch });
            }
        }
    }

    pub(super) fn resolve(&self, artifacts: &ArtifactSet<'_>) -> Resolved {
        let mut out = Out::new(self.text.len());
        // Rule 3: the preamble is preserved verbatim. Without a separator it is the complete trace, and the frames are
        // repeated, resolved or not.
        out.preamble(self.preamble);
        if !self.has_separator {
            out.always_use();
        }
        for line in &self.lines {
            match line {
                Line::Other(raw) if raw.trim().is_empty() => {}
                Line::Other(raw) => out.verbatim(raw),
                // Rule 7: without a debug file or a match, the raw form stays.
                Line::Frame { raw, id, .. } if id.is_zero() => out.raw_frame(raw),
                // Rule 5: the artifact's ranges are relative to the __TEXT address, as the offset is.
                Line::Frame { raw, id, offset } => out.native_frame(raw, artifacts.native(id, self.arch), *offset),
            }
        }
        out.finish(self.text)
    }
}

/// Parses `os: ios arch: arm64`, optionally with more fields. The inner value is `None` for an unknown architecture.
fn os_line(line: &str) -> Option<Option<Arch>> {
    let rest = line.trim_start().strip_prefix("os: ")?;
    let (_, arch) = rest.split_once(" arch: ")?;
    Some(Arch::parse(arch.split_ascii_whitespace().next()?))
}

/// Rule 2: parses `#NN <debug_id> 0x<offset> <image>`. The image name may contain spaces.
fn frame(line: &str) -> Option<(DebugId, u64)> {
    let rest = line.trim_start().strip_prefix('#')?;
    let (number, rest) = rest.split_once(' ')?;
    let (id, rest) = rest.split_once(' ')?;
    let (offset, image) = rest.split_once(' ')?;
    let is_frame = !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
        && id.len() == 32
        && id.bytes().all(|b| b.is_ascii_hexdigit())
        && !image.trim().is_empty();
    let offset = offset.strip_prefix("0x").filter(|_| is_frame)?;
    Some((DebugId::parse(id)?, u64::from_str_radix(offset, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "4c4c44dd55553144a1e29109d2cd8082";

    #[track_caller]
    fn check(text: &str, language: Option<&str>, is_recognized: bool) {
        assert_eq!(IosTrace::read(text, language).is_some(), is_recognized, "{text}");
    }

    #[test]
    fn traces_are_recognized_by_language_or_by_format() {
        let frame = format!("#00 {ID} 0x41cc My App 2");
        check(&format!("Fatal Signal SIGSEGV (11)\n*** ***\n{frame}"), None, true);
        check(&format!("boom\nos: ios arch: arm64\n{frame}"), None, true);
        check(&format!("boom\n{frame}"), None, true);
        check(&frame, None, true);
        check(&format!("boom\n{frame}"), Some("swift"), true);
        check(&format!("boom\n*** ***\n{frame}"), Some("javascript"), false);
        check("#0 main (main.swift:3:1)\n#1 start (dyld:0:0)", Some("ios"), false);
        check("#00 abs 0000000779061106 virt 0000000000001106 _kDartIsolateSnapshotInstructions+0xc6", None, false);
        check("", None, false);
    }

    #[test]
    fn frames_have_four_parts() {
        assert_eq!(frame(&format!("  #123 {} 0xFf x", ID.to_uppercase())).map(|f| f.1), Some(0xff));
        for bad in
            ["#0 main (main.swift:3:1)", &format!("#a {ID} 0x1 x"), &format!("#0 {ID} 1 x"), &format!("#0 {ID} 0x1 ")]
        {
            assert!(frame(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_frame_of_a_missing_image_stays_raw() {
        let text =
            format!("boom\n*** ***\nos: ios arch: x64\n#00 {ID} 0x41cc App\n#01 {} 0x1 <unknown>", "0".repeat(32));
        let trace = IosTrace::read(&text, None).unwrap();
        let mut requests = Vec::new();
        trace.requests(&mut |request| requests.push(request));
        assert_eq!(requests, [ArtifactRequest::Native { id: DebugId::parse(ID).unwrap(), arch: Arch::X64 }]);
        let resolved = trace.resolve(&ArtifactSet::new());
        assert_eq!((resolved.text.as_str(), resolved.frames, resolved.resolved), (text.as_str(), 2, 0));
    }

    #[track_caller]
    fn check_resolved(text: &str, expected: &str) {
        let trace = IosTrace::read(text, None).expect("a trace");
        assert_eq!(trace.resolve(&ArtifactSet::new()).text, expected);
    }

    // Spec: symbolication, rule 3.
    #[test]
    fn without_a_separator_the_frames_are_repeated() {
        let (one, two) = (format!("#00 {ID} 0x41cc App"), format!("#01 {ID} 0x1 App"));
        check_resolved(&format!("boom\n\n{one}\n{two}"), &format!("boom\n\n{one}\n{two}\n{one}\n{two}"));
        check_resolved(&format!("boom\n{one}\n"), &format!("boom\n{one}\n{one}\n"));
        check_resolved(&one, &format!("{one}\n{one}"));
    }
}
