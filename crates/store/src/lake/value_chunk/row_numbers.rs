//! The numbers of a chunk's rows: two bytes each as long as its values are few, which most chunks' are. A merge has more
//! than fifty chunks of a hundred thousand rows in the making.

use std::ops::Range;

use super::NULL;

/// The last two bytes of [`NULL`]; numbers below it fit.
const NULL_NARROW: u16 = NULL as u16;

pub enum RowNumbers {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

fn widened(number: u16) -> u32 {
    if number == NULL_NARROW { NULL } else { u32::from(number) }
}

impl RowNumbers {
    pub fn new() -> RowNumbers {
        RowNumbers::Narrow(Vec::new())
    }

    pub fn len(&self) -> usize {
        match self {
            RowNumbers::Narrow(numbers) => numbers.len(),
            RowNumbers::Wide(numbers) => numbers.len(),
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            RowNumbers::Narrow(numbers) => numbers.len() * 2,
            RowNumbers::Wide(numbers) => numbers.len() * 4,
        }
    }

    /// More rows, each the number of one of `values` values or [`NULL`].
    pub fn extend(&mut self, rows: &[u32], values: usize) {
        if let RowNumbers::Narrow(numbers) = self
            && values > usize::from(NULL_NARROW)
        {
            *self = RowNumbers::Wide(numbers.iter().map(|number| widened(*number)).collect());
        }
        match self {
            RowNumbers::Narrow(numbers) => {
                make_room(numbers, rows.len());
                // What remains of `NULL` stands for it.
                numbers.extend(rows.iter().map(|number| *number as u16));
            }
            RowNumbers::Wide(numbers) => {
                make_room(numbers, rows.len());
                numbers.extend_from_slice(rows);
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let (narrow, wide): (&[u16], &[u32]) = match self {
            RowNumbers::Narrow(numbers) => (numbers, &[]),
            RowNumbers::Wide(numbers) => (&[], numbers),
        };
        narrow.iter().map(|number| widened(*number)).chain(wide.iter().copied())
    }

    /// Those of some rows.
    pub fn of(&self, rows: Range<usize>) -> Vec<u32> {
        match self {
            RowNumbers::Narrow(numbers) => numbers[rows].iter().map(|number| widened(*number)).collect(),
            RowNumbers::Wide(numbers) => numbers[rows].to_vec(),
        }
    }
}

/// Eightfold: what is not written to takes nothing, and all chunks of a row group grow at once, so that what they leave
/// behind would be half as much again.
fn make_room<T>(numbers: &mut Vec<T>, rows: usize) {
    if numbers.capacity() - numbers.len() < rows {
        numbers.reserve_exact(rows.max(numbers.len() * 7));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_come_back() {
        let edge = u32::from(NULL_NARROW);
        let lists: [&[u32]; 4] =
            [&[], &[0, NULL, 7, edge - 1], &[NULL, 3, edge, NULL, 4], &[1, edge + 1, edge - 1, NULL]];
        for list in lists {
            let mut numbers = RowNumbers::new();
            for (row, number) in list.iter().enumerate() {
                let values = list[..=row].iter().filter(|number| **number != NULL).max().map_or(0, |most| most + 1);
                numbers.extend(&[*number], values as usize);
            }
            assert_eq!(numbers.iter().collect::<Vec<_>>(), list);
            assert_eq!((numbers.of(0..list.len()), numbers.len()), (list.to_vec(), list.len()));
            let is_wide = list.iter().any(|number| *number != NULL && *number >= edge);
            assert_eq!(numbers.bytes(), list.len() * if is_wide { 4 } else { 2 });
        }
    }
}
