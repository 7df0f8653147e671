//! Telemetry of a fictional company: 20 services, 300 endpoints, some tasks, some AI calls, errors now and then.
//!
//! It is encoded as OTLP protobuf, one export request at a time, and passes through the same decoder and rules as any
//! other telemetry. The same seed generates the same bytes. [`native`] has bodies of the native protocol, [`profiles`]
//! profiles.

mod logs;
pub mod native;
mod points;
pub mod profiles;
mod spans;
mod vocabulary;

use tidewatch_domain::encode::{Message, RESOURCE_ATTRIBUTES};
use tidewatch_domain::model::{AnyValue, Scope, Signal};

use crate::demo::random::Random;
use vocabulary::Vocabulary;

pub use points::SERIES;
pub use vocabulary::{ENDPOINTS_PER_SERVICE, RARE_KEY, RARE_WORD, SERVICES};

/// Version of the generator. It changes when the same seed generates other telemetry.
pub const VERSION: u32 = 4;

/// A kind of generated telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Traces of eight spans, seven attributes each, about half a kilobyte a span.
    Rich,
    /// Traces of one CLIENT span with three attributes, about 170 bytes.
    Lean,
    /// Log records with text of a sentence or two, four in five of them of a trace.
    Logs,
    /// Points of gauges, counters and histograms.
    Points,
}

impl Kind {
    /// The signal of its records.
    pub fn signal(self) -> Signal {
        match self {
            Kind::Rich | Kind::Lean => Signal::Traces,
            Kind::Logs => Signal::Logs,
            Kind::Points => Signal::Metrics,
        }
    }

    /// Name of its records, as a plural.
    pub fn unit(self) -> &'static str {
        unit(self.signal())
    }
}

/// Name of the records of a signal, as a plural.
pub fn unit(signal: Signal) -> &'static str {
    match signal {
        Signal::Traces => "spans",
        Signal::Logs => "records",
        Signal::Metrics => "points",
    }
}

/// The name of an endpoint: `GET /orders/{id}/items`.
pub fn endpoint_name(service: usize, endpoint: usize) -> String {
    Vocabulary::new().services[service].endpoints[endpoint].name.clone()
}

/// The time range of a request's records: `from_ns .. from_ns + length_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Start. Nanoseconds since the epoch.
    pub from_ns: u64,
    /// Length in nanoseconds.
    pub length_ns: u64,
}

/// Generates a sequence of export requests.
pub struct Generator {
    random: Random,
    vocabulary: Vocabulary,
    /// The series with which the next request of points continues.
    next_series: u64,
}

impl Generator {
    /// A generator whose output depends only on `seed`.
    pub fn new(seed: u64) -> Generator {
        Generator { random: Random::new(seed), vocabulary: Vocabulary::new(), next_series: 0 }
    }

    /// Writes an export request with `units` records (rich spans: rounded up to whole traces of eight) to `out`, which
    /// is cleared first.
    pub fn request(&mut self, kind: Kind, units: usize, period: Period, out: &mut Vec<u8>) {
        out.clear();
        let mut message = Message(out);
        match kind {
            Kind::Rich => spans::rich(self, units.div_ceil(spans::SPANS_PER_TRACE), period, &mut message),
            Kind::Lean => spans::lean(self, units, period, &mut message),
            Kind::Logs => logs::records(self, units, period, &mut message),
            Kind::Points => points::points(self, units, period, &mut message),
        }
    }

    /// A random service; some are much busier than others.
    fn service(&mut self) -> usize {
        let draw = self.random.unit();
        ((draw * draw) * SERVICES as f64) as usize
    }

    fn moment(&mut self, period: Period) -> u64 {
        period.from_ns + self.random.below(period.length_ns.max(1))
    }
}

fn text(message: &mut Message<'_>, field: u8, key: &str, value: &str) {
    message.attribute(field, key, AnyValue::Str(value));
}

fn int(message: &mut Message<'_>, field: u8, key: &str, value: u64) {
    message.attribute(field, key, AnyValue::Int(value.cast_signed()));
}

/// An instrumentation scope without a version.
fn scope(name: &str) -> Scope<'_> {
    Scope { name, ..Scope::default() }
}

/// Appends the ten resource attributes of a service's process.
fn resource(resource: &mut Message<'_>, name: &str, number: usize) {
    let build = number % 7;
    for (key, value) in [
        ("service.name", name),
        ("service.version", &format!("2.{build}.{number}")),
        ("service.instance.id", &format!("{name}-{number:08x}")),
        ("deployment.environment.name", "production"),
        ("host.name", &format!("ip-10-0-{number}-17.eu-west-1.compute.internal")),
        ("os.type", "linux"),
        ("telemetry.sdk.language", "python"),
        ("telemetry.sdk.name", "opentelemetry"),
        ("telemetry.sdk.version", "1.38.0"),
        ("k8s.pod.name", &format!("{name}-7d9f8b6c5d-x2x{number}")),
    ] {
        text(resource, RESOURCE_ATTRIBUTES, key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Payload;

    const PERIOD: Period = Period { from_ns: 1_800_000_000_000_000_000, length_ns: 1_000_000_000 };

    #[test]
    fn requests_have_the_requested_number_of_records() {
        for (kind, bytes) in
            [(Kind::Rich, 350..560), (Kind::Lean, 140..200), (Kind::Logs, 250..500), (Kind::Points, 60..350)]
        {
            let mut body = Vec::new();
            Generator::new(1).request(kind, 512, PERIOD, &mut body);
            let payload = Payload::protobuf(kind.signal(), body).expect("an export request");
            assert_eq!(payload.units, 512, "{kind:?}");
            assert!(bytes.contains(&(payload.body.len() / 512)), "{kind:?}: {} bytes", payload.body.len() / 512);
        }
    }

    #[test]
    fn same_seed_same_bytes() {
        let body = |seed| {
            let mut body = Vec::new();
            let mut generator = Generator::new(seed);
            (0..3).for_each(|_| generator.request(Kind::Rich, 64, PERIOD, &mut body));
            body
        };
        assert_eq!(body(7), body(7));
        assert_ne!(body(7), body(8));
    }
}
