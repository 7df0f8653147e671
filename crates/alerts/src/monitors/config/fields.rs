//! The types of monitors in words, their settings, and the fields of their configurations. WIRE 6.

use tidewatch_limits as limits;

use super::{AuthKind, RecordType};
use crate::fields::{ConfigField, FieldKind, options, options_of};

/// Seconds between two checks, unless the user chooses others.
pub const INTERVAL_SECONDS: i64 = 60;
/// Seconds that a check may take, unless the user chooses others.
pub const TIMEOUT_SECONDS: i64 = 10;
/// Maximum of `maxResponseTimeMs`: the longest check.
const RESPONSE_MS_MAX: i64 = 120_000;
/// Maximum of `tlsMinDaysRemaining`.
const TLS_DAYS_MAX: i64 = 3650;
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

const INTERVALS: [i64; 9] = [30, 60, 120, 300, 600, 1800, 3600, 21_600, 86_400];
const PERIODS: [i64; 9] = [60, 300, 900, 1800, 3600, 21_600, 43_200, 86_400, 604_800];
const GRACES: [i64; 8] = [0, 30, 60, 300, 600, 1800, 3600, 21_600];
/// Interval and time limit that the form suggests for a browser, which starts within seconds and is not cheap.
const BROWSER_SCHEDULE: (i64, i64) = (300, 60);
const SCRIPT: &str = "await page.goto(\"https://\");\nawait expect(page).toHaveTitle(/./);\n";

/// Titles of the parts of the form of `http`.
const RESPONSE: &str = "The response must have";
const REQUEST: &str = "Request: authentication, headers, body, TLS";

/// A type of monitor in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorWords {
    /// Name in requests.
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Purpose, in a sentence.
    pub about: &'static str,
}

const fn of(name: &'static str, label: &'static str, about: &'static str) -> MonitorWords {
    MonitorWords { name, label, about }
}

/// The types, in the order of forms.
pub const TYPES: [MonitorWords; 6] = [
    of("http", "HTTP", "Sends a request and checks the response."),
    of("tcp", "TCP", "Opens a connection, and may check the answer."),
    of("tls", "Certificate", "Warns before a TLS certificate expires."),
    of("dns", "DNS", "Looks up the records of a name."),
    of("heartbeat", "Heartbeat", "Expects that a job, such as a cron job, reports in time."),
    of("browser", "Browser", "Runs a Playwright script in a browser."),
];

/// Consecutive bad results that make a monitor down, unless the user chooses others.
pub fn failure_threshold(check_type: &str) -> i64 {
    if check_type == "heartbeat" { 1 } else { 3 }
}

/// The settings of all types beside the configuration. The job of a heartbeat has its own schedule.
pub fn settings(check_type: &str) -> Vec<ConfigField> {
    let name = string("name", "Name").required().max_length(limits::MONITOR_NAME_CHARS_MAX);
    let mut interval = ConfigField::new(FieldKind::Seconds, "Check every")
        .at("intervalSeconds")
        .within(limits::MONITOR_INTERVAL_SECONDS)
        .usual(&INTERVALS)
        .default(INTERVAL_SECONDS);
    let mut timeout = integer("timeoutSeconds", "Time limit in seconds")
        .within(limits::MONITOR_TIMEOUT_SECONDS)
        .default(TIMEOUT_SECONDS);
    let mut threshold = integer("failureThreshold", "Down after failures")
        .within(limits::MONITOR_THRESHOLD)
        .default(failure_threshold(check_type));
    match check_type {
        "heartbeat" => (interval, timeout) = (interval.hidden(), timeout.hidden()),
        "browser" => {
            let (interval_seconds, timeout_seconds) = BROWSER_SCHEDULE;
            (interval, timeout) = (interval.suggested(interval_seconds), timeout.suggested(timeout_seconds));
        }
        _ => {}
    }
    if check_type != "heartbeat" {
        threshold = threshold.hint("One after another.");
    }
    vec![name, interval, timeout, threshold]
}

fn string(key: &str, label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::String, label).at(key)
}

fn secret(key: &str, label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::Secret, label).at(key)
}

fn integer(key: &str, label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::Integer, label).at(key)
}

fn boolean(key: &str, label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::Boolean, label).at(key)
}

fn host() -> ConfigField {
    string("host", "Host").required()
}

fn port() -> ConfigField {
    integer("port", "Port").required().within(1..=65_535)
}

fn tls_days(key: &str) -> ConfigField {
    integer(key, "Certificate valid for days").within(0..=TLS_DAYS_MAX)
}

fn skip_tls_verify() -> ConfigField {
    boolean("skipTlsVerify", "Accept any certificate").hint("Also one of an unknown issuer or of another name.")
}

