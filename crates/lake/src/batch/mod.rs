//! Arrow batches of a table, read: typed cells, single values, attributes, group keys.
//!
//! - [`cells`] and [`datum`]: a column's cells by type, one value of any type.
//! - [`places`]: where columns and attributes stand; [`projection`]: which of them a reader wants.
//! - [`attribute`]: an attribute of every row; [`search`]: bytes in all rows at once.
//! - [`keys`]: group keys of rows as small numbers. [`samples`]: exact quantiles of values.

pub(crate) mod attribute;
pub(crate) mod cells;
pub(crate) mod datum;
pub(crate) mod keys;
pub(crate) mod places;
pub(crate) mod projection;
pub(crate) mod search;
