//! One function per parser of untrusted bytes checks invariants for any input. The fuzz targets call the same functions.

use tidewatch_symbols::{
    Artifact, ArtifactSet, DebugId, FORMAT_VERSION, Hints, Mapping, Native, Script, Trace, Upload, convert_mapping,
    convert_native, convert_source_map, demangle, detect, limits,
};
use xxhash_rust::xxh3::xxh3_64;

/// Whether the text has no control characters, line breaks included.
fn is_one_line(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

/// Any bytes as an upload are refused with a one-line message, or converted to an artifact that can be read.
pub fn upload(bytes: &[u8]) {
    match detect(bytes, None) {
        Err(refused) => assert!(is_one_line(&refused.to_string()), "{refused:?}"),
        Ok(Upload::Native { slices, .. }) => {
            for slice in &slices {
                let Ok(artifact) = convert_native(bytes, slice) else { continue };
                let native = Native::open(Artifact::open(&artifact).unwrap().verify().unwrap()).unwrap();
                for offset in (0..1 << 16).step_by(52) {
                    let mut depth = 0;
                    for frame in native.frames(offset) {
                        assert!(
                            !frame.function().is_empty() && is_one_line(frame.function()) && is_one_line(frame.file())
                        );
                        depth += 1;
                    }
                    assert!(depth <= limits::INLINE_DEPTH_MAX);
                }
            }
        }
        Ok(Upload::SourceMap { .. }) => source_map(bytes),
        Ok(Upload::Mapping { .. }) => mapping(bytes),
        Ok(Upload::Script { .. }) => {}
    }
}

/// Any bytes as a source map, with the same bytes as its script.
pub fn source_map(bytes: &[u8]) {
    let Ok(artifact) = convert_source_map(bytes, Some(bytes), None) else { return };
    script(&artifact);
}

/// Any bytes after the magic number of a RAM bundle (React Native), with a map that has modules and segments.
pub fn ram_bundle(bytes: &[u8]) {
    const MAP: &[u8] = br#"{"version":3,"sources":["a.ts"],"names":["x","y"],"mappings":"AAAAA;;AAAAC;AAAA;AACA",
        "x_facebook_offsets":[2,null,4,3,4294967295],
        "x_facebook_segments":{"1":{"version":3,"sources":["b.ts"],"names":[],"mappings":"AAAA","x_facebook_offsets":[0]}}}"#;
    let bundle = [&0xFB0B_D1E5_u32.to_le_bytes(), bytes].concat();
    if let Ok(found) = detect(&bundle, None) {
        assert!(matches!(found, Upload::Script { .. }), "{found:?}");
    }
    script(&convert_source_map(MAP, Some(&bundle), None).expect("the map is good"));
}

/// Every look-up in the artifact of a script.
fn script(artifact: &[u8]) {
    let artifact = Artifact::open(artifact).unwrap().verify().unwrap();
    let mut artifacts = ArtifactSet::new();
    artifacts.add_script_file("a.js", artifact);
    let hints = Hints { language: Some("javascript"), ..Hints::default() };
    let stack = "E: x\n    at f (a.js:1:1)\n    at g (a.js:1:8)\n    at a.js:2:1\n    at h (0.js:1:1)\n    at i (seg-1_0.js:1:1)\n    at seg-1.js:1:1";
    let trace = Trace::read(stack, &hints).expect("frames");
    sources(&trace, &artifacts);
    let opened = Script::open(artifact).unwrap();
    for line in 0..8 {
        for column in [0, 1, 7, 100, u32::MAX] {
            let _ = opened.function(line, column);
            let Some(place) = opened.place(line, column) else { continue };
            assert!(place.line > 0 && is_one_line(place.source()));
            let _ = (opened.context(&place, 2), opened.function_of(&place));
        }
    }
}

/// Any bytes as a mapping.
pub fn mapping(bytes: &[u8]) {
    let Ok(artifact) = convert_mapping(bytes, None) else { return };
    let opened = Mapping::open(Artifact::open(&artifact).unwrap().verify().unwrap()).unwrap();
    for class in ["a", "b.a", "a.b.c"] {
        for line in [None, Some(0), Some(1), Some(u32::MAX)] {
            for frame in opened.frames(class, "a", line) {
                assert!(is_one_line(frame.class) && is_one_line(&frame.method) && is_one_line(&frame.file));
            }
        }
    }
}

