//! Telemetry of a fictional company: 20 services, 300 endpoints, some tasks, some AI calls, errors now and then.
//!
//! It is encoded as OTLP protobuf, one export request at a time, and passes through the same decoder and rules as any
//! other telemetry. The same seed generates the same bytes. [`native`] has bodies of the native protocol, [`profiles`]
//! profiles.

mod generator;
mod logs;
mod messages;
pub mod native;
mod points;
pub mod profiles;
mod spans;
mod vocabulary;

use tidewatch_domain::encode::Message;
use tidewatch_domain::model::Signal;

use vocabulary::Vocabulary;

pub use generator::{Generator, Period};
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

impl Generator {
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
