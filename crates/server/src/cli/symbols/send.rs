//! Sends one request: files as a multipart form, streamed from the disk, with retries when the server is overloaded.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use ureq::SendBody;

use super::find::{Found, Refused};
use super::progress::Progress;
use crate::cli::terminal::{counted, remark};

/// Timeout of one call: a large upload over a slow line takes long.
pub(super) const CALL_MAX: Duration = Duration::from_secs(1800);
use tidewatch_ingest::symbols::classify_upload::Fields;
use tidewatch_runtime::outbound;

/// The server and project that files are uploaded to.
pub struct UploadTarget<'a> {
    /// Base URL of the server.
    pub base: &'a str,
    /// Upload token of the project.
    pub token: &'a str,
    /// Form fields that are sent with the files.
    pub fields: Fields<'a>,
    /// Whether to retry without limit while the server cannot be reached.
    pub waits: bool,
}

/// The response to an upload.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// All files are stored except those in `rejected`.
    Kept {
        /// Files that are not stored, and why.
        rejected: Vec<Refused>,
        /// Warnings about stored files, a sentence each.
        warnings: Vec<String>,
    },
    /// No file is stored: 422 or, for lack of space, 413, with the reason.
    Refused(String),
}

/// Maximum number of attempts.
const ATTEMPTS_MAX: u32 = 6;
/// Maximum number of attempts while the server cannot be reached, unless `waits` is set.
const ATTEMPTS_UNREACHED_MAX: u32 = 3;
/// Maximum pause between attempts, also for a longer `Retry-After`.
const PAUSE_MAX: Duration = Duration::from_secs(60);

impl UploadTarget<'_> {
    /// Sends the request with retries. An error: sending other files would fail too.
    pub fn send(&self, files: &[Found], progress: &Progress) -> anyhow::Result<Answer> {
        let before = progress.done();
        let mut attempt = 1;
        loop {
            let (why, pause, most) = match self.once(files, progress) {
                Ok((200..300, body, _)) => return Ok(parse_answer(&body)),
                // Only this server's response for lack of space names the setting; a proxy's 413 does not.
                Ok((413, body, _)) if body.contains("TIDEWATCH_SYMBOLS_PROJECT") => {
                    return Ok(Answer::Refused(error_message(&body)));
                }
                Ok((422, body, _)) => return Ok(Answer::Refused(error_message(&body))),
                Ok((status @ (429 | 503), body, pause)) => {
                    (format!("{status}: {}", error_message(&body)), pause, Some(ATTEMPTS_MAX))
                }
                Ok((401, body, _)) => anyhow::bail!(
                    "{} does not know the upload token: {}; it is in the project's settings",
                    self.base,
                    error_message(&body)
                ),
                Ok((status, body, _)) => anyhow::bail!("{} answered {status}: {}", self.base, error_message(&body)),
                Err(error) => {
                    let most = Some(ATTEMPTS_UNREACHED_MAX).filter(|_| !self.waits);
                    (format!("{} cannot be reached: {error}", self.base), None, most)
                }
            };
            progress.clear();
            progress.rewind_to(before);
            if let Some(most) = most.filter(|most| attempt >= *most) {
                anyhow::bail!("{} cannot be sent, tried {most} times: {why}", counted(files.len(), "file"));
            }
            let pause = pause.unwrap_or(Duration::from_secs(1 << (attempt - 1).min(6))).min(PAUSE_MAX);
            remark(&format!("{why}; again in {} s", pause.as_secs()));
            std::thread::park_timeout(pause);
            attempt += 1;
        }
    }

    /// Sends the request once. Returns status, body and `Retry-After`.
    fn once(&self, files: &[Found], progress: &Progress) -> Result<(u16, String, Option<Duration>), ureq::Error> {
        let boundary = format!("tidewatch-{}", uuid::Uuid::new_v4().simple());
        let form = Form::new(files, self.fields, &boundary, progress.clone());
        let request = outbound::agent(CALL_MAX)
            .post(format!("{}/api/symbols/upload", self.base))
            .header("Authorization", format!("Bearer {}", self.token))
            .header("User-Agent", concat!("tidewatch/", env!("CARGO_PKG_VERSION")))
            .header("Content-Type", format!("multipart/form-data; boundary={boundary}"))
            .header("Content-Length", form.len.to_string())
            // The server can refuse a wrong token, or when it is overloaded, before the files are sent.
            .header("Expect", "100-continue");
        let mut response = request.send(SendBody::from_owned_reader(form))?;
        let pause = response.headers().get("Retry-After").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let body = response.body_mut().read_to_string().unwrap_or_default();
        Ok((response.status().as_u16(), body, pause.map(Duration::from_secs)))
    }
}

