//! The time of a record, and whether it can be stored. DECISIONS 17, 25.

use super::drop_reason::DropReason;

/// The first of `times` that is not 0, else the receive time. Nanoseconds since the epoch.
///
/// [`DropReason::InvalidTime`] when it does not fit 64-bit nanoseconds: no query could reach the record.
/// [`DropReason::TooOld`] when it is before `oldest_ns`: retention would remove the record immediately.
pub fn record_time(times: &[u64], received_ns: i64, oldest_ns: i64) -> Result<i64, DropReason> {
    let time_ns = match times.iter().find(|time| **time != 0) {
        Some(time) => storable_time(*time).ok_or(DropReason::InvalidTime)?,
        None => received_ns,
    };
    if time_ns < oldest_ns { Err(DropReason::TooOld) } else { Ok(time_ns) }
}

/// The time, if it can be stored. `i64::MAX` itself is after every time range of a query.
pub fn storable_time(time: u64) -> Option<i64> {
    i64::try_from(time).ok().filter(|time| *time < i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u64 = i64::MAX as u64;

    #[test]
    fn time_table() {
        let (invalid, old) = (Err(DropReason::InvalidTime), Err(DropReason::TooOld));
        for (times, oldest, expected) in [
            (&[5, 6][..], 0, Ok(5)),
            (&[0, 6], 0, Ok(6)),
            (&[0, 0], 0, Ok(70)),
            (&[], 0, Ok(70)),
            (&[MAX - 1], 0, Ok(i64::MAX - 1)),
            (&[MAX], 0, invalid),
            (&[1 << 63], 0, invalid),
            (&[u64::MAX, 6], 0, invalid),
            (&[5, u64::MAX], 0, Ok(5)),
            (&[0, u64::MAX], 0, invalid),
            (&[50], 50, Ok(50)),
            (&[49], 50, old),
            (&[0, 49], 50, old),
            (&[0], 71, old),
            (&[1], i64::MIN, Ok(1)),
        ] {
            assert_eq!(record_time(times, 70, oldest), expected, "{times:?}, oldest {oldest}");
        }
    }
}
