//! Settings of a status page. WIRE 6. A message is one sentence for the owner.

use std::collections::HashSet;

use tidewatch_limits as limits;

use crate::status_pages::StatusComponent;

/// The slug, if it is one: `^[a-z0-9][a-z0-9-]{1,58}[a-z0-9]$`.
pub fn slug(slug: &str) -> Result<String, String> {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_slug = (3..=60).contains(&slug.len())
        && slug.chars().all(|c| is_end(c) || c == '-')
        && slug.starts_with(is_end)
        && slug.ends_with(is_end);
    if is_slug {
        Ok(slug.to_owned())
    } else {
        Err("slug has 3 to 60 lower case letters, digits and dashes, and no dash at its ends".to_owned())
    }
}

/// The host of a custom domain in lower case: a bare host name with a dot, no scheme, port or path. `None`: empty.
pub fn custom_domain(domain: &str) -> Result<Option<String>, String> {
    let domain = domain.trim().to_ascii_lowercase();
    if domain.is_empty() {
        return Ok(None);
    }
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let labels: Vec<&str> = domain.split('.').collect();
    let is_address = labels.last().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    if domain.len() <= 253 && labels.len() >= 2 && labels.iter().all(|label| is_label(label)) && !is_address {
        Ok(Some(domain))
    } else {
        Err("customDomain is a bare host name such as status.example.com".to_owned())
    }
}

/// The host of a `Host` header: in lower case, without the port and the dot at its end.
pub fn host(header: &str) -> String {
    let host = header.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    host.map_or(header, |(host, _)| host).trim_end_matches('.').to_ascii_lowercase()
}

/// The components of a page: `checks` in order, each in the group that names it.
pub fn components(checks: &[i64], groups: &[(String, Vec<i64>)]) -> Result<Vec<StatusComponent>, String> {
    let most = limits::STATUS_PAGE_CHECKS_MAX;
    let distinct: HashSet<i64> = checks.iter().copied().collect();
    if checks.is_empty() || checks.len() > most || distinct.len() != checks.len() {
        return Err(format!("checkIds has 1 to {most} different monitors"));
    }
    let mut group_of = std::collections::HashMap::new();
    let mut names = HashSet::new();
    for (name, ids) in groups {
        let name = line("the name of a group", name, limits::STATUS_GROUP_CHARS_MAX)?;
        if !names.insert(name.clone()) {
            return Err("groups have different names".to_owned());
        }
        for id in ids {
            if !distinct.contains(id) || group_of.insert(*id, name.clone()).is_some() {
                return Err("a group has monitors of checkIds, and each is in one group".to_owned());
            }
        }
    }
    let component = |id: &i64| StatusComponent { check_id: *id, group: group_of.get(id).cloned().unwrap_or_default() };
    Ok(checks.iter().map(component).collect())
}

/// A trimmed line of 1 to `most` characters.
pub fn line(what: &str, value: &str, most: usize) -> Result<String, String> {
    let value = value.trim();
    let is_hidden = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if value.is_empty() || value.chars().count() > most || value.contains(is_hidden) {
        return Err(format!("{what} has 1 to {most} characters on one line"));
    }
    Ok(value.to_owned())
}

/// Trimmed lines of at most `most` characters.
pub fn lines(what: &str, value: &str, most: usize) -> Result<String, String> {
    let value = value.trim().replace("\r\n", "\n");
    let is_hidden = |c: char| c != '\n' && c != '\t' && c.is_control();
    if value.chars().count() > most || value.contains(is_hidden) {
        return Err(format!("{what} has at most {most} characters"));
    }
    Ok(value)
}