/// Any bytes as an artifact are refused, or read without reads past the end.
pub fn artifact(bytes: &[u8]) {
    if let Ok(opened) = Artifact::open(bytes) {
        look_ups(opened);
    }
    // Corrects length, version and checksum of the header, because an invalid header hides the code behind it.
    let mut bytes = bytes.to_vec();
    let Some(body_len) = bytes.len().checked_sub(HEADER_BYTES) else { return };
    bytes[..4].copy_from_slice(b"TWSY");
    bytes[4..6].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes[56..64].copy_from_slice(&(body_len as u64).to_le_bytes());
    let hash = xxh3_64(&bytes[..HEADER_BYTES - 8]);
    bytes[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&hash.to_le_bytes());
    if let Ok(opened) = Artifact::open(&bytes) {
        look_ups(opened);
    }
}

const HEADER_BYTES: usize = 320;

fn look_ups(opened: Artifact<'_>) {
    let _ = (opened.verify(), opened.id(), opened.arch(), opened.source());
    if let Some(native) = Native::open(opened) {
        (0..1 << 16).step_by(97).for_each(|offset| assert!(native.frames(offset).count() <= limits::INLINE_DEPTH_MAX));
    }
    if let Some(script) = Script::open(opened) {
        (0..16).for_each(|n| drop(script.place(n, n * 7).map(|p| (p.source(), p.name(), script.context(&p, 3)))));
    }
    if let Some(mapping) = Mapping::open(opened) {
        drop(mapping.frames("b.a", "a", Some(1)));
    }
    let mut artifacts = ArtifactSet::new();
    artifacts.add_script_file("a.js", opened);
    let hints = Hints { language: Some("javascript"), ..Hints::default() };
    let trace = Trace::read("E: x\n    at f (a.js:1:2)\n    at g (a.js:3:400)", &hints).expect("frames");
    drop(trace.resolve(&artifacts));
    sources(&trace, &artifacts);
}

/// Source lines for display are short, and without line breaks.
fn sources(trace: &Trace<'_>, artifacts: &ArtifactSet<'_>) {
    let found = trace.context(artifacts);
    assert!(found.len() <= limits::CONTEXT_FRAMES_MAX);
    for source in found {
        assert!(source.lines.len() <= 2 * limits::CONTEXT_LINES_AROUND as usize + 1);
        let own = source.lines.get((source.line - source.first) as usize).expect("its own line is among them");
        assert!(source.mark.is_none_or(|mark| (mark as usize) < own.encode_utf16().count()));
        for line in &source.lines {
            assert!(line.len() <= 3 * limits::CONTEXT_LINE_BYTES_MAX + 6);
            assert!(!line.chars().any(|c| c.is_control() && c != '\t'));
        }
    }
}

/// Any text as a trace is unchanged without artifacts.
pub fn trace(text: &str) {
    let id = DebugId::parse("6a8cb81345f63652ad33778fd1eab196");
    for language in [None, Some("swift"), Some("javascript"), Some("android"), Some("dart")] {
        let hints = Hints { language, debug_id: id, ..Hints::default() };
        let Some(trace) = Trace::read(text, &hints) else { continue };
        assert!(!trace.requests().is_empty() || language == Some("swift") || language.is_none());
        let resolved = trace.resolve(&ArtifactSet::new());
        // An iOS trace without a separator is followed by its frames. Spec: symbolication, rule 3.
        let is_repeated = resolved.text.starts_with(text.trim_end_matches('\n'));
        assert!(resolved.resolved == 0 && (resolved.text == text || is_repeated), "{}", resolved.text);
    }
}

/// Any text as a mangled name gives one line of bounded length.
pub fn name(mangled: &str) {
    let printed = demangle(mangled);
    // A control character is printed as three bytes.
    assert!(is_one_line(&printed) && printed.len() <= 3 * limits::NAME_BYTES_MAX, "{mangled}");
}

