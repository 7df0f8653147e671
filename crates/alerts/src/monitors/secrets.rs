//! The secrets of configurations: masked in answers. A masked value that is sent back stands for the stored one.

use serde_json::Value;

/// Stands for a stored secret.
pub const MASK: &str = "********";

/// Header fields whose values are no secrets.
const HARMLESS: [&str; 9] =
    ["accept", "accept-language", "cache-control", "content-type", "host", "origin", "pragma", "referer", "user-agent"];

/// Calls `each` with every secret of a configuration: its path and its value.
fn visit(config: &mut Value, each: &mut dyn FnMut(&str, &mut Value)) {
    for name in ["password", "token", "headerValue"] {
        let path = format!("/auth/{name}");
        if let Some(secret) = config.pointer_mut(&path).filter(|secret| secret.as_str() != Some("")) {
            each(&path, secret);
        }
    }
    for (name, value) in config.get_mut("env").and_then(Value::as_object_mut).into_iter().flatten() {
        each(&format!("/env/{name}"), value);
    }
    let Some(headers) = config.get_mut("headers").and_then(Value::as_object_mut) else { return };
    for (name, value) in headers {
        if !HARMLESS.iter().any(|harmless| harmless.eq_ignore_ascii_case(name)) {
            each(&format!("/headers/{}", name.replace('~', "~0").replace('/', "~1")), value);
        }
    }
}

/// The configuration as answers have it.
pub fn masked(mut config: Value) -> Value {
    visit(&mut config, &mut |_, secret| *secret = MASK.into());
    config
}

/// The configuration with the stored secrets in place of masks; masks that stand for nothing become empty.
pub fn restored(mut config: Value, stored: &Value) -> Value {
    visit(&mut config, &mut |path, secret| {
        if secret.as_str() == Some(MASK) {
            *secret = stored.pointer(path).cloned().unwrap_or_else(|| "".into());
        }
    });
    config
}

/// Whether sending the stored secrets to the target of `config` would show them to somebody else: it has masks, and
/// another host than the stored configuration, or another script, which may send them anywhere.
pub fn would_leak(config: &Value, stored: &Value) -> bool {
    let origin = |config: &Value| {
        let url = config.get("url").and_then(Value::as_str).and_then(|url| url::Url::parse(url).ok());
        url.map(|url| url.origin())
    };
    let mut has_mask = false;
    visit(&mut config.clone(), &mut |_, secret| has_mask |= secret.as_str() == Some(MASK));
    has_mask && (origin(config) != origin(stored) || config.get("script") != stored.get("script"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_masked_and_restored() {
        let stored = json!({
            "url": "https://a.example/x",
            "auth": { "type": "basic", "username": "ada", "password": "p4ss", "token": "" },
            "headers": { "Accept": "text/html", "X-Api-Key": "k3y", "X/~": "odd" },
        });
        let shown = masked(stored.clone());
        assert_eq!(shown["auth"], json!({ "type": "basic", "username": "ada", "password": MASK, "token": "" }));
        assert_eq!(shown["headers"], json!({ "Accept": "text/html", "X-Api-Key": MASK, "X/~": MASK }));
        assert_eq!(restored(shown.clone(), &stored), stored);

        let mut changed = shown.clone();
        changed["auth"]["password"] = "new".into();
        changed["headers"]["X-New"] = MASK.into();
        let changed = restored(changed, &stored);
        assert_eq!(changed["auth"]["password"], "new");
        assert_eq!((&changed["headers"]["X-Api-Key"], &changed["headers"]["X-New"]), (&json!("k3y"), &json!("")));
    }

    #[test]
    fn stored_secrets_are_not_sent_to_another_host() {
        let stored = json!({ "url": "https://a.example/x", "auth": { "password": "p4ss" } });
        for (url, password, leaks) in [
            ("https://a.example/y", MASK, false),
            ("https://evil.example/x", MASK, true),
            ("http://a.example/x", MASK, true),
            ("https://evil.example/x", "known", false),
        ] {
            let config = json!({ "url": url, "auth": { "password": password } });
            assert_eq!(would_leak(&config, &stored), leaks, "{url} {password}");
        }
        let stored = json!({ "script": "a", "env": { "PASSWORD": "p4ss", "USER": "ada" } });
        assert_eq!(masked(stored.clone())["env"], json!({ "PASSWORD": MASK, "USER": MASK }));
        for (script, password, leaks) in [("a", MASK, false), ("b", MASK, true), ("b", "known", false)] {
            let config = json!({ "script": script, "env": { "PASSWORD": password } });
            assert_eq!(would_leak(&config, &stored), leaks, "{script} {password}");
        }
    }
}
