//! The cookies of a page: its session and its browser. Which requests the session counts in, and how both are set.
//!
//! A page of this server gets them when its person signs in; programs without a page get none and send the login as a
//! bearer token. `HttpOnly`, `SameSite=Strict`, and behind TLS `Secure` and bound to the host by the prefix `__Host-`.
//! A request that changes something counts only when the browser says that a page of this server made it. The browser's
//! cookie outlives sessions and opens nothing; it is `SameSite=Lax`, because providers send people back from other sites.

use std::sync::Arc;

use axum::http::header::{COOKIE, HOST, ORIGIN};
use axum::http::{Extensions, HeaderMap, HeaderValue, Method};
use parking_lot::Mutex;

/// Which cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookie {
    Session,
    /// The browser that people signed in from (`control/devices.rs`).
    Device,
}

impl Cookie {
    /// Browsers take a name that begins with `__Host-` only with `Secure`, `Path=/` and without `Domain`.
    fn name(self, is_https: bool) -> &'static str {
        match (self, is_https) {
            (Cookie::Session, false) => "tidewatch_session",
            (Cookie::Session, true) => "__Host-tidewatch_session",
            (Cookie::Device, false) => "tidewatch_device",
            (Cookie::Device, true) => "__Host-tidewatch_device",
        }
    }
}

const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// What a request needs to know about cookies, and the cookies that its answer sets. An extension of the request.
#[derive(Debug, Clone, Default)]
pub struct CookieJar {
    pub is_https: bool,
    set: Arc<Mutex<Vec<(Cookie, HeaderValue)>>>,
}

/// Where the browser says that a request was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// A page of this server.
    Own,
    /// A page of another site or of another host of this one.
    Foreign,
    /// The browser does not say, or there is none.
    Unknown,
}

impl CookieJar {
    pub fn new(is_https: bool) -> CookieJar {
        CookieJar { is_https, set: Arc::default() }
    }

    /// The jar of a request; one that nobody looks into where the server has put none.
    pub fn of(extensions: &Extensions) -> CookieJar {
        extensions.get::<CookieJar>().cloned().unwrap_or_default()
    }

    /// The answer sets this value. `seconds`: its life.
    pub fn keep(&self, cookie: Cookie, value: &str, seconds: i64) {
        let name = cookie.name(self.is_https);
        let same_site = if cookie == Cookie::Session { "Strict" } else { "Lax" };
        let secure = if self.is_https { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite={same_site}{secure}");
        let mut set = self.set.lock();
        set.retain(|(known, _)| *known != cookie);
        set.extend(HeaderValue::from_str(&text).map(|value| (cookie, value)));
    }

    /// The answer ends the session's cookie. The browser's stays.
    pub fn clear(&self) {
        self.keep(Cookie::Session, "", 0);
    }

    /// For the answer: each `Set-Cookie`.
    pub fn take(&self) -> Vec<HeaderValue> {
        self.set.lock().drain(..).map(|(_, value)| value).collect()
    }

    /// The cookie's value in a request.
    pub fn read<'a>(&self, cookie: Cookie, headers: &'a HeaderMap) -> Option<&'a str> {
        let name = cookie.name(self.is_https);
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(known, value)| *known == name && !value.is_empty()).map(|(_, value)| value)
    }
}

/// `base`: this server's address. `Sec-Fetch-Site` counts first: browsers send it where they trust the connection, and
/// no page can set it. `Origin` otherwise.
pub fn page(headers: &HeaderMap, base: &str) -> Page {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text(SEC_FETCH_SITE) {
        return match site {
            "same-origin" => Page::Own,
            // Typed into the address bar, or a bookmark: no page made it.
            "none" => Page::Unknown,
            _ => Page::Foreign,
        };
    }
    let Some(origin) = text(ORIGIN.as_str()) else { return Page::Unknown };
    let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
    let is_host = !authority.is_empty() && text(HOST.as_str()).is_some_and(|host| host.eq_ignore_ascii_case(authority));
    if is_host || origin.eq_ignore_ascii_case(base) { Page::Own } else { Page::Foreign }
}

/// Whether a request with this method changes nothing.
pub fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;
    use proptest::prelude::*;

    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn which_page_made_a_request() {
        let base = "https://tide.example.com";
        for (pairs, expected) in [
            (&[("sec-fetch-site", "same-origin")][..], Page::Own),
            (&[("sec-fetch-site", "same-site")], Page::Foreign),
            (&[("sec-fetch-site", "cross-site"), ("origin", base)], Page::Foreign),
            (&[("sec-fetch-site", "none")], Page::Unknown),
            (&[("origin", base)], Page::Own),
            (&[("origin", "http://10.0.0.7:8080"), ("host", "10.0.0.7:8080")], Page::Own),
            (&[("origin", "http://10.0.0.7:8081"), ("host", "10.0.0.7:8080")], Page::Foreign),
            (&[("origin", "https://evil.example"), ("host", "tide.example.com")], Page::Foreign),
            (&[("origin", "https://tide.example.com.evil.example")], Page::Foreign),
            (&[("origin", "null"), ("host", "tide.example.com")], Page::Foreign),
            (&[("origin", "://"), ("host", "")], Page::Foreign),
            (&[("host", "tide.example.com")], Page::Unknown),
        ] {
            assert_eq!(page(&headers(pairs), base), expected, "{pairs:?}");
        }
    }

    #[test]
    fn a_cookie_is_set_and_read_back() {
        for is_https in [false, true] {
            let jar = CookieJar::new(is_https);
            jar.keep(Cookie::Session, "twc_0", 60);
            jar.keep(Cookie::Device, "twb_1", 60);
            jar.keep(Cookie::Session, "twc_1", 60);
            let [device, set] = jar.take().try_into().expect("each once");
            assert!(device.to_str().unwrap().contains("tidewatch_device=twb_1; "), "{device:?}");
            let set = set.to_str().unwrap();
            for part in ["Path=/", "Max-Age=60", "HttpOnly", "SameSite=Strict"] {
                assert!(set.contains(part), "{set}");
            }
            assert_eq!((set.contains("Secure"), set.starts_with("__Host-")), (is_https, is_https), "{set}");
            let pair = set.split(';').next().unwrap();
            let sent = headers(&[("cookie", &format!("other=1; {pair}"))]);
            assert_eq!(jar.read(Cookie::Session, &sent), Some("twc_1"));
            assert_eq!(jar.read(Cookie::Device, &sent), None);
            // Without TLS anybody on the way could set it: behind TLS its name is another.
            assert_eq!(CookieJar::new(!is_https).read(Cookie::Session, &sent), None);
            assert!(jar.take().is_empty());
        }
        assert_eq!(CookieJar::new(false).read(Cookie::Session, &headers(&[("cookie", "tidewatch_session=")])), None);
    }

    proptest! {
        #[test]
        fn any_cookie_header_is_read_without_panic(
            before in "[ -~]{0,40}", value in "[a-z0-9_]{1,20}", after in "[ -~]{0,40}",
        ) {
            let line = format!("{}; tidewatch_session={value}; {after}", before.replace("tidewatch_session", ""));
            let sent = headers(&[("cookie", &line)]);
            prop_assert_eq!(CookieJar::new(false).read(Cookie::Session, &sent), Some(value.as_str()));
            let both = headers(&[("cookie", &before), ("cookie", &after)]);
            let _ = CookieJar::new(false).read(Cookie::Device, &both);
            let _ = page(&headers(&[("origin", before.trim()), ("host", after.trim())]), &before);
        }
    }
}
