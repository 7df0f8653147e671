//! The security headers of every response: framing, content security policy, MIME sniffing. Spec: limits, row "Frames".

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::ui;

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
     connect-src 'self'; worker-src 'self'; manifest-src 'self'; frame-src 'self'; media-src 'self' blob:; \
     base-uri 'none'; form-action 'self'; object-src 'none'; require-trusted-types-for 'script'; \
     trusted-types 'none'; frame-ancestors 'none'",
);
const DENY: HeaderValue = HeaderValue::from_static("DENY");
const SAME_ORIGIN_ONLY: HeaderValue = HeaderValue::from_static("SAMEORIGIN");
const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");

/// The policy of pages that other sites may frame.
const FRAMED_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
     connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; object-src 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'",
);
const CROSS_ORIGIN: HeaderValue = HeaderValue::from_static("cross-origin");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
/// Browser features that no page uses.
const NO_DEVICES: HeaderValue = HeaderValue::from_static(
    "accelerometer=(), bluetooth=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), \
     magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=(), xr-spatial-tracking=()",
);
/// One year.
const TLS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000; includeSubDomains");
/// Responses of the API depend on the user and the time.
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Sites that may frame a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// No page.
    Nobody,
    /// Pages of this server, and no others: the frame in which recordings are played.
    ReplayFrame,
    /// Every site.
    Anybody,
}

/// Sites that may frame a path. Other sites may frame only `/status/<slug>`, not a status page at the root of a custom
/// domain. Spec: limits, row "Frames".
pub fn framing(path: &str) -> Framing {
    let is_status_page = |slug: &str| !slug.is_empty() && !slug.contains('/');
    match path {
        ui::REPLAY_FRAME => Framing::ReplayFrame,
        path if path.strip_prefix("/status/").is_some_and(is_status_page) => Framing::Anybody,
        _ => Framing::Nobody,
    }
}

/// Sets the headers of a response. `is_https`: the client reaches the server through TLS. UX 3.2.
pub fn guard(headers: &mut HeaderMap, framing: Framing, is_https: bool) {
    match framing {
        Framing::Nobody => {
            headers.insert(CONTENT_SECURITY_POLICY, POLICY);
            headers.insert(X_FRAME_OPTIONS, DENY);
        }
        Framing::ReplayFrame => {
            headers.insert(CONTENT_SECURITY_POLICY, ui::REPLAY_POLICY.clone());
            headers.insert(X_FRAME_OPTIONS, SAME_ORIGIN_ONLY);
        }
        Framing::Anybody => {
            headers.insert(CONTENT_SECURITY_POLICY, FRAMED_POLICY);
        }
    }
    if framing == Framing::Anybody {
        // A cross-origin isolated page can frame only resources with this header.
        headers.insert(RESOURCE_POLICY, CROSS_ORIGIN);
    } else {
        headers.insert(OPENER_POLICY, SAME_ORIGIN);
        // The feed and the badge of a status page are for other sites.
        headers.entry(RESOURCE_POLICY).or_insert(SAME_ORIGIN);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
    headers.insert(REFERRER_POLICY, SAME_ORIGIN);
    headers.insert(PERMISSIONS_POLICY, NO_DEVICES);
    headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
    if is_https {
        headers.insert(STRICT_TRANSPORT_SECURITY, TLS_ONLY);
    }
    headers.insert("x-ui-version", ui::VERSION.clone());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_sites_frame_only_status_pages() {
        for (path, expected) in [
            ("/status/acme", Framing::Anybody),
            ("/status/", Framing::Nobody),
            ("/status", Framing::Nobody),
            ("/status/acme/admin", Framing::Nobody),
            ("/", Framing::Nobody),
            ("/api/status/acme", Framing::Nobody),
            ("/replay-frame.html", Framing::ReplayFrame),
            ("/replay-frame.html/", Framing::Nobody),
            ("/p/replay-frame.html", Framing::Nobody),
        ] {
            assert_eq!(framing(path), expected, "{path}");
        }
    }

    #[test]
    fn headers_of_each_framing() {
        for (framing, ancestors, options) in [
            (Framing::Nobody, Some("frame-ancestors 'none'"), Some("DENY")),
            (Framing::ReplayFrame, Some("frame-ancestors 'self'"), Some("SAMEORIGIN")),
            (Framing::Anybody, None, None),
        ] {
            let mut headers = HeaderMap::new();
            guard(&mut headers, framing, false);
            let policy = headers[CONTENT_SECURITY_POLICY].to_str().expect("text");
            assert!(policy.starts_with("default-src 'none'; script-src "), "{framing:?}");
            let found = policy.find("frame-ancestors").map(|at| policy[at..].split(';').next().unwrap_or_default());
            assert_eq!(found, ancestors, "{framing:?}");
            let found = headers.get(X_FRAME_OPTIONS).map(|value| value.to_str().expect("text"));
            assert_eq!(found, options, "{framing:?}");
            assert_eq!(headers.contains_key(OPENER_POLICY), framing != Framing::Anybody, "{framing:?}");
            assert_eq!(headers[RESOURCE_POLICY] == CROSS_ORIGIN, framing == Framing::Anybody, "{framing:?}");
            assert!(!headers.contains_key(STRICT_TRANSPORT_SECURITY));
        }
    }

    // A recording reaches no network: each source is a data: URL, and the only script is the frame's own.
    #[test]
    fn the_replay_frame_loads_nothing() {
        let policy = ui::REPLAY_POLICY.to_str().expect("text");
        for directive in policy.split("; ") {
            let (name, values) = directive.split_once(' ').unwrap_or((directive, ""));
            let allowed: &[&str] = match name {
                "style-src" => &["'unsafe-inline'"],
                "img-src" | "font-src" | "frame-src" => &["data:"],
                "frame-ancestors" => &["'self'"],
                _ => &["'none'"],
            };
            let is_hash = |value: &str| name == "script-src" && value.starts_with("'sha256-");
            assert!(values.split(' ').all(|value| allowed.contains(&value) || is_hash(value)), "{directive}");
        }
        assert!(policy.starts_with("default-src 'none'; "));
    }
}
