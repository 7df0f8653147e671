//! Recognizes successful health checks. WIRE 8.6.
//!
//! A project setting drops them with their descendants, which [`crate::project`] finds. Health checks are recognized by a
//! list of well-known paths and by the project's own paths.

use super::http::HttpRequest;

/// Version of the list of well-known paths. Journaled requests are replayed with the list they were accepted with, so
/// another list needs another number.
pub const LIST: u8 = 1;

const PATHS: [&str; 16] = [
    "/health",
    "/healthz",
    "/healthcheck",
    "/health-check",
    "/health_check",
    "/ping",
    "/livez",
    "/readyz",
    "/live",
    "/ready",
    "/alive",
    "/up",
    "/heartbeat",
    "/status",
    "/ht",
    "/actuator/health",
];

/// Whether a project may configure this path: it starts with `/`, with an optional `*` wildcard before or after it, and
/// does not match every request.
pub fn is_own_path(text: &str) -> bool {
    let without = text.strip_prefix('*').unwrap_or(text);
    let without = without.strip_suffix('*').unwrap_or(without);
    let starts = text.starts_with(['/', '*']) && !text.contains(|c: char| c.is_whitespace() || c.is_control());
    let matches_all = without.is_empty() || (without == "/" && without != text);
    starts && !matches_all && !without.contains('*')
}

/// A project's health check filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Healthchecks {
    /// The project's own paths, one per line, with an optional leading and trailing `*`.
    paths: Box<str>,
}

impl Healthchecks {
    /// `paths` has one path per line and at most `u16::MAX` bytes.
    pub fn new(paths: &str) -> Self {
        Healthchecks { paths: paths.into() }
    }

    /// The project's own paths, one per line.
    pub fn paths(&self) -> &str {
        &self.paths
    }

    /// Whether the request is a GET or HEAD of a health check path with a status below 400 or without one.
    pub fn is_healthy(&self, request: &HttpRequest<'_>) -> bool {
        let reads = ["GET", "HEAD"].iter().any(|method| request.method.eq_ignore_ascii_case(method));
        reads
            && request.status < 400
            && self.is_healthcheck(if request.path.is_empty() { request.route } else { request.path })
    }

    /// A trailing slash is ignored.
    fn is_healthcheck(&self, path: &str) -> bool {
        let path = without_slash(path);
        PATHS.contains(&path)
            || path.ends_with("/health")
            || path.starts_with("/actuator/health/")
            || self.paths.split('\n').any(|own| matches(own, path))
    }
}

fn matches(own: &str, path: &str) -> bool {
    let (leads, rest) = own.strip_prefix('*').map_or((false, own), |rest| (true, rest));
    let (trails, text) = rest.strip_suffix('*').map_or((false, rest), |text| (true, text));
    match (leads, trails) {
        _ if text.is_empty() => false,
        (false, false) => without_slash(text) == path,
        (true, false) => path.ends_with(without_slash(text)),
        (false, true) => path.starts_with(text),
        (true, true) => path.contains(text),
    }
}

fn without_slash(path: &str) -> &str {
    match path.strip_suffix('/') {
        None | Some("") => path,
        Some(shorter) => shorter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(path: &str) -> HttpRequest<'_> {
        HttpRequest { method: "GET", path, status: 200, ..HttpRequest::default() }
    }

    // WIRE 8.6.
    #[test]
    fn paths() {
        let own = Healthchecks::new("/\n/internal/probe\n/probes/*\n*/is-ok\n*check-me*");
        for (path, well_known, with_own) in [
            ("/health", true, true),
            ("/health/", true, true),
            ("/healthz", true, true),
            ("/ht", true, true),
            ("/up", true, true),
            ("/actuator/health", true, true),
            ("/actuator/health/liveness", true, true),
            ("/actuator/healthy", false, false),
            ("/api/v1/health", true, true),
            ("/api/v1/healthz", false, false),
            ("/Health", false, false),
            ("/update", false, false),
            ("", false, false),
            ("/", false, true),
            ("/internal/probe", false, true),
            ("/internal/probe/", false, true),
            ("/internal/probe/deep", false, false),
            ("/probes/a", false, true),
            ("/probes", false, false),
            ("/a/b/is-ok", false, true),
            ("/a/please-check-me-now", false, true),
            ("/orders", false, false),
        ] {
            let found = (Healthchecks::default().is_healthy(&get(path)), own.is_healthy(&get(path)));
            assert_eq!(found, (well_known, with_own), "{path}");
        }
    }

    // WIRE 8.6: GET and HEAD, status below 400. The route replaces an absent path.
    #[test]
    fn requests() {
        let default = get("/health");
        for (request, expected) in [
            (HttpRequest { method: "HEAD", ..default }, true),
            (HttpRequest { method: "POST", ..default }, false),
            (HttpRequest { method: "", ..default }, false),
            (HttpRequest { status: 304, ..default }, true),
            (HttpRequest { status: 0, ..default }, true),
            (HttpRequest { status: 400, ..default }, false),
            (HttpRequest { status: 503, ..default }, false),
            (HttpRequest { path: "", route: "/healthz", ..default }, true),
            (HttpRequest { path: "/orders", route: "/healthz", ..default }, false),
        ] {
            assert_eq!(Healthchecks::default().is_healthy(&request), expected, "{request:?}");
        }
    }

    #[test]
    fn own_paths() {
        for (text, expected) in [
            ("/", true),
            ("/probe", true),
            ("/probe/*", true),
            ("*/probe", true),
            ("*probe*", true),
            ("", false),
            ("*", false),
            ("**", false),
            ("/*", false),
            ("*/*", false),
            ("probe", false),
            ("/a*b", false),
            ("/a b", false),
            ("/a\nb", false),
        ] {
            assert_eq!(is_own_path(text), expected, "{text:?}");
        }
    }

    #[test]
    fn an_asterisk_alone_matches_nothing() {
        for paths in ["*", "**", "", "\n"] {
            assert!(!Healthchecks::new(paths).is_healthy(&get("/orders")), "{paths:?}");
        }
    }
}
