//! One request: files as a multipart form, streamed from the disk, and made again when the server is busy.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use ureq::SendBody;

use super::find::{Found, Refused};
use super::progress::Progress;
use super::{CALL_MAX, counted};
use tidewatch_ingest::symbols::sort::Fields;
use tidewatch_runtime::outbound;

/// Where uploads go, and on whose behalf.
pub struct Door<'a> {
    pub base: &'a str,
    pub token: &'a str,
    pub fields: Fields<'a>,
    /// Tries until a server answers.
    pub waits: bool,
}

/// What the server said.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// All are kept, but for those listed; and what to know of the others.
    Kept { rejected: Vec<Refused>, warnings: Vec<String> },
    /// None is: 422 (413: for want of room) and why.
    Refused(String),
}

/// A request is made at most so often.
const ATTEMPTS_MAX: u32 = 6;
/// The same where no server answers, unless it is to be waited for.
const ATTEMPTS_UNREACHED_MAX: u32 = 3;
/// A pause is no longer, whatever the server asks for.
const PAUSE_MAX: Duration = Duration::from_secs(60);

impl Door<'_> {
    /// Makes the request until it is answered for good. An error: it is of no use to try others.
    pub fn send(&self, files: &[Found], progress: &Progress) -> anyhow::Result<Answer> {
        let before = progress.done();
        let mut attempt = 1;
        loop {
            let (why, pause, most) = match self.once(files, progress) {
                Ok((200..300, body, _)) => return Ok(kept(&body)),
                // Only a server of this kind answers so for want of room; a proxy says less.
                Ok((413, body, _)) if body.contains("TIDEWATCH_SYMBOLS_PROJECT") => {
                    return Ok(Answer::Refused(sentence(&body)));
                }
                Ok((422, body, _)) => return Ok(Answer::Refused(sentence(&body))),
                Ok((status @ (429 | 503), body, pause)) => {
                    (format!("{status}: {}", sentence(&body)), pause, Some(ATTEMPTS_MAX))
                }
                Ok((401, body, _)) => anyhow::bail!(
                    "{} does not know the upload token: {}; it is in the project's settings",
                    self.base,
                    sentence(&body)
                ),
                Ok((status, body, _)) => anyhow::bail!("{} answered {status}: {}", self.base, sentence(&body)),
                Err(error) => {
                    let most = Some(ATTEMPTS_UNREACHED_MAX).filter(|_| !self.waits);
                    (format!("{} cannot be reached: {error}", self.base), None, most)
                }
            };
            progress.clear();
            progress.back_to(before);
            if let Some(most) = most.filter(|most| attempt >= *most) {
                anyhow::bail!("{} cannot be sent, tried {most} times: {why}", counted(files.len(), "file"));
            }
            let pause = pause.unwrap_or(Duration::from_secs(1 << (attempt - 1).min(6))).min(PAUSE_MAX);
            super::remark(&format!("{why}; again in {} s", pause.as_secs()));
            std::thread::park_timeout(pause);
            attempt += 1;
        }
    }

    /// Status, body, and the pause that the server asks for.
    fn once(&self, files: &[Found], progress: &Progress) -> Result<(u16, String, Option<Duration>), ureq::Error> {
        let boundary = format!("tidewatch-{}", uuid::Uuid::new_v4().simple());
        let form = Form::new(files, self.fields, &boundary, progress.clone());
        let request = outbound::agent(CALL_MAX)
            .post(format!("{}/api/symbols/upload", self.base))
            .header("Authorization", format!("Bearer {}", self.token))
            .header("User-Agent", concat!("tidewatch/", env!("CARGO_PKG_VERSION")))
            .header("Content-Type", format!("multipart/form-data; boundary={boundary}"))
            .header("Content-Length", form.len.to_string())
            // A wrong token or a busy server is told before the files are sent.
            .header("Expect", "100-continue");
        let mut response = request.send(SendBody::from_owned_reader(form))?;
        let pause = response.headers().get("Retry-After").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let body = response.body_mut().read_to_string().unwrap_or_default();
        Ok((response.status().as_u16(), body, pause.map(Duration::from_secs)))
    }
}

/// `{"uploaded": n, "rejected": [{name, error}], "warnings": […]}`. An older server keeps all or none.
fn kept(body: &str) -> Answer {
    let answer: Value = serde_json::from_str(body).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |name: &str| answer[name].as_array().cloned().unwrap_or_default();
    let rejected =
        list("rejected").iter().map(|one| Refused { name: text(&one["name"]), why: text(&one["error"]) }).collect();
    Answer::Kept { rejected, warnings: list("warnings").iter().map(text).collect() }
}

/// `{"error": "…"}`, or what else there is, shortened.
pub fn sentence(body: &str) -> String {
    let error = serde_json::from_str::<Value>(body).ok().and_then(|value| value["error"].as_str().map(str::to_owned));
    error.unwrap_or_else(|| body.chars().take(200).collect())
}

/// A form's bytes, files read as they are sent.
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
    /// Fields first, as the Gradle plugin sends them.
    fn new(files: &[Found], fields: Fields<'_>, boundary: &str, progress: Progress) -> Form {
        let named = [
            ("arch", fields.arch),
            ("debug_id", fields.debug_id),
            ("proguard_uuid", fields.proguard_uuid),
            ("version", fields.version),
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

/// As browsers write names into a form.
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

/// A file that has become shorter breaks the request off: it must not be kept in part.
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
    fn a_form_is_as_long_as_it_says() {
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
    fn a_file_that_became_shorter_ends_the_request() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "123").expect("a file");
        let file = Found { path, name: "a".into(), bytes: 5, hash: String::new(), keys: Vec::new() };
        let mut form = Form::new(&[file], Fields::default(), "B", Progress::new(0));
        assert!(io::copy(&mut form, &mut io::sink()).is_err());
    }

    #[test]
    fn answers_of_the_server() {
        let none = Answer::Kept { rejected: vec![], warnings: vec![] };
        assert_eq!((kept(r#"{"uploaded":2}"#), kept("")), (none, Answer::Kept { rejected: vec![], warnings: vec![] }));
        let some = kept(r#"{"uploaded":1,"rejected":[{"name":"a","error":"no"}],"warnings":["b"]}"#);
        let rejected = vec![Refused { name: "a".into(), why: "no".into() }];
        assert_eq!(some, Answer::Kept { rejected, warnings: vec!["b".into()] });
    }

    #[test]
    fn sentences_of_the_server() {
        assert_eq!(sentence(r#"{"error":"a.map: no"}"#), "a.map: no");
        assert_eq!(sentence("<html>"), "<html>");
    }
}
