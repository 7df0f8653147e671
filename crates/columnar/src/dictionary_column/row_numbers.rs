//! The numbers of a chunk's rows: nothing as long as they are alike, one or two bytes each as long as its values are few,
//! which most chunks' are. A merge has more than fifty chunks of a hundred thousand rows in the making.

use std::iter::repeat_n;
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
    /// One number, so often.
    Alike(u32, usize),
    Byte(Vec<u8>),
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl RowNumbers {
    /// None yet, of so many at most.
    pub fn within(rows_max: usize) -> RowNumbers {
        RowNumbers { numbers: Numbers::Alike(NULL, 0), rows_max }
    }

    pub fn clear(&mut self) {
        self.numbers = Numbers::Alike(NULL, 0);
    }

    pub fn len(&self) -> usize {
        match &self.numbers {
            Numbers::Alike(_, count) => *count,
            Numbers::Byte(numbers) => numbers.len(),
            Numbers::Narrow(numbers) => numbers.len(),
            Numbers::Wide(numbers) => numbers.len(),
        }
    }

    pub fn bytes(&self) -> usize {
        match &self.numbers {
            Numbers::Alike(..) => 0,
            Numbers::Byte(numbers) => numbers.len(),
            Numbers::Narrow(numbers) => numbers.len() * 2,
            Numbers::Wide(numbers) => numbers.len() * 4,
        }
    }

    /// The number that all rows have, when they have the same.
    pub fn alike(&self) -> Option<u32> {
        match self.numbers {
            Numbers::Alike(number, _) => Some(number),
            _ => None,
        }
    }

    /// More rows, each the number of one of `values` values or [`NULL`].
    pub fn extend(&mut self, rows: &[u32], values: usize) {
        let Some(first) = rows.first() else { return };
        if self.alike().is_some() && rows.iter().all(|number| number == first) {
            return self.extend_alike(*first, rows.len(), values);
        }
        self.make_room(values);
        let rows_max = self.rows_max;
        match &mut self.numbers {
            Numbers::Alike(..) => unreachable!("there is room for different ones"),
            Numbers::Byte(numbers) => append(numbers, rows.len(), rows_max, rows.iter().map(|number| *number as u8)),
            Numbers::Narrow(numbers) => append(numbers, rows.len(), rows_max, rows.iter().map(|number| *number as u16)),
            Numbers::Wide(numbers) => append(numbers, rows.len(), rows_max, rows.iter().copied()),
        }
    }

    /// So many more rows of one number, as [`RowNumbers::extend`] takes them.
    pub fn extend_alike(&mut self, number: u32, rows: usize, values: usize) {
        if let Numbers::Alike(known, count) = &mut self.numbers
            && (*known == number || *count == 0)
        {
            (*known, *count) = (number, *count + rows);
            return;
        }
        self.make_room(values);
        let rows_max = self.rows_max;
        match &mut self.numbers {
            Numbers::Alike(..) => unreachable!("there is room for different ones"),
            Numbers::Byte(numbers) => append(numbers, rows, rows_max, repeat_n(number as u8, rows)),
            Numbers::Narrow(numbers) => append(numbers, rows, rows_max, repeat_n(number as u16, rows)),
            Numbers::Wide(numbers) => append(numbers, rows, rows_max, repeat_n(number, rows)),
        }
    }

    /// For different numbers of so many values.
    fn make_room(&mut self, values: usize) {
        let is_wide = matches!(self.numbers, Numbers::Wide(_));
        let is_short = matches!(self.numbers, Numbers::Byte(_) | Numbers::Alike(..));
        // What remains of `NULL` stands for it.
        if values > usize::from(NULL_NARROW) && !is_wide {
            self.numbers = Numbers::Wide(self.iter().collect());
        } else if values > usize::from(NULL_BYTE) && is_short {
            self.numbers = Numbers::Narrow(self.iter().map(|number| number as u16).collect());
        } else if let Numbers::Alike(number, count) = self.numbers {
            self.numbers = Numbers::Byte(vec![number as u8; count]);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let mut alike = (NULL, 0);
        let (byte, narrow, wide): (&[u8], &[u16], &[u32]) = match &self.numbers {
            Numbers::Alike(number, count) => {
                alike = (*number, *count);
                (&[], &[], &[])
            }
            Numbers::Byte(numbers) => (numbers, &[], &[]),
            Numbers::Narrow(numbers) => (&[], numbers, &[]),
            Numbers::Wide(numbers) => (&[], &[], numbers),
        };
        let alike = repeat_n(alike.0, alike.1);
        alike.chain(byte.iter().map(of_byte)).chain(narrow.iter().map(of_narrow)).chain(wide.iter().copied())
    }

    /// Those of some rows.
    pub fn of(&self, rows: Range<usize>) -> Vec<u32> {
        match &self.numbers {
            Numbers::Alike(number, _) => vec![*number; rows.len()],
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
fn append<T>(numbers: &mut Vec<T>, rows: usize, rows_max: usize, more: impl Iterator<Item = T>) {
    if numbers.capacity() - numbers.len() < rows {
        let room = (numbers.len() * 7).min(rows_max.saturating_sub(numbers.len()));
        numbers.reserve_exact(room.max(rows));
    }
    numbers.extend(more);
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
            assert!(list.is_empty() || numbers.alike().is_none());
            assert_eq!(numbers.iter().collect::<Vec<_>>(), list);
            assert_eq!((numbers.of(0..list.len()), numbers.len()), (list.clone(), list.len()));
            assert_eq!(numbers.bytes(), list.len() * bytes);
        }
    }

    #[test]
    fn numbers_that_are_alike_take_nothing() {
        for number in [NULL, 0, 300, 70_000] {
            let values = if number == NULL { 0 } else { number as usize + 1 };
            let mut numbers = RowNumbers::within(10);
            numbers.extend(&[number; 3], values);
            numbers.extend_alike(number, 4, values);
            assert_eq!((numbers.len(), numbers.bytes(), numbers.alike()), (7, 0, Some(number)));
            assert_eq!(numbers.of(2..6), [number; 4]);
            numbers.extend_alike(1, 2, values.max(2));
            numbers.extend(&[number, 1], values.max(2));
            let expected = [vec![number; 7], vec![1, 1, number, 1]].concat();
            assert_eq!((numbers.alike(), numbers.iter().collect::<Vec<_>>()), (None, expected));
        }
    }
}
