//! Limits on password guessing beyond the per-IP windows: by account, and by network.
//!
//! An account is slowed down and never locked: after [`limits::GUESSES_FREE`] failures each further attempt is delayed,
//! by up to a minute. Known devices of the account are counted separately, and passkeys are not counted: other clients'
//! guesses do not lock a user out. The counters do not depend on whether the account exists.

use std::collections::HashMap;
use std::net::IpAddr;

use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::TooMany;
use super::per_ip::mask;
use crate as limits;
use crate::units::SECOND_NS;

/// Failed sign-ins of this process. Memory is bounded by [`limits::GUESSED_MAX`].
pub struct Guesses {
    /// Seed of the hash, so that clients cannot choose colliding names.
    seed: u64,
    counts: Mutex<HashMap<u128, Count>>,
}

/// The client that attempts a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guesser<'a> {
    /// An unknown client at this address.
    Stranger(IpAddr),
    /// A known device of the account, identified by its cookie; or a signed-in user, identified by the session.
    Known(&'a str),
}

#[derive(Debug, Clone, Copy)]
struct Count {
    failures: u32,
    /// Time of the last failure, nanoseconds since the epoch.
    last_ns: i64,
}

impl Default for Guesses {
    fn default() -> Guesses {
        Guesses { seed: getrandom::u64().unwrap_or_default(), counts: Mutex::default() }
    }
}

impl Guesses {
    /// Counts an attempt at an account as a failure, until [`Guesses::succeeded`]. Returns the number of failures, this
    /// one included. [`TooMany`] when it is too soon after earlier failures, or the client's network has too many.
    pub fn begin(&self, account: &str, guesser: Guesser<'_>, now_ns: i64) -> Result<u32, TooMany> {
        let mut counts = self.counts.lock();
        if let Guesser::Stranger(address) = guesser {
            for (key, most) in self.networks(address) {
                let found = counts.get(&key).filter(|count| now_ns - count.last_ns < WINDOW_NS);
                if let Some(count) = found.filter(|count| count.failures >= most) {
                    return Err(wait(count.last_ns + WINDOW_NS - now_ns));
                }
            }
        }
        let key = self.account(account, guesser);
        let known = counts.get(&key).copied().filter(|count| now_ns - count.last_ns < FORGOTTEN_NS);
        let known = known.unwrap_or(Count { failures: 0, last_ns: 0 });
        let left_ns = known.last_ns + pause_ns(known.failures) - now_ns;
        if left_ns > 0 {
            return Err(wait(left_ns));
        }
        let failures = known.failures.saturating_add(1);
        evict(&mut counts, now_ns);
        counts.insert(key, Count { failures, last_ns: now_ns });
        Ok(failures)
    }

    /// Records that the attempt failed, for the networks of `address`.
    pub fn failed(&self, address: IpAddr, now_ns: i64) {
        let mut counts = self.counts.lock();
        for (key, _) in self.networks(address) {
            evict(&mut counts, now_ns);
            let count = counts.entry(key).or_insert(Count { failures: 0, last_ns: now_ns });
            // A window begins with its first failure.
            if now_ns - count.last_ns >= WINDOW_NS {
                *count = Count { failures: 0, last_ns: now_ns };
            }
            count.failures = count.failures.saturating_add(1);
        }
    }

    /// Records that the password was right: resets the failures of the account by `guesser` and by unknown clients.
    pub fn succeeded(&self, account: &str, guesser: Guesser<'_>) {
        let mut counts = self.counts.lock();
        counts.remove(&self.account(account, guesser));
        counts.remove(&self.account(account, STRANGERS));
    }

    fn account(&self, account: &str, guesser: Guesser<'_>) -> u128 {
        let account = account.trim().to_lowercase();
        match guesser {
            Guesser::Stranger(_) => self.key(&[b"account:", account.as_bytes()]),
            Guesser::Known(mark) => self.key(&[b"known:", mark.as_bytes(), b" ", account.as_bytes()]),
        }
    }

    /// Keys of the IPv6 networks of `address` that one subscriber may own, and the failures per minute that each may
    /// have. The per-IP windows count IPv4 addresses and /64s.
    fn networks(&self, address: IpAddr) -> impl Iterator<Item = (u128, u32)> {
        let bits = match address.to_canonical() {
            IpAddr::V6(address) => Some(u128::from(address)),
            IpAddr::V4(_) => None,
        };
        let key = move |prefix: u32| Some(self.key(&[&[prefix as u8], &(bits? & mask(prefix)).to_le_bytes()]));
        let networks = limits::GUESSES_PER_NETWORK.into_iter();
        networks.filter_map(move |(prefix, most)| Some((key(prefix)?, most)))
    }

    fn key(&self, parts: &[&[u8]]) -> u128 {
        xxh3_128_with_seed(&parts.concat(), self.seed)
    }
}

/// The key of all unknown clients, which are counted together.
const STRANGERS: Guesser<'static> = Guesser::Stranger(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED));
const WINDOW_NS: i64 = limits::WINDOW.as_nanos() as i64;
const FORGOTTEN_NS: i64 = limits::GUESSES_RESET_AFTER.as_nanos() as i64;

