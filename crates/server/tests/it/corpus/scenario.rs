//! The captured requests of one folder, in order.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::otlp;

pub struct Scenario {
    pub name: String,
    pub requests: Vec<Request>,
    pub expected: Value,
}

pub struct Request {
    /// `traces`, `metrics` or `logs`.
    pub signal: String,
    content_type: String,
    /// As captured; empty for none.
    coding: String,
    captured: Vec<u8>,
}

/// The content encoding of what is sent.
#[derive(Clone, Copy, PartialEq)]
pub enum Coding {
    AsCaptured,
    Gzip,
    Plain,
}

impl Request {
    /// Body and headers.
    pub fn encoded(&self, coding: Coding) -> (Vec<u8>, Vec<(String, String)>) {
        let mut headers = vec![("Content-Type".to_owned(), self.content_type.clone())];
        let (body, encoding) = match coding {
            Coding::AsCaptured => (self.captured.clone(), self.coding.as_str()),
            Coding::Gzip => (otlp::gzip(&self.unpacked()), "gzip"),
            Coding::Plain => (self.unpacked(), ""),
        };
        if !encoding.is_empty() {
            headers.push(("Content-Encoding".to_owned(), encoding.to_owned()));
        }
        (body, headers)
    }

    fn unpacked(&self) -> Vec<u8> {
        let mut body = Vec::new();
        match self.coding.as_str() {
            "gzip" => flate2::read::MultiGzDecoder::new(&self.captured[..]).read_to_end(&mut body),
            "deflate" => flate2::read::ZlibDecoder::new(&self.captured[..]).read_to_end(&mut body),
            _ => return self.captured.clone(),
        }
        .expect("compressed as the header says");
        body
    }
}

pub fn scenarios() -> Vec<Scenario> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/otlp");
    let mut folders: Vec<_> =
        fs::read_dir(root).expect("fixtures/otlp").map(|entry| entry.expect("readable").path()).collect();
    folders.retain(|folder| folder.join("expected.json").is_file());
    folders.sort();
    assert!(folders.len() >= 36, "only {} scenarios found", folders.len());
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
        let mut pairs = head["headers"].as_array().expect("headers").iter();
        let found = pairs.find(|pair| pair[0].as_str().is_some_and(|name| name.eq_ignore_ascii_case(wanted)));
        found.and_then(|pair| pair[1].as_str()).map(str::to_owned)
    };
    let path = head["path"].as_str().expect("a path");
    Request {
        signal: path.rsplit('/').next().expect("a last segment").to_owned(),
        content_type: header("content-type").unwrap_or_else(|| "application/x-protobuf".to_owned()),
        coding: header("content-encoding").unwrap_or_default().to_ascii_lowercase(),
        captured: fs::read(body_path).expect("readable"),
    }
}