/// The fields of a type, without defaults, in the order of forms; none for an unknown type.
pub fn fields(check_type: &str) -> Vec<ConfigField> {
    match check_type {
        "http" => http(),
        "tcp" => vec![
            host(),
            port().suggested(443),
            boolean("useTls", "TLS"),
            string("sendPayload", "Send"),
            string("expectContains", "The answer must contain"),
            tls_days("tlsMinDaysRemaining").when("useTls", &[true]),
        ],
        "tls" => vec![
            host(),
            port(),
            tls_days("tlsMinDaysRemaining"),
            string("serverName", "Name in the certificate").hint("Empty: the host."),
            skip_tls_verify(),
        ],
        "dns" => vec![
            string("name", "DNS name").required(),
            ConfigField::choice("Record", record_types()).at("recordType"),
            string("expectedValue", "One must be").hint("Empty: there is a record."),
            string("server", "DNS server").hint("An IP address. Empty: that of the machine."),
        ],
        "heartbeat" => vec![
            ConfigField::new(FieldKind::Seconds, "The job reports every")
                .at("periodSeconds")
                .required()
                .within(limits::HEARTBEAT_PERIOD_SECONDS)
                .usual(&PERIODS)
                .suggested(86_400),
            ConfigField::new(FieldKind::Seconds, "And may be late by")
                .at("graceSeconds")
                .within(limits::HEARTBEAT_GRACE_SECONDS)
                .usual(&GRACES)
                .suggested(600),
        ],
        "browser" => vec![
            ConfigField::new(FieldKind::Script, "Script").at("script").required().suggested(SCRIPT).hint(
                "Playwright: page, context, browser, expect, env and console.log are there. An error makes it down.",
            ),
            ConfigField::new(FieldKind::Variables, "Variables").at("env").max_items(limits::BROWSER_ENV_MAX).hint(
                "env.NAME in the script. Values are stored encrypted and not shown again; another script needs them \
                 again.",
            ),
        ],
        _ => Vec::new(),
    }
}

fn http() -> Vec<ConfigField> {
    let entries = limits::MONITOR_HEADERS_MAX;
    let auth = ConfigField::choice(
        "Authentication",
        options(&[
            (AuthKind::None, "None"),
            (AuthKind::Basic, "User and password"),
            (AuthKind::Bearer, "Bearer token"),
            (AuthKind::Header, "Header"),
        ]),
    );
    let when = |field: ConfigField, kind: AuthKind| field.when("auth.type", &[kind]);
    let response = vec![
        ConfigField::new(FieldKind::Integers, "Status")
            .at("assertions.statusCodes")
            .max_items(entries)
            .within(100..=599)
            .hint("Such as 200, 204. Empty: below 400."),
        string("assertions.bodyContains", "A body that contains"),
        string("assertions.bodyRegex", "A body that matches").hint("A regular expression."),
        integer("assertions.maxResponseTimeMs", "At most milliseconds").within(1..=RESPONSE_MS_MAX),
        tls_days("assertions.tlsMinDaysRemaining"),
    ];
    let request = vec![
        auth.at("auth.type"),
        when(string("auth.username", "User").required(), AuthKind::Basic),
        when(secret("auth.password", "Password"), AuthKind::Basic),
        when(secret("auth.token", "Token").required(), AuthKind::Bearer),
        when(string("auth.headerName", "Header").required(), AuthKind::Header),
        when(secret("auth.headerValue", "Value"), AuthKind::Header),
        ConfigField::new(FieldKind::Map, "Headers")
            .at("headers")
            .max_items(entries)
            .hint("One in a line: Name: value."),
        ConfigField::new(FieldKind::Lines, "Body").at("body"),
        string("bodyContentType", "Content type of the body").placeholder("application/json"),
        boolean("followRedirects", "Follow redirects"),
        skip_tls_verify(),
    ];
    let address = vec![
        ConfigField::choice("Method", options_of(&METHODS)).at("method").required(),
        ConfigField::new(FieldKind::Url, "URL").at("url").required().suggested("https://"),
    ];
    let response = response.into_iter().map(|field| field.section(RESPONSE));
    let request = request.into_iter().map(|field| field.folded(REQUEST));
    address.into_iter().chain(response).chain(request).collect()
}

/// Types of DNS records.
fn record_types() -> Vec<crate::fields::FieldOption> {
    options(&[
        (RecordType::A, "A"),
        (RecordType::Aaaa, "AAAA"),
        (RecordType::Cname, "CNAME"),
        (RecordType::Mx, "MX"),
        (RecordType::Ns, "NS"),
        (RecordType::Txt, "TXT"),
    ])
}
