//! Schedules against a naive model that looks at every minute, over changes of the clocks in several zones.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime};
use proptest::prelude::*;
use serde_json::{Value, json};

use tidewatch_domain::units::MINUTE_NS;

use super::super::layer::{LayerDefinition, Restriction, RotationType};
use super::*;

fn at(time: &str) -> i64 {
    let time: jiff::Timestamp = time.parse().expect("an instant");
    i64::try_from(time.as_nanosecond()).expect("it fits")
}

fn schedule(zone: &str, layers: Value, overrides: Vec<Override>) -> Result<Schedule, String> {
    let definition: ScheduleDefinition = serde_json::from_value(json!({ "layers": layers })).expect("a definition");
    Schedule::new(zone, &definition, overrides)
}

fn weekly(users: &[i64]) -> Value {
    json!({ "name": "primary", "rotationType": "weekly", "handoffTime": "09:00", "handoffDay": 1,
        "rotationStart": "2026-01-01", "userIds": users, "restrictions": [] })
}

#[test]
fn turns_change_at_the_time_of_the_clocks() {
    // The first turn begins on a Thursday, the next ones on Mondays.
    let berlin = schedule("Europe/Berlin", json!([weekly(&[1, 2, 3])]), vec![]).expect("a schedule");
    for (time, expected) in [
        ("2026-01-01T07:59:00Z", None),
        ("2026-01-01T08:00:00Z", Some((1, false))),
        ("2026-01-05T07:59:59Z", Some((1, false))),
        ("2026-01-05T08:00:00Z", Some((2, false))),
        ("2026-01-12T08:00:00Z", Some((3, false))),
        ("2026-01-19T08:00:00Z", Some((1, false))),
        // Summer time: 09:00 is an hour earlier in UTC.
        ("2026-03-30T06:59:59Z", Some((1, false))),
        ("2026-03-30T07:00:00Z", Some((2, false))),
    ] {
        assert_eq!(berlin.user_at(at(time)), expected, "{time}");
    }
}

#[test]
fn later_layers_and_overrides_take_precedence() {
    let nights = json!({ "name": "nights", "rotationType": "daily", "handoffTime": "12:00",
        "rotationStart": "2026-01-01", "userIds": [9],
        "restrictions": [{ "type": "daily", "startTime": "22:00", "endTime": "06:00" }] });
    let weekend = json!({ "name": "weekend", "rotationType": "custom", "intervalHours": 12, "handoffTime": "00:00",
        "rotationStart": "2026-01-03", "userIds": [7, 8],
        "restrictions": [{ "type": "weekly", "startDay": 6, "startTime": "00:00", "endDay": 1, "endTime": "09:00" }] });
    let covers = |user, start, end| Override { user, start_ns: at(start), end_ns: at(end) };
    let overrides = vec![
        covers(4, "2026-01-07T10:00:00Z", "2026-01-07T14:00:00Z"),
        covers(5, "2026-01-07T12:00:00Z", "2026-01-07T13:00:00Z"),
    ];
    let all = schedule("UTC", json!([weekly(&[1]), nights, weekend]), overrides).expect("a schedule");
    for (time, expected) in [
        ("2026-01-01T21:59:00Z", Some((1, false))),
        ("2026-01-01T22:00:00Z", Some((9, false))),
        ("2026-01-02T05:59:00Z", Some((9, false))),
        ("2026-01-02T06:00:00Z", Some((1, false))),
        ("2026-01-03T00:00:00Z", Some((7, false))),
        ("2026-01-03T12:00:00Z", Some((8, false))),
        ("2026-01-05T08:59:00Z", Some((7, false))),
        ("2026-01-05T09:00:00Z", Some((1, false))),
        ("2026-01-07T10:00:00Z", Some((4, true))),
        ("2026-01-07T12:30:00Z", Some((5, true))),
        ("2026-01-07T13:00:00Z", Some((4, true))),
        ("2026-01-07T14:00:00Z", Some((1, false))),
    ] {
        assert_eq!(all.user_at(at(time)), expected, "{time}");
    }
    let (current, next) = all.current_and_next(at("2026-01-07T12:30:00Z"));
    let shift = |user, start, end| Shift { user, start_ns: at(start), end_ns: at(end), is_override: true };
    assert_eq!(current, Some(shift(5, "2026-01-07T12:00:00Z", "2026-01-07T13:00:00Z")));
    assert_eq!(next, Some(shift(4, "2026-01-07T13:00:00Z", "2026-01-07T14:00:00Z")));
    let last = all.last_ended(at("2026-01-07T12:30:00Z"));
    assert_eq!(last, Some(shift(4, "2026-01-07T10:00:00Z", "2026-01-07T12:00:00Z")));
}

