//! The web pages that may send with a project's token. Browsers send the origin of a page (`Origin`, RFC 6454).
//! Requests without the header are not checked.
//!
//! A request from another page is refused before its body is read, and counted under a named reason.

use url::{Origin, Url};

/// Matches one or more labels at the start of a host.
const ANY_LABELS: &str = "*.";

/// The canonical form of an origin: `https://shop.example`, `https://*.shop.example`, `capacitor://localhost`. Scheme
/// and host, and a port that is not the scheme's default, as browsers send them. `None`: not an origin.
pub fn canonical(text: &str) -> Option<String> {
    let (scheme, host) = text.trim().trim_end_matches('/').split_once("://")?;
    let (any, host) = host.strip_prefix(ANY_LABELS).map_or(("", host), |host| (ANY_LABELS, host));
    let url = Url::parse(&format!("{scheme}://{host}")).ok()?;
    let has_more = !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some();
    if has_more || !url.username().is_empty() || url.password().is_some() || host.contains('*') {
        return None;
    }
    let (scheme, host) = (url.scheme(), url.host_str().filter(|host| !host.is_empty())?);
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    match url.origin() {
        Origin::Tuple(..) => Some(format!("{scheme}://{any}{host}{port}")),
        // The URL standard defines opaque origins for the schemes of apps, but browsers send them in this form.
        Origin::Opaque(_) => Some(format!("{scheme}://{any}{}{port}", host.to_ascii_lowercase())),
    }
}

/// Whether a request with this `Origin` may send. `allowed`: a list of [`canonical`] origins; an empty list allows all.
pub fn allows(allowed: &[String], origin: &[u8]) -> bool {
    if allowed.is_empty() {
        return true;
    }
    let Some(origin) = std::str::from_utf8(origin).ok().and_then(canonical) else { return false };
    allowed.iter().any(|allowed| match allowed.split_once(ANY_LABELS) {
        None => *allowed == origin,
        Some((scheme, host)) => {
            let labels = origin.strip_prefix(scheme).and_then(|rest| rest.strip_suffix(host));
            labels.is_some_and(|labels| labels.ends_with('.') && labels.len() > 1)
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn origins() {
        for (text, expected) in [
            ("https://shop.example", Some("https://shop.example")),
            (" HTTPS://Shop.Example/ ", Some("https://shop.example")),
            ("https://shop.example:443", Some("https://shop.example")),
            ("http://localhost:3000", Some("http://localhost:3000")),
            ("https://*.shop.example", Some("https://*.shop.example")),
            ("capacitor://localhost", Some("capacitor://localhost")),
            ("http://[::1]:8080", Some("http://[::1]:8080")),
            ("*", None),
            ("null", None),
            ("shop.example", None),
            ("https://", None),
            ("https://a.*.example", None),
            ("https://*.*.example", None),
            ("https://shop.example/page", None),
            ("https://shop.example?x", None),
            ("https://user@shop.example", None),
        ] {
            assert_eq!(canonical(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn only_listed_origins_may_send() {
        let allowed = ["https://shop.example", "https://*.pay.example", "http://localhost:3000"].map(str::to_owned);
        for (origin, expected) in [
            ("https://shop.example", true),
            ("https://SHOP.example", true),
            ("https://eu.pay.example", true),
            ("https://a.b.pay.example", true),
            ("http://localhost:3000", true),
            ("https://pay.example", false),
            ("https://.pay.example", false),
            ("https://evilpay.example", false),
            ("http://shop.example", false),
            ("https://shop.example:8443", false),
            ("https://shop.example.evil.example", false),
            ("http://localhost", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(allows(&allowed, origin.as_bytes()), expected, "{origin}");
        }
        assert!(allows(&[], b"https://anything"));
    }

    proptest! {
        #[test]
        fn any_string_is_parsed_or_refused(text: String, bytes: Vec<u8>) {
            if let Some(origin) = canonical(&text) {
                prop_assert_eq!(canonical(&origin), Some(origin.clone()), "it is canonical");
            }
            let _ = allows(&["https://*.shop.example".to_owned()], &bytes);
        }

        #[test]
        fn every_listed_origin_may_send(host in "[a-z]{1,9}(\\.[a-z]{1,9}){0,3}", port in proptest::option::of(1_u16..)) {
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            let origin = canonical(&format!("https://{host}{port}")).expect("an origin");
            prop_assert!(allows(std::slice::from_ref(&origin), origin.as_bytes()));
        }
    }
}
