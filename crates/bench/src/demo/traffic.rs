//! The sequence of actions in the shop.

use super::shop::Shop;

const SECOND_NS: u64 = 1_000_000_000;
const MINUTE_NS: u64 = 60 * SECOND_NS;
/// Interval of exports.
const EXPORT_EVERY_NS: u64 = 10 * SECOND_NS;

/// The shop with its clock.
pub struct Traffic {
    /// The shop.
    pub shop: Shop,
    /// Time of the next action. Nanoseconds since the epoch.
    clock_ns: u64,
    step_ns: u64,
    next_export_ns: u64,
}

impl Traffic {
    /// A shop whose history begins `minutes` before `now_ns`. The slow version goes live a third of that time before
    /// `now_ns`. `rate`: actions per second.
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

    /// Time of the next action. Nanoseconds since the epoch.
    pub fn clock_ns(&self) -> u64 {
        self.clock_ns
    }

    /// Runs the next action. Returns true when services export after it.
    pub fn step(&mut self) -> bool {
        self.shop.act(self.clock_ns);
        // Unevenly spaced, like real arrivals.
        self.clock_ns += self.step_ns / 2 + self.shop.random.below(self.step_ns.max(1));
        if self.clock_ns < self.next_export_ns {
            return false;
        }
        self.shop.measure(self.next_export_ns, EXPORT_EVERY_NS);
        self.next_export_ns += EXPORT_EVERY_NS;
        true
    }
}
