//! Stack traces in the console of a session recording, when it is read. WIRE 1.7.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use tidewatch_domain::rules::framework::Framework;
use tidewatch_domain::rules::recording_logs::{has_script_logs, resolve_logs};
use tidewatch_symbols::Hints;
use uuid::Uuid;

use super::Symbols;
use super::missing::MissingFile;
use super::release::Release;

impl Symbols {
    /// The document of a recording with the stack traces in its logs that were stored raw: source maps may have been
    /// uploaded since; those of another version than `app_version`, which may be empty, do not apply. What cannot be resolved within `time` stays as it is.
    ///
    /// Artifacts may be read from disk: not for async threads.
    pub fn resolve_recording(
        &self,
        project: Uuid,
        framework: Framework,
        document: Vec<u8>,
        app_version: &str,
        (now_ns, time): (i64, Duration),
    ) -> Vec<u8> {
        if !has_script_logs(framework) {
            return document;
        }
        let until = Instant::now() + time;
        let version = Some(app_version).filter(|version| !version.is_empty());
        let release = Release::of(version, None);
        let hints = Hints { language: Some(framework.language()), version, ..Hints::default() };
        let resolve = |message: &str| {
            let is_in_time = Instant::now() < until;
            let (resolved, missing) = is_in_time.then(|| self.resolve(project, message, &hints, now_ns)).flatten()?;
            for request in &missing {
                self.missing.add(project, MissingFile::of(request, &release), now_ns);
            }
            resolved.is_changed(message).then_some(resolved.text)
        };
        with_logs(&document, resolve).unwrap_or(document)
    }
}

/// The document with resolved logs. Other fields, of which the events may be many megabytes, are copied and not read.
fn with_logs(document: &[u8], resolve: impl FnMut(&str) -> Option<String>) -> Option<Vec<u8>> {
    let mut fields: BTreeMap<&str, &RawValue> = serde_json::from_slice(document).ok()?;
    let logs = RawValue::from_string(resolve_logs(fields.get("logs")?.get(), resolve)?).ok()?;
    fields.insert("logs", &logs);
    serde_json::to_vec(&fields).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_logs_change() {
        let document = r#"{"events":[{"type":4, "data":{}}],"logs":[{"level":"error","message":"a"}],"startedAt":"x"}"#;
        let changed = with_logs(document.as_bytes(), |message| (message == "a").then(|| "A".to_owned()));
        assert_eq!(changed, Some(document.replace("\"a\"", "\"A\"").into_bytes()));
        for other in ["", "{}", "[]", r#"{"logs":null}"#] {
            assert_eq!(with_logs(other.as_bytes(), |_| Some(String::new())), None, "{other}");
        }
    }
}
