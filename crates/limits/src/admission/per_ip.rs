//! Limits on the requests of one client address in a fixed window. Spec: "Per-IP fixed-window limits": per minute, per
//! process.
//!
//! The counters are a count-min sketch, so memory does not grow with the number of addresses: an address is counted in
//! one cell of each row, chosen by a keyed hash, and its count is the smallest of them. It is never too low, and too
//! high only when several million addresses send requests in one window. IPv6 addresses are counted by their /64.

use std::net::IpAddr;

use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::TooMany;
use crate as limits;
use crate::Window;
use crate::units::SECOND_NS;

/// The counters of every window, in constant memory.
pub struct PerIpCounts {
    /// Seed of the hash, so that clients cannot choose addresses that share another's cells.
    seed: u64,
    current: Mutex<Counts>,
}

struct Counts {
    /// Number of the window since the epoch.
    window: i64,
    /// `WINDOW_ROWS` rows of cells. Allocated at the first request; memory pages without a count are never touched.
    cells: Vec<u8>,
}

/// Number of cells in a row.
const ROW: usize = 1 << limits::WINDOW_CELL_BITS;

impl Default for PerIpCounts {
    fn default() -> PerIpCounts {
        let seed = getrandom::u64().unwrap_or_default();
        PerIpCounts { seed, current: Mutex::new(Counts { window: 0, cells: Vec::new() }) }
    }
}

impl PerIpCounts {
    /// Counts one request at `now_ns` (nanoseconds since the epoch). [`TooMany`] over the limit, with the seconds until
    /// the window ends.
    pub fn count(&self, window: Window, address: IpAddr, now_ns: i64) -> Result<(), TooMany> {
        let length_ns = limits::WINDOW.as_nanos() as i64;
        let number = now_ns.div_euclid(length_ns);
        let cells = self.cells(window, address);
        let mut counts = self.current.lock();
        if counts.window != number || counts.cells.is_empty() {
            *counts = Counts { window: number, cells: vec![0; limits::WINDOW_ROWS * ROW] };
        }
        let count = cells.iter().map(|cell| counts.cells[*cell]).min().unwrap_or_default();
        if count >= window.requests_max() {
            let left_ns = (number + 1) * length_ns - now_ns;
            return Err(TooMany((left_ns as u64).div_ceil(SECOND_NS as u64)));
        }
        // Conservative update: only the smallest cells grow, which keeps the error of shared cells low.
        for cell in cells {
            let known = &mut counts.cells[cell];
            *known = (*known).max(count + 1);
        }
        Ok(())
    }

    fn cells(&self, window: Window, address: IpAddr) -> [usize; limits::WINDOW_ROWS] {
        let (family, bits): (u8, u128) = match address.to_canonical() {
            IpAddr::V4(address) => (0, u32::from(address).into()),
            IpAddr::V6(address) => (1, u128::from(address) & mask(limits::IPV6_PREFIX_BITS)),
        };
        let key = [&bits.to_le_bytes()[..], &[family, window as u8]].concat();
        let hash = xxh3_128_with_seed(&key, self.seed);
        std::array::from_fn(|row| row * ROW + (hash >> (row as u32 * limits::WINDOW_CELL_BITS)) as usize % ROW)
    }
}

/// A mask of an IPv6 address with its first `prefix` bits set, 0 to 128.
pub fn mask(prefix: u32) -> u128 {
    u128::MAX.checked_shl(u128::BITS - prefix).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nine seconds into a window.
    const NOON: i64 = 1_780_315_209 * SECOND_NS;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    // Spec: "Per-IP fixed-window limits", every row.
    #[test]
    fn requests_over_the_limit_are_refused_until_the_next_window() {
        let counts = PerIpCounts::default();
        for &window in Window::ALL {
            for _ in 0..window.requests_max() {
                assert_eq!(counts.count(window, ip("203.0.113.7"), NOON), Ok(()), "{window:?}");
            }
            assert_eq!(counts.count(window, ip("203.0.113.7"), NOON), Err(TooMany(51)), "{window:?}");
            let last = NOON + 51 * SECOND_NS - 1;
            assert_eq!(counts.count(window, ip("203.0.113.7"), last), Err(TooMany(1)), "{window:?}");
            assert_eq!(counts.count(window, ip("203.0.113.8"), NOON), Ok(()), "another address, {window:?}");
        }
        for &window in Window::ALL {
            assert_eq!(counts.count(window, ip("203.0.113.7"), NOON + 51 * SECOND_NS), Ok(()), "{window:?}");
        }
    }

    #[test]
    fn ipv6_counts_by_its_64_and_mapped_addresses_as_ipv4() {
        let counts = PerIpCounts::default();
        let count = |text| counts.count(Window::ForgotPassword, ip(text), NOON).is_ok();
        for address in ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:1", "2001:db8::4", "2001:db8:0:0:9::"] {
            assert!(count(address), "{address}");
        }
        assert!(!count("2001:db8::7"));
        assert!(count("2001:db8:0:1::7"), "the next /64");
        for address in ["::ffff:1.2.3.4", "1.2.3.4", "::ffff:1.2.3.4", "1.2.3.4", "1.2.3.4"] {
            assert!(count(address), "{address}");
        }
        assert!(!count("::ffff:1.2.3.4"));
        assert!(count("::1.2.3.4"), "another address");
    }

    // Memory is the same for one address and for millions, and addresses do not exhaust each other's limits.
    #[test]
    fn a_million_addresses_are_counted_in_constant_memory() {
        let counts = PerIpCounts::default();
        let refused = (0..1_000_000u32)
            .filter(|number| counts.count(Window::ResetValidation, IpAddr::V4((*number).into()), NOON).is_err())
            .count();
        assert_eq!(refused, 0);
        let mut again = (0..u32::from(Window::ResetValidation.requests_max()))
            .filter(|_| counts.count(Window::ResetValidation, ip("203.0.113.7"), NOON).is_ok());
        assert!(again.by_ref().count() >= 25, "a later address has nearly its whole window");
        assert_eq!(counts.current.lock().cells.len(), limits::WINDOW_ROWS * ROW);
    }
}
