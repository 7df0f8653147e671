//! Attribute values as text that lives as long as the batch: strings as they are, anything else as JSON.
//! DECISIONS 17.

use std::borrow::Cow;

use bumpalo::Bump;

use crate::model::AnyValue;
use crate::wire;

/// The product's one text form ([`wire::value_text`]), in the arena where it is not in the request already.
pub fn value_text<'a>(value: AnyValue<'a>, arena: &'a Bump) -> &'a str {
    match wire::value_text(value) {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => arena.alloc_str(&text),
    }
}
