//! Attribute values, and ranges in the flat lists of a batch.

/// A range in one of the batch's flat lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slice {
    /// First index.
    pub start: u32,
    /// Last index, exclusive.
    pub end: u32,
}

impl Slice {
    /// The elements of this range. Panics when it exceeds `list`.
    pub fn of<T>(self, list: &[T]) -> &[T] {
        &list[self.start as usize..self.end as usize]
    }

    /// Whether the range is empty.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// An OTLP `AnyValue`. Nested lists are allocated in the batch's arena.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[expect(missing_docs, reason = "named as in OTLP")]
pub enum AnyValue<'a> {
    /// Present without a value (`{}` in JSON).
    #[default]
    Empty,
    Str(&'a str),
    Bool(bool),
    Int(i64),
    Double(f64),
    Bytes(&'a [u8]),
    Array(&'a [AnyValue<'a>]),
    Map(&'a [KeyValue<'a>]),
}

/// One attribute.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KeyValue<'a> {
    /// As received.
    pub key: &'a str,
    /// As received.
    pub value: AnyValue<'a>,
}

/// Whether the string is empty or only white space.
#[inline]
pub fn is_blank(text: &str) -> bool {
    let is_visible = |byte: &u8| (0x21..0x7f).contains(byte);
    !text.as_bytes().first().is_some_and(is_visible) && text.trim().is_empty()
}

/// Whether both lists have the same keys at the same addresses. Equal keys of one request usually share an address.
#[inline]
pub fn share_keys(some: &[KeyValue<'_>], others: &[KeyValue<'_>]) -> bool {
    some.len() == others.len() && some.iter().zip(others).all(|(one, other)| std::ptr::eq(one.key, other.key))
}

/// The encoded layout of an attribute list, as far as the decoder knows it. An optimization hint and not part of the
/// batch's content: all layouts compare equal.
#[derive(Clone, Copy, Default)]
pub struct Layout {
    /// Lists with the same number have the same keys, in the same order and at the same addresses. 0: unknown.
    pub key_set: u32,
    /// Size of the list's stored form if the body contains it verbatim; else 0.
    pub encoded_bytes: u32,
}

impl Layout {
    /// Whether both lists are known to have the same keys at the same addresses.
    #[inline]
    pub fn shares_keys(self, other: Layout) -> bool {
        self.key_set == other.key_set && self.key_set > 0
    }
}

impl PartialEq for Layout {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Layout")
    }
}

/// The body of a batch, from which encoded attributes are copied. Not part of the batch's content: all bodies compare
/// equal.
#[derive(Clone, Default)]
pub struct Body<'a> {
    /// The encoded form of each attribute of the batch, length prefix included; empty if its stored form differs.
    pub encoded_attributes: Vec<&'a [u8]>,
    /// Maximum number of records of a kind.
    pub records_max: usize,
}

impl<'a> Body<'a> {
    /// The encoded form of these attributes; empty when it is unknown.
    pub fn encoded(&self, attributes: Slice) -> &[&'a [u8]] {
        self.encoded_attributes.get(attributes.start as usize..attributes.end as usize).unwrap_or_default()
    }
}

impl PartialEq for Body<'_> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Body")
    }
}

/// Look-up by key in a list of attributes. The last of duplicate keys wins, as in the SDKs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Attributes<'b, 'a>(pub &'b [KeyValue<'a>]);

impl<'b, 'a> Attributes<'b, 'a> {
    /// The value of `key`.
    pub fn get(self, key: &str) -> Option<AnyValue<'a>> {
        self.0.iter().rev().find(|kv| kv.key == key).map(|kv| kv.value)
    }

    /// The value if it is a string with a character other than white space.
    pub fn text(self, key: &str) -> Option<&'a str> {
        match self.get(key)? {
            AnyValue::Str(text) if !is_blank(text) => Some(text),
            _ => None,
        }
    }

    /// The value as an integer, see [`AnyValue::as_int`].
    pub fn int(self, key: &str) -> Option<i64> {
        self.get(key)?.as_int()
    }
}

impl<'a> AnyValue<'a> {
    /// The integer of a number, an integral double or a numeric string (some SDKs stringify numbers).
    pub fn as_int(self) -> Option<i64> {
        match self {
            AnyValue::Int(value) => Some(value),
            AnyValue::Double(value) if value.fract() == 0.0 && value.abs() < 9.0e15 => Some(value as i64),
            AnyValue::Str(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// The finite double of a number or a numeric string.
    pub fn as_double(self) -> Option<f64> {
        let value = match self {
            AnyValue::Int(value) => value as f64,
            AnyValue::Double(value) => value,
            AnyValue::Str(text) => text.trim().parse().ok()?,
            _ => return None,
        };
        value.is_finite().then_some(value)
    }

    /// The string, if it is one.
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            AnyValue::Str(text) => Some(text),
            _ => None,
        }
    }
}
