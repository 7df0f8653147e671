//! Bodies that can be sent repeatedly: ids and times are changed for each request, everything else stays.
//!
//! Every trace and span id is changed by the same mask, so traces stay connected and no span is a duplicate. All times
//! are shifted by the same amount, so the newest is now.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use tidewatch_domain::model::Signal;

use super::protobuf::{Field, fields};

/// An export request with the positions of its ids and times.
#[derive(Debug, Clone, PartialEq)]
pub struct Payload {
    /// The body, inflated.
    pub body: Vec<u8>,
    /// Spans, log records or metric points.
    pub signal: Signal,
    /// Number of spans, log records or metric points.
    pub units: usize,
    /// Whether the body is JSON, which is sent unchanged.
    pub is_json: bool,
    /// Start and end of each id of 8 or 16 bytes.
    ids: Vec<(usize, usize)>,
    /// Positions of times of 8 bytes: nanoseconds, little-endian, not zero.
    times: Vec<usize>,
    newest: u64,
}

impl Payload {
    /// Parses a protobuf export request. An error if it is none.
    pub fn protobuf(signal: Signal, body: Vec<u8>) -> anyhow::Result<Payload> {
        let (mut ids, mut times) = (Vec::new(), Vec::new());
        let units = sites(signal, &body, &mut ids, &mut times).context("the payload is no protobuf export request")?;
        let time = |at: &usize| u64::from_le_bytes(body[*at..at + 8].try_into().expect("eight bytes"));
        times.retain(|at| time(at) != 0);
        let newest = times.iter().map(time).max().unwrap_or(0);
        Ok(Payload { body, signal, units, is_json: false, ids, times, newest })
    }

    /// Reads a file with protobuf, or with JSON, which is sent unchanged; `.gz` is inflated.
    pub fn read(path: &Path, signal: Signal) -> anyhow::Result<Payload> {
        let mut body = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        if body.starts_with(&[0x1f, 0x8b]) {
            let mut unpacked = Vec::new();
            let read = flate2::read::MultiGzDecoder::new(body.as_slice()).read_to_end(&mut unpacked);
            read.with_context(|| format!("{} is not gzip", path.display()))?;
            body = unpacked;
        }
        if body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') {
            let units = count_json(signal, &body)?;
            return Ok(Payload { body, signal, units, is_json: true, ids: Vec::new(), times: Vec::new(), newest: 0 });
        }
        Payload::protobuf(signal, body)
    }

    /// Writes the body to `out`, with other ids for each `nonce`, and with its newest time at `now_ns`.
    pub fn fresh(&self, nonce: u64, now_ns: u64, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.body);
        // Consecutive nonces differ in all bytes, and no nonce leaves the ids unchanged.
        let mask = nonce.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        for (start, end) in &self.ids {
            for (byte, mask) in out[*start..*end].iter_mut().zip(mask.iter().cycle()) {
                *byte ^= mask;
            }
        }
        let shift = now_ns.wrapping_sub(self.newest);
        for at in &self.times {
            let time: [u8; 8] = self.body[*at..at + 8].try_into().expect("eight bytes");
            out[*at..at + 8].copy_from_slice(&u64::from_le_bytes(time).wrapping_add(shift).to_le_bytes());
        }
    }
}

/// Finds ids and times. Returns the number of records. `None`: not a request of this signal.
fn sites(signal: Signal, body: &[u8], ids: &mut Vec<(usize, usize)>, times: &mut Vec<usize>) -> Option<usize> {
    let mut units = 0;
    let mut note = |field: &Field, id_fields: &[u32], time_fields: &[u32]| {
        let length = field.end - field.start;
        if field.wire_type == 2 && id_fields.contains(&field.number) && matches!(length, 8 | 16) {
            ids.push((field.start, field.end));
        }
        if field.wire_type == 1 && time_fields.contains(&field.number) {
            times.push(field.start);
        }
    };
    // Every signal: resource 1, scope 2, record 2.
    for record in below(body, &[Field { number: 0, wire_type: 2, start: 0, end: body.len() }], &[1, 2, 2])? {
        match signal {
            Signal::Traces => {
                units += 1;
                for field in fields(body, record.start, record.end)? {
                    note(&field, &[1, 2, 4], &[7, 8]);
                    // Events have a time, links have ids.
                    if matches!((field.number, field.wire_type), (11 | 13, 2)) {
                        let (id_fields, time_fields): (&[u32], &[u32]) =
                            if field.number == 13 { (&[1, 2], &[]) } else { (&[], &[1]) };
                        fields(body, field.start, field.end)?
                            .iter()
                            .for_each(|field| note(field, id_fields, time_fields));
                    }
                }
            }
            Signal::Logs => {
                units += 1;
                fields(body, record.start, record.end)?.iter().for_each(|field| note(field, &[9, 10], &[1, 11]));
            }
            Signal::Metrics => {
                // Gauge 5, sum 7, histogram 9, exponential 10, summary 11; points 1.
                for data in fields(body, record.start, record.end)? {
                    if data.wire_type != 2 || !matches!(data.number, 5 | 7 | 9 | 10 | 11) {
                        continue;
                    }
                    for point in below(body, &[data], &[1])? {
                        units += 1;
                        fields(body, point.start, point.end)?.iter().for_each(|field| note(field, &[], &[2, 3]));
                    }
                }
            }
        }
    }
    Some(units)
}

