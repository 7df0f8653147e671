//! The text form of attribute values with the lifetime of the batch. DECISIONS 17.

use std::borrow::Cow;

use bumpalo::Bump;

use crate::model::AnyValue;
use crate::wire;

/// The text form of a value ([`wire::value_text`]), allocated in the arena unless it borrows from the request.
pub fn value_text<'a>(value: AnyValue<'a>, arena: &'a Bump) -> &'a str {
    match wire::value_text(value) {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => arena.alloc_str(&text),
    }
}
