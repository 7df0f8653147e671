//! The OTLP/JSON decoder. It reads the body in one pass into the batch and builds no document tree.
//!
//! [`envelope`] reads request, resource and scope blocks; [`traces`], [`logs`], [`metrics`] and [`points`] read the
//! records; [`report`] reads native reports; [`value`] reads attribute values; [`scalar`] reads ids, enums and bytes;
//! [`number`] and [`text`] read JSON numbers and strings; [`reader`] implements the grammar.
//!
//! The decoder is strict where leniency would lose data. It accepts beyond OTLP/JSON: a byte order mark, `null` for an
//! absent value, integers as numbers or strings (`1.7e18` included), enums by name, base64 in either alphabet, and
//! unescaped control characters in strings. A lone surrogate escape reads as U+FFFD. Keys are lowerCamelCase only. The
//! last of duplicate keys wins, except for the lists of blocks and records, which are all read. A wrong id never refuses
//! the body: see [`ids`](super::ids).

mod envelope;
mod logs;
mod metrics;
mod number;
mod points;
mod reader;
mod report;
mod scalar;
mod text;
mod traces;
mod value;

use bumpalo::Bump;

pub(super) use envelope::Records;

use super::fault::{Fault, fault};
use crate::model::ReportBatch;
use reader::Reader;

/// Reads an `Export…ServiceRequest` into an empty batch.
pub(super) fn request<'a>(body: &'a [u8], arena: &'a Bump, batch: &mut impl Records<'a>) -> Result<(), Fault> {
    document(body, arena, |reader| envelope::request(reader, batch))
}

/// Reads a native report into an empty batch; at most `records_max` items of a kind.
pub(super) fn report<'a>(
    body: &'a [u8],
    records_max: usize,
    arena: &'a Bump,
    batch: &mut ReportBatch<'a>,
) -> Result<(), Fault> {
    document(body, arena, |reader| report::envelope(reader, records_max, batch))
}

fn document<'a>(
    body: &'a [u8],
    arena: &'a Bump,
    read: impl FnOnce(&mut Reader<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let text = match simdutf8::compat::from_utf8(body) {
        Ok(text) => text,
        Err(error) => return Err(fault!("the JSON body is not valid UTF-8 at byte {}", error.valid_up_to())),
    };
    let mut reader = Reader::new(text, arena);
    if reader.peek().is_none() {
        return Err(fault!("the JSON body is empty"));
    }
    read(&mut reader)?;
    reader.end()
}
