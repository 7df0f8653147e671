//! The cells of one column with their validity.

use arrow::array::ArrayRef;
use arrow::buffer::NullBuffer;

use super::cells::Cells;
use super::pick::Pick;
use super::vectors::extend;

#[derive(Debug, Clone)]
pub(super) struct Column {
    pub cells: Cells,
    /// By row, whether the cell is not null; only for nullable columns.
    pub valid: Option<Vec<bool>>,
}

impl Column {
    pub fn append(&mut self, other: &Column, pick: Pick<'_>) {
        self.cells.append(&other.cells, pick);
        if let (Some(into), Some(from)) = (&mut self.valid, &other.valid) {
            extend(into, from, pick);
        }
    }

    pub fn into_array(self) -> ArrayRef {
        let nulls = self.valid.filter(|valid| valid.contains(&false)).map(NullBuffer::from);
        self.cells.into_array(nulls)
    }
}
