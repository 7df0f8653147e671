//! The detector on generated days: what it finds, and that quiet days stay quiet. ANSWERS 2.2 to 2.7.

use super::*;

const DAY_MINUTES: i64 = 24 * 60;
/// A Wednesday, 09:04 UTC.
const START: i64 = 20_600 * DAY_MINUTES + 9 * 60 + 4;

/// A generated subject.
struct Day {
    random: fastrand::Rng,
    calls: f64,
    days: i64,
}

/// Effect of a generated minute: factor of durations of a share of requests, share of failures, factor of traffic.
#[derive(Clone, Copy)]
struct Effect {
    slower: f64,
    share: f64,
    failing: f64,
    traffic: f64,
}

const NONE: Effect = Effect { slower: 1.0, share: 1.0, failing: 0.0, traffic: 1.0 };

fn day(seed: u64, calls: f64) -> Day {
    Day { random: fastrand::Rng::with_seed(seed), calls, days: 8 }
}

impl Day {
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.random.f64()).sum::<f64>() - 6.0
    }

    /// The series up to `end`; `effect` is that of each minute.
    fn series(self, end: i64, effect: impl Fn(i64) -> Effect) -> Series {
        let first = end - self.days * DAY_MINUTES - 90;
        Series::new(first, &self.minutes(end, effect))
    }

    /// Minutes up to `end`.
    fn minutes(mut self, end: i64, effect: impl Fn(i64) -> Effect) -> Vec<Minute<'static>> {
        let first = end - self.days * DAY_MINUTES - 90;
        let (mut hiccup, mut burst, mut drift) = ((0, 1.0), (0, 0.0), 0.0_f64);
        let minutes = (first..end).map(|minute| {
            let wave = 1.0
                + 0.4 * ((minute.rem_euclid(DAY_MINUTES)) as f64 / DAY_MINUTES as f64 * std::f64::consts::TAU).sin();
            drift = 0.999 * drift + 0.002 * self.normal();
            if self.random.f64() < 2.5 / DAY_MINUTES as f64 {
                hiccup = (minute + self.random.i64(1..=4), 1.5 + 4.0 * self.random.f64());
            }
            if self.random.f64() < 1.5 / DAY_MINUTES as f64 {
                burst = (minute + self.random.i64(1..=2), 0.3 * self.random.f64());
            }
            let effect = effect(minute);
            let expected = self.calls * wave * effect.traffic;
            let calls = (expected + expected.sqrt() * self.normal()).round().max(0.0) as usize;
            let slower = if minute < hiccup.0 { hiccup.1 } else { 1.0 };
            let failing = effect.failing + 0.002 + if minute < burst.0 { burst.1 } else { 0.0 };
            let mut durations: Vec<f64> = (0..calls.min(60))
                .map(|_| {
                    let is_hit = effect.share >= 1.0 || self.random.f64() < effect.share;
                    let slower = if is_hit { slower * effect.slower } else { slower };
                    120e6 * slower * (0.5 * self.normal() + drift).exp()
                })
                .collect();
            durations.sort_unstable_by(f64::total_cmp);
            let failed = (0..calls).filter(|_| self.random.f64() < failing).count() as f64;
            Minute { calls: calls as f64, failed, durations: durations.into(), ..Minute::default() }
        });
        minutes.collect()
    }

    /// Whether the days before the last minutes are needed.
    fn may_have_changed(self, end: i64, effect: impl Fn(i64) -> Effect) -> bool {
        let minutes = self.minutes(end, effect);
        let last = minutes[minutes.len() - LAST_MINUTES as usize..].to_vec();
        may_have_changed(&Series::new(end - LAST_MINUTES, &last))
    }
}

fn from(start: i64, effect: Effect) -> impl Fn(i64) -> Effect {
    move |minute| if minute >= start { effect } else { NONE }
}

fn kinds(series: &Series) -> Vec<Kind> {
    changes(series).iter().map(|change| change.kind).collect()
}

// ANSWERS 2.3: fresh quiet days.
#[test]
fn quiet_days_change_nothing() {
    let (mut found, mut looked_at) = (0, 0);
    for seed in 0..16 {
        let calls = [0.5, 1.0, 5.0, 30.0][seed as usize % 4];
        found += changes(&day(seed, calls).series(START, |_| NONE)).len();
        looked_at += u32::from(day(seed, calls).may_have_changed(START, |_| NONE));
    }
    assert!(found == 0, "{found} changes in 16 quiet days");
    assert!(looked_at <= 6, "other days of {looked_at} of 16 quiet subjects are read");
}