#[test]
fn wrong_definitions_are_refused() {
    let with = |key: &str, value: Value| {
        let mut layer = weekly(&[1]);
        layer[key] = value;
        json!([layer])
    };
    for (layers, is_right) in [
        (json!([]), true),
        (json!([weekly(&[1])]), true),
        (json!([weekly(&[])]), false),
        (with("userIds", json!(vec![1; 101])), false),
        (with("handoffTime", json!("9:00")), false),
        (with("handoffTime", json!("24:00")), false),
        (with("handoffTime", json!("09:60")), false),
        (with("handoffDay", json!(7)), false),
        (with("rotationStart", json!("2026-02-30")), false),
        (with("rotationStart", json!("\u{e4}")), false),
        (with("rotationStart", json!("9999-01-01")), false),
        (with("rotationType", json!("custom")), false),
        (with("name", json!("x".repeat(101))), false),
        (with("restrictions", json!([{ "type": "daily", "startTime": "08:00", "endTime": "08:00" }])), false),
        (
            with(
                "restrictions",
                json!([{ "type": "weekly", "startDay": 7, "startTime": "08:00", "endDay": 1, "endTime": "08:00" }]),
            ),
            false,
        ),
        (json!(vec![weekly(&[1]); 11]), false),
    ] {
        assert_eq!(schedule("UTC", layers.clone(), vec![]).is_ok(), is_right, "{layers}");
    }
    assert!(schedule("Mars/Olympus", json!([]), vec![]).is_err());
}

/// Zones and an instant within two days of a change of their clocks.
const CHANGES: [(&str, &str); 12] = [
    ("Europe/Berlin", "2026-03-28T12:00:00Z"),
    ("Europe/Berlin", "2026-10-24T12:00:00Z"),
    ("America/New_York", "2026-03-07T20:00:00Z"),
    ("America/New_York", "2026-10-31T20:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T03:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T03:00:00Z"),
    ("America/Santiago", "2026-04-04T12:00:00Z"),
    ("America/Santiago", "2026-09-05T12:00:00Z"),
    ("Africa/Cairo", "2026-04-23T12:00:00Z"),
    ("Africa/Cairo", "2026-10-29T12:00:00Z"),
    ("Asia/Kathmandu", "2026-05-01T12:00:00Z"),
    ("UTC", "2026-02-27T12:00:00Z"),
];

/// The model: the clocks are read every minute from the first turn.
struct Model {
    users: Vec<i64>,
    first: DateTime,
    definition: LayerDefinition,
    handoffs: usize,
    next: Option<DateTime>,
    began_ns: Option<i64>,
}

fn minutes(time: &str) -> i64 {
    let (hour, minute) = time.split_once(':').expect("a time");
    hour.parse::<i64>().expect("an hour") * 60 + minute.parse::<i64>().expect("a minute")
}

fn weekday(date: Date) -> i64 {
    i64::from(date.weekday().to_sunday_zero_offset())
}

impl Model {
    fn new(definition: &LayerDefinition) -> Model {
        let date: Date = definition.rotation_start.parse().expect("a date");
        let time = minutes(&definition.handoff_time);
        let first = date.at((time / 60) as i8, (time % 60) as i8, 0, 0);
        Model {
            users: definition.user_ids.clone(),
            first,
            definition: definition.clone(),
            handoffs: 0,
            next: None,
            began_ns: None,
        }
    }

    fn following(&self, turn: DateTime) -> DateTime {
        let later = |days: i64| turn.checked_add(days.days()).expect("a date");
        match self.definition.rotation_type {
            RotationType::Daily => later(1),
            RotationType::Custom => later(self.definition.interval_days),
            RotationType::Weekly => {
                let mut day = later(1);
                while weekday(day.date()) != i64::from(self.definition.handoff_day) {
                    day = day.checked_add(1.day()).expect("a date");
                }
                day
            }
        }
    }

    /// Looks at the next minute.
    fn look(&mut self, zone: &jiff::tz::TimeZone, at_ns: i64) -> Option<i64> {
        let time = jiff::Timestamp::from_nanosecond(i128::from(at_ns)).expect("an instant");
        let clock = zone.to_datetime(time);
        if self.began_ns.is_none() && clock >= self.first {
            self.began_ns = Some(at_ns);
            self.next = Some(self.following(self.first));
        }
        let began_ns = self.began_ns?;
        if self.definition.interval_hours > 0 {
            self.handoffs = ((at_ns - began_ns) / (self.definition.interval_hours * 60 * MINUTE_NS)) as usize;
        } else {
            while self.next.is_some_and(|next| clock >= next) {
                self.handoffs += 1;
                self.next = self.next.map(|next| self.following(next));
            }
        }
        let of_day = i64::from(clock.hour()) * 60 + i64::from(clock.minute());
        let of_week = weekday(clock.date()) * 1440 + of_day;
        let within = |now: i64, start: i64, end: i64| match start < end {
            true => start <= now && now < end,
            false => now >= start || now < end,
        };
        let restrictions = &self.definition.restrictions;
        let covers = |one: &Restriction| match one {
            Restriction::Daily { start_time, end_time } => within(of_day, minutes(start_time), minutes(end_time)),
            Restriction::Weekly { start_day, start_time, end_day, end_time } => within(
                of_week,
                i64::from(*start_day) * 1440 + minutes(start_time),
                i64::from(*end_day) * 1440 + minutes(end_time),
            ),
        };
        let is_covered = restrictions.is_empty() || restrictions.iter().any(covers);
        is_covered.then(|| self.users[self.handoffs % self.users.len()])
    }
}

