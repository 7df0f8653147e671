//! Present ids are found, absent ids are mostly ruled out, and arbitrary bytes do no harm.

use std::convert::Infallible;
use std::sync::Arc;

use arrow::array::{ArrayRef, FixedSizeBinaryArray, RecordBatch};
use proptest::prelude::*;

use super::builder::Section;
use super::*;

const OFFSET: u64 = 7;

fn id(number: u64) -> [u8; 16] {
    let mut id = [0; 16];
    id[8..].copy_from_slice(&number.to_be_bytes());
    id
}

fn batch(ids: &[u64]) -> RecordBatch {
    let ids: ArrayRef = Arc::new(FixedSizeBinaryArray::try_from_iter(ids.iter().map(|number| id(*number))).unwrap());
    RecordBatch::try_from_iter([("trace_id", ids)]).unwrap()
}

fn index(ids: &[u64], pieces: usize) -> Section {
    let mut builder = Builder::new(Table::Spans, PAGE_ROWS).unwrap();
    ids.chunks(pieces).for_each(|piece| builder.add(&batch(piece)).unwrap());
    builder.finish(OFFSET).unwrap()
}

/// As [`TraceIdIndex::blocks`], of an index opened for this look-up.
fn blocks(section: &Section, values: &[u64]) -> Option<Vec<usize>> {
    let read = |place: Place| {
        let from = (place.offset - OFFSET) as usize;
        Ok::<_, Infallible>(section.bytes[from..from + place.length as usize].to_vec())
    };
    let values: Vec<[u8; 16]> = values.iter().map(|value| id(*value)).collect();
    let ids = TraceIdIndex::decode(&section.directory).unwrap();
    ids.blocks(values.iter().map(|value| value.as_slice()), read).unwrap().map(|blocks| blocks.numbers)
}

proptest! {
    #[test]
    fn blocks_of_present_ids_are_found(
        runs in prop::collection::vec((0..50_u64, prop_oneof![1..20_usize, 5000..9000_usize]), 1..12),
        pieces in prop_oneof![Just(8192_usize), 1..9000_usize], more in prop::collection::vec(0..60_u64, 0..5),
    ) {
        let ids: Vec<u64> = runs.iter().flat_map(|(id, rows)| std::iter::repeat_n(*id, *rows)).collect();
        let section = index(&ids, pieces.max(50));
        let block_rows = TraceIdIndex::decode(&section.directory).unwrap().layout.block_rows;
        for (row, id) in ids.iter().enumerate().step_by(97) {
            let wanted = [more.clone(), vec![*id]].concat();
            let found = blocks(&section, &wanted).unwrap();
            prop_assert!(found.contains(&(row / block_rows)), "{row} in {found:?}");
            prop_assert!(found.is_sorted() && found.iter().all(|block| *block <= ids.len() / block_rows));
        }
    }

    #[test]
    fn a_flipped_bit_is_found(ids in 300..2000_u64, bit in any::<prop::sample::Index>()) {
        let mut section = index(&(0..ids).collect::<Vec<_>>(), 100);
        let bit = bit.index(section.bytes.len() * 8);
        section.bytes[bit / 8] ^= 1 << (bit % 8);
        let answers = || (0..ids).map(|id| blocks(&section, &[id]));
        prop_assert!(answers().flatten().all(|found| found == [0]), "never a wrong answer");
        prop_assert!(answers().any(|found| found.is_none()));
    }

    /// For instance of an older release with a defect.
    #[test]
    fn arbitrary_bytes_give_valid_blocks(bytes in prop::collection::vec(any::<u8>(), 60..300), spare in 0..17, wanted in any::<u64>()) {
        let layout = Layout { block_rows: 8192, block_bits: 7, spare: spare as u32, entries: 90_000 };
        let mut found = Vec::new();
        let mut reader = Reader::new(&bytes, 3, bytes.len() as u32 * 8);
        let _ = find(&mut reader, layout, wanted % (BUCKET << spare), &mut found);
        prop_assert!(found.iter().all(|block| *block < 128));
    }
}

#[test]
fn absent_ids_are_mostly_ruled_out() {
    for (spans, bytes_max, false_max) in [(1, 1.2, 0.27), (8, 2.0, 0.018)] {
        let traces = 100_000_u64;
        let ids: Vec<u64> = (0..traces).flat_map(|trace| std::iter::repeat_n(trace, spans)).collect();
        let section = index(&ids, 8192);
        assert!((section.bytes.len() as f64) < traces as f64 * bytes_max, "{spans}: {} bytes", section.bytes.len());
        let wrong = (traces..traces + 20_000).filter(|id| !blocks(&section, &[*id]).unwrap().is_empty()).count();
        assert!(wrong as f64 <= 20_000.0 * false_max, "{spans}: {wrong}");
        let named: usize = (0..2000).map(|id| blocks(&section, &[id]).unwrap().len()).sum();
        assert!(named < 2400, "{spans}: {named} blocks for 2000 traces");
    }
}

#[test]
fn rows_at_places_are_indexed_like_rows_in_order() {
    let (first, second) = (batch(&[1, 3, 5]), batch(&[2, 4]));
    let mut picked = Builder::new(Table::Spans, PAGE_ROWS).unwrap();
    picked.add_places(&[&first, &second], &[(0, 0), (1, 0), (0, 1)]).unwrap();
    picked.add_places(&[&first, &second], &[(1, 1), (0, 2)]).unwrap();
    let (picked, ordered) = (picked.finish(OFFSET).unwrap(), index(&[1, 2, 3, 4, 5], 5));
    assert_eq!((picked.bytes, picked.directory), (ordered.bytes, ordered.directory));
}

#[test]
fn directories_of_other_versions_are_ignored() {
    assert!(TraceIdIndex::decode("1 8192 7 6 256 100 5000 9").is_some());
    for text in [
        "",
        "2 8192 7 6 256 100 5000 9",
        "1 0 7 6 256 100 5000 9",
        "1 8192 21 6 256 100 5000 9",
        "1 8192 7 17 256 100 5000 9",
        "1 8192 7 6 0 100 5000 9",
        "1 8192 7 6 256 100 7 9",
        "1 8192 7 6 256 100 5000",
        "1 8192 7 6 256 100 5000 9 9",
    ] {
        assert!(TraceIdIndex::decode(text).is_none(), "{text:?}");
    }
    assert!(Builder::new(Table::Logs, PAGE_ROWS).is_none());
}
