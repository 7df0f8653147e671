//! The security headers of every response: framing, content security policy, MIME sniffing. Spec: limits, row "Frames".

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::ui;

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
     connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; \
     object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'",
);
const DENY: HeaderValue = HeaderValue::from_static("DENY");
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

/// Whether other sites may frame a path: only `/status/<slug>`, not a status page at the root of a custom domain. Spec:
/// limits, row "Frames".
pub fn may_be_framed(path: &str) -> bool {
    path.strip_prefix("/status/").is_some_and(|slug| !slug.is_empty() && !slug.contains('/'))
}

/// Sets the headers of a response. `is_https`: the client reaches the server through TLS. UX 3.2.
pub fn guard(headers: &mut HeaderMap, may_be_framed: bool, is_https: bool) {
    if may_be_framed {
        headers.insert(CONTENT_SECURITY_POLICY, FRAMED_POLICY);
        // A cross-origin isolated page can frame only resources with this header.
        headers.insert(RESOURCE_POLICY, CROSS_ORIGIN);
    } else {
        headers.insert(CONTENT_SECURITY_POLICY, POLICY);
        headers.insert(X_FRAME_OPTIONS, DENY);
        headers.insert(OPENER_POLICY, SAME_ORIGIN);
        headers.insert(RESOURCE_POLICY, SAME_ORIGIN);
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
    fn only_status_pages_may_be_framed() {
        for (path, expected) in [
            ("/status/acme", true),
            ("/status/", false),
            ("/status", false),
            ("/status/acme/admin", false),
            ("/", false),
            ("/api/status/acme", false),
        ] {
            assert_eq!(may_be_framed(path), expected, "{path}");
            let mut headers = HeaderMap::new();
            guard(&mut headers, expected, false);
            let policy = headers[CONTENT_SECURITY_POLICY].to_str().expect("text");
            assert_eq!(policy.contains("frame-ancestors 'none'"), !expected, "{path}");
            assert_eq!(headers.contains_key(X_FRAME_OPTIONS), !expected, "{path}");
            assert_eq!(headers.contains_key(OPENER_POLICY), !expected, "{path}");
            assert_eq!(headers[RESOURCE_POLICY] == CROSS_ORIGIN, expected, "{path}");
            assert!(policy.contains("require-trusted-types-for 'script'"), "{path}");
            assert!(!headers.contains_key(STRICT_TRANSPORT_SECURITY));
        }
    }
}
