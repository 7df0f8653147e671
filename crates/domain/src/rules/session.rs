//! Sessions of browsers and apps: their end, and what their attributes say. WIRE 1.6, 1.7, 8.7.

use crate::model::Attributes;
use crate::units::MINUTE_NS;

/// A session without activity for this long is over. WIRE 8.7.
pub const IDLE_NS: i64 = 15 * MINUTE_NS;

/// Maximum duration of a session. WIRE 8.7.
pub const DURATION_MAX_NS: i64 = 65 * MINUTE_NS;

/// Days for which recordings are kept, unless the project keeps its data for less.
pub const RECORDING_DAYS: u32 = 30;

/// Maximum size of the events, logs and actions of one segment in bytes. Larger segments are dropped.
pub const SEGMENT_BYTES_MAX: usize = 16 << 20;

/// Keys of the attribute with the user, the first that is present counts.
const USER_KEYS: [&str; 5] = ["user.id", "userId", "user_id", "enduser.id", "user"];
/// Keys of the attribute with the page.
const PAGE_KEYS: [&str; 5] = ["path", "url", "url.path", "url.full", "screen"];
/// Keys of the attribute with the user agent.
const AGENT_KEYS: [&str; 3] = ["userAgent", "user_agent.original", "user_agent"];
const OS_KEYS: [&str; 2] = ["os.name", "os"];

/// The end of a session; `None` while it is open. Times are nanoseconds since the epoch.
///
/// `ended_ns`: the end that the client sent; 0: none. `last_ns`: the latest activity: start, state or end of a segment.
pub fn end(started_ns: i64, ended_ns: i64, last_ns: i64, now_ns: i64) -> Option<i64> {
    let end_max = started_ns.saturating_add(DURATION_MAX_NS);
    let last_ns = last_ns.max(started_ns);
    if ended_ns != 0 {
        Some(ended_ns.clamp(started_ns, end_max))
    } else if now_ns > last_ns.saturating_add(IDLE_NS) {
        Some(last_ns.min(end_max))
    } else if now_ns > end_max {
        Some(end_max)
    } else {
        None
    }
}

/// The latest activity of a session: its start, the receipt of a state, the end of a segment. A state that was received
/// after the session can have ended is no activity: clients send some later.
pub fn last_activity(started_ns: i64, received_ns: i64, segment_end_ns: i64) -> i64 {
    let is_late = received_ns > started_ns.saturating_add(DURATION_MAX_NS);
    started_ns.max(segment_end_ns).max(if is_late { started_ns } else { received_ns })
}

/// Facts from a session's attributes; empty when unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionFacts<'a> {
    /// Id of the user.
    pub user_id: &'a str,
    /// Path or address of the page.
    pub page: &'a str,
    /// The user agent as received.
    pub agent: &'a str,
    /// Operating system as received.
    pub os: &'a str,
}

/// Reads a session's attributes.
pub fn facts<'a>(attributes: Attributes<'_, 'a>) -> SessionFacts<'a> {
    let first = |keys: &[&str]| keys.iter().find_map(|key| attributes.text(key)).map_or("", str::trim);
    SessionFacts { user_id: first(&USER_KEYS), page: first(&PAGE_KEYS), agent: first(&AGENT_KEYS), os: first(&OS_KEYS) }
}

/// Name and major version of the browser, such as `Firefox 128`; empty when unknown.
pub fn browser(agent: &str) -> String {
    // The first that matches: browsers name those that they are compatible with, too.
    const NAMES: [(&str, &str); 12] = [
        ("Edg/", "Edge"),
        ("EdgA/", "Edge"),
        ("EdgiOS/", "Edge"),
        ("OPR/", "Opera"),
        ("SamsungBrowser/", "Samsung Internet"),
        ("FxiOS/", "Firefox"),
        ("Firefox/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("HeadlessChrome/", "Chrome"),
        ("Chrome/", "Chrome"),
        ("Version/", "Safari"),
        ("MSIE ", "Internet Explorer"),
    ];
    for (token, name) in NAMES {
        let Some((_, rest)) = agent.split_once(token) else { continue };
        if name == "Safari" && !agent.contains("Safari/") {
            continue;
        }
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        return match &rest[..digits.min(4)] {
            "" => name.to_owned(),
            major => format!("{name} {major}"),
        };
    }
    String::new()
}

/// The operating system that a user agent names; empty when unknown.
pub fn os(agent: &str) -> &'static str {
    const NAMES: [(&str, &str); 8] = [
        ("Windows", "Windows"),
        ("Android", "Android"),
        ("iPhone", "iOS"),
        ("iPad", "iOS"),
        ("CrOS", "ChromeOS"),
        ("Macintosh", "macOS"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ];
    NAMES.into_iter().find(|(token, _)| agent.contains(token)).map_or("", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AnyValue, KeyValue};

    // WIRE 8.7: closed 15 min after the last activity, 65 min at most.
    #[test]
    fn end_table() {
        let minutes = |count: i64| count * MINUTE_NS;
        for (ended, last, now, expected) in [
            (0, 0, 14, None),
            (0, 0, 15, None),
            (0, 0, 16, Some(0)),
            (0, 10, 16, None),
            (0, 10, 26, Some(10)),
            (7, 10, 8, Some(7)),
            (7, 10, 999, Some(7)),
            (90, 10, 999, Some(65)),
            (0, 60, 64, None),
            (0, 60, 66, Some(65)),
            (0, 80, 81, Some(65)),
            (0, 80, 999, Some(65)),
            (0, -5, 16, Some(0)),
        ] {
            let found = end(
                minutes(1000),
                if ended == 0 { 0 } else { minutes(1000 + ended) },
                minutes(1000 + last),
                minutes(1000 + now),
            );
            assert_eq!(found, expected.map(|end| minutes(1000 + end)), "{ended} {last} {now}");
        }
        assert_eq!(end(minutes(5), minutes(4), 0, 0), Some(minutes(5)), "an end before the start");
        assert_eq!(end(i64::MAX, i64::MAX, i64::MAX, i64::MAX), Some(i64::MAX));
    }

    #[test]
    fn attributes_name_user_and_page() {
        let pairs = [
            ("url", "https://shop.example/a"),
            ("userId", " "),
            ("user_id", "u7"),
            ("userAgent", "UA"),
            ("path", "/a"),
        ];
        let pairs = pairs.map(|(key, text)| KeyValue { key, value: AnyValue::Str(text) });
        let found = facts(Attributes(&pairs));
        assert_eq!(found, SessionFacts { user_id: "u7", page: "/a", agent: "UA", os: "" });
        assert_eq!(facts(Attributes(&[])), SessionFacts::default());
    }

    #[test]
    fn browser_table() {
        let chrome =
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36";
        for (agent, name, system) in [
            (chrome, "Chrome 126", "Linux"),
            (&chrome.replace("Chrome/", "HeadlessChrome/"), "Chrome 126", "Linux"),
            (&format!("{chrome} Edg/125.0.1"), "Edge 125", "Linux"),
            ("Mozilla/5.0 (Windows NT 10.0; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox 128", "Windows"),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1",
                "Safari 17",
                "iOS",
            ),
            ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/17.5 Safari/605", "Safari 17", "macOS"),
            ("Firefox/é", "Firefox", ""),
            ("UA", "", ""),
            ("", "", ""),
        ] {
            assert_eq!((browser(agent).as_str(), os(agent)), (name, system), "{agent}");
        }
    }
}
