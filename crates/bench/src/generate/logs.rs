//! Log records of one service.

use tidewatch_domain::encode::{self, LOG_ATTRIBUTES as ATTRIBUTES, Message};
use tidewatch_domain::model::{AnyValue, LogRecord, SpanId, TraceId};

use super::generator::{Generator, Period};
use super::messages::{int, resource, scope, text};
use super::vocabulary::{RARE_WORD, sentence};

const SEVERITIES: [(u8, &str); 6] = [(5, "DEBUG"), (9, "INFO"), (9, "INFO"), (9, "INFO"), (13, "WARN"), (17, "ERROR")];

/// Writes `count` log records of one service to an export request.
pub fn records(generator: &mut Generator, count: usize, period: Period, request: &mut Message<'_>) {
    let number = generator.service();
    let name = generator.vocabulary.services[number].name;
    encode::block(
        request,
        |message| resource(message, name, number),
        &scope("shop.views"),
        |records| {
            (0..count).for_each(|_| record(generator, number, period, records));
        },
    );
}

fn record(generator: &mut Generator, service: usize, period: Period, records: &mut Message<'_>) {
    let (trace_id, span_id) = (TraceId(generator.random.id()), SpanId(generator.random.id()));
    let time_ns = generator.moment(period);
    let random = &mut generator.random;
    let endpoints = &generator.vocabulary.services[service].endpoints;
    let endpoint = &endpoints[random.below(endpoints.len() as u64) as usize];
    let (severity, severity_text) = random.pick(&SEVERITIES);
    let path = endpoint.route.replace("{id}", &random.below(100_000).to_string());
    let mut body = format!("{} {path} ", endpoint.method);
    let bytes = 20 + random.below(100) as usize;
    sentence(random, bytes, &mut body);
    if random.chance(0.000_01) {
        body.push(' ');
        body.push_str(RARE_WORD);
    }
    let is_of_a_span = random.chance(0.8);
    let record = LogRecord {
        time_ns,
        observed_time_ns: time_ns + 500_000,
        severity_number: severity,
        severity_text,
        body: AnyValue::Str(&body),
        flags: 1,
        trace_id: if is_of_a_span { trace_id } else { TraceId::default() },
        span_id: if is_of_a_span { span_id } else { SpanId::default() },
        ..LogRecord::default()
    };
    encode::log_record(records, &record, |record| {
        text(record, ATTRIBUTES, "code.file.path", "/app/shop/views.py");
        text(record, ATTRIBUTES, "code.function.name", endpoint.method);
        int(record, ATTRIBUTES, "code.line.number", 1 + random.below(900));
        text(record, ATTRIBUTES, "user.id", &format!("user-{}", random.below(50_000)));
    });
}
