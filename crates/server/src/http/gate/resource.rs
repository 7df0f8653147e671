//! RFC 8707: what an access token was asked for, and what it opens.

/// The parts of this server that tokens can be asked for, as paths below its address; "": all of it.
const PARTS: &[&str] = &["", "/api", "/mcp"];

/// The path of a resource below `base`; none when it is not one of this server's.
fn part<'a>(base: &str, resource: &'a str) -> Option<&'a str> {
    let rest = resource.strip_prefix(base)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    PARTS.contains(&rest).then_some(rest)
}

/// Whether tokens can be asked for it: this server, its API and its MCP endpoint, and nothing else.
pub fn is_ours(base: &str, resource: &str) -> bool {
    part(base, resource).is_some()
}

/// Whether a token asked for `resource` opens `path`.
pub fn covers(base: &str, resource: &str, path: &str) -> bool {
    let Some(part) = part(base, resource) else { return false };
    path.strip_prefix(part).is_some_and(|rest| part.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_what_it_was_asked_for() {
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
