//! Password hashes with argon2id. bcrypt hashes of imported accounts are verified too, and replaced at the next login.

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};

use tidewatch_limits as limits;

/// The result of comparing a password with a stored hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// The password is wrong, or the hash is invalid.
    No,
    /// The password is right.
    Yes,
    /// The password is right, but the hash should be replaced with one by [`hash`].
    Outdated,
}

/// The cost of new hashes. A build with debug assertions takes the least possible, because its tests sign in thousands
/// of times. A hash names its own cost, so every build verifies the hashes of every other.
const COST: Params = if cfg!(debug_assertions) { least() } else { Params::DEFAULT };

const fn least() -> Params {
    match Params::new(Params::MIN_M_COST, Params::MIN_T_COST, Params::MIN_P_COST, None) {
        Ok(params) => params,
        Err(_) => Params::DEFAULT,
    }
}

/// Hashes a password with argon2id. Returns a PHC string. Blocks for tens of milliseconds in a release build.
pub fn hash(password: &str) -> anyhow::Result<String> {
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, COST);
    let hash: Result<PasswordHash, _> = argon2.hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| anyhow::anyhow!("the password cannot be hashed: {error}"))
}

/// Compares a password with a stored hash. Blocks as [`hash`] does.
pub fn matches(password: &str, stored: &str) -> Match {
    if let Some(cost) = bcrypt_cost(stored) {
        let right = cost <= limits::BCRYPT_COST_MAX && bcrypt::verify(password, stored).unwrap_or(false);
        return if right { Match::Outdated } else { Match::No };
    }
    let right = PasswordHash::new(stored)
        .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok());
    if right { Match::Yes } else { Match::No }
}

/// The cost of a bcrypt hash: `$2b$12$...`.
fn bcrypt_cost(stored: &str) -> Option<u32> {
    let rest = ["$2a$", "$2b$", "$2x$", "$2y$"].into_iter().find_map(|prefix| stored.strip_prefix(prefix))?;
    Some(rest.split('$').next().and_then(|cost| cost.parse().ok()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argon2id_and_bcrypt_hashes_are_verified() {
        let argon: PasswordHash = Argon2::default().hash_password(b"correct horse").unwrap();
        let argon = argon.to_string();
        let bcrypt = bcrypt::hash("correct horse", 4).unwrap();
        let expensive = bcrypt.replacen("$04$", "$31$", 1);
        for (password, stored, expected) in [
            ("correct horse", argon.as_str(), Match::Yes),
            ("wrong", argon.as_str(), Match::No),
            ("correct horse", bcrypt.as_str(), Match::Outdated),
            ("wrong", bcrypt.as_str(), Match::No),
            ("correct horse", expensive.as_str(), Match::No),
            ("correct horse", "$2b$", Match::No),
            ("correct horse", "", Match::No),
        ] {
            assert_eq!(matches(password, stored), expected, "{password} {stored}");
        }
    }
}
