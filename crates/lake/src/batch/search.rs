//! Substring search in all rows of a column at once.

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::BooleanBuffer;
use memchr::memmem::Finder;

/// The bytes between the first and the last offset. Slices of an array share its bytes.
pub(crate) fn bytes_of<'a>(offsets: &[i32], bytes: &'a [u8]) -> &'a [u8] {
    match (offsets.first(), offsets.last()) {
        (Some(first), Some(last)) => &bytes[*first as usize..*last as usize],
        _ => &[],
    }
}

/// The rows that contain the needle. Searches the concatenated bytes of all rows; a match across the end of a row does
/// not count.
pub(crate) fn rows_with(offsets: &[i32], haystack: &[u8], finder: &Finder<'_>) -> BooleanBuffer {
    let rows = offsets.len().saturating_sub(1);
    let length = finder.needle().len();
    if length == 0 || rows == 0 {
        return BooleanBuffer::new_set(rows);
    }
    let first = offsets[0] as usize;
    let mut mask = BooleanBufferBuilder::new(rows);
    mask.append_n(rows, false);
    let mut row = 0;
    let mut from = 0;
    while let Some(hit) = finder.find(&haystack[from..]) {
        let at = from + hit;
        // The row of the hit: the last that starts at or before it.
        row += offsets[row + 1..].partition_point(|&end| end as usize - first <= at);
        let end = offsets[row + 1] as usize - first;
        if at + length <= end {
            mask.set_bit(row, true);
            from = end;
        } else {
            from = at + 1;
        }
    }
    mask.finish()
}
