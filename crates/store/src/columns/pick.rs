//! Selections of rows.

/// A selection of the rows of a buffer.
#[derive(Debug, Clone, Copy)]
pub enum Pick<'p> {
    /// Every row.
    All,
    /// The rows whose flag is true; one flag per row.
    Kept(&'p [bool]),
    /// The rows at these indexes, in this order.
    Order(&'p [u32]),
}
