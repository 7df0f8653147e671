//! Whether what a check has seen is as it should be. An error is the reason, for people.

use tidewatch_domain::units::DAY_NS;
use tidewatch_query::time;

use super::config::{Assertions, RecordType, body_regex};

/// The response to an HTTP request.
#[derive(Debug, Clone, Copy)]
pub struct HttpSeen<'a> {
    /// Its status.
    pub status: u16,
    /// The start of its body, as far as it was read.
    pub body: &'a [u8],
    /// Whether the body goes on.
    pub is_body_cut: bool,
    /// The duration, nanoseconds.
    pub total_ns: i64,
    /// End of the validity of the certificate, nanoseconds since the epoch.
    pub tls_expires_ns: Option<i64>,
    /// Nanoseconds since the epoch.
    pub now_ns: i64,
}

/// Checks a response. WIRE 6: without accepted statuses those below 400 are good.
pub fn http(assertions: &Assertions, seen: &HttpSeen<'_>) -> Result<(), String> {
    let status = seen.status;
    if assertions.status_codes.is_empty() {
        if status >= 400 {
            return Err(format!("status {status}"));
        }
    } else if !assertions.status_codes.contains(&status) {
        let expected: Vec<String> = assertions.status_codes.iter().map(u16::to_string).collect();
        return Err(format!("status {status} instead of {}", expected.join(", ")));
    }
    let read = if seen.is_body_cut { "the part of the body that was read" } else { "the body" };
    let body = String::from_utf8_lossy(seen.body);
    if !body.contains(&assertions.body_contains) {
        return Err(format!("{read} does not contain {:?}", assertions.body_contains));
    }
    if !assertions.body_regex.is_empty() {
        let regex = body_regex(&assertions.body_regex).map_err(|error| error.to_string())?;
        if !regex.is_match(&body) {
            return Err(format!("{read} does not match {:?}", assertions.body_regex));
        }
    }
    if let Some(most) = assertions.max_response_time_ms
        && seen.total_ns > most * 1_000_000
    {
        return Err(format!("took {} ms, more than {most} ms", (seen.total_ns + 999_999) / 1_000_000));
    }
    match assertions.tls_min_days_remaining {
        Some(days) => certificate(seen.tls_expires_ns, days, seen.now_ns),
        None => Ok(()),
    }
}

/// Checks that a certificate is valid for at least `days`.
pub fn certificate(expires_ns: Option<i64>, days: i64, now_ns: i64) -> Result<(), String> {
    let Some(expires_ns) = expires_ns else { return Err("there is no certificate: the address is no https".into()) };
    let at = time::to_rfc3339(expires_ns);
    let left_ns = expires_ns.saturating_sub(now_ns);
    if left_ns <= 0 {
        return Err(format!("the certificate has expired at {at}"));
    }
    match left_ns < days * DAY_NS {
        true => Err(format!("the certificate expires in {} days, at {at}; {days} are required", left_ns / DAY_NS)),
        false => Ok(()),
    }
}

/// Checks the values of the records of a name.
pub fn records(kind: RecordType, expected: &str, found: &[String]) -> Result<(), String> {
    if found.is_empty() {
        return Err("there is no such record".to_owned());
    }
    let is_equal = |value: &String| match kind {
        RecordType::Txt => value == expected,
        _ => value.trim_end_matches('.').eq_ignore_ascii_case(expected.trim_end_matches('.')),
    };
    match expected.is_empty() || found.iter().any(is_equal) {
        true => Ok(()),
        false => Err(format!("no record is {expected}: there are {}", found.join(", "))),
    }
}

