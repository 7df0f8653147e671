//! Time-based one-time codes of authenticators: six digits, 30 seconds, SHA-1, which all of them support. RFC 6238.

use tidewatch_domain::units::SECOND_NS;
use totp_rs::{Builder, Secret, Totp};

/// A secret, and the codes derived from it.
pub struct Codes {
    totp: Totp,
}

/// The secret is invalid, or could not be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a second factor's secret cannot be read")]
pub struct Unreadable;

impl Codes {
    /// Creates a random secret of 160 bits for the account with this address.
    pub fn new(email: &str) -> Result<Codes, Unreadable> {
        let mut bytes = [0; 20];
        getrandom::fill(&mut bytes).map_err(|_| Unreadable)?;
        Codes::of(Secret::new_stack(bytes), email)
    }

    /// Parses a secret in base32 for the account with this address.
    pub fn from_base32(secret: &str, email: &str) -> Result<Codes, Unreadable> {
        Codes::of(Secret::try_from_base32(secret).map_err(|_| Unreadable)?, email)
    }

    fn of(secret: Secret, email: &str) -> Result<Codes, Unreadable> {
        // A colon would end the name in the URI that authenticators read.
        let name = email.replace(':', "_");
        let built = Builder::new().with_secret(secret).with_account_name(name).with_issuer(Some("Tidewatch")).build();
        built.map(|totp| Codes { totp }).map_err(|_| Unreadable)
    }

    /// Returns the secret in base32.
    pub fn base32(&self) -> String {
        self.totp.secret().to_base32()
    }

    /// Returns the URI `otpauth://...`, for a QR code.
    pub fn uri(&self) -> Result<String, Unreadable> {
        self.totp.to_url().map_err(|_| Unreadable)
    }

    /// Returns the time step of the code, if it is the current one, the one before or the one after; `None` for other
    /// codes.
    pub fn step(&self, code: &str, now_ns: i64) -> Option<i64> {
        let is_code = code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit());
        let seconds = u64::try_from(now_ns / SECOND_NS).ok()?;
        let step = self.totp.check(code, seconds).filter(|_| is_code)?;
        i64::try_from(step).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 6238, appendix B, the last six of eight digits.
    #[test]
    fn codes_match_the_test_vectors_of_the_rfc() {
        let codes = Codes::of(Secret::new_stack(*b"12345678901234567890"), "a@b.example").unwrap();
        for (seconds, code) in
            [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (2_000_000_000, "279037")]
        {
            let at = |seconds: i64| codes.step(code, seconds * 1_000_000_000);
            assert_eq!(at(seconds), Some(seconds / 30), "{seconds}");
            assert_eq!(at(seconds + 30), Some(seconds / 30), "one step late");
            assert_eq!(at(seconds + 90), None, "three steps late");
        }
        for wrong in ["", "28708", "2870822", " 287082", "28708a", "２８７０８２"] {
            assert_eq!(codes.step(wrong, 59_000_000_000), None, "{wrong}");
        }
    }
}
