//! Uploads through the gate of upload routes. Spec: limits, row "Upload size"; errors, rows 413 and 422.

use serde_json::json;
use tidewatch_limits as limits;

use crate::client::{self, Answer};
use crate::harness::Harness;

const TYPE: (&str, &str) = ("Content-Type", "multipart/form-data; boundary=XX");

fn part(disposition: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("--XX\r\nContent-Disposition: form-data; {disposition}\r\n\r\n");
    [head.as_bytes(), content, b"\r\n"].concat()
}

fn file(content: &[u8]) -> Vec<u8> {
    part("name=\"files\"; filename=\"a.map\"", content)
}

async fn send(harness: &Harness, parts: &[Vec<u8>], chunked: bool) -> Answer {
    let body = [parts.concat(), b"--XX--\r\n".to_vec()].concat();
    if chunked {
        client::chunked(harness.address(), "/test/upload", &[TYPE], &body).await
    } else {
        client::send(harness.address(), "POST", "/test/upload", &[TYPE], &body).await
    }
}

/// Asserts that no files of uploads are left on disk.
async fn assert_clean(harness: &Harness) {
    let folder = harness.app().process.config.upload_folder();
    for _ in 0..10_000 {
        let left = std::fs::read_dir(&folder).map_or(0, |entries| entries.count());
        if left == 0 {
            return;
        }
        // Files are removed on blocking threads.
        tokio::task::spawn_blocking(|| ()).await.expect("no panic");
    }
    panic!("uploads are left in {}", folder.display());
}

#[tokio::test]
async fn files_and_fields() {
    let harness = Harness::start().await;
    let parts = [part("name=\"version\"", b"1.2"), file(b"{}"), file(&vec![b'x'; 1 << 20]), file(b"")];
    for chunked in [false, true] {
        let answer = send(&harness, &parts, chunked).await.expect(200).json();
        assert_eq!(answer["uploaded"], 3);
        assert_eq!(answer["fields"], json!([["version", "1.2"]]));
        let sizes: Vec<u64> =
            answer["files"].as_array().expect("files").iter().filter_map(|file| file["bytes"].as_u64()).collect();
        assert_eq!(sizes, [2, 1 << 20, 0]);
    }
    assert_clean(&harness).await;
}

#[tokio::test]
async fn an_upload_has_at_most_1000_files() {
    let harness = Harness::start().await;
    for (files, fields, expected) in [
        (limits::UPLOAD_FILES_MAX, 0, 200),
        (limits::UPLOAD_FILES_MAX + 1, 0, 422),
        (1_000_000, 0, 422),
        (0, limits::UPLOAD_FIELDS_MAX, 200),
        (0, limits::UPLOAD_FIELDS_MAX + 1, 422),
    ] {
        let parts = [vec![file(b"1"); files], vec![part("name=v", b"1"); fields]].concat();
        let answer = send(&harness, &parts, true).await;
        assert_eq!(answer.status, expected, "{files} files, {fields} fields");
    }
    assert_clean(&harness).await;
}

#[tokio::test]
async fn one_file_and_all_files_have_a_size() {
    let harness = Harness::start().await;
    let overhead = file(b"").len() + b"--XX--\r\n".len();
    let (max, total) = (limits::UPLOAD_FILE_BYTES_MAX, limits::UPLOAD.body_bytes_max);
    let rest = total - max - overhead - file(b"").len();
    let big = vec![0; max];
    for (name, parts, expected) in [
        ("one file at the limit", vec![file(&big)], 200),
        ("one file over it", vec![file(&[&big[..], b"x"].concat())], 413),
        ("all at the limit", vec![file(&big), file(&big[..rest])], 200),
        ("all over it", vec![file(&big), file(&big[..rest + 1])], 413),
    ] {
        let answer = send(&harness, &parts, true).await;
        assert_eq!(answer.status, expected, "{name}, in chunks");
    }
    assert_eq!(send(&harness, &[part("name=v", &big[..limits::UPLOAD_FIELD_BYTES_MAX + 1])], true).await.status, 413);
    assert_clean(&harness).await;
}

#[tokio::test]
async fn invalid_uploads_are_refused() {
    let harness = Harness::start().await;
    for (headers, body, expected) in [
        (&[("Content-Type", "application/json")][..], &b"{}"[..], 400),
        (&[("Content-Type", "multipart/form-data")], b"", 400),
        (&[TYPE], b"", 400),
        (&[TYPE], b"--XX\r\n", 400),
        (&[TYPE], b"--XX\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a\"\r\n\r\nhalf", 400),
        (&[TYPE, ("Content-Encoding", "gzip")], b"--XX--", 415),
        (&[TYPE], b"--XX--", 200),
    ] {
        let answer = client::send(harness.address(), "POST", "/test/upload", headers, body).await;
        assert_eq!(answer.status, expected, "{headers:?} {}", String::from_utf8_lossy(body));
    }
    assert_clean(&harness).await;
}
