//! Resource indicators (RFC 8707): the resource that an access token was requested for, and the paths that it covers.

/// The resources of this server, as paths below its public URL. "" is the whole server.
const PARTS: &[&str] = &["", "/api", "/mcp"];

/// The path of a resource below `base`. `None` if it is not a resource of this server.
fn part<'a>(base: &str, resource: &'a str) -> Option<&'a str> {
    let rest = resource.strip_prefix(base)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    PARTS.contains(&rest).then_some(rest)
}

/// Whether clients can request tokens for `resource`: this server, its API or its MCP endpoint.
pub fn is_ours(base: &str, resource: &str) -> bool {
    part(base, resource).is_some()
}

/// Whether a token for `resource` is valid at `path`.
pub fn covers(base: &str, resource: &str, path: &str) -> bool {
    let Some(part) = part(base, resource) else { return false };
    path.strip_prefix(part).is_some_and(|rest| part.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_below_its_resource() {
        let base = "https://tide.example.com";
        for (resource, path, expected) in [
            ("https://tide.example.com", "/api/projects", true),
            ("https://tide.example.com/", "/mcp", true),
            ("https://tide.example.com/api", "/api/projects", true),
            ("https://tide.example.com/api/", "/api/projects", true),
            ("https://tide.example.com/mcp", "/mcp", true),
            ("https://tide.example.com/mcp", "/mcp/x", true),
            ("https://tide.example.com/mcp", "/mcpx", false),
            ("https://tide.example.com/mcp", "/api/projects", false),
            ("https://tide.example.com/api", "/mcp", false),
            ("https://tide.example.com/api", "/apis", false),
            ("https://tide.example.com.evil.example", "/api/projects", false),
            ("https://evil.example/api", "/api/projects", false),
            ("", "/api/projects", false),
        ] {
            assert_eq!(covers(base, resource, path), expected, "{resource} {path}");
        }
        assert!(is_ours(base, "https://tide.example.com/mcp") && !is_ours(base, "https://tide.example.com/other"));
    }
}
