//! The fictional shop: actions of its visitors, workers, cron jobs and assistant, as spans, logs and points.

mod assistant;
mod browsing;
mod ordering;
mod spans;
mod stacks;

use tidewatch_domain::units;

use super::incident::{Incident, Plan};
use super::instance::{CHECKOUT, Instance, PAYMENTS, PODS_PER_REGION, SERVICES, STOREFRONT, Service, WORKER};
use super::otlp::{ExportBuffer, Span};
use super::random::Random;

const MS: f64 = units::MILLISECOND_NS as f64;
const MINUTE_NS: u64 = units::MINUTE_NS as u64;
/// The innocent release of storefront begins this long before the incident.
const ROLLOUT_BEFORE_NS: u64 = 30 * MINUTE_NS;
/// The release reaches one more pod at this interval.
const ROLLOUT_STEP_NS: u64 = 50 * units::SECOND_NS as u64;
/// Time in which a new process is slow without harm.
const COLD_NS: u64 = 2 * MINUTE_NS;
/// Share of requests that reach canary pods.
const CANARY_SHARE: f64 = 0.1;

/// Failures that happen in a healthy shop too. Each of them happens at its first opportunity, so that none is new later.
#[derive(Debug, Clone, Copy)]
enum Fault {
    CardDeclined,
    GatewayUnavailable,
    CartInvalid,
    MailTimeout,
    BadRow,
}

/// The state of the shop.
pub struct Shop {
    /// Source of all randomness.
    pub random: Random,
    /// Records that are not exported yet.
    pub exports: ExportBuffer,
    /// Fault of the shop.
    plan: Plan,
    /// When the shop started, nanoseconds since the epoch.
    started_ns: u64,
    requests: u64,
    durations_ms: Vec<f64>,
    had: [bool; 5],
}

impl Shop {
    /// A shop with nothing to export.
    pub fn new(seed: u64, started_ns: u64, plan: Plan) -> Self {
        Shop {
            random: Random::new(seed),
            exports: ExportBuffer::default(),
            plan,
            started_ns,
            requests: 0,
            durations_ms: Vec::new(),
            had: [false; 5],
        }
    }

    /// One random action, starting at `now_ns`.
    pub fn act(&mut self, now_ns: u64) {
        match self.random.below(100) {
            0..=33 => self.product_page(now_ns),
            34..=49 => self.search(now_ns),
            50..=61 => self.cart(now_ns),
            62..=81 => self.checkout(now_ns),
            82..=85 => self.stray_request(now_ns),
            86..=87 => self.live_feed(now_ns),
            88..=90 => self.console_command(now_ns),
            91..=98 => self.assistant(now_ns),
            _ => self.housekeeping(now_ns),
        }
    }

    /// Runtime metrics of every process, as SDKs export them each `interval_ns`.
    pub fn measure(&mut self, now_ns: u64, interval_ns: u64) {
        let is_busy = self.plan.is(Incident::ReleaseSlow, now_ns);
        for service in SERVICES {
            for region in 0..service.regions {
                for pod in 0..PODS_PER_REGION {
                    let instance = self.pod(service, region, pod, now_ns);
                    let busy = if is_busy && service == CHECKOUT { 0.8 } else { 0.35 };
                    self.measure_process(instance, now_ns, busy);
                }
            }
        }
        let (front, worker) = (self.pod(STOREFRONT, 0, 0, now_ns), self.pod(WORKER, 0, 0, now_ns));
        let depth = self.random.below(if is_busy { 240 } else { 40 }) as f64;
        self.exports.gauge(worker, now_ns, "queue.depth", "{message}", depth);
        let times = [self.started_ns, now_ns];
        self.exports.counter(front, times, "shop.requests", ("shop.region", "eu"), self.requests);
        let durations = std::mem::take(&mut self.durations_ms);
        let times = [now_ns.saturating_sub(interval_ns), now_ns];
        self.exports.histogram(front, times, "http.server.request.duration", &durations);
    }

    /// Runtime metrics of one process, if it sends any.
    fn measure_process(&mut self, instance: Instance, now_ns: u64, busy: f64) {
        if self.is_silent(instance.service, now_ns) {
            return;
        }
        let cpu = (busy + self.random.unit() * 0.15).min(1.0);
        self.exports.gauge(instance, now_ns, "process.cpu.utilization", "1", cpu);
        let memory = 180e6 + self.random.unit() * 60e6;
        self.exports.gauge(instance, now_ns, "process.memory.usage", "By", memory);
        if instance.service.language == "nodejs" {
            let delay = 0.001 + self.random.unit() * 0.004;
            self.exports.gauge(instance, now_ns, "nodejs.eventloop.delay.p50", "s", delay);
        }
    }

    /// The process that serves a request in a region at `now_ns`.
    fn instance(&mut self, service: Service, region: usize, now_ns: u64) -> Instance {
        let region = if region < usize::from(service.regions) { region as u8 } else { 0 };
        let pod = self.random.below(u64::from(PODS_PER_REGION)) as u8;
        let mut instance = self.pod(service, region, pod, now_ns);
        let is_canary = service == CHECKOUT && self.random.chance(CANARY_SHARE);
        if is_canary && self.plan.is(Incident::Canary, now_ns) {
            (instance.is_canary, instance.is_new) = (true, true);
        }
        instance
    }

    /// The pod with this number at `now_ns`.
    fn pod(&self, service: Service, region: u8, pod: u8, now_ns: u64) -> Instance {
        let is_new = if service == CHECKOUT {
            let whole = [Incident::ReleaseSlow, Incident::ReleaseErrors, Incident::DeployHarmless];
            whole.iter().any(|incident| self.plan.is(*incident, now_ns))
                || (self.plan.is(Incident::RegionVersion, now_ns) && pod.is_multiple_of(2))
        } else if service == STOREFRONT {
            let before = u64::from(region * PODS_PER_REGION + pod) * ROLLOUT_STEP_NS;
            now_ns >= self.plan.at_ns.saturating_sub(ROLLOUT_BEFORE_NS) + before
        } else {
            false
        };
        Instance { service, region, pod, is_canary: false, is_new }
    }

    /// Whether the service has stopped sending telemetry.
    fn is_silent(&self, service: Service, now_ns: u64) -> bool {
        service == PAYMENTS && self.plan.is(Incident::Silence, now_ns)
    }

    /// Whether a failure happens: with this probability, and at its first opportunity.
    fn happens(&mut self, fault: Fault, probability: f64) -> bool {
        let is_first = !std::mem::replace(&mut self.had[fault as usize], true);
        self.random.chance(probability) || is_first
    }

    /// A random duration around `typical_ms`. Nanoseconds.
    fn latency(&mut self, typical_ms: f64) -> u64 {
        self.random.latency_ms(typical_ms * MS) as u64
    }

    fn log(&mut self, span: &Span, severity: u8, body: &str) {
        if !self.is_silent(span.instance.service, span.start_ns) {
            self.exports.log(span.instance, span.end_ns.saturating_sub(200_000), severity, body, Some(span));
        }
    }

    fn finish(&mut self, span: Span) {
        if !self.is_silent(span.instance.service, span.start_ns) {
            self.exports.span(span);
        }
    }

    fn finish_request(&mut self, span: Span) {
        self.requests += 1;
        self.durations_ms.push((span.end_ns - span.start_ns) as f64 / MS);
        self.finish(span);
    }
}
