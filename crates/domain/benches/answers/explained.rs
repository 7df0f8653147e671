//! The table of Explain: how often the first row, or one of the first three, is the cause.

use fastrand::Rng;
use tidewatch_domain::explain::{Column, Row, RowKind, Set, Table, Values, explain};

use crate::requests::{Cause, MINUTES, Request, SINGLE, START, is_named, requests, slow_ms, table};

/// Results of some runs.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    runs: u32,
    first: u32,
    first_three: u32,
    nothing: u32,
    pairs: u32,
    selected: u64,
}

impl Tally {
    fn add(&mut self, cause: Cause, table: &Table) {
        let rows = explain(table).rows;
        let is_answer = |row: &Row| cause.answers().iter().any(|named| names(table, row, named));
        self.runs += 1;
        self.first += u32::from(rows.first().is_some_and(is_answer));
        self.first_three += u32::from(rows.iter().take(3).any(is_answer));
        self.nothing += u32::from(rows.is_empty());
        self.pairs += u32::from(rows.iter().any(|row| row.kind == RowKind::Pair));
        self.selected += table.sets.iter().filter(|set| **set == Set::Selected).count() as u64;
    }

    fn plus(self, other: Tally) -> Tally {
        Tally {
            runs: self.runs + other.runs,
            first: self.first + other.first,
            first_three: self.first_three + other.first_three,
            nothing: self.nothing + other.nothing,
            pairs: self.pairs + other.pairs,
            selected: self.selected + other.selected,
        }
    }

    fn shares(self) -> String {
        let percent = |part: u32| f64::from(part) * 100.0 / f64::from(self.runs.max(1));
        format!("{:.0} / {:.0}, nothing {:.0}", percent(self.first), percent(self.first_three), percent(self.nothing))
    }
}

