//! The messages of the Chrome DevTools Protocol that a script may send to the browser.
//!
//! The protocol can read files of the machine, open sockets beside the proxy, and pass messages on unseen. Such methods
//! are refused. What passes is written anew from what was parsed, so that the browser reads nothing else.

use serde_json::{Map, Value, json};
use url::Url;

/// Domains of which every method passes: they act on a page.
const DOMAINS: [&str; 16] = [
    "Accessibility",
    "CSS",
    "Console",
    "DOM",
    "Debugger",
    "Emulation",
    "Fetch",
    "Input",
    "Inspector",
    "Log",
    "Network",
    "Page",
    "Performance",
    "Profiler",
    "Runtime",
    "WebAuthn",
];

/// Methods of these domains that do not pass: they read or write files, or fetch outside the page.
const REFUSED: [&str; 5] = [
    "DOM.getFileInfo",
    "DOM.setFileInputFiles",
    "Network.loadNetworkResource",
    "Page.handleFileChooser",
    "Page.setDownloadBehavior",
];

/// Methods of other domains that pass.
const METHODS: [&str; 26] = [
    "Browser.cancelDownload",
    "Browser.getVersion",
    "Browser.getWindowBounds",
    "Browser.getWindowForTarget",
    "Browser.grantPermissions",
    "Browser.resetPermissions",
    "Browser.setDownloadBehavior",
    "Browser.setWindowBounds",
    "HeapProfiler.collectGarbage",
    "IO.close",
    "IO.read",
    "Security.setIgnoreCertificateErrors",
    "ServiceWorker.enable",
    "Storage.clearCookies",
    "Storage.getCookies",
    "Storage.setCookies",
    "Target.activateTarget",
    "Target.attachToBrowserTarget",
    "Target.attachToTarget",
    "Target.closeTarget",
    "Target.createBrowserContext",
    "Target.createTarget",
    "Target.detachFromTarget",
    "Target.disposeBrowserContext",
    "Target.getTargetInfo",
    "Target.setAutoAttach",
];

/// Chromium contacts loopback without a proxy unless a list says otherwise.
pub const BYPASSES_NOTHING: &str = "<-loopback>";

/// What becomes of a message of the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passed {
    /// It is sent to the browser in this form.
    Browser(String),
    /// The script receives this answer instead.
    Script(String),
}

/// Checks a message of the script. `proxy`: the proxy of contexts. An error if it is no message of the protocol.
pub fn check(message: &[u8], proxy: &str) -> Result<Passed, String> {
    let mut message: Map<String, Value> =
        serde_json::from_slice(message).map_err(|error| format!("the script sent no message: {error}"))?;
    let id = message.get("id").and_then(Value::as_i64).ok_or("the script sent a message without an id")?;
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
    message.retain(|name, _| matches!(name.as_str(), "id" | "method" | "params" | "sessionId"));
    let params = message.entry("params").or_insert_with(|| Value::Object(Map::new()));
    let params = params.as_object_mut().ok_or("the script sent a message with wrong parameters")?;
    match allowed(&method, params, proxy) {
        Ok(()) => Ok(Passed::Browser(Value::Object(message).to_string())),
        Err(reason) => {
            let session = message.get("sessionId").filter(|session| session.is_string());
            let mut answer = json!({ "id": id, "error": { "code": -32_000, "message": reason } });
            if let Some(session) = session {
                answer["sessionId"] = session.clone();
            }
            Ok(Passed::Script(answer.to_string()))
        }
    }
}

