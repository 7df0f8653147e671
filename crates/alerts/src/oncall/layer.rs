//! A layer of a schedule: people who take turns, within hours of the day or the week.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

use super::zone::Zone;
use tidewatch_domain::units::HOUR_NS;
use tidewatch_limits as limits;

const DAY_MINUTES: i32 = 24 * 60;
const WEEK_MINUTES: i32 = 7 * DAY_MINUTES;

/// Period of a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RotationType {
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every few days, or every few hours.
    Custom,
}

/// Hours to which a layer is limited, of the clocks of the schedule's zone. An end before the start is of the next day
/// or week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Restriction {
    /// Hours of every day.
    Daily {
        /// `HH:MM`.
        start_time: String,
        /// `HH:MM`.
        end_time: String,
    },
    /// Hours of the week.
    Weekly {
        /// 0 is Sunday.
        start_day: i32,
        /// `HH:MM`.
        start_time: String,
        /// 0 is Sunday.
        end_day: i32,
        /// `HH:MM`.
        end_time: String,
    },
}

/// A layer as users write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LayerDefinition {
    /// Identifies the layer within the schedule.
    #[serde(default)]
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Period of the rotation.
    pub rotation_type: RotationType,
    /// When the turn changes, `HH:MM`.
    pub handoff_time: String,
    /// The day on which the turn changes weekly; 0 is Sunday.
    #[serde(default = "monday")]
    pub handoff_day: i32,
    /// Days of a custom turn.
    #[serde(default)]
    pub interval_days: i64,
    /// Hours of a custom turn, instead of days.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interval_hours: i64,
    /// The day of the first turn, `YYYY-MM-DD`.
    pub rotation_start: String,
    /// Users who take turns, in order.
    pub user_ids: Vec<i64>,
    /// Hours to which the layer is limited; none: always.
    #[serde(default)]
    pub restrictions: Vec<Restriction>,
}

fn monday() -> i32 {
    1
}

fn is_zero(value: &i64) -> bool {
    *value == 0
}

#[derive(Debug, Clone, Copy)]
enum Period {
    Days(i64),
    /// The second turn begins on this date, the others a week after the previous one.
    WeeksFrom(Date),
    Hours(i64),
}

/// Minutes of the day or the week at which a restriction begins and ends.
#[derive(Debug, Clone, Copy)]
struct Window {
    start: i32,
    end: i32,
    length: i32,
}

/// A layer that can be evaluated.
#[derive(Debug, Clone)]
pub struct Layer {
    users: Vec<i64>,
    first: DateTime,
    period: Period,
    windows: Vec<Window>,
}

impl Layer {
    /// Checks a definition. The error is a sentence for the user.
    pub fn new(definition: &LayerDefinition) -> Result<Layer, String> {
        if definition.user_ids.is_empty() || definition.user_ids.len() > limits::ONCALL_LAYER_USERS_MAX {
            return Err(format!("a layer has 1 to {} people", limits::ONCALL_LAYER_USERS_MAX));
        }
        if definition.restrictions.len() > limits::ONCALL_RESTRICTIONS_MAX {
            return Err(format!("a layer has at most {} restrictions", limits::ONCALL_RESTRICTIONS_MAX));
        }
        let minute = minute_of_day(&definition.handoff_time)?;
        let start: Date = definition.rotation_start.get(..10).and_then(|date| date.parse().ok()).ok_or_else(|| {
            format!("rotationStart {:?} is not a date such as 2026-01-31", shown(&definition.rotation_start))
        })?;
        if !(1970..=2200).contains(&start.year()) {
            return Err("rotationStart is not between 1970 and 2200".to_owned());
        }
        let period = match definition.rotation_type {
            RotationType::Daily => Period::Days(1),
            RotationType::Weekly => {
                let day = day_of_week(definition.handoff_day)?;
                let ahead = (day - weekday(start) + 6).rem_euclid(7) + 1;
                Period::WeeksFrom(start.saturating_add(i64::from(ahead).days()))
            }
            RotationType::Custom if definition.interval_hours > 0 => {
                let most = limits::ONCALL_INTERVAL_DAYS_MAX * 24;
                if definition.interval_hours > most {
                    return Err(format!("intervalHours is at most {most}"));
                }
                Period::Hours(definition.interval_hours)
            }
            RotationType::Custom => {
                let most = limits::ONCALL_INTERVAL_DAYS_MAX;
                if !(1..=most).contains(&definition.interval_days) {
                    return Err(format!("a custom rotation has intervalDays of 1 to {most}, or intervalHours"));
                }
                Period::Days(definition.interval_days)
            }
        };
        let windows = definition.restrictions.iter().map(window).collect::<Result<_, _>>()?;
        Ok(Layer { users: definition.user_ids.clone(), first: at_minute(start, minute), period, windows })
    }

    /// The person whose turn it is at an instant; `None` before the first turn and outside the restrictions.
    pub fn user_at(&self, zone: &Zone, at_ns: i64) -> Option<i64> {
        let turn = self.turn(zone, at_ns)?;
        let civil = zone.civil(at_ns);
        let is_within = self.windows.is_empty() || self.windows.iter().any(|window| window.contains(civil));
        let index = usize::try_from(turn).ok()? % self.users.len();
        is_within.then(|| self.users[index])
    }