/// The nested messages of `from` along a path of field numbers.
fn below(body: &[u8], from: &[Field], path: &[u32]) -> Option<Vec<Field>> {
    let mut level = from.to_vec();
    for number in path {
        let mut next = Vec::new();
        for message in level {
            let inner = fields(body, message.start, message.end)?;
            next.extend(inner.into_iter().filter(|field| field.number == *number && field.wire_type == 2));
        }
        level = next;
    }
    Some(level)
}

/// Number of spans, records or points of an OTLP/JSON request.
fn count_json(signal: Signal, body: &[u8]) -> anyhow::Result<usize> {
    let value: serde_json::Value = serde_json::from_slice(body).context("the payload is no JSON")?;
    let names = match signal {
        Signal::Traces => ["resourceSpans", "scopeSpans", "spans"],
        Signal::Logs => ["resourceLogs", "scopeLogs", "logRecords"],
        Signal::Metrics => ["resourceMetrics", "scopeMetrics", "metrics"],
    };
    let mut level = vec![&value];
    for name in names {
        level = level.into_iter().filter_map(|value| value[name].as_array()).flatten().collect();
    }
    let points = |metric: &&serde_json::Value| {
        let data = ["gauge", "sum", "histogram", "exponentialHistogram", "summary"].iter();
        data.filter_map(|kind| metric[kind]["dataPoints"].as_array()).map(Vec::len).sum::<usize>()
    };
    let units = if signal == Signal::Metrics { level.iter().map(points).sum() } else { level.len() };
    if units == 0 {
        bail!("the payload holds no {}", signal.as_str());
    }
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(name: &str, signal: Signal) -> Payload {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bench");
        Payload::read(Path::new(&format!("{folder}/{name}.gz")), signal).expect("a payload")
    }

    #[test]
    fn units_are_counted_in_both_encodings() {
        for (name, signal, units) in
            [("traces512", Signal::Traces, 512), ("logs512", Signal::Logs, 512), ("metrics2k", Signal::Metrics, 2040)]
        {
            for ending in ["pb", "json"] {
                assert_eq!(fixture(&format!("{name}.{ending}"), signal).units, units, "{name}.{ending}");
            }
        }
    }

    #[test]
    fn ids_and_times_are_changed_and_traces_stay_connected() {
        let payload = fixture("traces512.pb", Signal::Traces);
        let now = 1_900_000_000_000_000_000;
        let (mut one, mut two) = (Vec::new(), Vec::new());
        payload.fresh(1, now, &mut one);
        payload.fresh(2, now, &mut two);
        let (one, two) = (Payload::protobuf(Signal::Traces, one), Payload::protobuf(Signal::Traces, two));
        let (one, two) = (one.expect("a payload"), two.expect("a payload"));
        assert_eq!((one.units, one.newest, one.ids.len()), (512, now, payload.ids.len()));
        let id = |payload: &Payload, index: usize| payload.body[payload.ids[index].0..payload.ids[index].1].to_vec();
        let distinct = |payload: &Payload| {
            let ids: std::collections::HashSet<_> = (0..payload.ids.len()).map(|index| id(payload, index)).collect();
            ids.len()
        };
        assert_eq!(distinct(&one), distinct(&payload));
        assert!((0..payload.ids.len()).all(|index| id(&one, index) != id(&two, index)));
    }

    #[test]
    fn other_files_are_refused() {
        assert!(Payload::protobuf(Signal::Traces, b"hello, world".to_vec()).is_err());
    }
}
