//! The decoder of native reports. WIRE 1.
//!
//! It reads the body in one pass and borrows from it; events, logs and actions of recordings stay JSON. Malformed JSON
//! refuses the body with the position. An item that cannot be read is counted ([`InvalidItems`]) and leaves the rest
//! alone. Unknown fields are ignored. `null` reads as absent. Names of version 0.2 of the Go SDK are accepted:
//! `transactions`, `segments`, `scope`, `transactionId`.
//!
//! [`InvalidItems`]: crate::model::InvalidItems

mod items;
mod lenient;
#[cfg(test)]
mod tests;

use super::reader::Reader;
use crate::decode::fault::Fault;
use crate::model::ReportBatch;
use lenient::Validity;

/// Reads the envelope into an empty batch; at most `records_max` items of a kind.
pub(super) fn envelope<'a>(
    reader: &mut Reader<'a>,
    records_max: usize,
    batch: &mut ReportBatch<'a>,
) -> Result<(), Fault> {
    // A wrong type of these strings invalidates no item.
    let mut ignored = Validity::default();
    reader.object("the report", |reader, key| match key {
        "collectionFrames" => reader.list("collectionFrames", |reader| match reader.peek() {
            Some(b'{') => frame(reader, records_max, batch),
            _ => {
                batch.invalid.frames += 1;
                reader.skip()
            }
        }),
        "appVersion" => ignored.string(reader).map(|text| batch.app_version = text),
        "serverName" => ignored.string(reader).map(|text| batch.server_name = text),
        "proguardUuid" => ignored.string(reader).map(|text| batch.proguard_uuid = text),
        _ => reader.skip(),
    })
}

fn frame<'a>(reader: &mut Reader<'a>, records_max: usize, batch: &mut ReportBatch<'a>) -> Result<(), Fault> {
    reader.object("frame", |reader, key| match key {
        "traces" | "transactions" => items::each(reader, |reader| items::run(reader, records_max, batch)),
        "stackTraces" => items::each(reader, |reader| items::exception(reader, records_max, batch)),
        "metrics" => items::each(reader, |reader| items::metric(reader, records_max, batch)),
        "sessions" => items::each(reader, |reader| items::session(reader, records_max, batch)),
        "sessionRecordings" => items::each(reader, |reader| items::recording(reader, records_max, batch)),
        _ => reader.skip(),
    })
}
