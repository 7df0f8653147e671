//! The OTLP protobuf decoder. It reads the body in one pass, field by field.
//!
//! [`envelope`] reads request, resource and scope blocks; [`traces`], [`logs`] and [`metrics`] read the records;
//! [`value`] reads attribute values and [`pairs`] is their fast path; [`reader`] reads the wire format; [`check`]
//! validates unstored messages. A body is refused exactly when the generated protobuf types refuse it, except for the
//! limits [`VALUE_DEPTH_MAX`](super::VALUE_DEPTH_MAX), the depth of unknown groups, and
//! [`RECORDS_MAX`](super::RECORDS_MAX).

mod check;
mod envelope;
mod logs;
mod metrics;
mod pairs;
mod points;
pub(crate) mod reader;
mod traces;
pub(crate) mod value;

use bumpalo::Bump;

pub(super) use envelope::Records;

use super::fault::Fault;
use reader::Reader;
use value::Values;

/// Maximum number of attributes per record that the fast path does not cover. Attributes on the fast path take more
/// bytes in the body and are not limited.
const ATTRIBUTES_PER_RECORD: usize = 4;

/// Reads an `Export…ServiceRequest` into an empty batch. An empty body is an empty request.
pub(super) fn request<'a>(body: &'a [u8], arena: &'a Bump, batch: &mut impl Records<'a>) -> Result<(), Fault> {
    let known = &mut *batch.lists().body;
    let attributes_max = known.records_max.saturating_mul(ATTRIBUTES_PER_RECORD);
    let mut values = Values::with_fast_path(arena, std::mem::take(&mut known.encoded_attributes), attributes_max);
    let read = envelope::request(Reader::new(body), batch, &mut values);
    let lists = batch.lists();
    lists.body.encoded_attributes = values.into_encoded(lists.attributes.len());
    read
}
