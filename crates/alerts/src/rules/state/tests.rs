use proptest::prelude::*;

use tidewatch_domain::units::MINUTE_NS;

use super::*;

const WARNING: Severity = Severity::Warning;
const CRITICAL: Severity = Severity::Critical;

/// Minutes of a rule's life: what is measured and what follows. `b`: breach, `c`: critical breach, `f`: fine, `-`: no
/// data; `F`: fires, `C`: fires as critical, `R`: resolves, `s`: stays, `.`: nothing.
#[track_caller]
fn check(terms: Terms, seen: &str, expected: &str) {
    let mut state: Option<RuleState> = None;
    let mut found = String::new();
    for (minute, seen) in seen.chars().enumerate() {
        let seen = match seen {
            'b' => Seen::Breach(WARNING),
            'c' => Seen::Breach(CRITICAL),
            'f' => Seen::Fine,
            _ => Seen::NoData,
        };
        let (after, outcome) = step(state.as_ref(), seen, terms, minute as i64 * MINUTE_NS);
        state = after;
        found.push(match outcome {
            Outcome::Nothing => '.',
            Outcome::Stay => 's',
            Outcome::Fire(WARNING) => 'F',
            Outcome::Fire(_) => 'C',
            Outcome::Resolve => 'R',
        });
    }
    assert_eq!(found, expected, "{seen}");
}

fn terms(for_minutes: i64, cooldown_minutes: i64) -> Terms {
    Terms { for_ns: for_minutes * MINUTE_NS, cooldown_ns: cooldown_minutes * MINUTE_NS, is_snoozed: false }
}

#[test]
fn a_rule_fires_once_and_ends() {
    check(terms(0, 0), "ffbbbff", "..FssR.");
    check(terms(0, 0), "--b-f", "..FsR");
    check(terms(0, 0), "bfbf", "FRFR");
}

#[test]
fn the_cooldown_lets_nothing_fire_and_then_what_still_breaches() {
    check(terms(0, 4), "bfbfbbf", "FR..FsR");
    check(terms(0, 4), "bfbbbbb", "FR..Fss");
    check(terms(0, 100), "bfbbbbbf", "FR......");
}

#[test]
fn a_required_time_is_of_breaches_without_a_break() {
    check(terms(2, 0), "bbbbf", "..FsR");
    check(terms(2, 0), "bbfbbbf", ".....FR");
    check(terms(2, 0), "b-bbf", "..FsR");
    check(terms(2, 0), "bfbf", "....");
}

#[test]
fn one_that_becomes_more_severe_fires_again_after_the_cooldown() {
    check(terms(0, 3), "bccccbcf", "FssCsssR");
    check(terms(0, 0), "cbbcf", "CsssR");
}

#[test]
fn a_snoozed_rule_fires_nothing_and_ends_what_fired() {
    let snoozed = Terms { is_snoozed: true, ..terms(0, 0) };
    check(snoozed, "bbf", "...");
    let (state, _) = step(None, Seen::Breach(WARNING), terms(0, 0), 0);
    assert_eq!(step(state.as_ref(), Seen::Breach(CRITICAL), snoozed, MINUTE_NS).1, Outcome::Stay);
    assert_eq!(step(state.as_ref(), Seen::Fine, snoozed, MINUTE_NS).1, Outcome::Resolve);
}

#[test]
fn without_data_an_alert_ends_after_an_hour() {
    let silent = "-".repeat(59);
    check(terms(0, 0), &format!("b{silent}-f"), &format!("F{}R.", "s".repeat(59)));
    check(terms(0, 0), &format!("b{silent}b"), &format!("F{}s", "s".repeat(59)));
}

