//! Hostile inputs from `bad/` and generated ones are refused or converted, never a crash. The work counter bounds time
//! and memory; an unbounded conversion would show as a hanging test.

use std::fmt::Write as _;

use tidewatch_symbols::{
    Artifact, ArtifactSet, Hints, Native, Script, SymbolError, Trace, Upload, convert_mapping, convert_native,
    convert_source_map, detect, limits, slices_of,
};

use crate::fixtures;

/// Processes a file like the server. Returns whether the file was accepted.
fn handle(bytes: &[u8], name: &str) -> bool {
    match detect(bytes, Some(name)) {
        Err(refused) => {
            assert!(!refused.to_string().is_empty() && !refused.to_string().contains('\n'), "{refused}");
            false
        }
        Ok(Upload::Native { slices, .. }) => {
            let mut accepted = false;
            for slice in &slices {
                let Ok(artifact) = convert_native(bytes, slice) else { continue };
                let native = Native::open(Artifact::open(&artifact).unwrap().verify().unwrap()).unwrap();
                for offset in (0..1 << 17).step_by(4).chain([u64::MAX, 1 << 32]) {
                    let frames = native.frames(offset).inspect(|f| {
                        assert!(!f.function().is_empty() && !f.file().is_empty());
                        assert!(!f.function().chars().any(char::is_control) && !f.file().chars().any(char::is_control));
                    });
                    assert!(frames.count() <= limits::INLINE_DEPTH_MAX);
                }
                accepted = true;
            }
            accepted
        }
        Ok(Upload::SourceMap { .. }) => check_map(bytes),
        Ok(Upload::Script { inline_map, .. }) => inline_map.is_some_and(|map| check_map(&map)),
        Ok(Upload::Mapping { .. }) => convert_mapping(bytes, None).is_ok(),
    }
}

fn check_map(bytes: &[u8]) -> bool {
    let Ok(artifact) = convert_source_map(bytes, Some(b"function f(){}"), None) else { return false };
    let script = Script::open(Artifact::open(&artifact).unwrap().verify().unwrap()).unwrap();
    for (line, column) in [(0, 0), (1, 0), (1, 7), (2, u32::MAX), (u32::MAX, u32::MAX)] {
        if let Some(place) = script.place(line, column) {
            assert!(!place.source().chars().any(char::is_control));
            let _ = script.context(&place, 5);
        }
    }
    true
}

#[test]
fn hostile_files_do_not_panic() {
    let mut all = 0;
    for root in fixtures::roots() {
        for path in fixtures::files(&root.join("bad")) {
            let bytes = fixtures::read(&path).unwrap();
            handle(&bytes, path.file_name().unwrap().to_str().unwrap());
            all += 1;
        }
    }
    assert!(all > 100);
}

#[test]
fn files_without_usable_debug_information_are_refused() {
    let root = &fixtures::roots()[0];
    for name in [
        "macho_no_uuid",
        "macho_zero_uuid",
        "macho_trunc_0",
        "macho_trunc_12",
        "java_class",
        "fat_zero_slices",
        "fat_nfat_max",
        "fat_truncated_header",
        "fat_off_overflow",
        "fat_slice_past_eof",
        "fat_self_nested",
        "fat_overlapping",
        "fat_dup_arch",
        "fat64_overflow",
        "elf_garbage",
        "map_version4.map",
        "map_version_str.map",
        "map_no_mappings.map",
        "map_null_mappings.map",
        "map_neg_col.map",
        "map_neg_line.map",
        "map_src_oob.map",
        "map_name_oob.map",
        "map_two_fields.map",
        "map_six_fields.map",
        "map_bad_char.map",
        "map_nonascii.map",
        "map_vlq_overflow.map",
        "map_vlq_trunc.map",
        "map_array.map",
        "map_empty.map",
        "map_utf16.map",
        "map_sections_url.map",
        "map_sections_nested_150.map",
        "map_sections_unsorted.map",
        "map_sections_neg.map",
    ] {
        let bytes = fixtures::read(&root.join("bad").join(name)).unwrap_or_else(|| panic!("{name}"));
        assert!(!handle(&bytes, name), "{name} was taken");
    }
    for name in [
        "map_bom.map",
        "map_xssi.map",
        "map_debugid_bad.map",
        "map_traversal.map",
        "map_hermes_bad.map",
        "map_hermes_neg.map",
    ] {
        let bytes = fixtures::read(&root.join("bad").join(name)).unwrap_or_else(|| panic!("{name}"));
        assert!(handle(&bytes, name), "{name} was refused");
    }
    for (bytes, what) in
        [(b"PK\x03\x04aaaa" as &[u8], "zip"), (b"\x1f\x8b\x08\x00", "gzip"), (b"", "empty"), (b"hello", "known")]
    {
        assert!(detect(bytes, None).unwrap_err().to_string().contains(what));
    }
}