    /// Every instant in `from_ns..to_ns` at which [`Layer::user_at`] may change, unsorted.
    pub fn boundaries(&self, zone: &Zone, from_ns: i64, to_ns: i64) -> Vec<i64> {
        let mut found = Vec::new();
        let mut turn = self.turn(zone, from_ns).map_or(0, |turn| turn + 1);
        loop {
            let at = self.handoff(zone, turn);
            if at >= to_ns {
                break;
            }
            found.push(at);
            turn += 1;
        }
        if self.windows.is_empty() {
            return found;
        }
        found.extend(zone.changes(from_ns, to_ns));
        let last = zone.civil(to_ns).date();
        let mut date = zone.civil(from_ns).date();
        while date <= last {
            for window in &self.windows {
                for minute in [window.start, window.end] {
                    if window.length == DAY_MINUTES || minute / DAY_MINUTES == weekday(date) {
                        found.extend(zone.all(at_minute(date, minute % DAY_MINUTES)));
                    }
                }
            }
            date = date.saturating_add(1.day());
        }
        found.retain(|at| (from_ns..to_ns).contains(at));
        found
    }

    /// The number of handoffs from the first turn until an instant; `None` before the first turn.
    fn turn(&self, zone: &Zone, at_ns: i64) -> Option<i64> {
        if at_ns < self.handoff(zone, 0) {
            return None;
        }
        let days = i64::from((zone.civil(at_ns).date() - self.first.date()).get_days());
        let near = match self.period {
            Period::Days(days_each) => days / days_each,
            Period::WeeksFrom(_) => days / 7,
            Period::Hours(hours) => (at_ns - self.handoff(zone, 0)) / (hours * HOUR_NS),
        };
        // The clocks of the last turn's day may not have reached the handoff, or have passed it twice.
        let mut turn = near.max(0);
        while turn > 0 && self.handoff(zone, turn) > at_ns {
            turn -= 1;
        }
        while self.handoff(zone, turn + 1) <= at_ns {
            turn += 1;
        }
        Some(turn)
    }

    /// The instant at which a turn begins.
    fn handoff(&self, zone: &Zone, turn: i64) -> i64 {
        let date = match self.period {
            Period::Days(days) => self.first.date().saturating_add((turn * days).days()),
            Period::WeeksFrom(_) if turn == 0 => self.first.date(),
            Period::WeeksFrom(second) => second.saturating_add(((turn - 1) * 7).days()),
            Period::Hours(hours) => return zone.first(self.first) + turn * hours * HOUR_NS,
        };
        zone.first(date.to_datetime(self.first.time()))
    }
}

impl Window {
    fn contains(&self, civil: DateTime) -> bool {
        let of_day = i32::from(civil.hour()) * 60 + i32::from(civil.minute());
        let now = if self.length == DAY_MINUTES { of_day } else { weekday(civil.date()) * DAY_MINUTES + of_day };
        (now - self.start).rem_euclid(self.length) < (self.end - self.start).rem_euclid(self.length)
    }
}

fn window(restriction: &Restriction) -> Result<Window, String> {
    let window = match restriction {
        Restriction::Daily { start_time, end_time } => {
            Window { start: minute_of_day(start_time)?, end: minute_of_day(end_time)?, length: DAY_MINUTES }
        }
        Restriction::Weekly { start_day, start_time, end_day, end_time } => Window {
            start: day_of_week(*start_day)? * DAY_MINUTES + minute_of_day(start_time)?,
            end: day_of_week(*end_day)? * DAY_MINUTES + minute_of_day(end_time)?,
            length: WEEK_MINUTES,
        },
    };
    if window.start == window.end {
        return Err("a restriction ends when it starts".to_owned());
    }
    Ok(window)
}

fn minute_of_day(time: &str) -> Result<i32, String> {
    let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i32>().ok());
    let (hour, minute) = match time.split_once(':') {
        Some((hour, minute)) if hour.len() == 2 && minute.len() == 2 => {
            (number(hour).flatten(), number(minute).flatten())
        }
        _ => (None, None),
    };
    match (hour, minute) {
        (Some(hour @ 0..=23), Some(minute @ 0..=59)) => Ok(hour * 60 + minute),
        _ => Err(format!("{:?} is not a time of the day such as 09:00", shown(time))),
    }
}

fn day_of_week(day: i32) -> Result<i32, String> {
    if (0..7).contains(&day) { Ok(day) } else { Err("a day of the week is 0 (Sunday) to 6".to_owned()) }
}

fn shown(value: &str) -> String {
    value.chars().take(30).collect()
}

fn at_minute(date: Date, minute: i32) -> DateTime {
    let (hour, minute) = (minute / 60, minute % 60);
    date.at(i8::try_from(hour).unwrap_or(0), i8::try_from(minute).unwrap_or(0), 0, 0)
}

/// 0 is Sunday.
fn weekday(date: Date) -> i32 {
    i32::from(date.weekday().to_sunday_zero_offset())
}
