//! The sequence of actions in the shop: a quiet history, two busy hours, and what follows them.

use tidewatch_domain::units;

use super::incident::{Effect, Incident, Plan};
use super::shop::Shop;

const SECOND_NS: u64 = units::SECOND_NS as u64;
const MINUTE_NS: u64 = units::MINUTE_NS as u64;
/// Length of the busy part of the history.
const BUSY_NS: u64 = 120 * MINUTE_NS;
/// Rate of actions before the busy part, as a part of the rate in it.
const QUIET_RATE: f64 = 0.1;
/// Rate of actions in an even history.
const EVEN_RATE: f64 = 0.4;
/// Growth of traffic in [`Incident::Wave`].
const WAVE: f64 = 2.5;

/// Traffic of the shop before and after `now_ns`.
#[derive(Debug, Clone, Copy)]
pub struct History {
    /// The end of the history. Nanoseconds since the epoch.
    pub now_ns: u64,
    /// Its length.
    pub minutes: u64,
    /// Actions per second in the last two hours. Before them, a tenth.
    pub rate: f64,
    /// The same seed gives the same history.
    pub seed: u64,
    /// Kind of the fault.
    pub incident: Incident,
    /// Strength of the fault.
    pub effect: Effect,
}

impl History {
    /// Kind, strength and start of the fault.
    pub fn plan(&self) -> Plan {
        Plan::within(self.incident, self.effect, self.now_ns, self.minutes)
    }
}

/// The shop with its clock.
pub struct Traffic {
    /// The shop.
    pub shop: Shop,
    history: History,
    plan: Plan,
    /// Time of the next action. Nanoseconds since the epoch.
    clock_ns: u64,
    measured_ns: u64,
}

impl Traffic {
    /// A shop at the beginning of its history.
    pub fn new(history: History) -> Traffic {
        let length_ns = history.minutes.saturating_mul(MINUTE_NS).min(history.now_ns);
        let (started_ns, plan) = (history.now_ns - length_ns, history.plan());
        // Otherwise histories of other times would have the same ids, and be repetitions of this one.
        let seed = history.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ history.now_ns;
        Traffic {
            shop: Shop::new(seed, started_ns, plan),
            history,
            plan,
            clock_ns: started_ns,
            measured_ns: started_ns,
        }
    }

    /// Time of the next action. Nanoseconds since the epoch.
    pub fn clock_ns(&self) -> u64 {
        self.clock_ns
    }

    /// Runs the next action. Returns true when services export after it.
    pub fn step(&mut self) -> bool {
        self.shop.act(self.clock_ns);
        let step_ns = (SECOND_NS as f64 / self.rate().clamp(0.001, 10_000.0)) as u64;
        // Unevenly spaced, like real arrivals.
        self.clock_ns += step_ns / 2 + self.shop.random.below(step_ns.max(1));
        let interval_ns = self.interval_ns();
        if self.clock_ns < self.measured_ns + interval_ns {
            return false;
        }
        self.measured_ns += interval_ns;
        self.shop.measure(self.measured_ns, interval_ns);
        true
    }

    /// Actions per second at this time.
    fn rate(&self) -> f64 {
        let rate = self.history.rate;
        if self.history.incident.needs_even_traffic() {
            return rate * EVEN_RATE;
        }
        if self.clock_ns + BUSY_NS < self.history.now_ns {
            return rate * QUIET_RATE;
        }
        if self.plan.is(Incident::Wave, self.clock_ns) { rate * WAVE } else { rate }
    }

    /// Interval of exports at this time.
    fn interval_ns(&self) -> u64 {
        if self.clock_ns + BUSY_NS < self.history.now_ns { 5 * MINUTE_NS } else { 10 * SECOND_NS }
    }
}