/// A Mach-O debug file with handwritten DWARF.
fn macho(info_body: &[u8], abbreviations: &[u8]) -> Vec<u8> {
    let le4 = |n: u32| n.to_le_bytes().to_vec();
    let le8 = |n: u64| n.to_le_bytes().to_vec();
    let name = |n: &str| [n.as_bytes(), &vec![0; 16 - n.len()]].concat();
    let unit = [vec![4, 0, 0, 0, 0, 0, 8], info_body.to_vec()].concat();
    let info = [le4(unit.len() as u32), unit].concat();
    // One sequence: file 1, line 1, from 0x100001000 over 0x80000 bytes.
    let program = [vec![0, 9, 2], le8(0x1_0000_1000), vec![1, 2, 0x80, 0x80, 0x20, 0, 1, 1]].concat();
    let tables =
        [vec![1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1], vec![0], b"a.c\0\0\0\0\0".to_vec()].concat();
    let line_unit = [vec![4, 0], le4(tables.len() as u32), tables, program].concat();
    let line = [le4(line_unit.len() as u32), line_unit].concat();
    let sections: [(&str, &[u8]); 3] =
        [("__debug_info", &info), ("__debug_abbrev", abbreviations), ("__debug_line", &line)];
    let uuid = [le4(0x1b), le4(24), (1..17).collect()].concat();
    let segment = |segname: &str, address: u64, size: u64, count: u32| {
        [
            le4(0x19),
            le4(72 + 80 * count),
            name(segname),
            le8(address),
            le8(size),
            le8(0),
            le8(0),
            le4(5),
            le4(5),
            le4(count),
            le4(0),
        ]
        .concat()
    };
    let section = |sect: &str, segname: &str, address: u64, size: u64, offset: u32, flags: u32| {
        [
            name(sect),
            name(segname),
            le8(address),
            le8(size),
            le4(offset),
            le4(0),
            le4(0),
            le4(0),
            le4(flags),
            le4(0),
            le4(0),
            le4(0),
        ]
        .concat()
    };
    let text = [
        segment("__TEXT", 0x1_0000_0000, 0x10_0000, 1),
        section("__text", "__TEXT", 0x1_0000_1000, 0x8_0000, 0, 0x8000_0400),
    ]
    .concat();
    let mut offset = (32 + uuid.len() + text.len() + 72 + 80 * sections.len()) as u32;
    let mut dwarf = segment("__DWARF", 0x2_0000_0000, 0x10000, sections.len() as u32);
    for (sect, data) in sections {
        dwarf.extend(section(sect, "__DWARF", 0, data.len() as u64, offset, 0x0200_0000));
        offset += data.len() as u32;
    }
    let commands = [uuid, text, dwarf].concat();
    let header =
        [le4(0xfeed_facf), le4(0x0100_000c), le4(0), le4(10), le4(3), le4(commands.len() as u32), le4(0), le4(0)]
            .concat();
    [header, commands, info.clone(), abbreviations.to_vec(), line.clone()].concat()
}

