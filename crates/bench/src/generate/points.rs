//! Points of metrics: 200 series of one gauge, 100 of one counter, a histogram for each service. Each request
//! continues with the next series. Values depend on the time, so that a series is continuous.

use tidewatch_domain::encode::{self, HISTOGRAM_ATTRIBUTES, Message, NUMBER_ATTRIBUTES};
use tidewatch_domain::model::{HistogramPoint, Metric, MetricKind, Point, PointData, Temporality};
use tidewatch_domain::units;

use super::generator::{Generator, Period};
use super::messages::{int, resource, scope, text};
use super::vocabulary::SERVICES;

const GAUGES: u64 = 200;
const COUNTERS: u64 = 100;
const SUMS_END: u64 = GAUGES + COUNTERS;
const HISTOGRAMS: u64 = SERVICES as u64;
/// Number of series, which is the number of points of one round.
pub const SERIES: u64 = SUMS_END + HISTOGRAMS;
const BOUNDS: [f64; 8] = [5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0];
const SECOND: u64 = units::SECOND_NS as u64;

/// Writes `count` points to an export request.
pub fn points(generator: &mut Generator, count: usize, period: Period, request: &mut Message<'_>) {
    let mut left = count as u64;
    // A request with several rounds spaces them in time.
    let mut time = period.from_ns;
    let step = (period.length_ns / (1 + left / SERIES)).max(1);
    while left > 0 {
        let at = generator.next_series;
        // A histogram's block has the resource of its service, so each block has one.
        let (kind, end, service) = match at {
            0..GAUGES => (MetricKind::Gauge, GAUGES.min(at + left), 0),
            GAUGES..SUMS_END => (MetricKind::Sum, SUMS_END.min(at + left), 0),
            _ => (MetricKind::Histogram, at + 1, (at - SUMS_END) as usize),
        };
        let name = generator.vocabulary.services[service].name;
        encode::block(
            request,
            |message| resource(message, name, service),
            &scope("shop.metrics"),
            |records| match kind {
                MetricKind::Gauge => gauge(generator, at..end, time, records),
                MetricKind::Sum => counter(at..end, time, records),
                _ => histogram(generator, time, records),
            },
        );
        left -= end - at;
        generator.next_series = end % SERIES;
        if generator.next_series == 0 {
            time += step;
        }
    }
}

fn gauge(generator: &mut Generator, series: std::ops::Range<u64>, time_ns: u64, records: &mut Message<'_>) {
    let metric = Metric {
        name: "shop.worker.load",
        description: "the part of its time that a worker works",
        unit: "%",
        kind: MetricKind::Gauge,
        ..Metric::default()
    };
    encode::metric(records, &metric, |points| {
        for number in series {
            // A daily wave with an offset per worker, in whole percent.
            let wave = ((time_ns / SECOND % 86_400) as f64 / 13_750.0).sin() * 20.0;
            let noise = generator.random.below(5) as f64;
            let value = (50.0 + wave + noise + (number % 25) as f64).round();
            encode::point(points, &Point { time_ns, data: PointData::Double(value), ..Point::default() }, |point| {
                text(point, NUMBER_ATTRIBUTES, "worker", &format!("worker-{number}"));
                text(point, NUMBER_ATTRIBUTES, "zone", ["a", "b", "c"][(number % 3) as usize]);
            });
        }
    });
}

fn counter(series: std::ops::Range<u64>, time_ns: u64, records: &mut Message<'_>) {
    let metric = Metric {
        name: "shop.orders.total",
        description: "orders taken since the start",
        unit: "{order}",
        kind: MetricKind::Sum,
        temporality: Temporality::Cumulative,
        monotonic: true,
        ..Metric::default()
    };
    encode::metric(records, &metric, |points| {
        for number in series {
            // The counter starts at midnight.
            let seconds = time_ns / SECOND % 86_400;
            let data = PointData::Int((seconds * (1 + number % 17) / 3).cast_signed());
            let start_ns = time_ns - time_ns % (86_400 * SECOND);
            encode::point(points, &Point { start_ns, time_ns, data, ..Point::default() }, |point| {
                int(point, NUMBER_ATTRIBUTES, "shard", number);
                text(point, NUMBER_ATTRIBUTES, "zone", ["a", "b", "c"][(number % 3) as usize]);
            });
        }
    });
}

fn histogram(generator: &mut Generator, time_ns: u64, records: &mut Message<'_>) {
    let metric = Metric {
        name: "http.server.request.duration",
        description: "how long requests took",
        unit: "ms",
        kind: MetricKind::Histogram,
        temporality: Temporality::Delta,
        ..Metric::default()
    };
    let buckets: Vec<u64> = (0..=BOUNDS.len()).map(|_| generator.random.below(200)).collect();
    let count: u64 = buckets.iter().sum();
    let sum = Some(count as f64 * 40.0);
    let data =
        PointData::Histogram(HistogramPoint { count, sum, bounds: &BOUNDS, buckets: &buckets, ..Default::default() });
    encode::metric(records, &metric, |points| {
        let start_ns = time_ns - 60 * SECOND;
        encode::point(points, &Point { start_ns, time_ns, data, ..Point::default() }, |point| {
            text(point, HISTOGRAM_ATTRIBUTES, "http.request.method", "GET");
        });
    });
}
