//! Points of metrics: 200 series of one gauge, 100 of one counter, a histogram for each service. Each request goes on
//! with the next series; values follow the time, so that a series looks like one.

use super::super::protobuf::Message;
use super::vocabulary::SERVICES;
use super::{Generator, Period, int, resource, text};

const GAUGES: u64 = 200;
const COUNTERS: u64 = 100;
const SUMS_END: u64 = GAUGES + COUNTERS;
const HISTOGRAMS: u64 = SERVICES as u64;
/// Points of one round over everything.
pub const SERIES: u64 = SUMS_END + HISTOGRAMS;
const BOUNDS: [f64; 8] = [5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0];
const SECOND: u64 = 1_000_000_000;

pub fn points(generator: &mut Generator, count: usize, period: Period, request: &mut Message<'_>) {
    let mut left = count as u64;
    // A request longer than a round has the next rounds a little later.
    let mut time = period.from_ns;
    let step = (period.length_ns / (1 + left / SERIES)).max(1);
    while left > 0 {
        let at = generator.next_series;
        let (kind_end, field) = match at {
            0..GAUGES => (GAUGES, 5),
            GAUGES..SUMS_END => (SUMS_END, 7),
            _ => (SERIES, 9),
        };
        // A histogram's block names its service: one at a time.
        let end = if field == 9 { at + 1 } else { kind_end.min(at + left) };
        let service = if field == 9 { (at - SUMS_END) as usize } else { 0 };
        let name = generator.vocabulary.services[service].name;
        request.message(1, |block| {
            resource(block, name, service);
            block.message(2, |scope| {
                scope.message(1, |scope| scope.text(1, "shop.metrics"));
                scope.message(2, |metric| match field {
                    5 => gauge(generator, at..end, time, metric),
                    7 => counter(at..end, time, metric),
                    _ => histogram(generator, time, metric),
                });
            });
        });
        left -= end - at;
        generator.next_series = end % SERIES;
        if generator.next_series == 0 {
            time += step;
        }
    }
}

fn gauge(generator: &mut Generator, series: std::ops::Range<u64>, time: u64, metric: &mut Message<'_>) {
    metric.text(1, "shop.worker.load");
    metric.text(2, "the part of its time that a worker works");
    metric.text(3, "%");
    metric.message(5, |gauge| {
        for number in series {
            gauge.message(1, |point| {
                point.fixed64(3, time);
                // A daily wave, each worker on its own level, measured in whole percent.
                let wave = ((time / SECOND % 86_400) as f64 / 13_750.0).sin() * 20.0;
                let noise = generator.random.below(5) as f64;
                point.double(4, (50.0 + wave + noise + (number % 25) as f64).round());
                text(point, 7, "worker", &format!("worker-{number}"));
                text(point, 7, "zone", ["a", "b", "c"][(number % 3) as usize]);
            });
        }
    });
}

fn counter(series: std::ops::Range<u64>, time: u64, metric: &mut Message<'_>) {
    metric.text(1, "shop.orders.total");
    metric.text(2, "orders taken since the start");
    metric.text(3, "{order}");
    metric.message(7, |sum| {
        for number in series {
            sum.message(1, |point| {
                point.fixed64(2, time - time % (86_400 * SECOND));
                point.fixed64(3, time);
                // Since midnight, when it starts anew.
                let seconds = time / SECOND % 86_400;
                point.fixed64(6, seconds * (1 + number % 17) / 3);
                int(point, 7, "shard", number);
                text(point, 7, "zone", ["a", "b", "c"][(number % 3) as usize]);
            });
        }
        sum.uint(2, 2);
        sum.uint(3, 1);
    });
}

fn histogram(generator: &mut Generator, time: u64, metric: &mut Message<'_>) {
    metric.text(1, "http.server.request.duration");
    metric.text(2, "how long requests took");
    metric.text(3, "ms");
    let counts: Vec<u64> = (0..=BOUNDS.len()).map(|_| generator.random.below(200)).collect();
    let total: u64 = counts.iter().sum();
    metric.message(9, |histogram| {
        histogram.message(1, |point| {
            point.fixed64(2, time - 60 * SECOND);
            point.fixed64(3, time);
            point.fixed64(4, total);
            point.double(5, total as f64 * 40.0);
            let packed: Vec<u8> = counts.iter().flat_map(|count| count.to_le_bytes()).collect();
            point.bytes(6, &packed);
            let packed: Vec<u8> = BOUNDS.iter().flat_map(|bound| bound.to_le_bytes()).collect();
            point.bytes(7, &packed);
            text(point, 9, "http.request.method", "GET");
        });
        histogram.uint(2, 1);
    });
}