/// Abbreviations of a unit, a function and inlined calls: `(code, tag, children, attributes)`.
const ABBREVIATIONS: &[u8] = &[
    1, 0x11, 1, 0x03, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, // unit: name, stmt_list, low, high
    2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, // function: name, low, high
    3, 0x1d, 1, 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0x58, 0x0b, 0x59, 0x0b, 0,
    0, // inlined: origin, low, high, call
    7, 0x2e, 0, 0x03, 0x08, 0, 0, // function without code: name
    0,
];

/// The unit, then a function named `name` that covers all code, then `children`.
fn unit(name: &[u8], children: impl FnOnce(u32) -> Vec<u8>) -> Vec<u8> {
    let range = [0x1_0000_1000u64.to_le_bytes(), 0x8_0000u64.to_le_bytes()].concat();
    let root = [b"\x01u\0".to_vec(), vec![0; 4], range.clone()].concat();
    let origin = 11 + root.len() as u32;
    let function = [b"\x07g\0\x02".to_vec(), name.to_vec(), vec![0], range].concat();
    macho(&[root, function, children(origin), vec![0, 0]].concat(), ABBREVIATIONS)
}

fn inlined(origin: u32, low: u64, size: u64) -> Vec<u8> {
    [vec![3], origin.to_le_bytes().to_vec(), low.to_le_bytes().to_vec(), size.to_le_bytes().to_vec(), vec![1, 5]]
        .concat()
}

fn frames_of(bytes: &[u8], offset: u64) -> Vec<String> {
    let Ok(Upload::Native { slices, .. }) = detect(bytes, None) else { panic!("not taken") };
    let artifact = convert_native(bytes, &slices[0]).unwrap();
    let native = Native::open(Artifact::open(&artifact).unwrap()).unwrap();
    native.frames(offset).map(|f| format!("{} ({}:{}:{})", f.function(), f.file(), f.line, f.column)).collect()
}

#[test]
fn inline_chains_are_cut_at_a_depth() {
    // docs/decisions/0005, 7. 50,000 levels overflow the stack of recursive readers.
    for depth in [2_000, 50_000] {
        let bytes = unit(b"f", |origin| {
            let calls: Vec<u8> = (0..depth).flat_map(|_| inlined(origin, 0x1_0000_1000, 0x8_0000)).collect();
            [calls, vec![0; depth]].concat()
        });
        assert_eq!(frames_of(&bytes, 0x1000).len(), limits::INLINE_DEPTH_MAX);
    }
}

#[test]
fn many_overlapping_and_many_small_calls_are_handled() {
    let overlapping = unit(b"f", |origin| {
        (0..20_000)
            .flat_map(|i| {
                [inlined(origin, 0x1_0000_1000 + 4 * (i % 1000), 0x8_0000 - 4 * (i % 1000)), vec![0]].concat()
            })
            .collect()
    });
    assert_eq!(frames_of(&overlapping, 0x1000), ["g (a.c:1:0)", "f (a.c:5:0)"]);
    let siblings = unit(b"f", |origin| {
        (0..40_000).flat_map(|i| [inlined(origin, 0x1_0000_1000 + i * 8, 4), vec![0]].concat()).collect()
    });
    assert_eq!(frames_of(&siblings, 0x1004), ["f (a.c:1:0)"]);
    assert_eq!(frames_of(&siblings, 0x1008), ["g (a.c:1:0)", "f (a.c:5:0)"]);
}

#[test]
fn names_cannot_forge_frames() {
    let evil = b"\x1b[31m<b>\n#99 fake (a:1:1)\xff\xfe";
    let bytes = unit(evil, |_| Vec::new());
    let Ok(Upload::Native { slices, .. }) = detect(&bytes, None) else { panic!("not taken") };
    let artifact = convert_native(&bytes, &slices[0]).unwrap();
    let id = slices[0].id.unwrap();
    let mut artifacts = ArtifactSet::new();
    artifacts.add_native(id, Artifact::open(&artifact).unwrap());
    let text = format!("boom\n*** ***\nos: ios arch: arm64\n#00 {id} 0x1000 App");
    let resolved = Trace::read(&text, &Hints::default()).unwrap().resolve(&artifacts).text;
    assert_eq!(resolved.lines().count(), 2, "{resolved}");
    assert!(resolved.starts_with("boom\n#0 \u{fffd}[31m<b>\u{fffd}#99 fake (a:1:1)"), "{resolved}");
    let long = vec![b'A'; 5_000_000];
    let frames = frames_of(&unit(&long, |_| Vec::new()), 0x1000);
    assert!(frames[0].len() < limits::NAME_BYTES_MAX + 20);
}

