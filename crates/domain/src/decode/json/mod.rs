//! OTLP JSON: one pass over the text, straight into the batch; no document is built in between.
//!
//! [`envelope`] walks request, resource and scope blocks; [`traces`], [`logs`], [`metrics`] and [`points`] read the
//! records; [`value`] the attribute values; [`scalar`] ids, enums and bytes; [`number`] and [`text`] the JSON leaves;
//! [`reader`] the grammar.
//!
//! Strict where data would be lost, lenient where it would not. What is read beyond the letter of OTLP/JSON:
//! a byte order mark, `null` for "absent" anywhere, integers as numbers or strings (also `1.7e18`), enums by name,
//! base64 in either alphabet, unescaped control characters in strings. A lone surrogate escape reads as U+FFFD.
//! Keys are lowerCamelCase only. Of a key that comes twice the last one counts, except for the lists of blocks and
//! records, which are all read. Ids never refuse the body, whatever they are: see [`ids`](super::ids).

mod envelope;
mod logs;
mod metrics;
mod number;
mod points;
mod reader;
mod scalar;
mod text;
mod traces;
mod value;

use bumpalo::Bump;

pub(super) use envelope::Records;

use super::fault::{Fault, fault};
use reader::Reader;

/// Reads an `Export…ServiceRequest` into an empty batch.
pub(super) fn request<'a>(body: &'a [u8], arena: &'a Bump, batch: &mut impl Records<'a>) -> Result<(), Fault> {
    let text = match simdutf8::compat::from_utf8(body) {
        Ok(text) => text,
        Err(error) => return Err(fault!("the JSON body is not valid UTF-8 at byte {}", error.valid_up_to())),
    };
    let mut reader = Reader::new(text, arena);
    if reader.peek().is_none() {
        return Err(fault!("the JSON body is empty"));
    }
    envelope::request(&mut reader, batch)?;
    reader.end()
}
