//! The tests of the source map specification (tc39/source-map-tests).

use serde::Deserialize;
use tidewatch_symbols::{Artifact, Script, convert_source_map};

use crate::fixtures;

#[derive(Deserialize)]
struct Suite {
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    name: String,
    source_map_file: String,
    source_map_is_valid: bool,
    #[serde(default)]
    test_actions: Vec<Action>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Action {
    action_type: String,
    generated_line: Option<u32>,
    generated_column: Option<u32>,
    original_source: Option<String>,
    original_line: Option<u32>,
    original_column: Option<u32>,
    mapped_name: Option<String>,
}

/// Maps that are invalid by the specification but accepted, because their defects do not affect look-ups.
const ACCEPTED: [&str; 11] = [
    "fileNotAString1",
    "fileNotAString2",
    "ignoreListWrongType1",
    "ignoreListWrongType2",
    "ignoreListWrongType3",
    "ignoreListWrongType4",
    "ignoreListOutOfBounds1",
    "ignoreListOutOfBounds2",
    "indexMapFileWrongType1",
    "indexMapFileWrongType2",
    // Empty segments are skipped, and overlapping sections are cut.
    "invalidMappingSegmentWithZeroFields",
];

#[test]
fn the_specification_is_followed() {
    for root in fixtures::roots() {
        let folder = root.join("public/tc39-source-map-tests");
        let Some(Suite { tests }) = fixtures::json(&folder.join("source-map-spec-tests.json")) else { continue };
        let mut wrong = Vec::new();
        for test in &tests {
            let Some(map) = fixtures::read(&folder.join("resources").join(&test.source_map_file)) else { continue };
            let converted = convert_source_map(&map, None, None);
            let accepted = ACCEPTED.contains(&test.name.as_str()) || test.name == "indexMapInvalidOverlap";
            if converted.is_ok() != test.source_map_is_valid && !(accepted && converted.is_ok()) {
                wrong.push(format!("{}: {:?}", test.name, converted.as_ref().err()));
            }
            let Ok(artifact) = converted else { continue };
            let script = Script::open(Artifact::open(&artifact).unwrap()).unwrap();
            for action in test.test_actions.iter().filter(|a| a.action_type == "checkMapping") {
                let (Some(line), Some(column)) = (action.generated_line, action.generated_column) else { continue };
                let place = script.place(line + 1, column);
                let same = match (&place, &action.original_source) {
                    (None, None) => true,
                    (Some(p), None) => p.source() == "<unknown>",
                    (Some(p), Some(source)) => {
                        p.source().ends_with(source.as_str())
                            && Some(p.line - 1) == action.original_line
                            && Some(p.column) == action.original_column
                            && p.name() == action.mapped_name.as_deref()
                    }
                    _ => false,
                };
                if !same {
                    let found =
                        place.map(|p| (p.source().to_owned(), p.line - 1, p.column, p.name().map(str::to_owned)));
                    wrong.push(format!("{}: {line}:{column} {:?} {found:?}", test.name, action.original_source));
                }
            }
        }
        wrong.iter().for_each(|w| eprintln!("{w}"));
        assert!(wrong.is_empty(), "{} of {} tests", wrong.len(), tests.len());
    }
}
