//! The server that a command talks to.

use anyhow::Context;

/// The server's base URL: the flag (or `TIDEWATCH_URL`), else `TRACEWAY_URL`, which may end in `/api/report` in SDK
/// set-ups.
pub fn base_url(given: Option<&str>) -> anyhow::Result<String> {
    let url = given.map(str::to_owned).or_else(|| environment("TRACEWAY_URL"));
    let url = url.context("which server? give --url, or set TIDEWATCH_URL or TRACEWAY_URL")?;
    let url = url.trim().trim_end_matches('/');
    let url = url.strip_suffix("/api/report").unwrap_or(url);
    anyhow::ensure!(url.starts_with("http://") || url.starts_with("https://"), "not an http(s) address: {url}");
    Ok(url.to_owned())
}

/// An environment variable; `None`: not set, or blank.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Whether it has the format of a project's upload or telemetry token, which cannot be used for anything else.
pub fn is_project_token(token: &str) -> bool {
    token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_servers() {
        for (given, expected) in [
            ("https://t.example/", Some("https://t.example")),
            ("http://127.0.0.1:8080/api/report", Some("http://127.0.0.1:8080")),
            ("t.example", None),
        ] {
            assert_eq!(base_url(Some(given)).ok().as_deref(), expected, "{given}");
        }
    }
}
