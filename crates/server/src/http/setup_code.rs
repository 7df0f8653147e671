//! The code that the first account is made with. Until there is one, whoever comes first would own the server; only who
//! started it has read the code.
//!
//! It asks everybody, also who comes from this machine: a proxy beside the server that sends no `X-Forwarded-For` makes
//! strangers look like that. Each node with the same key for secrets has the same code.

use crate::app::App;
use crate::error::ApiError;
use tidewatch_accounts::tokens;

/// What the operator writes when no code shall be asked for.
const OFF: &str = "off";
const PURPOSE: &str = "code for the first account";
/// No letter that could be another: Crockford's.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE_LETTERS: usize = 12;

/// What has to be shown now; none: there is an account, or the operator asks for none.
pub fn expected(app: &App) -> Option<String> {
    match app.config.setup_code.as_deref().map(str::trim) {
        _ if app.control.has_organizations() => None,
        Some(OFF) => None,
        Some(code) if !code.is_empty() => Some(code.to_owned()),
        _ => Some(spelled(&app.control.sealer().mark(PURPOSE, ""))),
    }
}

/// 403 unless it is the one.
pub fn check(app: &App, shown: Option<&str>) -> Result<(), ApiError> {
    let Some(expected) = expected(app) else { return Ok(()) };
    // Compared as hashes, so that the time says nothing.
    let is_right = shown.is_some_and(|shown| tokens::hash(&plain(shown)) == tokens::hash(&plain(&expected)));
    if is_right {
        Ok(())
    } else {
        Err(ApiError::Forbidden("the setup code is missing or wrong; the server printed it when it started"))
    }
}

/// As people type it: in any case, with dashes and spaces or without.
fn plain(code: &str) -> String {
    code.chars().filter(|c| !c.is_whitespace() && *c != '-').map(|c| c.to_ascii_uppercase()).collect()
}

/// `XXXX-XXXX-XXXX`: 60 bits.
fn spelled(mark: &[u8]) -> String {
    let letters: Vec<char> =
        mark.iter().take(CODE_LETTERS).map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect();
    let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
    groups.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_people_write_them() {
        assert_eq!(spelled(&[0, 1, 2, 3, 31, 32, 33, 255, 10, 11, 12, 13, 99]), "0123-Z01Z-ABCD");
        for typed in ["0123-z01z-abcd", " 0123 Z01Z ABCD ", "0123Z01ZABCD"] {
            assert_eq!(plain(typed), plain("0123-Z01Z-ABCD"), "{typed}");
        }
    }
}
