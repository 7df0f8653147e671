//! Stack traces in the console of a session recording. WIRE 1.7.

use memchr::memmem;
use serde_json::Value;

use super::framework::Framework;

/// Length of a list of logs in bytes up to which its stack traces are resolved.
const LOGS_BYTES_MAX: usize = 1 << 20;

/// Whether the stack traces in recordings of a project with this framework are resolved: those of JavaScript, and of
/// projects without a framework.
pub fn has_script_logs(framework: Framework) -> bool {
    !matches!(framework, Framework::Flutter | Framework::Android | Framework::Ios)
}

/// The `logs` of a recording, a JSON list, with the messages of level `error` that `resolve` changes; none when nothing
/// changes. Anything else in the list stays as it is.
pub fn resolve_logs(logs: &str, mut resolve: impl FnMut(&str) -> Option<String>) -> Option<String> {
    if logs.len() > LOGS_BYTES_MAX || memmem::find(logs.as_bytes(), b"error").is_none() {
        return None;
    }
    let mut list: Vec<Value> = serde_json::from_str(logs).ok()?;
    let mut is_changed = false;
    for log in &mut list {
        let Some(log) = log.as_object_mut().filter(|log| log.get("level").is_some_and(|level| level == "error")) else {
            continue;
        };
        if let Some(text) = log.get("message").and_then(Value::as_str).and_then(&mut resolve) {
            log.insert("message".to_owned(), Value::String(text));
            is_changed = true;
        }
    }
    if is_changed { serde_json::to_string(&list).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shouted(logs: &str) -> Option<String> {
        resolve_logs(logs, |message| (message == "a").then(|| "A".to_owned()))
    }

    #[test]
    fn only_messages_of_errors_change() {
        let logs = r#"[{"level":"error","message":"a","n":1.50},{"level":"info","message":"a"},{"level":"error"},7]"#;
        let changed = r#"[{"level":"error","message":"A","n":1.5},{"level":"info","message":"a"},{"level":"error"},7]"#;
        assert_eq!(shouted(logs).as_deref(), Some(changed));
    }

    #[test]
    fn other_lists_stay_as_they_are() {
        for logs in ["", "null", "{}", "[]", r#"{"level":"error","message":"a"}"#, r#"["error"]"#, "[\"error\""] {
            assert_eq!(shouted(logs), None, "{logs}");
        }
        let long = format!(r#"[{{"level":"error","message":"a","x":"{}"}}]"#, "x".repeat(LOGS_BYTES_MAX));
        assert_eq!(shouted(&long), None);
    }
}
