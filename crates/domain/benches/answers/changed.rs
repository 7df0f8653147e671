//! The table of Changes: incidents that are found with their start, and changes where nothing happened.

use tidewatch_domain::changes::{Change, Kind, QUARTER, Series, changes, may_have_changed, may_have_fallen, suspicion};

use crate::minutes::{DAY, Effect, Endpoint, Minutes, NONE};

/// Requests a minute of the endpoints with incidents.
const RATES: [f64; 4] = [1.0, 5.0, 30.0, 100.0];
/// Largest distance of `since` from the start, minutes, that counts as right.
const NEAR: i64 = 10;
const SLOWER: &[Kind] = &[Kind::Slower, Kind::SlowerTail, Kind::SlowShare];

/// The incidents of the table.
fn incidents() -> Vec<(&'static str, Effect, &'static [Kind])> {
    let slower = |factor, share| Effect { slower: (factor, share), ..NONE };
    let failing = |failing| Effect { failing, ..NONE };
    let refusing = |refusing| Effect { refusing, ..NONE };
    let traffic = |traffic| Effect { traffic, ..NONE };
    let dearer = |dearer| Effect { dearer, ..NONE };
    vec![
        ("20 % slower", slower(1.2, 1.0), SLOWER),
        ("30 % slower", slower(1.3, 1.0), SLOWER),
        ("50 % slower", slower(1.5, 1.0), SLOWER),
        ("2 times slower", slower(2.0, 1.0), SLOWER),
        ("4 times slower", slower(4.0, 1.0), SLOWER),
        ("10 % of calls 5 times slower", slower(5.0, 0.1), SLOWER),
        ("6 % of calls 5 times slower", slower(5.0, 0.06), SLOWER),
        ("0.5 points failing", failing(0.005), &[Kind::Failing]),
        ("1 point failing", failing(0.01), &[Kind::Failing]),
        ("3 points failing", failing(0.03), &[Kind::Failing]),
        ("12 points failing", failing(0.12), &[Kind::Failing]),
        ("50 points failing", failing(0.5), &[Kind::Failing]),
        ("traffic to 60 %", traffic(0.6), &[Kind::Fewer]),
        ("traffic to 30 %", traffic(0.3), &[Kind::Fewer]),
        ("traffic to nothing", traffic(0.0), &[Kind::Fewer]),
        ("50 % dearer", dearer(1.5), &[Kind::Dearer]),
        ("2.8 times dearer", dearer(2.8), &[Kind::Dearer]),
        ("10 points refused", refusing(0.1), &[Kind::Refusing]),
        ("25 points refused", refusing(0.25), &[Kind::Refusing]),
    ]
}

/// The change of one of these kinds that goes on, and began after the start or shortly before it.
fn found(series: &Series, start: i64, kinds: &[Kind]) -> Option<Change> {
    let is_of = |change: &Change| {
        kinds.contains(&change.kind) && change.recovered.is_none() && change.since >= start - 2 * NEAR
    };
    changes(series).into_iter().filter(is_of).max_by(|one, other| one.harm.total_cmp(&other.harm))
}

/// Whether quarters suspect a fall or a rise, and whether the last minutes may have one.
fn looks(minutes: &Minutes, end: i64, is_fall: bool) -> (bool, bool) {
    let suspicion = suspicion(&minutes.quarters(end), end % QUARTER == 0);
    let last = minutes.last(end);
    // Subjects whose traffic fell only are not judged for rises.
    match is_fall {
        true => (suspicion.fallen > 0.0, may_have_fallen(&last)),
        false => (suspicion.risen > 0.0, may_have_changed(&last)),
    }
}

/// Minutes after the start at which the change is found first.
fn delay(minutes: &Minutes, start: i64, length: i64, kinds: &[Kind]) -> i64 {
    let (mut late, mut early) = (length / 5, 0);
    while late - early > 1 {
        let middle = (late + early) / 2;
        match found(&minutes.until(start + 5 * middle), start, kinds) {
            Some(_) => late = middle,
            None => early = middle,
        }
    }
    5 * late
}

