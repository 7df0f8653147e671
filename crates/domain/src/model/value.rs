//! Attribute values and the flat lists they live in.

/// A range in one of the batch's flat lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slice {
    pub start: u32,
    pub end: u32,
}

impl Slice {
    pub fn of<T>(self, list: &[T]) -> &[T] {
        &list[self.start as usize..self.end as usize]
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// An OTLP `AnyValue`. Nested lists live in the batch's arena.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
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
    pub key: &'a str,
    pub value: AnyValue<'a>,
}

/// Nothing but white space.
#[inline]
pub fn is_blank(text: &str) -> bool {
    let is_visible = |byte: &u8| (0x21..0x7f).contains(byte);
    !text.as_bytes().first().is_some_and(is_visible) && text.trim().is_empty()
}

/// Are the keys the same memory? Those of one request that are equal mostly are.
#[inline]
pub fn share_keys(some: &[KeyValue<'_>], others: &[KeyValue<'_>]) -> bool {
    some.len() == others.len() && some.iter().zip(others).all(|(one, other)| std::ptr::eq(one.key, other.key))
}

/// How a list of attributes stands in its body, as far as the reader knows. Equal to any other, for it is no part of what
/// the batch says.
#[derive(Clone, Copy, Default)]
pub struct Layout {
    /// Lists of one number, which is not 0, have the same keys in the same order, and these are the same memory.
    pub keys: u32,
    /// What the list takes as it is to be stored, when each of its attributes stands in the body like that; else 0.
    pub bytes: u32,
}

impl Layout {
    /// Are the keys of both lists known to be the same memory?
    #[inline]
    pub fn shares_keys(self, other: Layout) -> bool {
        self.keys == other.keys && self.keys > 0
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

/// The body a batch was read from: what comes as it is to be stored is copied from here. Equal to any other, for it is
/// no part of what the batch says.
#[derive(Clone, Default)]
pub struct Body<'a> {
    /// The batch's attributes as they stand in it, length and message, where that is as they are to be stored; empty
    /// for others.
    pub attributes: Vec<&'a [u8]>,
    /// Most records of a kind that are read from it.
    pub records_max: usize,
}

impl<'a> Body<'a> {
    /// These attributes as they stand there; none when nothing is known of them.
    pub fn pairs(&self, attributes: Slice) -> &[&'a [u8]] {
        self.attributes.get(attributes.start as usize..attributes.end as usize).unwrap_or_default()
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

/// Look-up by key over a list of attributes; the last one of a key wins, as SDKs mean it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Attributes<'b, 'a>(pub &'b [KeyValue<'a>]);

impl<'b, 'a> Attributes<'b, 'a> {
    pub fn get(self, key: &str) -> Option<AnyValue<'a>> {
        self.0.iter().rev().find(|kv| kv.key == key).map(|kv| kv.value)
    }

    /// The value when it is a string that is not empty after trimming; `None` otherwise.
    pub fn text(self, key: &str) -> Option<&'a str> {
        match self.get(key)? {
            AnyValue::Str(text) if !is_blank(text) => Some(text),
            _ => None,
        }
    }

    /// The value as an integer: numbers, whole doubles and numeric strings alike (some SDKs stringify).
    pub fn int(self, key: &str) -> Option<i64> {
        self.get(key)?.as_int()
    }
}

impl<'a> AnyValue<'a> {
    /// Numbers, whole doubles and numeric strings as an integer.
    pub fn as_int(self) -> Option<i64> {
        match self {
            AnyValue::Int(value) => Some(value),
            AnyValue::Double(value) if value.fract() == 0.0 && value.abs() < 9.0e15 => Some(value as i64),
            AnyValue::Str(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// Numbers and numeric strings as a finite double.
    pub fn as_double(self) -> Option<f64> {
        let value = match self {
            AnyValue::Int(value) => value as f64,
            AnyValue::Double(value) => value,
            AnyValue::Str(text) => text.trim().parse().ok()?,
            _ => return None,
        };
        value.is_finite().then_some(value)
    }

    pub fn as_str(self) -> Option<&'a str> {
        match self {
            AnyValue::Str(text) => Some(text),
            _ => None,
        }
    }
}
