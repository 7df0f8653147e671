//! The name of an Endpoint: `METHOD route`, `METHOD path`, `UNMATCHED`, or a junk name. SPEC endpoint naming,
//! DECISIONS 3.

use bumpalo::Bump;

use super::http::HttpRequest;

/// The name of all 404s without a matched route. SPEC endpoint naming, rule 2.
pub const UNMATCHED: &str = "UNMATCHED";

/// Name and status of an Endpoint row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointName<'a> {
    /// Name of the group.
    pub name: &'a str,
    /// HTTP status of the row, 0 when missing.
    pub status: i16,
}

/// The name and status of the Endpoint of a request.
pub fn endpoint_name<'a>(request: &HttpRequest<'a>, span_name: &'a str, arena: &'a Bump) -> EndpointName<'a> {
    let HttpRequest { method, route, path, status, .. } = *request;
    if method.is_empty() {
        // SPEC classification, rule 2: a junk name and status code 0, even if the span has status 404 (DECISIONS 3).
        let name = if span_name.is_empty() { first([route, path]) } else { span_name };
        return EndpointName { name, status: 0 };
    }
    if status == 404 && (route.is_empty() || is_catch_all(route)) {
        return EndpointName { name: UNMATCHED, status };
    }
    let target = first([route, path, span_name]);
    let name = if target.is_empty() { method } else { joined(method, target, arena) };
    EndpointName { name, status }
}

fn first<const N: usize>(candidates: [&str; N]) -> &str {
    candidates.into_iter().find(|text| !text.is_empty()).unwrap_or("")
}

fn joined<'a>(method: &str, target: &str, arena: &'a Bump) -> &'a str {
    let mut name = bumpalo::collections::String::with_capacity_in(method.len() + 1 + target.len(), arena);
    name.push_str(method);
    name.push(' ');
    name.push_str(target);
    name.into_bump_str()
}

/// Whether the route consists of slashes and wildcards only: `/`, `/*`, `/**`, `*/*`. SPEC endpoint naming, rule 2.
fn is_catch_all(route: &str) -> bool {
    let route = route.trim();
    !route.is_empty() && route.bytes().all(|byte| byte == b'/' || byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    // Spec: endpoint naming, rules 1 to 3; classification, rule 2; DECISIONS 3.
    #[test]
    fn naming_table() {
        for (method, route, path, span_name, status, expected, expected_status) in [
            // Rule 1: METHOD route, falling back to the path.
            ("GET", "/users/:id", "/users/7", "GET", 200, "GET /users/:id", 200),
            ("GET", "api/users/<int:pk>", "/api/users/7", "GET", 200, "GET api/users/<int:pk>", 200),
            ("GET", "", "/users/7", "fetch", 200, "GET /users/7", 200),
            ("GET", "", "/users/7", "fetch", 500, "GET /users/7", 500),
            ("_OTHER", "/pages/:id", "", "HTTP", 405, "_OTHER /pages/:id", 405),
            ("GET", "/a", "", "GET", 0, "GET /a", 0),
            ("GET", "", "", "my handler", 200, "GET my handler", 200),
            ("GET", "", "", "", 200, "GET", 200),
            // Rule 2: UNMATCHED is a 404 without a valid route or with a catch-all.
            ("GET", "", "/nope", "GET", 404, "UNMATCHED", 404),
            ("GET", "/", "/nope", "GET", 404, "UNMATCHED", 404),
            ("GET", "/*", "/nope", "GET", 404, "UNMATCHED", 404),
            ("GET", "/**", "/nope", "GET", 404, "UNMATCHED", 404),
            ("GET", "*/*", "/nope", "GET", 404, "UNMATCHED", 404),
            ("GET", "*", "/nope", "GET", 404, "UNMATCHED", 404),
            ("GET", "/", "/", "GET", 200, "GET /", 200),
            ("GET", "/*", "/x", "GET", 200, "GET /*", 200),
            ("GET", "*", "/x", "GET", 500, "GET *", 500),
            // Rule 3: a 404 from a matched route keeps its name; a scoped wildcard is a real route.
            ("GET", "/users/:id", "/users/7", "GET", 404, "GET /users/:id", 404),
            ("GET", "/api/*", "/api/x", "GET", 404, "GET /api/*", 404),
            ("GET", "/static/**", "/static/x", "GET", 404, "GET /static/**", 404),
            // Classification, rule 2: no method gives a junk name and status 0.
            ("", "/checkout", "", "middleware - auth", 0, "middleware - auth", 0),
            ("", "/checkout", "", "middleware - auth", 200, "middleware - auth", 0),
            ("", "/checkout", "", "", 0, "/checkout", 0),
            ("", "/*", "/nope", "middleware - cors", 404, "middleware - cors", 0),
            ("", "", "/nope", "middleware - cors", 404, "middleware - cors", 0),
            ("", "", "/nope", "", 404, "/nope", 0),
            ("", "", "/p", "", 0, "/p", 0),
        ] {
            let arena = Bump::new();
            let request = HttpRequest { method, route, path, status, ..HttpRequest::default() };
            let actual = endpoint_name(&request, span_name, &arena);
            assert_eq!(actual, EndpointName { name: expected, status: expected_status });
        }
    }
}
