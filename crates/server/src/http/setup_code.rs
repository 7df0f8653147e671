//! The setup code, which registration of the first account requires. Without it, the first client to reach a new server
//! would own it; the server prints the code when it starts.
//!
//! Clients on the same machine need it, too: a local proxy that sends no `X-Forwarded-For` makes remote clients look
//! local. Nodes with the same encryption key for secrets have the same code.

use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use tidewatch_accounts::tokens;

/// The value of the setting `setup_code` that disables the code.
const OFF: &str = "off";
const PURPOSE: &str = "code for the first account";
/// Crockford's base 32: no ambiguous letters.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE_LETTERS: usize = 12;

/// The required code. `None` if an account exists, or if the code is disabled.
pub fn expected(accounts: &Accounts, process: &Process) -> Option<String> {
    match process.config.setup_code.as_deref().map(str::trim) {
        _ if accounts.control.people.has_organizations() => None,
        Some(OFF) => None,
        Some(code) if !code.is_empty() => Some(code.to_owned()),
        _ => Some(spelled(&accounts.control.database().sealer().mac(PURPOSE, ""))),
    }
}

/// Fails with 403 unless `code` is the required code, or none is required.
pub fn check(accounts: &Accounts, process: &Process, code: Option<&str>) -> Result<(), ApiError> {
    let Some(expected) = expected(accounts, process) else { return Ok(()) };
    // Compares hashes, so that the time of the comparison reveals nothing.
    let is_valid = code.is_some_and(|code| tokens::hash(&plain(code)) == tokens::hash(&plain(&expected)));
    if is_valid {
        Ok(())
    } else {
        Err(ApiError::Forbidden("the setup code is missing or wrong; the server printed it when it started"))
    }
}

/// The code in upper case, without dashes and spaces.
fn plain(code: &str) -> String {
    code.chars().filter(|c| !c.is_whitespace() && *c != '-').map(|c| c.to_ascii_uppercase()).collect()
}

/// Formats a code as `XXXX-XXXX-XXXX`: 60 bits.
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
    fn codes_are_read_in_any_case_and_grouping() {
        assert_eq!(spelled(&[0, 1, 2, 3, 31, 32, 33, 255, 10, 11, 12, 13, 99]), "0123-Z01Z-ABCD");
        for typed in ["0123-z01z-abcd", " 0123 Z01Z ABCD ", "0123Z01ZABCD"] {
            assert_eq!(plain(typed), plain("0123-Z01Z-ABCD"), "{typed}");
        }
    }
}
