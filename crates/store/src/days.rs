//! UTC days: which day's part a row belongs to, and the names of days.

use std::collections::BTreeMap;
use tidewatch_domain::units::DAY_NS;

/// 2026-01-01: no release is older. Machines without a hardware clock start in 1970.
const PLAUSIBLE_NS: i64 = 20_454 * DAY_NS;
/// Maximum number of parts of one table per flush. Senders with broken clocks send any day.
const DAYS_MAX: usize = 16;

/// Days since 1970-01-01, UTC.
pub fn day_of(time_ns: i64) -> i32 {
    i32::try_from(time_ns.div_euclid(DAY_NS)).expect("a 64-bit nanosecond time has at most 106752 days")
}

/// The latest day under which rows received until `received_max` (nanoseconds since the epoch) are stored: the day
/// after it. DECISIONS 25.
///
/// Senders with broken clocks send any day; rows of a day in the far future would never expire. There is no limit when
/// `received_max` is `None` or before 2026: then the server's own clock was wrong.
pub fn latest_day(received_max: Option<i64>) -> i32 {
    let plausible = received_max.filter(|received| *received >= PLAUSIBLE_NS);
    plausible.map_or(i32::MAX, |received| day_of(received).saturating_add(1))
}

/// The first nanosecond of a day and of the next day, saturating.
pub fn bounds(day: i32) -> (i64, i64) {
    let start = i64::from(day).saturating_mul(DAY_NS);
    (start, start.saturating_add(DAY_NS))
}

/// The name of a day's folder, such as `2026-11-21`.
pub fn day_name(day: i32) -> String {
    // Days to civil date, Gregorian, eras of 400 years starting on 1 March.
    let shifted = i64::from(day) + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}")
}

/// Parses a name of [`day_name`]; `None` for any other string.
pub fn day_named(name: &str) -> Option<i32> {
    let (year_and_month, day_of_month) = name.rsplit_once('-')?;
    let (year, month) = year_and_month.rsplit_once('-')?;
    let (year, month): (i64, i64) = (year.parse().ok()?, month.parse().ok()?);
    let day_of_month: i64 = day_of_month.parse().ok()?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day_of_month) || year.abs() > 9999 {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day_of_month - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let day = i32::try_from(era * 146_097 + day_of_era - 719_468).ok()?;
    (day_name(day) == name).then_some(day)
}

/// Groups times by the day of their part, in order, into at most 16 days; times after the day `latest` belong to it.
///
/// Of more days, the days with the fewest rows are merged into the next later day, so that retention never removes a
/// row early. The latest day always stays.
pub fn split<P>(times: impl Iterator<Item = (i64, P)>, latest: i32) -> BTreeMap<i32, Vec<P>> {
    let mut days: BTreeMap<i32, Vec<P>> = BTreeMap::new();
    // Most rows have the day of the previous row: its places stay outside the map.
    let mut open: Option<(i32, Vec<P>)> = None;
    for (time, place) in times {
        let day = day_of(time).min(latest);
        match &mut open {
            Some((of, places)) if *of == day => places.push(place),
            _ => {
                let mut places = days.remove(&day).unwrap_or_default();
                places.push(place);
                days.extend(open.replace((day, places)));
            }
        }
    }
    days.extend(open);
    while days.len() > DAYS_MAX {
        let latest = *days.keys().next_back().expect("there are more than DAYS_MAX days");
        let smallest = days.iter().filter(|(day, _)| **day != latest).min_by_key(|(_, places)| places.len());
        let day = *smallest.expect("there are more than DAYS_MAX days").0;
        let places = days.remove(&day).expect("the day was just found");
        let (_, next) = days.range_mut(day..).next().expect("the latest day is later");
        next.extend(places);
    }
    days
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_names_are_parsed_back() {
        let table = [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_778, "2026-11-21"),
            (106_751, "2262-04-11"),
            (-106_752, "1677-09-21"),
        ];
        for (day, name) in table {
            assert_eq!(day_name(day), name);
            assert_eq!(day_named(name), Some(day));
        }
        for day in -110_000..110_000 {
            assert_eq!(day_named(&day_name(day)), Some(day));
        }
        for text in ["", "lost", "2026-02-29", "2026-13-01", "2026-1-01", "26-11-21", "2026-11-21 ", "-", "--"] {
            assert_eq!(day_named(text), None, "{text}");
        }
        assert_eq!(day_of(-1), -1);
        assert_eq!(day_of(i64::MAX), 106_751);
        assert_eq!(day_of(i64::MIN), -106_752);
    }

    #[test]
    fn excess_days_are_merged_into_later_days() {
        let days: BTreeMap<i32, Vec<i64>> = split((0..100).map(|day| (day * DAY_NS, day)), i32::MAX);
        assert_eq!(days.len(), DAYS_MAX);
        assert_eq!(days.values().map(Vec::len).sum::<usize>(), 100);
        assert!(days.iter().all(|(day, rows)| rows.iter().all(|row| *row <= i64::from(*day))));
    }

    #[test]
    fn no_day_is_after_the_latest() {
        let times = [3 * DAY_NS, i64::MAX - 1, 5 * DAY_NS, 6 * DAY_NS, 4 * DAY_NS];
        let days = split(times.into_iter().zip(0..), 5);
        assert_eq!(days, [(3, vec![0]), (4, vec![4]), (5, vec![1, 2, 3])].into());
    }
}