#[test]
fn large_maps_are_handled_or_refused() {
    let map = |mappings: &str| format!(r#"{{"version":3,"sources":["a.js"],"names":[],"mappings":"{mappings}"}}"#);
    assert!(handle(map(&";".repeat(20_000_000)).as_bytes(), "a.map"));
    assert!(handle(map(&",".repeat(5_000_000)).as_bytes(), "a.map"));
    assert!(handle(map(&"CAAC,".repeat(3_000_000)).as_bytes(), "a.map"));
    assert!(!handle(map(&"CAAC,".repeat(limits::SEGMENTS_MAX + 1)).as_bytes(), "a.map"));
    assert!(handle(map(&format!("{}A", "g".repeat(200_000))).as_bytes(), "a.map"));
    assert!(!handle(map(&format!("{}B", "/".repeat(200_000))).as_bytes(), "a.map"));
    let depth = format!(
        r#"{{"version":3,"sources":[],"names":[],"mappings":"","x":{}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    handle(depth.as_bytes(), "a.map");
    let mut nulls = String::from(r#"{"version":3,"names":[],"mappings":"","sources":[null"#);
    for _ in 1..1_000_000 {
        nulls.push_str(",null");
    }
    nulls.push_str("]}");
    assert!(handle(nulls.as_bytes(), "a.map"));
    let section = r#"{"version":3,"sources":["a"],"names":[],"mappings":";AAAA"}"#;
    let far = format!(
        r#"{{"version":3,"sections":[{{"offset":{{"line":4294967295,"column":4294967295}},"map":{section}}}]}}"#
    );
    handle(far.as_bytes(), "a.map");
}

#[test]
fn hostile_traces_stay_within_their_bounds() {
    let mut text = String::from("boom\n*** ***\n");
    for i in 0..20_000 {
        let _ = writeln!(text, "#{i} 4c4c44dd55553144a1e29109d2cd8082 0x41cc App");
    }
    let resolved = Trace::read(&text, &Hints::default()).unwrap().resolve(&ArtifactSet::new());
    assert_eq!((resolved.frames, resolved.text), (limits::FRAMES_MAX, text));
    assert!(Trace::read(&"*** ***\n".repeat(1 << 20), &Hints::default()).is_none());
}

// A cancelled conversion ends soon.
#[test]
fn conversions_can_be_interrupted() {
    use tidewatch_symbols::{convert_mapping_unless, convert_native_unless, convert_source_map_unless};
    let root = &fixtures::roots()[0];
    let kit = fixtures::read(&root.join("macho/AcmeKit.arm64.dwarf")).unwrap();
    let slice = slices_of(&kit).unwrap().swap_remove(0);
    let mapping = fixtures::read(&root.join("r8/mapping.txt")).unwrap();
    let map = br#"{"version":3,"sources":["a.ts"],"names":[],"mappings":"AAAA"}"#;
    for (stops, expected) in [(true, Err(SymbolError::Interrupted)), (false, Ok(()))] {
        let stop = || stops;
        assert_eq!(convert_native_unless(&kit, &slice, &stop).map(drop), expected);
        assert_eq!(convert_mapping_unless(&mapping, None, &stop).map(drop), expected);
        assert_eq!(convert_source_map_unless(map, None, None, &stop).map(drop), expected);
    }
}

#[test]
fn names_that_repeat_themselves_are_printed_in_bounded_time() {
    crate::outside_bytes::NAME_BOMBS.iter().for_each(|name| crate::outside_bytes::name(name));
}
