//! The description of a column.

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// True or false.
    Bool,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 64-bit integer.
    U64,
    /// Signed 64-bit integer.
    I64,
    /// Double.
    F64,
    /// UTF-8 string.
    Text,
    /// Bytes of any length.
    Bytes,
    /// 8 raw bytes.
    Id8,
    /// 16 raw bytes.
    Id16,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// The name in Arrow schemas and parts.
    pub name: &'static str,
    /// The type.
    pub kind: Kind,
    /// Whether cells may be null.
    pub nullable: bool,
    /// Whether memory has a dictionary of the values, because many rows of a request have equal ones.
    pub is_dictionary: bool,
    /// Unit and meaning, in one line.
    pub doc: &'static str,
}

/// A column without nulls.
pub(super) const fn column(name: &'static str, kind: Kind, doc: &'static str) -> Column {
    Column { name, kind, nullable: false, is_dictionary: false, doc }
}

/// A nullable column.
pub(super) const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Column {
    Column { name, kind, nullable: true, is_dictionary: false, doc }
}

/// A dictionary column of bytes.
pub(super) const fn dictionary_bytes(name: &'static str, doc: &'static str) -> Column {
    Column { name, kind: Kind::Bytes, nullable: false, is_dictionary: true, doc }
}

/// A nullable dictionary column.
pub(super) const fn optional_dictionary(name: &'static str, kind: Kind, doc: &'static str) -> Column {
    Column { name, kind, nullable: true, is_dictionary: true, doc }
}

/// A dictionary column of strings.
pub(super) const fn dictionary_text(name: &'static str, doc: &'static str) -> Column {
    Column { name, kind: Kind::Text, nullable: false, is_dictionary: true, doc }
}