/// The delay after `failures`: 0, then 1, 2, 4, ... seconds up to [`limits::GUESS_PAUSE_MAX`].
fn pause_ns(failures: u32) -> i64 {
    match failures.checked_sub(limits::GUESSES_FREE) {
        None => 0,
        Some(more) => {
            let seconds = u64::checked_shl(1, more).unwrap_or(u64::MAX).min(limits::GUESS_PAUSE_MAX.as_secs());
            seconds as i64 * SECOND_NS
        }
    }
}

fn wait(left_ns: i64) -> TooMany {
    TooMany(left_ns.max(1).unsigned_abs().div_ceil(SECOND_NS as u64))
}

/// Makes room for a new entry: removes expired counts, and the oldest ones if that is not enough.
fn evict(counts: &mut HashMap<u128, Count>, now_ns: i64) {
    if counts.len() < limits::GUESSED_MAX {
        return;
    }
    counts.retain(|_, count| now_ns - count.last_ns < FORGOTTEN_NS);
    if counts.len() < limits::GUESSED_MAX {
        return;
    }
    let mut times: Vec<i64> = counts.values().map(|count| count.last_ns).collect();
    let (_, last_evicted, _) = times.select_nth_unstable(limits::GUESSES_DROPPED);
    let last_evicted = *last_evicted;
    counts.retain(|_, count| count.last_ns > last_evicted);
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_800_000_000 * SECOND_NS;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn an_account_slows_down_and_is_never_locked() {
        let guesses = Guesses::default();
        let from = |number: u32| Guesser::Stranger(std::net::Ipv4Addr::from(0x0a00_0000 + number).into());
        let try_at = |number, at| guesses.begin("Ada@example.com ", from(number), at);
        for number in 0..limits::GUESSES_FREE {
            assert_eq!(try_at(number, NOON), Ok(number + 1));
        }
        assert_eq!(try_at(50, NOON), Err(TooMany(1)), "for unknown clients at any address");
        assert_eq!(guesses.begin("ADA@example.com", from(51), NOON), Err(TooMany(1)));
        assert!(guesses.begin("grace@example.com", from(52), NOON).is_ok(), "other accounts are not delayed");
        let mut at = NOON;
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60, 60] {
            assert!(try_at(0, at + seconds * SECOND_NS - 1).is_err(), "{seconds}");
            at += seconds * SECOND_NS;
            assert!(try_at(0, at).is_ok(), "{seconds}");
        }
        guesses.succeeded("ada@example.com", from(0));
        assert_eq!(try_at(0, at), Ok(1));
        // A known device is delayed by its own failures only.
        let laptop = Guesser::Known("twb_1");
        for number in 0..limits::GUESSES_FREE {
            assert_eq!(guesses.begin("ada@example.com", laptop, at), Ok(number + 1));
        }
        assert_eq!(guesses.begin("ada@example.com", laptop, at), Err(TooMany(1)));
        assert!(guesses.begin("ada@example.com", Guesser::Known("twb_2"), at).is_ok());
        assert!(guesses.begin("grace@example.com", laptop, at).is_ok());
        guesses.succeeded("ada@example.com", laptop);
        assert_eq!(guesses.begin("ada@example.com", laptop, at), Ok(1));
        assert_eq!(try_at(0, at), Ok(1), "the failures of unknown clients are reset too");
        // Failures are reset after a quarter of an hour.
        for number in 0..limits::GUESSES_FREE - 1 {
            assert!(try_at(number, at).is_ok());
        }
        assert!(try_at(0, at).is_err());
        assert_eq!(try_at(0, at + FORGOTTEN_NS), Ok(1));
    }

    #[test]
    fn networks_of_many_subnets_count_together() {
        for (prefix, most) in limits::GUESSES_PER_NETWORK {
            let guesses = Guesses::default();
            let subnet = |number: u32| -> IpAddr {
                // A different /64 each time, within one /48 or /56.
                let step = if prefix == 48 { 0x100 } else { 1 };
                ip(&format!("2001:db8:7:{:x}::1", number * step % 0xffff))
            };
            for number in 0..most {
                assert!(
                    guesses.begin(&number.to_string(), Guesser::Stranger(subnet(number)), NOON).is_ok(),
                    "/{prefix}: {number}"
                );
                guesses.failed(subnet(number), NOON);
            }
            assert_eq!(
                guesses.begin("x", Guesser::Stranger(subnet(3)), NOON + SECOND_NS),
                Err(TooMany(59)),
                "/{prefix}"
            );
            assert!(guesses.begin("x", Guesser::Stranger(ip("2001:db8:8::1")), NOON).is_ok(), "another network");
            assert!(guesses.begin("y", Guesser::Stranger(ip("10.0.0.1")), NOON).is_ok(), "IPv4 has its own windows");
            assert!(guesses.begin("z", Guesser::Stranger(subnet(4)), NOON + WINDOW_NS).is_ok(), "the next minute");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let guesses = Guesses::default();
        for number in 0..limits::GUESSED_MAX + 10 {
            guesses.begin(&number.to_string(), STRANGERS, NOON + number as i64).expect("a first try");
        }
        assert!(guesses.counts.lock().len() <= limits::GUESSED_MAX);
        let last = (limits::GUESSED_MAX + 9).to_string();
        assert_eq!(guesses.begin(&last, STRANGERS, NOON + SECOND_NS), Ok(2), "the newest are kept");
    }
}
