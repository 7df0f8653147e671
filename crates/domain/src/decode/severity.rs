//! Severities of log records.

/// OTLP severity. Undefined numbers read as 0, "unspecified".
pub(super) fn severity_number(number: i64) -> u8 {
    match number {
        1..=24 => number as u8,
        _ => 0,
    }
}
