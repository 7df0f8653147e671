//! A cache of the groups of recent stack traces. Errors repeat, and normalizing and hashing a trace costs more than the
//! rest of its span. Keys are compared byte by byte, so the cache does not change results.

use std::cell::RefCell;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::parts::Group;

/// Entries per set of the cache.
const WAYS: usize = 4;
/// Number of sets of the cache.
const SETS: usize = 32;
/// Longer traces are not cached.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// Traces of one set with their groups, the latest last.
type Set = Vec<(String, Group)>;

thread_local! {
    static LATEST: RefCell<[Set; SETS]> = const { RefCell::new([const { Set::new() }; SETS]) };
}

/// The group of a trace given in parts. Calls `group` on a cache miss.
pub(super) fn group_of(parts: &[&str], group: impl FnOnce() -> Group) -> Group {
    LATEST.with_borrow_mut(|latest| {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length > TEXT_BYTES_MAX {
            return group();
        }
        let hash = parts.iter().fold(0, |seed, part| xxh3_64_with_seed(part.as_bytes(), seed));
        let set = &mut latest[hash as usize % SETS];
        let is_equal = |text: &str| parts.iter().try_fold(text, |rest, part| rest.strip_prefix(part)) == Some("");
        if let Some((_, group)) = set.iter().find(|(text, _)| is_equal(text)) {
            return *group;
        }
        if set.len() == WAYS {
            set.remove(0);
        }
        let text = parts.concat();
        let group = group();
        set.push((text, group));
        group
    })
}

#[cfg(test)]
mod tests {
    use super::super::parts::Basis;
    use super::*;

    fn counted(parts: &[&str], times: &mut u32) -> u64 {
        let group = group_of(parts, || {
            *times += 1;
            Group { hash: parts.iter().map(|part| part.len() as u64).sum(), basis: Basis::Message }
        });
        group.hash
    }

    #[test]
    fn a_repeated_trace_is_grouped_once() {
        let mut times = 0;
        assert_eq!(counted(&["app.Error", "\n at f"], &mut times), 15);
        assert_eq!(counted(&["app.Error", "\n at f"], &mut times), 15);
        assert_eq!(times, 1);
        // Other parts of the same trace may have another hash, but give the same group.
        assert_eq!(counted(&["app.", "Error\n at f"], &mut times), 15);
    }

    #[test]
    fn a_prefix_of_a_cached_trace_is_a_miss() {
        let mut times = 0;
        for text in ["", "a", "ab", "abc", "ab", "a", ""] {
            assert_eq!(counted(&[text], &mut times), text.len() as u64);
        }
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        assert_eq!(counted(&[&long], &mut times), long.len() as u64);
    }

    #[test]
    fn more_traces_than_entries() {
        let mut times = 0;
        for _ in 0..2 {
            for number in 0..10 * WAYS * SETS {
                let text = "y".repeat(number);
                assert_eq!(counted(&[&text], &mut times), number as u64);
            }
        }
    }
}
