//! The groups of the latest stack traces: one error mostly comes in many copies, and normalising and hashing a trace
//! costs more than everything else about its span. What is looked up is compared byte by byte, so this changes no answer.

use std::cell::RefCell;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Traces a thread remembers: so many whose hashes are alike …
const ALIKE: usize = 4;
/// … of so many kinds of hashes.
const KINDS: usize = 32;
/// Longer texts are not remembered.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// Texts whose hashes are alike, the latest last.
type Slots = Vec<(String, u64)>;

thread_local! {
    static LATEST: RefCell<[Slots; KINDS]> = const { RefCell::new([const { Slots::new() }; KINDS]) };
}

/// The group of a text given in parts: the remembered one, else what `group` says of the whole.
pub(super) fn group_of(parts: &[&str], group: impl FnOnce(&str) -> u64) -> u64 {
    LATEST.with_borrow_mut(|latest| {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length > TEXT_BYTES_MAX {
            return group(&parts.concat());
        }
        let hash = parts.iter().fold(0, |seed, part| xxh3_64_with_seed(part.as_bytes(), seed));
        let slots = &mut latest[hash as usize % KINDS];
        let is_it = |text: &str| parts.iter().try_fold(text, |rest, part| rest.strip_prefix(part)) == Some("");
        if let Some((_, group)) = slots.iter().find(|(text, _)| is_it(text)) {
            return *group;
        }
        if slots.len() == ALIKE {
            slots.remove(0);
        }
        let text = parts.concat();
        let group = group(&text);
        slots.push((text, group));
        group
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(parts: &[&str], times: &mut u32) -> u64 {
        group_of(parts, |text| {
            *times += 1;
            text.len() as u64
        })
    }

    #[test]
    fn the_same_text_is_grouped_once_however_it_is_cut() {
        let mut times = 0;
        assert_eq!(counted(&["app.Error", "\n at f"], &mut times), 15);
        assert_eq!(counted(&["app.Error", "\n at f"], &mut times), 15);
        assert_eq!(times, 1);
        // Cut otherwise it may have another hash; the answer is the text's.
        assert_eq!(counted(&["app.", "Error\n at f"], &mut times), 15);
    }

    #[test]
    fn a_part_of_a_remembered_text_is_another_text() {
        let mut times = 0;
        for text in ["", "a", "ab", "abc", "ab", "a", ""] {
            assert_eq!(counted(&[text], &mut times), text.len() as u64);
        }
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        assert_eq!(counted(&[&long], &mut times), long.len() as u64);
    }

    #[test]
    fn more_texts_than_slots() {
        let mut times = 0;
        for _ in 0..2 {
            for number in 0..10 * ALIKE * KINDS {
                let text = "y".repeat(number);
                assert_eq!(counted(&[&text], &mut times), number as u64);
            }
        }
    }
}