fn median(values: &mut [i64]) -> String {
    values.sort_unstable();
    values.get(values.len() / 2).map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Prints the incidents by kind and rate; `runs` of each.
pub fn print_incidents(runs: u64) {
    println!("Changes: incidents of 60 to 150 min, {runs} at each of {RATES:?} calls a minute.");
    println!(
        "| incident | found by rate | found | of them not suspected, not in the last minutes | delay, median min | since within 5 min, {NEAR} min | since, median distance |"
    );
    for (place, (name, effect, kinds)) in incidents().into_iter().enumerate() {
        let (mut by_rate, mut delays, mut distances) = ([0; 4], Vec::new(), Vec::new());
        let (mut unsuspected, mut overlooked) = (0, 0);
        for (at_rate, rate) in RATES.into_iter().enumerate() {
            for run in 0..runs {
                let seed = 10_000 * (place as u64 + 1) + 100 * at_rate as u64 + run;
                let mut random = fastrand::Rng::with_seed(seed);
                let length = random.i64(12..=30) * 5;
                // Any time of a week.
                let offset = random.i64(0..7 * 288) * 5 + 4;
                let end = offset + length;
                let minutes = Endpoint { seed, rate, is_priced: effect.dearer > 1.0 }.minutes(end, offset, effect);
                let whole = minutes.until(minutes.end());
                let start = whole.end() - length;
                if let Some(change) = found(&whole, start, kinds) {
                    by_rate[at_rate] += 1;
                    let end = whole.end();
                    let (is_suspected, may_have_changed) = looks(&minutes, end, kinds == [Kind::Fewer]);
                    unsuspected += u32::from(!is_suspected);
                    overlooked += u32::from(!may_have_changed);
                    distances.push((change.since - start).abs());
                    delays.push(delay(&minutes, start, length, kinds));
                }
            }
        }
        let near = |limit: i64| distances.iter().filter(|distance| **distance <= limit).count();
        let all: u32 = by_rate.iter().sum();
        println!(
            "| {name} | {by_rate:?} | {all} of {} | {unsuspected}, {overlooked} | {} | {}, {} | {} |",
            4 * runs,
            median(&mut delays),
            near(5),
            near(NEAR),
            median(&mut distances.clone()),
        );
    }
}

/// Prints the changes of days on which nothing happened.
pub fn print_quiet(days: u64) {
    let mut by_kind = std::collections::BTreeMap::<Kind, u32>::new();
    let (mut claimed, mut open, mut suspected, mut risen) = (0, 0, 0, 0);
    for seed in 0..days {
        let mut random = fastrand::Rng::with_seed(seed ^ 0xABCD_EF01);
        let rate = if seed % 5 == 0 { 0.1 + 0.9 * random.f64() } else { (random.f64() * 100.0_f64.ln()).exp() };
        let end = random.i64(0..7 * DAY);
        let minutes =
            Endpoint { seed: 1_000_000 + seed, rate, is_priced: seed % 5 == 1 }.minutes(end, i64::MAX / 2, NONE);
        let found = changes(&minutes.until(minutes.end()));
        claimed += u32::from(!found.is_empty());
        let looks = [true, false].map(|is_fall| looks(&minutes, minutes.end(), is_fall));
        suspected += u32::from(looks.iter().any(|(is_suspected, _)| *is_suspected));
        risen += u32::from(looks.contains(&(true, true)));
        for change in &found {
            *by_kind.entry(change.kind).or_default() += 1;
            open += u32::from(change.recovered.is_none());
            println!(
                "  quiet day {seed}, {rate:.1} calls a minute: {:?} {:.4} -> {:.4} for {:?} min",
                change.kind,
                change.before,
                change.after,
                change.recovered.map(|end| end - change.since)
            );
        }
    }
    println!(
        "Changes: {days} quiet days of an endpoint: {suspected} suspected, {risen} of them in the last minutes, {claimed} with a change; by kind {by_kind:?}, {open} open at the end"
    );
}
