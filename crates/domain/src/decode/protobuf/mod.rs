//! OTLP protobuf: one pass over the body, field by field.
//!
//! [`envelope`] walks request, resource and scope blocks; [`traces`], [`logs`] and [`metrics`] read the records;
//! [`value`] the attribute values; [`reader`] the wire format; [`check`] what nothing is kept of. A body is
//! refused exactly when the generated types refuse it, but for [`VALUE_DEPTH_MAX`](super::VALUE_DEPTH_MAX),
//! the depth of unknown groups, and [`RECORDS_MAX`](super::RECORDS_MAX).

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

/// Attributes that a request may have, in multiples of its records; those that are spelled as usual take more bytes and
/// are not counted.
const ATTRIBUTES_PER_RECORD: usize = 4;

/// Reads an `Export…ServiceRequest` into an empty batch. An empty body is an empty request.
pub(super) fn request<'a>(body: &'a [u8], arena: &'a Bump, batch: &mut impl Records<'a>) -> Result<(), Fault> {
    let known = &mut *batch.lists().body;
    let attributes_max = known.records_max.saturating_mul(ATTRIBUTES_PER_RECORD);
    let mut values = Values::with_pairs(arena, std::mem::take(&mut known.attributes), attributes_max);
    let read = envelope::request(Reader::new(body), batch, &mut values);
    let lists = batch.lists();
    lists.body.attributes = values.into_pairs(lists.attributes.len());
    read
}
