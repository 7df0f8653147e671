//! The numbers of a chunk's rows: one or two bytes each as long as its values are few, which most chunks' are. A merge has
//! more than fifty chunks of a hundred thousand rows in the making.

use std::ops::Range;

use super::NULL;

/// What [`NULL`] is in one and in two bytes; numbers below it fit.
const NULL_BYTE: u8 = NULL as u8;
const NULL_NARROW: u16 = NULL as u16;

pub struct RowNumbers {
    numbers: Numbers,
    rows_max: usize,
}

enum Numbers {
    Byte(Vec<u8>),
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl RowNumbers {
    /// None yet, of so many at most.
    pub fn within(rows_max: usize) -> RowNumbers {
        RowNumbers { numbers: Numbers::Byte(Vec::new()), rows_max }
    }

    pub fn len(&self) -> usize {
        match &self.numbers {
            Numbers::Byte(numbers) => numbers.len(),
            Numbers::Narrow(numbers) => numbers.len(),
            Numbers::Wide(numbers) => numbers.len(),
        }
    }

    pub fn bytes(&self) -> usize {
        match &self.numbers {
            Numbers::Byte(numbers) => numbers.len(),
            Numbers::Narrow(numbers) => numbers.len() * 2,
            Numbers::Wide(numbers) => numbers.len() * 4,
        }
    }

    /// More rows, each the number of one of `values` values or [`NULL`].
    pub fn extend(&mut self, rows: &[u32], values: usize) {
        let is_wide = matches!(self.numbers, Numbers::Wide(_));
        let is_byte = matches!(self.numbers, Numbers::Byte(_));
        if values > usize::from(NULL_NARROW) && !is_wide {
            self.numbers = Numbers::Wide(self.iter().collect());
        } else if values > usize::from(NULL_BYTE) && is_byte {
            // What remains of `NULL` stands for it.
            self.numbers = Numbers::Narrow(self.iter().map(|number| number as u16).collect());
        }
        match &mut self.numbers {
            Numbers::Byte(numbers) => append(numbers, rows, self.rows_max, |number| number as u8),
            Numbers::Narrow(numbers) => append(numbers, rows, self.rows_max, |number| number as u16),
            Numbers::Wide(numbers) => append(numbers, rows, self.rows_max, |number| number),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let (byte, narrow, wide): (&[u8], &[u16], &[u32]) = match &self.numbers {
            Numbers::Byte(numbers) => (numbers, &[], &[]),
            Numbers::Narrow(numbers) => (&[], numbers, &[]),
            Numbers::Wide(numbers) => (&[], &[], numbers),
        };
        byte.iter().map(of_byte).chain(narrow.iter().map(of_narrow)).chain(wide.iter().copied())
    }

    /// Those of some rows.
    pub fn of(&self, rows: Range<usize>) -> Vec<u32> {
        match &self.numbers {
            Numbers::Byte(numbers) => numbers[rows].iter().map(of_byte).collect(),
            Numbers::Narrow(numbers) => numbers[rows].iter().map(of_narrow).collect(),
            Numbers::Wide(numbers) => numbers[rows].to_vec(),
        }
    }
}

fn of_byte(number: &u8) -> u32 {
    if *number == NULL_BYTE { NULL } else { u32::from(*number) }
}

fn of_narrow(number: &u16) -> u32 {
    if *number == NULL_NARROW { NULL } else { u32::from(*number) }
}

/// Room is made eightfold, up to what a row group needs: all its chunks grow at once, and what they leave behind would be
/// half as much again.
fn append<T>(numbers: &mut Vec<T>, rows: &[u32], rows_max: usize, short: impl Fn(u32) -> T) {
    if numbers.capacity() - numbers.len() < rows.len() {
        let room = (numbers.len() * 7).min(rows_max.saturating_sub(numbers.len()));
        numbers.reserve_exact(room.max(rows.len()));
    }
    numbers.extend(rows.iter().map(|number| short(*number)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_come_back() {
        let edges = [(u32::from(NULL_BYTE), 1), (u32::from(NULL_NARROW), 2)];
        let lists = edges.into_iter().flat_map(|(edge, bytes)| {
            let below = [vec![0, NULL, 7, edge - 1], vec![]];
            let above = [vec![NULL, 3, edge, NULL, 4], vec![1, edge + 1, edge - 1, NULL]];
            below.map(|list| (list, bytes)).into_iter().chain(above.map(|list| (list, bytes * 2)))
        });
        for (list, bytes) in lists {
            let mut numbers = RowNumbers::within(3);
            for (row, number) in list.iter().enumerate() {
                let values = list[..=row].iter().filter(|number| **number != NULL).max().map_or(0, |most| most + 1);
                numbers.extend(&[*number], values as usize);
            }
            assert_eq!(numbers.iter().collect::<Vec<_>>(), list);
            assert_eq!((numbers.of(0..list.len()), numbers.len()), (list.clone(), list.len()));
            assert_eq!(numbers.bytes(), list.len() * bytes);
        }
    }
}