/// Parses `{"uploaded": n, "rejected": [{name, error}], "warnings": […]}`. An older server stores all files or none.
fn parse_answer(body: &str) -> Answer {
    let answer: Value = serde_json::from_str(body).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |name: &str| answer[name].as_array().cloned().unwrap_or_default();
    let rejected =
        list("rejected").iter().map(|one| Refused { name: text(&one["name"]), why: text(&one["error"]) }).collect();
    Answer::Kept { rejected, warnings: list("warnings").iter().map(text).collect() }
}

/// The message of an error response: `{"error": "…"}`, or the start of any other body.
pub fn error_message(body: &str) -> String {
    let error = serde_json::from_str::<Value>(body).ok().and_then(|value| value["error"].as_str().map(str::to_owned));
    error.unwrap_or_else(|| body.chars().take(200).collect())
}

/// The bytes of a form; files are read while it is sent.
struct Form {
    parts: std::vec::IntoIter<Part>,
    open: Option<Box<dyn Read>>,
    len: u64,
    progress: Progress,
}

enum Part {
    Text(Vec<u8>),
    File(PathBuf, u64),
}

impl Form {
    /// Fields precede files, as the Gradle plugin sends them.
    fn new(files: &[Found], fields: Fields<'_>, boundary: &str, progress: Progress) -> Form {
        let named = [
            ("arch", fields.arch),
            ("debug_id", fields.debug_id),
            ("proguard_uuid", fields.proguard_uuid),
            ("version", fields.version),
            ("dist", fields.dist),
        ];
        let mut parts = Vec::new();
        for (name, value) in named.iter().filter_map(|(name, value)| Some((name, (*value)?))) {
            let head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            parts.push(Part::Text(head.into_bytes()));
        }
        for file in files {
            let name = escaped(&file.name);
            let head = format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n"
            );
            parts.push(Part::Text(head.into_bytes()));
            parts.push(Part::File(file.path.clone(), file.bytes));
            parts.push(Part::Text(b"\r\n".to_vec()));
        }
        parts.push(Part::Text(format!("--{boundary}--\r\n").into_bytes()));
        let len = |part: &Part| match part {
            Part::Text(text) => text.len() as u64,
            Part::File(_, bytes) => *bytes,
        };
        Form { len: parts.iter().map(len).sum(), parts: parts.into_iter(), open: None, progress }
    }
}

/// Escapes a file name like browsers do in forms.
fn escaped(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

impl Read for Form {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(open) = &mut self.open {
                let read = open.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
            }
            self.open = match self.parts.next() {
                None => return Ok(0),
                Some(Part::Text(text)) => Some(Box::new(Cursor::new(text))),
                Some(Part::File(path, bytes)) => {
                    let file = File::open(path)?.take(bytes);
                    Some(Box::new(Counted { file, progress: self.progress.clone() }))
                }
            };
        }
    }
}

/// Reads a file and counts its bytes. A file that has become shorter fails the request, because it must not be stored
/// in part.
struct Counted {
    file: io::Take<File>,
    progress: Progress,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        if read == 0 && self.file.limit() > 0 && !buffer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a file became shorter while it was sent"));
        }
        self.progress.add(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_form_is_exact() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "12345").expect("a file");
        let file = Found { path, name: "x/\"a\".map".into(), bytes: 5, hash: String::new(), keys: Vec::new() };
        let fields = Fields { version: Some("1.2"), ..Fields::default() };
        let mut form = Form::new(&[file], fields, "B", Progress::new(0));
        let mut text = String::new();
        form.read_to_string(&mut text).expect("the file is there");
        assert_eq!(text.len() as u64, form.len);
        assert_eq!(
            text,
            "--B\r\nContent-Disposition: form-data; name=\"version\"\r\n\r\n1.2\r\n\
             --B\r\nContent-Disposition: form-data; name=\"files\"; filename=\"x/%22a%22.map\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n12345\r\n--B--\r\n"
        );
    }

    #[test]
    fn a_file_that_became_shorter_fails_the_request() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "123").expect("a file");
        let file = Found { path, name: "a".into(), bytes: 5, hash: String::new(), keys: Vec::new() };
        let mut form = Form::new(&[file], Fields::default(), "B", Progress::new(0));
        assert!(io::copy(&mut form, &mut io::sink()).is_err());
    }

    #[test]
    fn responses_of_the_server_are_parsed() {
        let none = Answer::Kept { rejected: vec![], warnings: vec![] };
        assert_eq!(
            (parse_answer(r#"{"uploaded":2}"#), parse_answer("")),
            (none, Answer::Kept { rejected: vec![], warnings: vec![] })
        );
        let some = parse_answer(r#"{"uploaded":1,"rejected":[{"name":"a","error":"no"}],"warnings":["b"]}"#);
        let rejected = vec![Refused { name: "a".into(), why: "no".into() }];
        assert_eq!(some, Answer::Kept { rejected, warnings: vec!["b".into()] });
    }

    #[test]
    fn error_messages_of_the_server_are_parsed() {
        assert_eq!(error_message(r#"{"error":"a.map: no"}"#), "a.map: no");
        assert_eq!(error_message("<html>"), "<html>");
    }
}
