//! Redirect URIs of OAuth clients. They are compared as strings, except for the port of loopback addresses. RFC 8252, 7
//! and 8.

use url::Url;

use tidewatch_limits as limits;

/// Known private-use schemes without a dot. Any other needs a dot (RFC 8252, 7.1).
const APPS: [&str; 7] = ["cursor", "vscode", "vscode-insiders", "windsurf", "zed", "claude", "warp"];

/// Whether a client may register the URI: `https` on any host, `http` on loopback, or a private-use scheme.
pub fn may_be_registered(uri: &str) -> bool {
    let Some(parsed) = parse(uri) else { return false };
    match parsed.scheme() {
        "https" => parsed.host_str().is_some_and(|host| !host.is_empty()),
        "http" => is_loopback(&parsed),
        scheme => APPS.contains(&scheme) || scheme.contains('.'),
    }
}

/// Whether the URI of a request is a registered one.
pub fn is_registered(uri: &str, registered: &[String]) -> bool {
    registered.iter().any(|known| known == uri || differ_by_loopback_port(uri, known))
}

/// Parses a URI. `None` if it contains characters or parts that browsers may interpret differently.
fn parse(uri: &str) -> Option<Url> {
    let is_plain = uri.len() <= limits::REDIRECT_URI_BYTES_MAX
        && uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\\"<>`".contains(&byte));
    let parsed = Url::parse(uri).ok().filter(|_| is_plain)?;
    let is_simple = parsed.fragment().is_none() && parsed.username().is_empty() && parsed.password().is_none();
    is_simple.then_some(parsed)
}

fn is_loopback(url: &Url) -> bool {
    matches!(url.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"))
}

fn differ_by_loopback_port(one: &str, other: &str) -> bool {
    let (Some(mut one), Some(mut other)) = (parse(one), parse(other)) else { return false };
    let both = |is: fn(&Url) -> bool| is(&one) && is(&other);
    if !both(|url| url.scheme() == "http" && is_loopback(url)) {
        return false;
    }
    one.set_port(None).is_ok() && other.set_port(None).is_ok() && one == other
}

/// The URI with `pairs` appended to its query. `None` if the URI is invalid.
pub fn with_query(uri: &str, pairs: &[(&str, &str)]) -> Option<String> {
    let mut url = parse(uri)?;
    url.query_pairs_mut().extend_pairs(pairs);
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_uris_may_be_registered() {
        for (uri, expected) in [
            ("https://app.example.com/callback", true),
            ("https://app.example.com/callback?x=1", true),
            ("http://127.0.0.1:3000/callback", true),
            ("http://localhost/callback", true),
            ("http://[::1]:9/callback", true),
            ("com.example.app:/callback", true),
            ("cursor://anysphere.cursor-retrieval/oauth/callback", true),
            ("http://app.example.com/callback", false),
            ("http://127.0.0.1.example.com/", false),
            ("http://localhost.example.com/", false),
            ("http://localhost@example.com/", false),
            ("https://user:secret@example.com/", false),
            ("https://app.example.com/#fragment", false),
            ("https://app.example.com\\@evil.example/", false),
            ("https://app.example.com/ ", false),
            ("https://app.example.com/\n", false),
            ("javascript:alert(1)", false),
            ("javascript://%0aalert(1)", false),
            ("data:text/html,x", false),
            ("file:///etc/passwd", false),
            ("//app.example.com/", false),
            ("/callback", false),
            ("", false),
        ] {
            assert_eq!(may_be_registered(uri), expected, "{uri}");
        }
    }

    // RFC 8252, 7.3 and RFC 9700, 4.1.3.
    #[test]
    fn only_loopback_ports_may_differ() {
        let registered = ["https://app.example.com/callback".to_owned(), "http://127.0.0.1:3000/callback".to_owned()];
        for (uri, expected) in [
            ("https://app.example.com/callback", true),
            ("http://127.0.0.1:3000/callback", true),
            ("http://127.0.0.1:51234/callback", true),
            ("http://127.0.0.1/callback", true),
            ("http://localhost:3000/callback", false),
            ("http://[::1]:3000/callback", false),
            ("https://127.0.0.1:3000/callback", false),
            ("http://127.0.0.1:3000/callback/", false),
            ("http://127.0.0.1:3000/callback?x=1", false),
            ("http://user@127.0.0.1:3000/callback", false),
            ("http://127.0.0.1:3000/other/../callback#x", false),
            ("https://app.example.com:443/callback", false),
            ("https://app.example.com:8443/callback", false),
            ("https://app.example.com/callback/../evil", false),
            ("https://app.example.com/callback?next=https://evil.example", false),
            ("https://APP.example.com/callback", false),
            ("https://app.example.com.evil.example/callback", false),
            ("https://evil.example/callback", false),
            ("", false),
        ] {
            assert_eq!(is_registered(uri, &registered), expected, "{uri}");
        }
    }

    #[test]
    fn parameters_are_appended_to_the_query() {
        for (uri, expected) in [
            ("https://a.example/cb", "https://a.example/cb?code=a%26b&state=x+y"),
            ("https://a.example/cb?k=v", "https://a.example/cb?k=v&code=a%26b&state=x+y"),
            ("cursor://app/cb", "cursor://app/cb?code=a%26b&state=x+y"),
        ] {
            assert_eq!(with_query(uri, &[("code", "a&b"), ("state", "x y")]).as_deref(), Some(expected));
        }
    }
}
