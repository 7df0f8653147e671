//! The session cookie and the device cookie of a browser: their attributes, and the CSRF check of requests with a
//! session.
//!
//! Pages of this server get both at sign-in; other programs get none and send a bearer token. The session cookie is
//! `HttpOnly`, `SameSite=Strict`, and behind TLS `Secure` with the prefix `__Host-`, which binds it to the host. A
//! request that changes state is accepted only if the browser attests that a page of this server made it. The device
//! cookie outlives sessions and authenticates nothing; it is `SameSite=Lax`, because sign-in providers redirect from
//! other sites.

use std::sync::Arc;

use axum::http::header::{COOKIE, HOST, ORIGIN};
use axum::http::{Extensions, HeaderMap, HeaderValue, Method};
use parking_lot::Mutex;

/// A cookie of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookie {
    /// The secret of a session.
    Session,
    /// Identifies a browser in which users have signed in (`accounts/devices.rs`).
    Device,
}

impl Cookie {
    /// Browsers accept the prefix `__Host-` only with `Secure`, `Path=/` and without `Domain`.
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

/// The cookies that a response sets. An extension of the request.
#[derive(Debug, Clone, Default)]
pub struct CookieJar {
    /// Whether the client reaches the server through TLS.
    pub is_https: bool,
    set: Arc<Mutex<Vec<(Cookie, HeaderValue)>>>,
}

/// The source of a request, according to the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// A page of this server.
    Own,
    /// A page of another site or of another host of this one.
    Foreign,
    /// No page made the request, or the client does not send the headers.
    Unknown,
}

impl CookieJar {
    /// An empty jar.
    pub fn new(is_https: bool) -> CookieJar {
        CookieJar { is_https, set: Arc::default() }
    }

    /// The jar in a request's extensions; without one, a jar whose cookies are discarded.
    pub fn of(extensions: &Extensions) -> CookieJar {
        extensions.get::<CookieJar>().cloned().unwrap_or_default()
    }

    /// Sets a cookie for `seconds` with the response.
    pub fn set(&self, cookie: Cookie, value: &str, seconds: i64) {
        let name = cookie.name(self.is_https);
        let same_site = if cookie == Cookie::Session { "Strict" } else { "Lax" };
        let secure = if self.is_https { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite={same_site}{secure}");
        let mut set = self.set.lock();
        set.retain(|(known, _)| *known != cookie);
        set.extend(HeaderValue::from_str(&text).map(|value| (cookie, value)));
    }

    /// Removes the session cookie with the response. The device cookie stays.
    pub fn clear(&self) {
        self.set(Cookie::Session, "", 0);
    }

    /// Drains the values of `Set-Cookie` for the response.
    pub fn take(&self) -> Vec<HeaderValue> {
        self.set.lock().drain(..).map(|(_, value)| value).collect()
    }

    /// The value of a cookie in a request; `None` if it is missing or empty.
    pub fn read<'a>(&self, cookie: Cookie, headers: &'a HeaderMap) -> Option<&'a str> {
        let name = cookie.name(self.is_https);
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(known, value)| *known == name && !value.is_empty()).map(|(_, value)| value)
    }
}

/// The source of a request. `base`: the public URL of this server. `Sec-Fetch-Site` has precedence, because pages
/// cannot set it; browsers send it only to trustworthy URLs. `Origin` is the fallback.
pub fn page(headers: &HeaderMap, base: &str) -> Page {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text(SEC_FETCH_SITE) {
        return match site {
            "same-origin" => Page::Own,
            // A navigation by the user, from the address bar or a bookmark.
            "none" => Page::Unknown,
            _ => Page::Foreign,
        };
    }
    let Some(origin) = text(ORIGIN.as_str()) else { return Page::Unknown };
    let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
    let is_host = !authority.is_empty() && text(HOST.as_str()).is_some_and(|host| host.eq_ignore_ascii_case(authority));
    if is_host || origin.eq_ignore_ascii_case(base) { Page::Own } else { Page::Foreign }
}

/// Whether requests with this method change no state.
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
    fn requests_are_attributed_to_pages() {
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
            jar.set(Cookie::Session, "twc_0", 60);
            jar.set(Cookie::Device, "twb_1", 60);
            jar.set(Cookie::Session, "twc_1", 60);
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
            // Without TLS an intermediary could set the cookie: behind TLS it has another name.
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