#[test]
fn worse_subjects_are_found_with_their_start() {
    let slower = |slower| Effect { slower, ..NONE };
    let failing = |failing| Effect { failing, ..NONE };
    for (effect, kind, calls, after_minutes) in [
        (slower(4.0), Kind::Slower, 5.0, 40),
        (slower(2.0), Kind::Slower, 30.0, 60),
        // Few requests, which neither the median nor the tenth shows.
        (Effect { slower: 10.0, share: 0.05, ..NONE }, Kind::SlowShare, 60.0, 90),
        (failing(0.12), Kind::Failing, 30.0, 20),
        (failing(0.5), Kind::Failing, 5.0, 20),
        (Effect { traffic: 0.0, ..NONE }, Kind::Fewer, 30.0, 60),
    ] {
        for seed in 100..102 {
            let series = day(seed, calls).series(START + after_minutes, from(START, effect));
            assert!(day(seed, calls).may_have_changed(START + after_minutes, from(START, effect)), "{kind:?} {seed}");
            let found = changes(&series);
            let change = found.iter().find(|change| change.kind == kind).unwrap_or_else(|| panic!("{kind:?} {seed}"));
            assert!(change.since.abs_diff(START) <= 10, "{kind:?} {seed}: {}", change.since - START);
            assert!(change.recovered.is_none() && change.harm > 0.0, "{change:?}");
        }
    }
}

// ANSWERS 4, (14).
#[test]
fn four_bad_minutes_are_no_change() {
    let bad = Effect { slower: 20.0, failing: 0.9, ..NONE };
    for (seed, minutes, expected) in [(7, 4, false), (8, 12, true)] {
        let effect = move |minute| if (START..START + minutes).contains(&minute) { bad } else { NONE };
        let found = kinds(&day(seed, 30.0).series(START + 13, effect));
        assert_eq!(found.contains(&Kind::Failing), expected, "{minutes}: {found:?}");
        assert_eq!(found.contains(&Kind::Slower), expected, "{minutes}: {found:?}");
    }
}

// ANSWERS 2.7.
#[test]
fn changes_recover() {
    let effect = |minute| if (START..START + 60).contains(&minute) { Effect { failing: 0.3, ..NONE } } else { NONE };
    let found = changes(&day(3, 30.0).series(START + 180, effect));
    let change = found.iter().find(|change| change.kind == Kind::Failing).expect("found");
    assert!(change.since.abs_diff(START) <= 5);
    // ANSWERS 6 F: the end is as exact as the start.
    assert!(change.recovered.expect("recovered").abs_diff(START + 60) <= 5, "{change:?}");
}

// ANSWERS 6 F: an ended change says its median as an open one does, not its tail beside it.
#[test]
fn a_recovered_change_is_said_once() {
    for length in [60, 90] {
        let slower = Effect { slower: 4.0, ..NONE };
        let effect = move |minute| if (START..START + length).contains(&minute) { slower } else { NONE };
        let found = changes(&day(3, 30.0).series(START + length + 120, effect));
        assert_eq!(found.iter().map(|change| change.kind).collect::<Vec<_>>(), [Kind::Slower], "{found:?}");
        assert!(found[0].recovered.expect("recovered").abs_diff(START + length) <= 5, "{found:?}");
    }
}

// ANSWERS 6 C: refusals are a signal of their own, from five points on.
#[test]
fn refusals_are_found() {
    let series = |share: f64, usual: f64| {
        let mut random = fastrand::Rng::with_seed(11);
        let minutes = (START - 8 * DAY_MINUTES..START + 30).map(|minute| {
            let share = if minute < START { usual } else { share };
            let refused = (0..30).filter(|_| random.f64() < share).count() as f64;
            Minute { calls: 30.0, refused, durations: vec![1e8; 20].into(), ..Minute::default() }
        });
        Series::new(START - 8 * DAY_MINUTES, minutes)
    };
    let found = changes(&series(0.25, 0.01));
    let change = found.iter().find(|change| change.kind == Kind::Refusing).expect("found");
    assert!(change.since.abs_diff(START) <= 5 && change.recovered.is_none(), "{change:?}");
    assert!((change.after - 0.25).abs() < 0.05 && change.before < 0.03, "{change:?}");
    // Three points more; a form that half of its senders fill in wrong, always.
    for (share, usual) in [(0.04, 0.01), (0.55, 0.5), (0.01, 0.01)] {
        assert_eq!(kinds(&series(share, usual)), [], "{share} {usual}");
    }
}