/// Checks the answer of a TCP server.
pub fn answer(expected: &str, read: &[u8]) -> Result<(), String> {
    match String::from_utf8_lossy(read).contains(expected) {
        true => Ok(()),
        false if read.is_empty() => Err(format!("the server closed the connection without {expected:?}")),
        false => Err(format!("the answer does not contain {expected:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_780_315_200_000_000_000;

    /// WIRE 6: assertions of http checks. An empty reason: up.
    #[test]
    fn responses_are_checked_against_assertions() {
        let none = Assertions::default;
        let seen = HttpSeen {
            status: 200,
            body: b"{\"status\":\"ok\"}",
            is_body_cut: false,
            total_ns: 80_500_000,
            tls_expires_ns: Some(NOW + 10 * DAY_NS),
            now_ns: NOW,
        };
        let table = [
            (none(), seen, ""),
            (none(), HttpSeen { status: 302, ..seen }, ""),
            (none(), HttpSeen { status: 399, ..seen }, ""),
            (none(), HttpSeen { status: 400, ..seen }, "status 400"),
            (none(), HttpSeen { status: 503, ..seen }, "status 503"),
            (Assertions { status_codes: vec![404], ..none() }, HttpSeen { status: 404, ..seen }, ""),
            (Assertions { status_codes: vec![201, 204], ..none() }, seen, "status 200 instead of 201, 204"),
            (Assertions { body_contains: "\"ok\"".into(), ..none() }, seen, ""),
            (Assertions { body_contains: "OK".into(), ..none() }, seen, "the body does not contain \"OK\""),
            (
                Assertions { body_contains: "OK".into(), ..none() },
                HttpSeen { is_body_cut: true, ..seen },
                "the part of the body that was read does not contain \"OK\"",
            ),
            (Assertions { body_regex: "status.+o[kK]".into(), ..none() }, seen, ""),
            (Assertions { body_regex: "^ok$".into(), ..none() }, seen, "the body does not match \"^ok$\""),
            (Assertions { body_contains: "\u{fffd}".into(), ..none() }, HttpSeen { body: &[0xff], ..seen }, ""),
            (Assertions { max_response_time_ms: Some(81), ..none() }, seen, ""),
            (Assertions { max_response_time_ms: Some(80), ..none() }, seen, "took 81 ms, more than 80 ms"),
            (Assertions { tls_min_days_remaining: Some(10), ..none() }, seen, ""),
            (
                Assertions { tls_min_days_remaining: Some(11), ..none() },
                seen,
                "the certificate expires in 10 days, at 2026-06-11T12:00:00Z; 11 are required",
            ),
            (
                Assertions { tls_min_days_remaining: Some(0), ..none() },
                HttpSeen { tls_expires_ns: Some(NOW), ..seen },
                "the certificate has expired at 2026-06-01T12:00:00Z",
            ),
            (
                Assertions { tls_min_days_remaining: Some(0), ..none() },
                HttpSeen { tls_expires_ns: None, ..seen },
                "there is no certificate: the address is no https",
            ),
        ];
        for (assertions, seen, expected) in table {
            let found = http(&assertions, &seen).err().unwrap_or_default();
            assert_eq!(found, expected, "{assertions:?}");
        }
    }

    #[test]
    fn records_and_answers_are_compared() {
        let found = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
        for (kind, expected, values, reason) in [
            (RecordType::A, "", &["192.0.2.1"][..], ""),
            (RecordType::A, "", &[], "there is no such record"),
            (RecordType::A, "192.0.2.2", &["192.0.2.1", "192.0.2.2"], ""),
            (RecordType::A, "192.0.2.3", &["192.0.2.1"], "no record is 192.0.2.3: there are 192.0.2.1"),
            (RecordType::Cname, "www.Example.com.", &["WWW.example.com"], ""),
            (RecordType::Txt, "v=1", &["V=1"], "no record is v=1: there are V=1"),
        ] {
            assert_eq!(records(kind, expected, &found(values)).err().unwrap_or_default(), reason, "{expected}");
        }
        assert_eq!(answer("PONG", b"+PONG\r\n"), Ok(()));
        assert_eq!(answer("", b""), Ok(()));
        assert_eq!(answer("PONG", b"-ERR"), Err("the answer does not contain \"PONG\"".to_owned()));
        assert_eq!(answer("PONG", b""), Err("the server closed the connection without \"PONG\"".to_owned()));
    }
}