/// The address of a webhook that subscribes: `http` or `https`, without credentials.
pub fn webhook(address: &str) -> Result<String, String> {
    let wrong = || "the webhook is an address such as https://example.com/hook".to_owned();
    if address.len() > limits::STATUS_WEBHOOK_BYTES_MAX {
        return Err(wrong());
    }
    let url = url::Url::parse(address.trim()).map_err(|_| wrong())?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.host_str().is_some();
    if matches!(url.scheme(), "http" | "https") && is_plain { Ok(url.to_string()) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs() {
        for (value, is_right) in [
            ("abc", true),
            ("a-b", true),
            ("a1-2b", true),
            (&"a".repeat(60), true),
            (&"a".repeat(61), false),
            ("ab", false),
            ("", false),
            ("-ab", false),
            ("ab-", false),
            ("Abc", false),
            ("a_b", false),
            ("a.b", false),
            ("a/b", false),
            ("\u{e4}bc", false),
            ("abc\n", false),
        ] {
            assert_eq!(slug(value).is_ok(), is_right, "{value:?}");
        }
    }

    #[test]
    fn domains_and_hosts() {
        for (value, expected) in [
            ("status.example.com", Ok(Some("status.example.com"))),
            (" Status.Example.COM ", Ok(Some("status.example.com"))),
            ("", Ok(None)),
            ("https://status.example.com", Err(())),
            ("status.example.com/", Err(())),
            ("status.example.com:443", Err(())),
            ("localhost", Err(())),
            ("127.0.0.1", Err(())),
            ("-a.example.com", Err(())),
            ("a..example.com", Err(())),
            ("a b.example.com", Err(())),
            ("<x>.example.com", Err(())),
        ] {
            let found = custom_domain(value).map_err(|_| ());
            assert_eq!(found.as_ref().map(Option::as_deref).map_err(|_| ()), expected, "{value:?}");
        }
        for (header, expected) in [
            ("Status.Example.com", "status.example.com"),
            ("status.example.com:8080", "status.example.com"),
            ("status.example.com.", "status.example.com"),
            ("[::1]:80", "[::1]"),
            ("", ""),
        ] {
            assert_eq!(host(header), expected, "{header:?}");
        }
    }

    #[test]
    fn components_of_groups() {
        let group = |name: &str, ids: &[i64]| (name.to_owned(), ids.to_vec());
        let shown = |checks: &[i64], groups: &[(String, Vec<i64>)]| {
            let found = components(checks, groups).ok()?;
            Some(found.iter().map(|one| format!("{}{}", one.check_id, one.group)).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(shown(&[2, 1, 3], &[group("a", &[1, 3])]).as_deref(), Some("2 1a 3a"));
        assert_eq!(shown(&[1], &[]).as_deref(), Some("1"));
        let fifty: Vec<i64> = (0..50).collect();
        let more: Vec<i64> = (0..51).collect();
        assert!(shown(&fifty, &[]).is_some() && shown(&more, &[]).is_none());
        for (checks, groups) in [
            (vec![], vec![]),
            (vec![1, 1], vec![]),
            (vec![1], vec![group("a", &[2])]),
            (vec![1], vec![group("a", &[1]), group("b", &[1])]),
            (vec![1, 2], vec![group("a", &[1]), group("a", &[2])]),
            (vec![1], vec![group(" ", &[1])]),
            (vec![1], vec![group(&"x".repeat(101), &[1])]),
        ] {
            assert_eq!(shown(&checks, &groups), None, "{checks:?} {groups:?}");
        }
    }

    #[test]
    fn lines_and_webhooks() {
        assert_eq!(line("name", " a ", 3), Ok("a".to_owned()));
        for wrong in ["", "  ", "a\nb", "a\u{202e}b", "abcd"] {
            assert!(line("name", wrong, 3).is_err(), "{wrong:?}");
        }
        assert_eq!(lines("message", " a\r\nb\n", 5), Ok("a\nb".to_owned()));
        assert!(lines("message", "a\u{0}b", 5).is_err() && lines("message", "abcdef", 5).is_err());
        for (address, is_right) in [
            ("https://example.com/hook?x=1", true),
            ("http://example.com", true),
            ("ftp://example.com", false),
            ("https://a:b@example.com", false),
            ("javascript:alert(1)", false),
            ("example.com", false),
        ] {
            assert_eq!(webhook(address).is_ok(), is_right, "{address}");
        }
    }
}
