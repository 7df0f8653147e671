//! R8 traces by construction, and mappings of other projects.

use serde::Deserialize;
use tidewatch_symbols::{Artifact, ArtifactSet, DebugId, Hints, Mapping, Trace, Upload, convert_mapping, detect};

use crate::fixtures;

#[derive(Deserialize)]
struct Case {
    obfuscated: String,
    expected: String,
}

fn id() -> DebugId {
    DebugId::parse("6a8cb813-45f6-3652-ad33-778fd1eab196").unwrap()
}

fn retraced(mapping: &[u8], trace: &str) -> String {
    let artifact = convert_mapping(mapping, None).unwrap();
    let mut artifacts = ArtifactSet::new();
    artifacts.add_mapping(id(), Artifact::open(&artifact).unwrap().verify().unwrap());
    let hints = Hints { language: Some("android"), debug_id: Some(id()), ..Hints::default() };
    Trace::read(trace, &hints).unwrap().resolve(&artifacts).text
}

#[test]
fn every_obfuscated_trace_is_retraced() {
    for root in fixtures::roots() {
        let Some(cases) = fixtures::json::<Vec<Case>>(&root.join("r8/traces.json")) else { continue };
        let mapping = fixtures::read(&root.join("r8/mapping.txt")).unwrap();
        assert!(matches!(detect(&mapping, Some("mapping.txt")), Ok(Upload::Mapping { map_id: Some(_) })));
        for case in cases {
            assert_eq!(retraced(&mapping, &case.obfuscated), case.expected, "{}", case.obfuscated);
        }
    }
}

#[test]
fn mappings_of_other_projects_are_converted() {
    for root in fixtures::roots() {
        for path in fixtures::files(&root.join("public/rust-proguard")) {
            if path.extension().is_none_or(|e| e != "txt") {
                continue;
            }
            let mapping = fixtures::read(&path).unwrap();
            assert!(matches!(detect(&mapping, None), Ok(Upload::Mapping { .. })), "{}", path.display());
            let artifact = convert_mapping(&mapping, None).unwrap();
            let mapped = Mapping::open(Artifact::open(&artifact).unwrap().verify().unwrap()).unwrap();
            for line in String::from_utf8_lossy(&mapping).lines().filter(|l| !l.starts_with([' ', '#'])) {
                let Some((original, obfuscated)) = line.strip_suffix(':').and_then(|l| l.split_once(" -> ")) else {
                    continue;
                };
                assert!(mapped.class(obfuscated).is_some(), "{original} -> {obfuscated} in {}", path.display());
            }
        }
    }
}

const MAPPING: &str = r##"# compiler: R8
outline.Class -> a:
    1:2:int outline() -> a
    # {"id":"com.android.tools.r8.outline"}
some.Class -> b:
# {"id":"sourceFile","fileName":"Class.kt"}
    1:1:void foo.bar.Baz.qux():42:42 -> s
    4:4:int outlineCaller(int):98:98 -> s
    5:5:int outlineCaller(int):100:100 -> s
    27:27:int outlineCaller(int):0:0 -> s
    # {"id":"com.android.tools.r8.outlineCallsite","positions":{"1":4,"2":5},"outline":"La;a()I"}
    1:1:void lambda$run$0():7:7 -> t
    1:1:void accept():0:0 -> t
    # {"id":"com.android.tools.r8.synthesized"}
    1:1:void inner():11:11 -> u
    1:1:void outer():12:12 -> u
    # {"id":"com.android.tools.r8.rewriteFrame","conditions":["throws(Ljava/lang/NullPointerException;)"],"actions":["removeInnerFrames(1)"]}
    void alone() -> v
"##;

#[track_caller]
fn check(trace: &str, expected: &str) {
    assert_eq!(retraced(MAPPING.as_bytes(), trace), expected);
}

#[test]
fn comments_of_r8_are_followed() {
    check("E: x\n\tat a.a(:1)\n\tat b.s(:27)", "E: x\n\tat some.Class.outlineCaller(Class.kt:98)");
    check("E: x\n\tat a.a(:2)\n\tat b.s(:27)", "E: x\n\tat some.Class.outlineCaller(Class.kt:100)");
    check("E: x\n\tat b.t(SourceFile:1)", "E: x\n\tat some.Class.lambda$run$0(Class.kt:7)");
    check(
        "java.lang.NullPointerException: x\n\tat b.u(SourceFile:1)\n\tat b.u(SourceFile:1)",
        "java.lang.NullPointerException: x\n\tat some.Class.outer(Class.kt:12)\n\tat some.Class.inner(Class.kt:11)\n\tat some.Class.outer(Class.kt:12)",
    );
}

#[test]
fn causes_and_what_is_unknown_keep_their_form() {
    check(
        "b: x\n\tat b.s(SourceFile:1)\n\tSuppressed: b: y\n\t\tat b.v(Unknown Source)\nCaused by: b\n\tat android.os.Handler.run(Handler.java:3)\n\t... 3 more\n",
        "some.Class: x\n\tat foo.bar.Baz.qux(Baz.java:42)\n\tSuppressed: some.Class: y\n\t\tat some.Class.alone(Class.kt)\nCaused by: some.Class\n\tat android.os.Handler.run(Handler.java:3)\n\t... 3 more\n",
    );
    check("E\n\tat b.unknown(SourceFile:9)", "E\n\tat some.Class.unknown(Class.kt:9)");
}