/// Checks a method, and changes its parameters to what they may be. An error is the reason, for the user.
fn allowed(method: &str, params: &mut Map<String, Value>, proxy: &str) -> Result<(), String> {
    let domain = method.split('.').next().unwrap_or_default();
    let passes = METHODS.contains(&method) || (DOMAINS.contains(&domain) && !REFUSED.contains(&method));
    if !passes {
        let method: String = method.chars().take(100).collect();
        return Err(format!("{method} is not available in checks"));
    }
    match method {
        "Page.navigate" | "Target.createTarget" | "Fetch.continueRequest" => address(params),
        "Browser.setDownloadBehavior" => {
            params.remove("downloadPath");
            params.insert("behavior".to_owned(), "deny".into());
            Ok(())
        }
        "Target.createBrowserContext" if params.contains_key("proxyServer") => {
            Err("a proxy is not available in checks".to_owned())
        }
        "Target.createBrowserContext" => {
            params.insert("proxyServer".to_owned(), proxy.into());
            params.insert("proxyBypassList".to_owned(), BYPASSES_NOTHING.into());
            Ok(())
        }
        "Input.dispatchDragEvent" => {
            let files = params.get("data").and_then(|data| data.get("files")).filter(|files| !files.is_null());
            files.map_or(Ok(()), |_| Err("files of the machine are not available in checks".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Checks the address that a page is opened at, and writes it as it was understood.
fn address(params: &mut Map<String, Value>) -> Result<(), String> {
    let address = match params.get("url") {
        None => return Ok(()),
        Some(address) => address.as_str().ok_or("what should be opened is no address")?,
    };
    if address.is_empty() {
        return Ok(());
    }
    let url = Url::parse(address).map_err(|_| "what should be opened is no address".to_owned())?;
    match url.scheme() {
        "http" | "https" | "data" | "blob" => {}
        "about" if matches!(url.path(), "blank" | "srcdoc") => {}
        _ => return Err("only http:, https:, data: and blob: can be opened in checks".to_owned()),
    }
    params.insert("url".to_owned(), String::from(url).into());
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PROXY: &str = "http://127.0.0.1:7";

    fn checked(method: &str, params: Value) -> Result<Value, String> {
        let message = json!({ "id": 7, "method": method, "params": params, "sessionId": "S" }).to_string();
        match check(message.as_bytes(), PROXY).expect("a message") {
            Passed::Browser(message) => {
                let mut message: Value = serde_json::from_str(&message).expect("JSON");
                assert_eq!((&message["id"], &message["sessionId"]), (&json!(7), &json!("S")));
                Ok(message["params"].take())
            }
            Passed::Script(answer) => {
                let answer: Value = serde_json::from_str(&answer).expect("JSON");
                assert_eq!((&answer["id"], &answer["sessionId"]), (&json!(7), &json!("S")));
                Err(answer["error"]["message"].as_str().expect("a message").to_owned())
            }
        }
    }

    #[test]
    fn what_acts_on_pages_passes_unchanged() {
        for (method, params) in [
            ("Runtime.evaluate", json!({ "expression": "1 + 1" })),
            ("Page.navigate", json!({ "url": "https://example.com/a?b#c", "frameId": "F" })),
            ("Page.navigate", json!({ "url": "about:blank" })),
            ("Page.navigate", json!({ "url": "data:text/html,hello" })),
            ("Target.createTarget", json!({ "url": "about:blank", "browserContextId": "C" })),
            ("Target.createTarget", json!({ "url": "" })),
            ("Fetch.continueRequest", json!({ "requestId": "R" })),
            ("Input.dispatchDragEvent", json!({ "data": { "items": [] } })),
        ] {
            assert_eq!(checked(method, params.clone()), Ok(params), "{method}");
        }
        let behavior = json!({ "behavior": "allow", "downloadPath": "/etc", "browserContextId": "C" });
        let denied = json!({ "behavior": "deny", "browserContextId": "C" });
        assert_eq!(checked("Browser.setDownloadBehavior", behavior), Ok(denied));
        let context = json!({ "disposeOnDetach": true, "proxyBypassList": "*" });
        let proxied = json!({ "disposeOnDetach": true, "proxyServer": PROXY, "proxyBypassList": "<-loopback>" });
        assert_eq!(checked("Target.createBrowserContext", context), Ok(proxied));
    }

    /// Files, sockets and other ways around the checks.
    #[test]
    fn what_leaves_the_page_is_refused() {
        for (method, params) in [
            ("Page.navigate", json!({ "url": "file:///etc/passwd" })),
            ("Page.navigate", json!({ "url": " FILE:/etc/passwd" })),
            ("Page.navigate", json!({ "url": "\u{1}fi\nle:///etc/passwd" })),
            ("Page.navigate", json!({ "url": "view-source:file:///etc/passwd" })),
            ("Page.navigate", json!({ "url": "chrome://settings" })),
            ("Page.navigate", json!({ "url": "about:flags" })),
            ("Page.navigate", json!({ "url": "devtools://devtools/bundled/inspector.html" })),
            ("Page.navigate", json!({ "url": "javascript:alert(1)" })),
            ("Page.navigate", json!({ "url": "/etc/passwd" })),
            ("Target.createTarget", json!({ "url": "file:///etc/passwd" })),
            ("Fetch.continueRequest", json!({ "requestId": "R", "url": "file:///etc/passwd" })),
            ("Target.createBrowserContext", json!({ "proxyServer": "direct://" })),
            ("Target.setRemoteLocations", json!({ "locations": [] })),
            ("Target.exposeDevToolsProtocol", json!({ "targetId": "T" })),
            ("Target.sendMessageToTarget", json!({ "message": "{}" })),
            ("DOM.setFileInputFiles", json!({ "files": ["/etc/passwd"] })),
            ("Input.dispatchDragEvent", json!({ "data": { "items": [], "files": ["/etc/passwd"] } })),
            ("Page.setDownloadBehavior", json!({ "behavior": "allow", "downloadPath": "/etc" })),
            ("Network.loadNetworkResource", json!({ "url": "file:///etc/passwd" })),
            ("Extensions.loadUnpacked", json!({ "path": "/tmp" })),
            ("Tethering.bind", json!({ "port": 1 })),
            ("Cast.enable", json!({})),
            ("SystemInfo.getInfo", json!({})),
            ("Tracing.start", json!({})),
            ("", json!({})),
        ] {
            assert!(checked(method, params.clone()).is_err(), "{method} {params}");
        }
    }

    #[test]
    fn a_key_that_is_there_twice_is_read_once() {
        let twice = br#"{"id":1,"method":"Page.navigate","params":{"url":"file:///a","url":"https://a.example/"}}"#;
        let Ok(Passed::Browser(message)) = check(twice, PROXY) else { panic!("the last one counts") };
        assert!(!message.contains("file:"), "{message}");
    }

    proptest! {
        /// Messages are foreign bytes.
        #[test]
        fn any_message_is_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            method in "[A-Za-z.]{0,30}",
            address in any::<String>(),
        ) {
            let _ = check(&bytes, PROXY);
            let message = json!({ "id": 1, "method": method, "params": { "url": address } }).to_string();
            prop_assert!(check(message.as_bytes(), PROXY).is_ok());
            let message = json!({ "id": 1, "method": "Page.navigate", "params": { "url": address } }).to_string();
            if let Ok(Passed::Browser(message)) = check(message.as_bytes(), PROXY) {
                let message: Value = serde_json::from_str(&message).expect("JSON");
                let url = message["params"]["url"].as_str().expect("an address");
                prop_assert!(url.is_empty() || ["http:", "https:", "data:", "blob:", "about:"].iter().any(|start| url.starts_with(start)));
            }
        }
    }
}
