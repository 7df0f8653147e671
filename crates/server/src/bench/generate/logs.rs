//! Log records of one service.

use super::super::protobuf::Message;
use super::vocabulary::{RARE_WORD, sentence};
use super::{Generator, Period, int, resource, text};

const ATTRIBUTES: u32 = 6;
const SEVERITIES: [(u64, &str); 6] = [(5, "DEBUG"), (9, "INFO"), (9, "INFO"), (9, "INFO"), (13, "WARN"), (17, "ERROR")];

pub fn records(generator: &mut Generator, count: usize, period: Period, request: &mut Message<'_>) {
    let number = generator.service();
    let name = generator.vocabulary.services[number].name;
    request.message(1, |block| {
        resource(block, name, number);
        block.message(2, |scope| {
            scope.message(1, |scope| scope.text(1, "shop.views"));
            (0..count).for_each(|_| record(generator, number, period, scope));
        });
    });
}

fn record(generator: &mut Generator, service: usize, period: Period, scope: &mut Message<'_>) {
    let (trace, span): ([u8; 16], [u8; 8]) = (generator.id(), generator.id());
    let time = generator.moment(period);
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
    scope.message(2, |record| {
        record.fixed64(1, time);
        record.uint(2, severity);
        record.text(3, severity_text);
        record.message(5, |any| any.text(1, &body));
        text(record, ATTRIBUTES, "code.file.path", "/app/shop/views.py");
        text(record, ATTRIBUTES, "code.function.name", endpoint.method);
        int(record, ATTRIBUTES, "code.line.number", 1 + random.below(900));
        text(record, ATTRIBUTES, "user.id", &format!("user-{}", random.below(50_000)));
        record.fixed32(8, 1);
        if random.chance(0.8) {
            record.bytes(9, &trace);
            record.bytes(10, &span);
        }
        record.fixed64(11, time + 500_000);
    });
}