// ANSWERS 4, (13).
#[test]
fn little_data_is_no_change() {
    let minute = |failed| Minute { calls: 50.0, failed, durations: vec![1e9; 20].into(), ..Minute::default() };
    assert!(changes(&Series::new(START, &vec![minute(50.0); 9])).is_empty());
    assert!(changes(&Series::new(START, &[] as &[Minute<'_>])).is_empty());
    let mut minutes = vec![Minute { calls: 0.2, failed: 0.0, durations: vec![1e8].into(), ..Minute::default() }; 3000];
    minutes.extend(vec![Minute { calls: 0.3, failed: 0.3, durations: vec![1e8].into(), ..Minute::default() }; 10]);
    assert!(changes(&Series::new(START, &minutes)).is_empty(), "three errors");
}

// ANSWERS 2.5.
#[test]
fn versions_carry_begin_or_are_refuted() {
    let served = |calls, bad| Served { calls, bad };
    let was = served(1000.0, 10.0);
    for (new, old, is_new, relation) in [
        (served(100.0, 50.0), served(900.0, 9.0), true, Some(Relation::Carries)),
        (served(100.0, 50.0), served(900.0, 9.0), false, Some(Relation::Carries)),
        (served(500.0, 60.0), served(0.0, 0.0), true, Some(Relation::BeganWith)),
        (served(500.0, 60.0), served(500.0, 60.0), true, Some(Relation::Refuted)),
        (served(500.0, 60.0), served(500.0, 60.0), false, None),
        (served(500.0, 60.0), served(0.0, 0.0), false, None),
    ] {
        assert_eq!(carried_by(new, old, was, is_new), relation, "{new:?} {old:?}");
    }
}

fn card<'a>(name: &'a str, changes: &'a [Change], service: &'a str) -> Card<'a> {
    let (version, issues, sufferers) = (None, &[][..], &[][..]);
    Card {
        name,
        changes,
        service,
        version,
        issues,
        sufferers,
        refused_with: None,
        calls_more: None,
        slower_operation: None,
    }
}

// ANSWERS 2.7.
#[test]
fn sentences_name_subject_numbers_time_and_version() {
    let change = |kind, before, after| Change {
        kind,
        since: START,
        is_exact: true,
        recovered: None,
        before,
        after,
        slow_ns: 0.0,
        minutes: 68,
        calls_an_hour: 1412.0,
        harm: 1.0,
    };
    let clock = |minute: i64| format!("{:02}:{:02}", minute.rem_euclid(DAY_MINUTES) / 60, minute % 60);
    let text = |changes: &[Change], version, issues: &[String], sufferers: &[String]| {
        let of = Card { version, issues, sufferers, ..card("POST /orders", changes, "checkout") };
        sentence(&of, clock)
    };
    let slower = change(Kind::Slower, 155e6, 1.05e9);
    assert_eq!(
        text(std::slice::from_ref(&slower), Some(("1.42.0", Relation::Carries)), &[], &["POST /checkout".to_owned()]),
        "POST /orders is 6.8 times slower (P50 155 ms -> 1.05 s) since 09:04; version 1.42.0 of checkout carries it. \
         POST /checkout suffers."
    );
    // Below five minutes counts, no rates.
    for (minutes, expected) in
        [(4, " 11 more failed calls."), (1, " 3 more failed calls."), (5, " 168 more failed calls an hour.")]
    {
        let short = Change { minutes, ..change(Kind::Failing, 0.001, 0.12) };
        assert!(text(&[short], None, &[], &[]).ends_with(expected), "{minutes} minutes");
    }
    let failing = change(Kind::Failing, 0.001, 0.12);
    assert_eq!(
        text(&[failing], Some(("1.42.0", Relation::BeganWith)), &["TotalMismatch".to_owned()], &[]),
        "POST /orders fails in 12 % of calls, before 0.1 %, since 09:04; it began when version 1.42.0 of checkout went \
         live. 168 more failed calls an hour. New issue: TotalMismatch."
    );
    let over = Change { is_exact: false, recovered: Some(START + 68), ..change(Kind::SlowerTail, 100e6, 120e6) };
    assert_eq!(
        text(&[over], None, &[], &[]),
        "POST /orders is 20 % slower (P90 100 ms -> 120 ms) since about 09:04. Recovered at 10:12 after 68 min."
    );
    let slow = Change { slow_ns: 480e6, ..change(Kind::SlowShare, 0.011, 0.062) };
    assert_eq!(
        text(&[slow], None, &[], &[]),
        "POST /orders is slow in 6.2 % of calls (longer than 480 ms), before 1.1 %, since 09:04."
    );
    // ANSWERS 6 B and C.
    let refusing = [change(Kind::Refusing, 0.01, 0.25)];
    let of = Card { refused_with: Some(429), ..card("POST /orders", &refusing, "") };
    assert_eq!(sentence(&of, clock), "POST /orders refuses 25 % of calls (429), before 1 %, since 09:04.");
    let more = CallsMore { callee: "GET /x".to_owned(), before: 1.0, after: 4.0 };
    let of = Card { calls_more: Some(&more), ..card("POST /orders", std::slice::from_ref(&slower), "") };
    assert_eq!(
        sentence(&of, clock),
        "POST /orders is 6.8 times slower (P50 155 ms -> 1.05 s) since 09:04. It calls GET /x 4 times a request, before \
         once."
    );
    // ANSWERS 6 D: one shared cause is one card.
    let wait = SlowerOperation { name: "getConnection".to_owned(), service: "circulation".to_owned(), added_ns: 600e6 };
    let sufferers = ["GET /loans".to_owned(), "GET /books".to_owned()];
    let of = Card {
        slower_operation: Some(&wait),
        sufferers: &sufferers,
        ..card("POST /loans", std::slice::from_ref(&slower), "")
    };
    assert_eq!(
        sentence(&of, clock),
        "POST /loans is 6.8 times slower (P50 155 ms -> 1.05 s) since 09:04. getConnection of circulation takes 600 ms \
         more a request. GET /loans, GET /books suffer."
    );
    let fewer = change(Kind::Fewer, 140.0, 42.0);
    assert_eq!(
        text(&[fewer], None, &[], &[]),
        "POST /orders gets 30 % of its usual calls (42 a minute, usually 140) since 09:04."
    );
}

// ANSWERS 2.2: 20 % dearer and at least half a dollar an hour.
#[test]
fn dearer_calls_are_found() {
    let series = |after: f64, calls: f64| {
        let mut random = fastrand::Rng::with_seed(5);
        let minutes = (START - 8 * DAY_MINUTES..START + 60).map(|minute| {
            let cost = if minute < START { 0.02 } else { after } * (0.8 + 0.4 * random.f64());
            Minute { calls, priced: calls, cost: calls * cost, durations: vec![1e9].into(), ..Minute::default() }
        });
        Series::new(START - 8 * DAY_MINUTES, minutes)
    };
    let found = changes(&series(0.05, 4.0));
    let change = found.iter().find(|change| change.kind == Kind::Dearer).expect("found");
    assert!(change.since.abs_diff(START) <= 5, "{}", change.since - START);
    assert!((change.before / 0.02 - 1.0).abs() < 0.1 && (change.after / 0.05 - 1.0).abs() < 0.1, "{change:?}");
    assert_eq!(kinds(&series(0.02, 4.0)), []);
    // 10 % dearer; three cents an hour.
    assert_eq!(kinds(&series(0.022, 4.0)), []);
    assert_eq!(kinds(&series(0.05, 0.02)), []);
    let sentence = sentence(&card("assistant", &found, ""), |_| "09:04".to_owned());
    assert!(sentence.starts_with("assistant costs 2.5 times more per call ($0.020 -> $0.050) since"), "{sentence}");
}

// A night of few calls, whose costs differ by chance, does not hide what busy hours show.
#[test]
fn dearer_calls_are_found_after_a_quiet_night() {
    let (mut found, mut in_time, mut by_chance) = (0, 0, 0);
    for seed in 0..20 {
        let mut generated = day(seed, 1.0);
        let mut series = |after: f64| {
            let minutes = (START - 26 * 60..START + 45).map(|minute| {
                let (calls, factor): (f64, f64) = match minute {
                    minute if minute < START - 60 => (0.3, 1.0),
                    minute if minute < START => (3.0, 1.0),
                    _ => (3.0, after),
                };
                let whole = calls as usize + usize::from(generated.random.f64() < calls.fract());
                let cost: f64 = (0..whole).map(|_| 0.02 * factor * (0.7 * generated.normal()).exp()).sum();
                Minute { calls: whole as f64, priced: whole as f64, cost, ..Minute::default() }
            });
            Series::new(START - 26 * 60, minutes)
        };
        let dearer = |series: &Series| changes(series).into_iter().find(|change| change.kind == Kind::Dearer);
        if let Some(change) = dearer(&series(2.8)) {
            found += 1;
            in_time += usize::from(change.since.abs_diff(START) <= 10);
        }
        by_chance += usize::from(dearer(&series(1.0)).is_some());
    }
    assert!(found >= 18 && in_time >= 16 && by_chance == 0, "{found} found, {in_time} in time, {by_chance} by chance");
}
