//! Validation of user input: e-mail addresses, names, time zones.

use crate::error::ApiError;
use tidewatch_limits as limits;
use tidewatch_runtime::redact::is_hidden;

/// The e-mail address in lower case. Fails with 400 if it is invalid.
pub fn email(text: &str) -> Result<String, ApiError> {
    let email = text.trim().to_lowercase();
    let is_one = email.len() <= limits::EMAIL_BYTES_MAX && email.parse::<lettre::Address>().is_ok();
    if is_one { Ok(email) } else { Err(ApiError::malformed("email is not an email address")) }
}

/// The trimmed value of `field`: 1 to 100 characters on one line. Otherwise fails with 400.
pub fn text(field: &str, value: &str) -> Result<String, ApiError> {
    let value = value.trim();
    if value.is_empty() {
        return Err(ApiError::malformed(format!("{field} is missing")));
    }
    if value.chars().count() > limits::PROJECT_NAME_CHARS_MAX {
        return Err(ApiError::malformed(format!("{field} is too long")));
    }
    if value.contains(is_hidden) {
        return Err(ApiError::malformed(format!("{field} contains control characters")));
    }
    Ok(value.to_owned())
}

/// An IANA time zone name such as `Europe/Berlin`; UTC if absent or empty. Fails with 400 if the name is malformed.
pub fn timezone(value: Option<&str>) -> Result<String, ApiError> {
    let zone = match value.map(str::trim) {
        None | Some("") => return Ok("UTC".to_owned()),
        Some(zone) => zone,
    };
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+');
    if zone.len() > limits::PROJECT_NAME_CHARS_MAX || !zone.chars().all(is_allowed) {
        return Err(ApiError::malformed("timezone is not the name of a time zone"));
    }
    Ok(zone.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emails() {
        for (text, expected) in [
            (" Ada@Example.com ", Some("ada@example.com")),
            ("a+b@c.de", Some("a+b@c.de")),
            ("nobody", None),
            ("@example.com", None),
            ("a@", None),
            ("a@b@c", None),
            ("a b@c.de", None),
            ("a@c.de\r\nBcc: b@c.de", None),
            ("a@c.de,b@c.de", None),
            ("Ada <a@c.de>", None),
            ("", None),
        ] {
            assert_eq!(email(text).ok().as_deref(), expected, "{text:?}");
        }
        assert!(email(&format!("a@{}.de", "b".repeat(400))).is_err());
    }

    #[test]
    fn names_and_time_zones() {
        for (value, expected) in [
            (" Ada Lovelace ", Some("Ada Lovelace")),
            ("<b>Ada</b>", Some("<b>Ada</b>")),
            ("Ada\r\nBcc: b@c.de", None),
            ("a\u{202e}b", None),
            ("a\0b", None),
            ("  ", None),
        ] {
            assert_eq!(text("name", value).ok().as_deref(), expected, "{value:?}");
        }
        assert!(text("name", &"a".repeat(101)).is_err());
        for (value, expected) in [
            (None, Some("UTC")),
            (Some(""), Some("UTC")),
            (Some("Europe/Berlin"), Some("Europe/Berlin")),
            (Some("Etc/GMT+5"), Some("Etc/GMT+5")),
            (Some("a b"), None),
            (Some("<x>"), None),
        ] {
            assert_eq!(timezone(value).ok().as_deref(), expected, "{value:?}");
        }
    }
}
