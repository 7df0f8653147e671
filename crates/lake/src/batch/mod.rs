//! Reads Arrow batches of a table: typed cells, single values, attributes, group keys.
//!
//! - [`cells`]: typed views of columns; [`datum`]: one value of any kind.
//! - [`places`]: the columns that may hold an attribute; [`projection`]: the columns and attributes to read.
//! - [`attribute`]: an attribute of every row; [`search`]: a substring search in all rows at once.
//! - [`keys`]: groups of rows.
//!
//! Nothing here depends on parts or plans.

pub(crate) mod attribute;
pub(crate) mod cells;
pub(crate) mod datum;
pub(crate) mod keys;
pub(crate) mod places;
pub(crate) mod projection;
pub(crate) mod search;