/// Mostly times around those at which clocks change.
fn time_of_day() -> impl Strategy<Value = String> {
    let near = (0..4i32, 0..60i32).prop_map(|(hour, minute)| format!("{hour:02}:{minute:02}"));
    let any = (0..24i32, 0..60i32).prop_map(|(hour, minute)| format!("{hour:02}:{minute:02}"));
    prop_oneof![2 => near, 1 => any]
}

fn restriction() -> impl Strategy<Value = Restriction> {
    let differs = |start: &str, end: &str| start != end;
    let daily = (time_of_day(), time_of_day())
        .prop_filter("a window", move |(start, end)| differs(start, end))
        .prop_map(|(start_time, end_time)| Restriction::Daily { start_time, end_time });
    let weekly = (0..7i32, time_of_day(), 0..7i32, time_of_day())
        .prop_filter("a window", |(day, start, last, end)| (day, start) != (last, end))
        .prop_map(|(start_day, start_time, end_day, end_time)| Restriction::Weekly {
            start_day,
            start_time,
            end_day,
            end_time,
        });
    prop_oneof![daily, weekly]
}

fn layer() -> impl Strategy<Value = LayerDefinition> {
    let rotation = prop_oneof![
        Just((RotationType::Daily, 0, 0)),
        Just((RotationType::Weekly, 0, 0)),
        (1..5i64).prop_map(|days| (RotationType::Custom, days, 0)),
        (1..30i64).prop_map(|hours| (RotationType::Custom, 0, hours)),
    ];
    (rotation, time_of_day(), 0..7i32, 0..12i64, 1..4usize, prop::collection::vec(restriction(), 0..3)).prop_map(
        |((rotation_type, interval_days, interval_hours), handoff_time, handoff_day, back, people, restrictions)| {
            LayerDefinition {
                id: String::new(),
                name: String::new(),
                rotation_type,
                handoff_time,
                handoff_day,
                interval_days,
                interval_hours,
                // Replaced by a date this number of days before the change.
                rotation_start: back.to_string(),
                user_ids: (1..=people as i64).collect(),
                restrictions,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn every_minute_is_as_in_the_naive_model(
        change in 0..CHANGES.len(),
        mut layers in prop::collection::vec(layer(), 1..3),
        overrides in prop::collection::vec((20..30i64, -1000..2500i64, 1..900i64), 0..3),
    ) {
        let (zone_name, middle) = CHANGES[change];
        let zone = jiff::tz::TimeZone::get(zone_name).expect("a zone");
        let middle_ns = at(middle);
        let day = zone.to_datetime(middle.parse::<jiff::Timestamp>().expect("an instant")).date();
        for (index, layer) in layers.iter_mut().enumerate() {
            let back: i64 = layer.rotation_start.parse().expect("a number");
            layer.rotation_start = day.checked_sub(back.days()).expect("a date").to_string();
            layer.user_ids.iter_mut().for_each(|user| *user += 10 * index as i64);
        }
        let overrides: Vec<Override> = overrides
            .iter()
            .map(|&(user, start, length)| Override {
                user,
                start_ns: middle_ns + start * MINUTE_NS,
                end_ns: middle_ns + (start + length) * MINUTE_NS,
            })
            .collect();
        let definition = ScheduleDefinition { schema_version: 1, layers: layers.clone() };
        let schedule = Schedule::new(zone_name, &definition, overrides.clone()).expect("a schedule");
        let mut models: Vec<Model> = layers.iter().map(Model::new).collect();
        let (from_ns, to_ns) = (middle_ns - 1440 * MINUTE_NS, middle_ns + 2 * 1440 * MINUTE_NS);
        let shifts = schedule.shifts(from_ns, to_ns);
        prop_assert!(shifts.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns), "{shifts:?}");
        let mut now_ns = middle_ns - 15 * 1440 * MINUTE_NS;
        while now_ns < to_ns {
            let of_layers: Vec<Option<i64>> = models.iter_mut().map(|model| model.look(&zone, now_ns)).collect();
            if now_ns >= from_ns {
                let covering = overrides.iter().rev().find(|one| one.start_ns <= now_ns && now_ns < one.end_ns);
                let expected = match covering {
                    Some(one) => Some((one.user, true)),
                    None => of_layers.iter().rev().find_map(|user| *user).map(|user| (user, false)),
                };
                prop_assert_eq!(schedule.user_at(now_ns), expected, "{} {}", zone_name, now_ns);
                let shift = shifts.iter().find(|shift| shift.start_ns <= now_ns && now_ns < shift.end_ns);
                prop_assert_eq!(shift.map(|shift| (shift.user, shift.is_override)), expected);
            }
            now_ns += MINUTE_NS;
        }
    }
}