/// Whether a row says that these conditions hold together, and nothing else.
fn names(table: &Table, row: &Row, named: &[(&'static str, u32)]) -> bool {
    row.conditions.len() == named.len()
        && named
            .iter()
            .all(|one| row.conditions.iter().chain(&row.synonyms).any(|condition| is_named(table, *condition, *one)))
}

/// The table with the selection that a change of Changes proposes.
fn proposed(cause: Cause, requests: &[Request], start: u32) -> Table {
    let slow = slow_ms(requests);
    let is_band = |request: &Request| if cause.is_failing() { request.is_failed } else { request.duration_ms > slow };
    table(requests, start, &requests.iter().map(is_band).collect::<Vec<bool>>())
}

/// The requests of a table that `keep` returns true for.
fn only(table: &Table, mut keep: impl FnMut(usize) -> bool) -> Table {
    let kept: Vec<usize> = (0..table.sets.len()).filter(|request| keep(*request)).collect();
    let columns = table.columns.iter().map(|column| {
        let values = match &column.values {
            Values::Strings { codes, dictionary } => {
                let codes = kept.iter().map(|request| codes[*request]).collect();
                Values::Strings { codes, dictionary: dictionary.clone() }
            }
            Values::Numbers(numbers) => Values::Numbers(kept.iter().map(|request| numbers[*request]).collect()),
            Values::Lists { .. } => unreachable!("the generator makes no lists"),
        };
        Column { name: column.name.clone(), values }
    });
    Table {
        sets: kept.iter().map(|request| table.sets[*request]).collect(),
        rates: table.rates,
        columns: columns.collect(),
    }
}

/// Keeps at most `count` of the selected requests, chosen at random.
fn with_selected(table: &Table, count: usize, seed: u64) -> Table {
    let mut selected: Vec<usize> = (0..table.sets.len()).filter(|at| table.sets[*at] == Set::Selected).collect();
    Rng::with_seed(seed).shuffle(&mut selected);
    let mut is_left_out = vec![false; table.sets.len()];
    selected.iter().skip(count).for_each(|at| is_left_out[*at] = true);
    only(table, |at| !is_left_out[at])
}

/// Prints the table of incidents with one cause.
pub fn print(seeds: u64) {
    println!(
        "Explain: {seeds} seeds, 20,000 requests, 54 attributes. First row / one of the first three is the cause, %."
    );
    let sizes = [(true, "big"), (false, "small")];
    let mut all = [Tally::default(); 2];
    let mut same_minutes = [Tally::default(); 2];
    for cause in SINGLE {
        let mut line = format!("| {cause:?} |");
        for (place, (is_big, _)) in sizes.iter().enumerate() {
            let mut tally = Tally::default();
            for seed in 1..=seeds {
                let whole = proposed(cause, &requests(cause, *is_big, seed), START);
                tally.add(cause, &whole);
                let is_on = |at: usize| matches!(whole.sets[at], Set::Selected | Set::Rest);
                same_minutes[place].add(cause, &only(&whole, is_on));
            }
            all[place] = all[place].plus(tally);
            line += &format!(" {} of {}, {} selected |", tally.first, tally.runs, tally.selected / seeds);
        }
        println!("{line}");
    }
    for ((_, size), (whole, part)) in sizes.iter().zip(all.into_iter().zip(same_minutes)) {
        println!(
            "{size}: {} ({} runs, {} with a pair); same minutes only {}",
            whole.shares(),
            whole.runs,
            whole.pairs,
            part.shares()
        );
    }
    print_together(seeds);
    print_selections(seeds.min(2));
    print_at_random(100);
}

/// Prints incidents of two conditions together, and of two causes.
fn print_together(seeds: u64) {
    for (is_big, size) in [(true, "big"), (false, "small")] {
        let (mut tally, mut one_of_them) = (Tally::default(), 0);
        for cause in [Cause::RegionVersion, Cause::FlagOs] {
            for seed in 1..=seeds {
                let whole = proposed(cause, &requests(cause, is_big, seed), START);
                tally.add(cause, &whole);
                let first = explain(&whole).rows.into_iter().next();
                let has = |row: Row| cause.answers()[0].iter().any(|one| names(&whole, &row, &[*one]));
                one_of_them += u32::from(first.is_some_and(has));
            }
        }
        println!(
            "two conditions together, {size}: {}; one of them first in {one_of_them} of {}",
            tally.shares(),
            tally.runs
        );
    }
    let (mut both, mut runs) = (0, 0);
    for seed in 1..=seeds.max(6) {
        let whole = proposed(Cause::TwoCauses, &requests(Cause::TwoCauses, true, seed), START);
        let rows = explain(&whole).rows;
        let has = |named: &&[_]| rows.iter().take(3).any(|row| names(&whole, row, named));
        both += u32::from(Cause::TwoCauses.answers().iter().all(has));
        runs += 1;
    }
    println!("two causes: both within three rows in {both} of {runs}");
}

/// Prints selections that are smaller or wider than the incident.
fn print_selections(seeds: u64) {
    for count in [50, 20, 10, 6] {
        let mut tally = Tally::default();
        for cause in SINGLE {
            for seed in 1..=seeds {
                let whole = proposed(cause, &requests(cause, true, seed), START);
                tally.add(cause, &with_selected(&whole, count, seed));
            }
        }
        println!("{count} selected requests, big: {}", tally.shares());
    }
    for (name, start) in [("3 min late", START + 3), ("8 min early", START - 8), ("whole view", 0)] {
        let mut line = format!("selection {name}:");
        for (is_big, size) in [(true, "big"), (false, "small")] {
            let mut tally = Tally::default();
            for cause in SINGLE {
                for seed in 1..=seeds {
                    tally.add(cause, &proposed(cause, &requests(cause, is_big, seed), start));
                }
            }
            line += &format!(" {size} {};", tally.shares());
        }
        println!("{line}");
    }
}

/// Prints how often a selection at random has a row.
fn print_at_random(runs: u32) {
    let quiet = requests(Cause::Nothing, true, 1);
    let mut random = Rng::with_seed(5);
    for selected in [20, 50, 100, 500, 2000_u32] {
        let mut with_rows = 0;
        for _ in 0..runs {
            // Picked among the requests of the selected minutes: a third of all.
            let share = f64::from(selected) / (quiet.len() as f64 * f64::from(MINUTES - START) / f64::from(MINUTES));
            let is_band: Vec<bool> = quiet.iter().map(|_| random.f64() < share).collect();
            with_rows += u32::from(!explain(&table(&quiet, START, &is_band)).rows.is_empty());
        }
        println!("{selected} requests selected at random: a row in {with_rows} of {runs}");
    }
}