/// Names whose nested substitutions expand to gigabytes.
pub const NAME_BOMBS: [&str; 5] = [
    "$s4main1fyySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDySDyS\
     DySiSiGACGADGAEGAFGAGGAHGAIGAJGAKGALGAMGANGAOGAPGAQGARGASGATGAUGAVGAWGAXGAYGAZGA_GA0_GA1_GA2_GA3_GA4_GF",
    "_T0SDySiSiGSDyAAAAGSDyABABGSDyACACGSDyADADGSDyAEAEGSDyAFAFGSDyAGAGGSDyAHAHGSDyAIAIGSDyAJAJGSDyAKAKGSDyALALGSDyAMAMG",
    "$s4main1aVSDyA2048ADA2048ADGA2048AA2048AA2048AA2048AA2048AA2048At",
    "$s4main1aVSgACSg_AESg_AGSgtTWSDyADADGSDyAEAEGSDyAFAFGSDyAGAGGSDyAHAHG",
    "_Z1fS_S_S_S_S_S_S_S_S_S_PFvPFvPFvPFvPFvPFvPFvPFvPFvPFv",
];

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::fixtures;

    fn material() -> Vec<Vec<u8>> {
        let root = &fixtures::roots()[0];
        [
            "macho/AcmeLines.arm64.dwarf",
            "macho/AcmeKit.fat3",
            "dart/app.android-arm.symbols",
            "js/terser/app.min.js.map",
            "js/index-sections/app.min.js.map",
            "r8/mapping.txt",
        ]
        .iter()
        .map(|name| fixtures::read(&root.join(name)).unwrap())
        .collect()
    }

    fn traces() -> Vec<String> {
        let mut all =
            vec!["boom\n*** ***\nos: ios arch: arm64\n#00 4c4c44dd55553144a1e29109d2cd8082 0x41cc App\n".to_owned()];
        all.push("E: x\n\tat a.b.c(SourceFile:12)\nCaused by: a.b: y\n".to_owned());
        all.push("E: x\n    at f (https://c.d/a.js:1:2)\ng@https://c.d/b.js:3:4\nh()\n    c.js:5:6\n".to_owned());
        all.push(
            "x\n*** ***\nbuild_id: 'ab12'\n    #00 abs 7f virt 3 _kDartIsolateSnapshotInstructions+0x3\n".to_owned(),
        );
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn changed_uploads_are_handled(which in 0usize..6, changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..40), cut in any::<prop::sample::Index>(), cuts in any::<bool>()) {
            let mut bytes = material().swap_remove(which);
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if cuts {
                bytes.truncate(cut.index(bytes.len()));
            }
            upload(&bytes);
        }

        #[test]
        fn any_ram_bundle_is_handled(modules in 0u32..6, startup in 0u32..40, entries in vec(0u32..40, 0..12), code in "[a-z(){};=,\n\0]{0,60}", cut in any::<prop::sample::Index>()) {
            let numbers = [vec![modules, startup], entries].concat();
            let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).chain(code.bytes()).collect();
            ram_bundle(&bytes);
            bytes.truncate(cut.index(bytes.len()));
            ram_bundle(&bytes);
        }

        #[test]
        fn changed_artifacts_are_handled(which in 0usize..6, changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..20)) {
            let bytes = material().swap_remove(which);
            let mut built = match detect(&bytes, None).unwrap() {
                Upload::Native { slices, .. } => convert_native(&bytes, &slices[0]).unwrap(),
                Upload::SourceMap { .. } => convert_source_map(&bytes, None, None).unwrap(),
                Upload::Mapping { .. } => convert_mapping(&bytes, None).unwrap(),
                other => panic!("{other:?}"),
            };
            for (at, byte) in changes {
                // The header has its own checksum; the rest is read before it is verified.
                let at = 320 + at.index(built.len() - 320);
                built[at] = byte;
            }
            artifact(&built);
        }

        #[test]
        fn changed_names_are_handled(which in 0..NAME_BOMBS.len(), changes in vec((any::<prop::sample::Index>(), "[A-Za-z0-9_$.]{0,3}"), 0..12)) {
            let mut text = NAME_BOMBS[which].to_owned();
            for (at, insert) in changes {
                text.insert_str(at.index(text.len()), &insert);
            }
            name(&text);
        }

        #[test]
        fn changed_traces_stay_as_they_are(which in 0usize..4, changes in vec((any::<prop::sample::Index>(), "\\PC|\n|\r\n|#|@|:"), 0..12)) {
            let mut text = traces().swap_remove(which);
            for (at, insert) in changes {
                let at = at.index(text.len());
                if text.is_char_boundary(at) {
                    text.insert_str(at, &insert);
                }
            }
            trace(&text);
        }
    }
}
