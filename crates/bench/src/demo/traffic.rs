//! What happens in the shop, one thing after the other.

use super::shop::Shop;

const SECOND_NS: u64 = 1_000_000_000;
const MINUTE_NS: u64 = 60 * SECOND_NS;
/// Services export this often.
const EXPORT_EVERY_NS: u64 = 10 * SECOND_NS;

/// The shop at work.
pub struct Traffic {
    pub shop: Shop,
    /// When the next thing happens, nanoseconds since the epoch.
    clock_ns: u64,
    step_ns: u64,
    next_export_ns: u64,
}

impl Traffic {
    /// Begins `minutes` before `now_ns`. The slow version goes live a third of that time before `now_ns`. `rate`: things
    /// that happen per second.
    pub fn until(now_ns: u64, minutes: u64, rate: f64, seed: u64) -> Traffic {
        let history_ns = minutes.saturating_mul(MINUTE_NS).min(now_ns);
        let started_ns = now_ns - history_ns;
        Traffic {
            shop: Shop::new(seed, started_ns, now_ns - history_ns / 3),
            clock_ns: started_ns,
            step_ns: (SECOND_NS as f64 / rate.clamp(0.01, 10_000.0)) as u64,
            next_export_ns: started_ns + EXPORT_EVERY_NS,
        }
    }

    /// When the next thing happens.
    pub fn clock_ns(&self) -> u64 {
        self.clock_ns
    }

    /// Lets the next thing happen; true when services export after it.
    pub fn go_on(&mut self) -> bool {
        self.shop.act(self.clock_ns);
        // Uneven, as real arrivals are.
        self.clock_ns += self.step_ns / 2 + self.shop.random.below(self.step_ns.max(1));
        if self.clock_ns < self.next_export_ns {
            return false;
        }
        self.shop.measure(self.next_export_ns, EXPORT_EVERY_NS);
        self.next_export_ns += EXPORT_EVERY_NS;
        true
    }
}
