//! A selection of rows.

/// Which rows of a buffer.
#[derive(Debug, Clone, Copy)]
pub enum Pick<'p> {
    All,
    /// Those for which it holds, by row.
    Kept(&'p [bool]),
    /// Those with these numbers, in this order.
    Order(&'p [u32]),
}
