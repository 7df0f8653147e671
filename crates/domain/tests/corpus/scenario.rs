//! The captured requests of one folder, in order.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::Value;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::Signal;

#[derive(Clone)]
pub struct Scenario {
    pub name: String,
    pub requests: Vec<Request>,
    pub expected: Value,
}

#[derive(Clone)]
pub struct Request {
    pub signal: Signal,
    pub encoding: Encoding,
    /// Decompressed.
    pub body: Vec<u8>,
}

pub fn scenarios() -> Vec<Scenario> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/otlp");
    let mut folders: Vec<_> =
        fs::read_dir(root).expect("fixtures/otlp").map(|entry| entry.expect("readable").path()).collect();
    folders.retain(|folder| folder.join("expected.json").is_file());
    folders.sort();
    assert!(folders.len() > 30, "only {} scenarios found", folders.len());
    folders.iter().map(|folder| scenario(folder)).collect()
}

fn scenario(folder: &Path) -> Scenario {
    let mut bodies: Vec<_> =
        fs::read_dir(folder.join("capture")).expect("captures").map(|entry| entry.expect("readable").path()).collect();
    bodies.retain(|path| path.extension().is_some_and(|extension| extension == "body"));
    bodies.sort();
    Scenario {
        name: folder.file_name().expect("a folder has a name").to_string_lossy().into_owned(),
        requests: bodies.iter().map(|path| request(path)).collect(),
        expected: json(&folder.join("expected.json")),
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("readable")).expect("JSON")
}

fn request(body_path: &Path) -> Request {
    let head = json(&body_path.with_extension("headers.json"));
    let header = |wanted: &str| {
        let pairs = head["headers"].as_array().expect("headers").iter();
        let mut found = pairs.filter(|pair| pair[0].as_str().is_some_and(|name| name.eq_ignore_ascii_case(wanted)));
        found.next().and_then(|pair| pair[1].as_str()).unwrap_or("").to_ascii_lowercase()
    };
    let signal = match head["path"].as_str().and_then(|path| path.rsplit('/').next()) {
        Some("traces") => Signal::Traces,
        Some("metrics") => Signal::Metrics,
        Some("logs") => Signal::Logs,
        other => panic!("unknown path {other:?}"),
    };
    let is_json = header("content-type").starts_with("application/json");
    let received = fs::read(body_path).expect("readable");
    Request {
        signal,
        encoding: if is_json { Encoding::Json } else { Encoding::Protobuf },
        body: unpacked(&header("content-encoding"), received),
    }
}

fn unpacked(coding: &str, received: Vec<u8>) -> Vec<u8> {
    let mut body = Vec::new();
    match coding {
        "gzip" => flate2::read::MultiGzDecoder::new(&received[..]).read_to_end(&mut body),
        "deflate" => flate2::read::ZlibDecoder::new(&received[..]).read_to_end(&mut body),
        _ => return received,
    }
    .expect("compressed as the header says");
    body
}
