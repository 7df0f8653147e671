//! Detection of the format of uploads.

use tidewatch_symbols::{Arch, DebugId, Upload, convert_native, detect};

use crate::fixtures;

fn slices(name: &str) -> Vec<(Arch, String, bool)> {
    let bytes = fixtures::read(&fixtures::roots()[0].join(name)).unwrap();
    match detect(&bytes, None).unwrap() {
        Upload::Native { slices, .. } => {
            slices.iter().map(|s| (s.arch, s.id.map_or(String::new(), |id| id.to_string()), s.has_debug_info)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn fat_binaries_have_one_slice_per_architecture() {
    // Spec: /api/symbols/upload, rule 2.
    for (name, arches) in [
        ("macho/AcmeKit.fat3", &[Arch::X64, Arch::Arm64, Arch::Arm64e][..]),
        ("macho/AcmeApp.fat64", &[Arch::X64, Arch::Arm64]),
        ("macho/AcmeMid.fat2", &[Arch::Arm64, Arch::X64]),
    ] {
        let found = slices(name);
        assert_eq!(found.len(), arches.len(), "{name}");
        assert!(
            arches.iter().all(|arch| found.iter().any(|s| s.0 == *arch && s.1.len() == 32 && s.2)),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn images_without_debug_information_are_detected() {
    let (with, without) = (slices("macho/AcmeKit.arm64.dwarf"), slices("macho/AcmeKit.arm64.linked-no-dwarf"));
    assert_eq!((with[0].1.as_str(), with[0].2), (without[0].1.as_str(), true));
    assert!(!without[0].2);
    let bytes = fixtures::read(&fixtures::roots()[0].join("macho/AcmeKit.arm64.linked-no-dwarf")).unwrap();
    let Upload::Native { slices, .. } = detect(&bytes, None).unwrap() else { panic!("native") };
    assert!(convert_native(&bytes, &slices[0]).unwrap_err().to_string().contains("no debug information"));
}

#[test]
fn dart_symbols_carry_a_build_id() {
    let bytes = fixtures::read(&fixtures::roots()[0].join("dart/app.android-arm64.symbols")).unwrap();
    let Upload::Native { slices, is_macho } = detect(&bytes, Some("app.android-arm64.symbols")).unwrap() else {
        panic!("native")
    };
    assert!(!is_macho && slices[0].is_dart);
    assert_eq!((slices[0].id, slices[0].arch), (DebugId::parse("ad4b153b09ea6aef0763d80e337e1904"), Arch::Arm64));
}

#[test]
fn scripts_and_maps_carry_debug_ids() {
    let id = DebugId::parse("641bbd09-4eed-46d1-bf55-ddf3e8f7b565");
    let folder = fixtures::roots()[0].join("js/webpack-debugids");
    let script = fixtures::read(&folder.join("app.min.js")).unwrap();
    assert_eq!(detect(&script, Some("app.min.js")).unwrap(), Upload::Script { debug_id: id, inline_map: None });
    let map = fixtures::read(&folder.join("app.min.js.map")).unwrap();
    assert_eq!(detect(&map, Some("app.min.js.map")).unwrap(), Upload::SourceMap { debug_id: id });
}
