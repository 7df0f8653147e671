//! The dictionary indices of a chunk's rows: constant memory while all are equal, one or two bytes each while the chunk
//! has few distinct values, which holds for most chunks. A merge has more than fifty open chunks of a hundred thousand
//! rows.

use std::iter::repeat_n;
use std::ops::Range;

use super::numbers::NULL;

/// [`NULL`] in one and in two bytes. Smaller indices fit.
const NULL_BYTE: u8 = NULL as u8;
const NULL_NARROW: u16 = NULL as u16;

pub struct DictionaryIndices {
    indices: Indices,
    rows_max: usize,
}

enum Indices {
    /// One index, and the number of rows that have it.
    Constant(u32, usize),
    Byte(Vec<u8>),
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl DictionaryIndices {
    /// Starts an empty list of at most `rows_max` rows.
    pub fn within(rows_max: usize) -> DictionaryIndices {
        DictionaryIndices { indices: Indices::Constant(NULL, 0), rows_max }
    }

    pub fn clear(&mut self) {
        self.indices = Indices::Constant(NULL, 0);
    }

    pub fn len(&self) -> usize {
        match &self.indices {
            Indices::Constant(_, count) => *count,
            Indices::Byte(indices) => indices.len(),
            Indices::Narrow(indices) => indices.len(),
            Indices::Wide(indices) => indices.len(),
        }
    }

    pub fn bytes(&self) -> usize {
        match &self.indices {
            Indices::Constant(..) => 0,
            Indices::Byte(indices) => indices.len(),
            Indices::Narrow(indices) => indices.len() * 2,
            Indices::Wide(indices) => indices.len() * 4,
        }
    }

    /// The index that all rows have, if they have the same.
    pub fn constant(&self) -> Option<u32> {
        match self.indices {
            Indices::Constant(number, _) => Some(number),
            _ => None,
        }
    }

    /// Appends rows, each the index of one of `values` values or [`NULL`].
    pub fn extend(&mut self, rows: &[u32], values: usize) {
        let Some(first) = rows.first() else { return };
        if self.constant().is_some() && rows.iter().all(|number| number == first) {
            return self.extend_constant(*first, rows.len(), values);
        }
        self.widen(values);
        let rows_max = self.rows_max;
        match &mut self.indices {
            Indices::Constant(..) => unreachable!("there is room for different ones"),
            Indices::Byte(indices) => append(indices, rows.len(), rows_max, rows.iter().map(|number| *number as u8)),
            Indices::Narrow(indices) => append(indices, rows.len(), rows_max, rows.iter().map(|number| *number as u16)),
            Indices::Wide(indices) => append(indices, rows.len(), rows_max, rows.iter().copied()),
        }
    }

    /// Appends `rows` rows of one index, like [`DictionaryIndices::extend`].
    pub fn extend_constant(&mut self, number: u32, rows: usize, values: usize) {
        if let Indices::Constant(current, count) = &mut self.indices
            && (*current == number || *count == 0)
        {
            (*current, *count) = (number, *count + rows);
            return;
        }
        self.widen(values);
        let rows_max = self.rows_max;
        match &mut self.indices {
            Indices::Constant(..) => unreachable!("there is room for different ones"),
            Indices::Byte(indices) => append(indices, rows, rows_max, repeat_n(number as u8, rows)),
            Indices::Narrow(indices) => append(indices, rows, rows_max, repeat_n(number as u16, rows)),
            Indices::Wide(indices) => append(indices, rows, rows_max, repeat_n(number, rows)),
        }
    }

    /// Changes to a representation for different indices of `values` values.
    fn widen(&mut self, values: usize) {
        let is_wide = matches!(self.indices, Indices::Wide(_));
        let is_short = matches!(self.indices, Indices::Byte(_) | Indices::Constant(..));
        // The truncated `NULL` still stands for null.
        if values > usize::from(NULL_NARROW) && !is_wide {
            self.indices = Indices::Wide(self.iter().collect());
        } else if values > usize::from(NULL_BYTE) && is_short {
            self.indices = Indices::Narrow(self.iter().map(|number| number as u16).collect());
        } else if let Indices::Constant(number, count) = self.indices {
            self.indices = Indices::Byte(vec![number as u8; count]);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let mut constant = (NULL, 0);
        let (byte, narrow, wide): (&[u8], &[u16], &[u32]) = match &self.indices {
            Indices::Constant(number, count) => {
                constant = (*number, *count);
                (&[], &[], &[])
            }
            Indices::Byte(indices) => (indices, &[], &[]),
            Indices::Narrow(indices) => (&[], indices, &[]),
            Indices::Wide(indices) => (&[], &[], indices),
        };
        let constant = repeat_n(constant.0, constant.1);
        constant.chain(byte.iter().map(of_byte)).chain(narrow.iter().map(of_narrow)).chain(wide.iter().copied())
    }

    /// The indices of some rows.
    pub fn of(&self, rows: Range<usize>) -> Vec<u32> {
        match &self.indices {
            Indices::Constant(number, _) => vec![*number; rows.len()],
            Indices::Byte(indices) => indices[rows].iter().map(of_byte).collect(),
            Indices::Narrow(indices) => indices[rows].iter().map(of_narrow).collect(),
            Indices::Wide(indices) => indices[rows].to_vec(),
        }
    }
}

fn of_byte(number: &u8) -> u32 {
    if *number == NULL_BYTE { NULL } else { u32::from(*number) }
}

fn of_narrow(number: &u16) -> u32 {
    if *number == NULL_NARROW { NULL } else { u32::from(*number) }
}

/// Grows the capacity eightfold, up to that of a row group: all chunks of a row group grow at once, and the freed
/// buffers of smaller steps would take half as much again.
fn append<T>(indices: &mut Vec<T>, rows: usize, rows_max: usize, more: impl Iterator<Item = T>) {
    if indices.capacity() - indices.len() < rows {
        let growth = (indices.len() * 7).min(rows_max.saturating_sub(indices.len()));
        indices.reserve_exact(growth.max(rows));
    }
    indices.extend(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_of_any_size_are_read_back() {
        let edges = [(u32::from(NULL_BYTE), 1), (u32::from(NULL_NARROW), 2)];
        let lists = edges.into_iter().flat_map(|(edge, bytes)| {
            let below = [vec![0, NULL, 7, edge - 1], vec![]];
            let above = [vec![NULL, 3, edge, NULL, 4], vec![1, edge + 1, edge - 1, NULL]];
            below.map(|list| (list, bytes)).into_iter().chain(above.map(|list| (list, bytes * 2)))
        });
        for (list, bytes) in lists {
            let mut indices = DictionaryIndices::within(3);
            for (row, number) in list.iter().enumerate() {
                let values = list[..=row].iter().filter(|number| **number != NULL).max().map_or(0, |most| most + 1);
                indices.extend(&[*number], values as usize);
            }
            assert!(list.is_empty() || indices.constant().is_none());
            assert_eq!(indices.iter().collect::<Vec<_>>(), list);
            assert_eq!((indices.of(0..list.len()), indices.len()), (list.clone(), list.len()));
            assert_eq!(indices.bytes(), list.len() * bytes);
        }
    }

    #[test]
    fn equal_indices_take_no_memory() {
        for number in [NULL, 0, 300, 70_000] {
            let values = if number == NULL { 0 } else { number as usize + 1 };
            let mut indices = DictionaryIndices::within(10);
            indices.extend(&[number; 3], values);
            indices.extend_constant(number, 4, values);
            assert_eq!((indices.len(), indices.bytes(), indices.constant()), (7, 0, Some(number)));
            assert_eq!(indices.of(2..6), [number; 4]);
            indices.extend_constant(1, 2, values.max(2));
            indices.extend(&[number, 1], values.max(2));
            let expected = [vec![number; 7], vec![1, 1, number, 1]].concat();
            assert_eq!((indices.constant(), indices.iter().collect::<Vec<_>>()), (None, expected));
        }
    }
}
