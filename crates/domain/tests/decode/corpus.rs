//! Decodes every export of `fixtures/otlp`, intact and damaged.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use bumpalo::Bump;
use serde_json::Value;
use tidewatch_domain::decode::{Encoding, logs, metrics, traces};
use tidewatch_domain::model::Signal;

use crate::dice::Dice;
use crate::mutate::damaged;
use crate::oracle::{assert_same, canonical, harness};
use crate::scramble::scrambled;

/// One captured request.
struct Capture {
    name: String,
    signal: Signal,
    encoding: Encoding,
    /// Decompressed.
    body: Vec<u8>,
    /// The same request in OTLP/JSON, decoded by another library.
    decoded: Vec<u8>,
}

fn captures() -> Vec<Capture> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/otlp");
    let scenarios = fs::read_dir(root).expect("fixtures/otlp").map(|entry| entry.expect("readable").path());
    let folders = scenarios.map(|scenario| scenario.join("capture")).filter(|folder| folder.is_dir());
    let files = folders.flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let mut bodies: Vec<PathBuf> = files.map(|entry| entry.expect("readable").path()).collect();
    bodies.retain(|path| path.extension().is_some_and(|extension| extension == "body"));
    bodies.sort();
    bodies.iter().map(|path| read_capture(path)).collect()
}

fn read_capture(path: &Path) -> Capture {
    let request: Value =
        serde_json::from_slice(&fs::read(path.with_extension("headers.json")).expect("headers")).expect("JSON");
    let header = |name: &str| {
        let headers = request["headers"].as_array().expect("headers");
        let found = headers.iter().find(|pair| pair[0].as_str().expect("a name").eq_ignore_ascii_case(name));
        found.map(|pair| pair[1].as_str().expect("a value").to_ascii_lowercase()).unwrap_or_default()
    };
    let signal = match request["path"].as_str().expect("a path").rsplit('/').next() {
        Some("traces") => Signal::Traces,
        Some("logs") => Signal::Logs,
        Some("metrics") => Signal::Metrics,
        other => panic!("unknown signal {other:?}"),
    };
    let encoding =
        if header("content-type").starts_with("application/json") { Encoding::Json } else { Encoding::Protobuf };
    let received = fs::read(path).expect("a body");
    let mut body = Vec::new();
    match header("content-encoding").as_str() {
        "gzip" => drop(flate2::read::MultiGzDecoder::new(&received[..]).read_to_end(&mut body).expect("gzip")),
        "deflate" => drop(flate2::read::ZlibDecoder::new(&received[..]).read_to_end(&mut body).expect("zlib")),
        _ => body = received,
    }
    let stem = path.file_stem().expect("a name").to_string_lossy();
    let scenario = path.parent().and_then(Path::parent).expect("a scenario");
    let decoded = scenario.join("decoded").join(format!("{stem}.{}.json", signal.as_str()));
    Capture {
        name: format!("{} {stem}", scenario.file_name().expect("a name").to_string_lossy()),
        signal,
        encoding,
        body,
        decoded: fs::read(decoded).expect("the decoded request"),
    }
}

/// Number of elements in all arrays under `key` in the document.
fn count(document: &Value, key: &str) -> usize {
    match document {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| match value {
                Value::Array(elements) if name == key => elements.len() + count(value, key),
                other => count(other, key),
            })
            .sum(),
        Value::Array(elements) => elements.iter().map(|element| count(element, key)).sum(),
        _ => 0,
    }
}

#[test]
fn every_export_has_the_records_it_was_captured_with() {
    let captures = captures();
    assert!(captures.len() > 90);
    for capture in captures {
        let document: Value = serde_json::from_slice(&capture.decoded).expect("JSON");
        let arena = Bump::new();
        let counts = match capture.signal {
            Signal::Traces => {
                let batch = traces(capture.encoding, &capture.body, &arena).expect(&capture.name);
                assert!(batch.spans.iter().all(|span| span.invalid.is_none()), "{}", capture.name);
                vec![
                    ("resourceSpans", batch.resources.len()),
                    ("scopeSpans", batch.scopes.len()),
                    ("spans", batch.spans.len()),
                    ("events", batch.events.len()),
                    ("links", batch.links.len()),
                    ("attributes", batch.attributes.len()),
                ]
            }
            Signal::Logs => {
                let batch = logs(capture.encoding, &capture.body, &arena).expect(&capture.name);
                vec![("logRecords", batch.records.len()), ("attributes", batch.attributes.len())]
            }
            Signal::Metrics => {
                let batch = metrics(capture.encoding, &capture.body, &arena).expect(&capture.name);
                vec![
                    ("metrics", batch.metrics.len()),
                    ("dataPoints", batch.points.len()),
                    ("attributes", batch.attributes.len()),
                ]
            }
        };
        for (key, found) in counts {
            // The removed field `instrumentationLibrarySpans` is not decoded.
            let mut known = document.clone();
            for block in known["resourceSpans"].as_array_mut().into_iter().flatten() {
                block.as_object_mut().expect("a block").remove("instrumentationLibrarySpans");
            }
            assert_eq!(found, count(&known, key), "{key} of {}", capture.name);
        }
    }
}

/// A request gives equal batches in both encodings.
#[test]
fn every_export_reads_the_same_from_its_json() {
    for Capture { name, signal, encoding, body, decoded } in captures() {
        let arena = Bump::new();
        match signal {
            Signal::Traces => {
                let from_json = traces(Encoding::Json, &decoded, &arena).expect(&name);
                assert_same(
                    &canonical::traces(&traces(encoding, &body, &arena).expect(&name)),
                    &canonical::traces(&from_json),
                );
            }
            Signal::Logs => {
                let from_json = logs(Encoding::Json, &decoded, &arena).expect(&name);
                assert_same(
                    &canonical::logs(&logs(encoding, &body, &arena).expect(&name)),
                    &canonical::logs(&from_json),
                );
            }
            Signal::Metrics => {
                let from_json = metrics(Encoding::Json, &decoded, &arena).expect(&name);
                assert_same(
                    &canonical::metrics(&metrics(encoding, &body, &arena).expect(&name)),
                    &canonical::metrics(&from_json),
                );
            }
        }
    }
}

/// Runs the fuzz targets with a fixed seed and a few thousand inputs.
#[test]
fn damaged_exports_are_read_or_refused_like_the_oracle_does() {
    let mut dice = Dice::new(1);
    for capture in captures() {
        let run = match capture.encoding {
            Encoding::Protobuf => harness::protobuf,
            Encoding::Json => harness::json,
        };
        run(capture.signal, &capture.body);
        harness::json(capture.signal, &capture.decoded);
        for _ in 0..25 {
            let small = &capture.body[..capture.body.len().min(2000)];
            run(capture.signal, &damaged(small, &mut dice));
            run(capture.signal, &damaged(&capture.body, &mut dice));
        }
        // The decoders of other signals must not panic either.
        for signal in [Signal::Traces, Signal::Logs, Signal::Metrics] {
            run(signal, &capture.body);
        }
    }
}

#[test]
fn equivalent_encodings_of_an_export_read_like_the_oracle_does() {
    let mut dice = Dice::new(2);
    for capture in captures().iter().filter(|capture| capture.encoding == Encoding::Protobuf) {
        for _ in 0..20 {
            harness::protobuf(capture.signal, &scrambled(&capture.body, &mut dice));
        }
    }
}