// The clock jumps an hour either way: no firing is repeated.
#[test]
fn a_clock_that_jumps_an_hour_fires_nothing_twice() {
    let terms = terms(0, 15);
    let at = 1000 * 60 * MINUTE_NS;
    for jump in [-60, 60] {
        let (fired, outcome) = step(None, Seen::Breach(WARNING), terms, at);
        assert_eq!(outcome, Outcome::Fire(WARNING));
        let (ended, _) = step(fired.as_ref(), Seen::Fine, terms, at + MINUTE_NS);
        let later = at + 2 * MINUTE_NS + jump * MINUTE_NS;
        let expected = if jump < 0 { Outcome::Nothing } else { Outcome::Fire(WARNING) };
        assert_eq!(step(ended.as_ref(), Seen::Breach(WARNING), terms, later).1, expected, "{jump}");
        assert_eq!(step(fired.as_ref(), Seen::Breach(WARNING), terms, later).1, Outcome::Stay, "{jump}");
    }
    // A firing of a clock that was far ahead does not silence the rule.
    let (fired, _) = step(None, Seen::Breach(WARNING), terms, at);
    let (ended, _) = step(fired.as_ref(), Seen::Fine, terms, at);
    let day_before = at - 24 * 60 * MINUTE_NS;
    assert_eq!(step(ended.as_ref(), Seen::Breach(WARNING), terms, day_before).1, Outcome::Fire(WARNING));
}

/// The outcome of the last minute by the definition: from all minutes, without a state.
fn naive(terms: Terms, minutes: &[(i64, Seen)]) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    // Firings and ends so far, by time.
    let mut fired: Vec<(i64, Severity)> = Vec::new();
    let mut is_open = false;
    let mut quiet_from = 0;
    for (index, (now, seen)) in minutes.iter().enumerate() {
        let cooling = fired.last().is_some_and(|(at, _)| now - at < terms.cooldown_ns);
        let breaches = |seen: &Seen| matches!(seen, Seen::Breach(_));
        let outcome = match seen {
            Seen::Breach(severity) if is_open => {
                let is_worse = fired.last().is_some_and(|(_, last)| severity > last);
                if is_worse && !cooling { Outcome::Fire(*severity) } else { Outcome::Stay }
            }
            Seen::Breach(severity) => {
                // Breaches since the last fine minute or the last end.
                let run = minutes[quiet_from..=index].iter().rposition(|(_, seen)| *seen == Seen::Fine);
                let start = run.map_or(quiet_from, |at| quiet_from + at + 1);
                let first = minutes[start..=index].iter().find(|(_, seen)| breaches(seen)).map_or(*now, |(at, _)| *at);
                if now - first >= terms.for_ns && !cooling { Outcome::Fire(*severity) } else { Outcome::Nothing }
            }
            Seen::Fine if is_open => Outcome::Resolve,
            Seen::NoData if is_open => Outcome::Stay,
            Seen::Fine | Seen::NoData => Outcome::Nothing,
        };
        match outcome {
            Outcome::Fire(severity) => {
                fired.push((*now, severity));
                is_open = true;
            }
            Outcome::Resolve => {
                is_open = false;
                quiet_from = index + 1;
            }
            Outcome::Nothing | Outcome::Stay => {}
        }
        outcomes.push(outcome);
    }
    outcomes
}

fn seen() -> impl Strategy<Value = Seen> {
    prop_oneof![
        3 => Just(Seen::Breach(WARNING)),
        1 => Just(Seen::Breach(CRITICAL)),
        2 => Just(Seen::Fine),
        1 => Just(Seen::NoData),
    ]
}

proptest! {
    // Series shorter than an hour: no state ends for want of data.
    #[test]
    fn the_state_machine_equals_the_definition(
        series in prop::collection::vec(seen(), 0..59),
        for_minutes in 0i64..5,
        cooldown in 0i64..12,
    ) {
        let terms = terms(for_minutes, cooldown);
        let minutes: Vec<(i64, Seen)> =
            series.into_iter().enumerate().map(|(minute, seen)| (minute as i64 * MINUTE_NS, seen)).collect();
        let mut state: Option<RuleState> = None;
        let mut found = Vec::new();
        for (now, seen) in &minutes {
            let (after, outcome) = step(state.as_ref(), *seen, terms, *now);
            state = after;
            found.push(outcome);
        }
        prop_assert_eq!(found, naive(terms, &minutes));
    }
}
