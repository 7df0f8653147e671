//! Incidents of the shop: their kind, start and strength.

use tidewatch_domain::units;

mod expected;

pub use expected::{Expected, Question, Subject};

/// Length of the incident in the history when the history is two hours or longer. A third of a shorter history.
pub const INCIDENT_MINUTES: u64 = 40;

const MINUTE_NS: u64 = units::MINUTE_NS as u64;

/// A kind of incident, named after its cause. Those of [`Incident::QUIET`] change nothing for the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum)]
pub enum Incident {
    /// A new version of checkout with a slow query and a new exception.
    Release,
    /// A new version of checkout with a slow query.
    ReleaseSlow,
    /// A new version of checkout fails in 12 % of orders.
    ReleaseErrors,
    /// A slow new version of checkout on pods with 10 % of the orders.
    Canary,
    /// The orders of one tenant are slow.
    Tenant,
    /// The orders of one user are slow.
    User,
    /// Payments is slow in one region.
    Region,
    /// Payments fails in one availability zone.
    Zone,
    /// Payments is slow on one host.
    Host,
    /// The product cache is hit in 40 % of lookups, 85 % before.
    Cache,
    /// The gateway behind payments is slow for all.
    Dependency,
    /// One statement waits for a lock.
    DbLock,
    /// Checkout repeats 30 % of its charges.
    RetryStorm,
    /// Queries to one database shard time out before they succeed.
    TimeOut,
    /// Orders of one version of the client app fail.
    ClientVersion,
    /// A feature flag makes orders slow.
    Flag,
    /// One variant of an experiment makes orders slow.
    Experiment,
    /// Orders with large bodies are slow.
    Payload,
    /// A new version of the assistant's prompt needs more tokens.
    Prompt,
    /// One model is slow.
    Model,
    /// A new version of checkout is slow in one region.
    RegionVersion,
    /// A feature flag makes orders fail on one operating system.
    FlagOs,
    /// Checkout is slow on one host, and by a feature flag.
    TwoCauses,
    /// One endpoint loses most of its traffic.
    TrafficDrop,
    /// Payments stops sending telemetry.
    Silence,
    /// Nothing.
    None,
    /// Traffic grows by 150 %.
    Wave,
    /// A new version of checkout without harm, slow for its first two minutes.
    DeployHarmless,
    /// Four minutes of failing charges.
    Burst,
}

impl Incident {
    /// The kinds after which nothing is worse.
    pub const QUIET: [Incident; 4] = [Incident::None, Incident::Wave, Incident::DeployHarmless, Incident::Burst];

    /// The name on the command line.
    pub fn name(self) -> String {
        clap::ValueEnum::to_possible_value(&self).map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether its traffic is even over the whole history: a loss of traffic shows only against equally busy hours.
    pub fn needs_even_traffic(self) -> bool {
        matches!(self, Incident::TrafficDrop | Incident::Silence)
    }
}

/// The strength of an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Effect {
    /// 20 % slower, or half a point more errors.
    Small,
    /// As the incident describes.
    #[default]
    Big,
}

/// An incident at a time.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Kind of the fault.
    pub incident: Incident,
    /// Strength of the fault.
    pub effect: Effect,
    /// From when. Nanoseconds since the epoch.
    pub at_ns: u64,
}

impl Plan {
    /// The incident in a history of `minutes` that ends at `now_ns`: 40 min before its end, or in the last third.
    pub fn within(incident: Incident, effect: Effect, now_ns: u64, minutes: u64) -> Plan {
        let minute_ns = now_ns / MINUTE_NS * MINUTE_NS;
        let length_ns = (minutes.saturating_mul(MINUTE_NS) / 3).min(INCIDENT_MINUTES * MINUTE_NS);
        Plan { incident, effect, at_ns: minute_ns.saturating_sub(length_ns) }
    }

    /// Whether this kind of incident goes on at `now_ns`. A release is both slow and failing.
    pub fn is(&self, incident: Incident, now_ns: u64) -> bool {
        let includes =
            self.incident == Incident::Release && matches!(incident, Incident::ReleaseSlow | Incident::ReleaseErrors);
        now_ns >= self.at_ns && (self.incident == incident || includes)
    }

    /// Milliseconds that an operation of `typical_ms` takes longer.
    pub fn added_ms(&self, big_ms: f64, typical_ms: f64) -> f64 {
        match self.effect {
            Effect::Small => 0.2 * typical_ms,
            Effect::Big => big_ms,
        }
    }

    /// The factor by which something is slower or larger.
    pub fn factor(&self, big: f64) -> f64 {
        match self.effect {
            Effect::Small => 1.2,
            Effect::Big => big,
        }
    }

    /// The probability that a request fails which is among the `share` of requests that the incident affects.
    pub fn chance(&self, big: f64, share: f64) -> f64 {
        match self.effect {
            Effect::Small => (0.005 / share).min(1.0),
            Effect::Big => big,
        }
    }

    /// The share of requests that are affected: `big`, or half a point away from `before`.
    pub fn share(&self, big: f64, before: f64) -> f64 {
        match self.effect {
            Effect::Small => before + 0.05 * (big - before).signum(),
            Effect::Big => big,
        }
    }
}
