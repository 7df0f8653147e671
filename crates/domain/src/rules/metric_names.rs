//! Maps metric points to stored values and names. SPEC metrics mapping, DECISIONS 16.

use bumpalo::Bump;

use super::drop_reason::DropReason;
use crate::model::{MetricKind, Point, PointData, Quantile, SummaryPoint};

/// OTLP data point flag `NO_RECORDED_VALUE`.
const NO_RECORDED_VALUE: u32 = 1;

/// Largest magnitude up to which every integer is exactly representable as a double.
pub const EXACT_IN_DOUBLE_MAX: u64 = 1 << 53;

/// The stored form of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stored {
    /// One value under the metric's own name.
    AsIs {
        /// Finite.
        value: f64,
        /// Exact value of an integer point beyond 2^53.
        integer: Option<i64>,
    },
    /// Values under `<name>.avg` and `<name>.count`.
    Histogram {
        /// `None` when it cannot be computed.
        avg: Option<f64>,
        /// Number of measurements.
        count: f64,
    },
    /// Like a histogram, and values under the names of its quantiles.
    Summary {
        /// `None` when it cannot be computed.
        avg: Option<f64>,
        /// Number of measurements.
        count: f64,
    },
}

/// Maximum quantiles of a summary.
pub const QUANTILES_MAX: usize = 32;

/// The stored form of a point of a metric of this kind. `all_kinds`: exponential histograms and summaries are stored.
pub fn stored(kind: MetricKind, point: &Point<'_>, all_kinds: bool) -> Result<Stored, DropReason> {
    match kind {
        MetricKind::ExponentialHistogram | MetricKind::Summary if !all_kinds => {
            return Err(DropReason::UnsupportedMetricType);
        }
        _ if point.flags & NO_RECORDED_VALUE != 0 => return Err(DropReason::EmptyPoint),
        _ => {}
    }
    match (kind, point.data) {
        (MetricKind::Gauge | MetricKind::Sum, PointData::Int(integer)) => {
            let is_beyond = integer.unsigned_abs() > EXACT_IN_DOUBLE_MAX;
            Ok(Stored::AsIs { value: integer as f64, integer: is_beyond.then_some(integer) })
        }
        (MetricKind::Gauge | MetricKind::Sum, PointData::Double(value)) if value.is_finite() => {
            Ok(Stored::AsIs { value, integer: None })
        }
        (MetricKind::Gauge | MetricKind::Sum, PointData::Double(_)) => Err(DropReason::NotFinite),
        (MetricKind::Histogram, PointData::Histogram(histogram)) => {
            Ok(Stored::Histogram { avg: average(histogram.sum, histogram.count), count: histogram.count as f64 })
        }
        (MetricKind::ExponentialHistogram, PointData::ExponentialHistogram(histogram)) => {
            Ok(Stored::Histogram { avg: average(histogram.sum, histogram.count), count: histogram.count as f64 })
        }
        (MetricKind::Summary, PointData::Summary(summary)) if summary.quantiles.len() > QUANTILES_MAX => {
            Err(DropReason::UnsupportedMetricType)
        }
        (MetricKind::Summary, PointData::Summary(summary)) => {
            Ok(Stored::Summary { avg: average(Some(summary.sum), summary.count), count: summary.count as f64 })
        }
        _ => Err(DropReason::EmptyPoint),
    }
}

/// DECISIONS 16: the average is sum / count of the point as received; a point with count 0 has none.
fn average(sum: Option<f64>, count: u64) -> Option<f64> {
    sum.filter(|_| count > 0).map(|sum| sum / count as f64).filter(|avg| avg.is_finite())
}

/// The stored metrics of a summary's quantiles and their values: `<name>.p99` for the quantile 0.99, `<name>.p99.9` for
/// 0.999. Quantiles outside of 0 to 1, and values that are not finite (as of an interval without measurements), have
/// none; of equal quantiles the first counts.
pub fn quantiles<'a>(name: &str, summary: &SummaryPoint<'_>, arena: &'a Bump) -> Vec<(&'a str, f64)> {
    let mut named: Vec<(&'a str, f64)> = Vec::new();
    let valid = |quantile: &&Quantile| (0.0..=1.0).contains(&quantile.quantile) && quantile.value.is_finite();
    for quantile in summary.quantiles.iter().filter(valid) {
        let percent = format!("{:.6}", 100.0 * quantile.quantile);
        let percent = percent.trim_end_matches('0').trim_end_matches('.');
        let name = [name, ".p", percent].concat();
        if !named.iter().any(|(earlier, _)| *earlier == name) {
            named.push((arena.alloc_str(&name), quantile.value));
        }
    }
    named
}

/// The names of the two stored metrics of a histogram or summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistogramNames<'a> {
    /// `<name>.avg`.
    pub avg: &'a str,
    /// `<name>.count`.
    pub count: &'a str,
}

/// The names of the two stored metrics of the histogram or summary `name`.
pub fn histogram_names<'a>(name: &str, arena: &'a Bump) -> HistogramNames<'a> {
    HistogramNames {
        avg: arena.alloc_str(&[name, ".avg"].concat()),
        count: arena.alloc_str(&[name, ".count"].concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ExponentialHistogramPoint, HistogramPoint};

    // Spec: metrics mapping; DECISIONS 16.
    #[test]
    fn mapping_table() {
        let histogram = |count, sum| PointData::Histogram(HistogramPoint { count, sum, ..HistogramPoint::default() });
        let as_is = |value| Ok(Stored::AsIs { value, integer: None });
        let exact = |integer: i64| Ok(Stored::AsIs { value: integer as f64, integer: Some(integer) });
        let both = |avg, count| Ok(Stored::Histogram { avg, count });
        for (kind, flags, data, expected) in [
            (MetricKind::Sum, 0, PointData::Int(5), as_is(5.0)),
            // 64-bit integers keep their exact value.
            (MetricKind::Sum, 0, PointData::Int(1 << 53), as_is(9_007_199_254_740_992.0)),
            (MetricKind::Sum, 0, PointData::Int((1 << 53) + 1), exact((1 << 53) + 1)),
            (MetricKind::Gauge, 0, PointData::Int(-(1 << 53) - 1), exact(-(1 << 53) - 1)),
            (MetricKind::Gauge, 0, PointData::Int(i64::MAX), exact(i64::MAX)),
            (MetricKind::Gauge, 0, PointData::Int(i64::MIN), exact(i64::MIN)),
            (MetricKind::Gauge, 0, PointData::Double(1e300), as_is(1e300)),
            (MetricKind::Sum, 0, PointData::Double(-3.5), as_is(-3.5)),
            (MetricKind::Gauge, 0, PointData::Double(21.5), as_is(21.5)),
            (MetricKind::Histogram, 0, histogram(4, Some(100.0)), both(Some(25.0), 4.0)),
            (MetricKind::Histogram, 0, histogram(4, Some(-100.0)), both(Some(-25.0), 4.0)),
            (MetricKind::Histogram, 0, histogram(0, Some(0.0)), both(None, 0.0)),
            (MetricKind::Histogram, 0, histogram(4, None), both(None, 4.0)),
            (MetricKind::Histogram, 0, histogram(4, Some(f64::NAN)), both(None, 4.0)),
            (MetricKind::ExponentialHistogram, 0, PointData::Empty, Err(DropReason::UnsupportedMetricType)),
            (MetricKind::Summary, 1, PointData::Empty, Err(DropReason::UnsupportedMetricType)),
            (MetricKind::Gauge, 0, PointData::Empty, Err(DropReason::EmptyPoint)),
            (MetricKind::Gauge, 1, PointData::Double(0.0), Err(DropReason::EmptyPoint)),
            (MetricKind::Histogram, 1, histogram(0, None), Err(DropReason::EmptyPoint)),
            (MetricKind::Empty, 0, PointData::Int(1), Err(DropReason::EmptyPoint)),
            (MetricKind::Gauge, 0, PointData::Double(f64::NAN), Err(DropReason::NotFinite)),
            (MetricKind::Sum, 0, PointData::Double(f64::INFINITY), Err(DropReason::NotFinite)),
        ] {
            let point = Point { flags, data, ..Point::default() };
            assert_eq!(stored(kind, &point, false), expected, "{kind:?} {data:?}");
        }
    }

    // docs/decisions/0013.
    #[test]
    fn exponential_histograms_and_summaries_are_stored_by_a_setting() {
        let exponential =
            ExponentialHistogramPoint { count: 4, sum: Some(10.0), ..ExponentialHistogramPoint::default() };
        let quantiles = [Quantile::default(); QUANTILES_MAX + 1];
        let summary = |count, quantiles| PointData::Summary(SummaryPoint { count, sum: 10.0, quantiles });
        for (kind, flags, data, expected) in [
            (
                MetricKind::ExponentialHistogram,
                0,
                PointData::ExponentialHistogram(&exponential),
                Ok(Stored::Histogram { avg: Some(2.5), count: 4.0 }),
            ),
            (
                MetricKind::ExponentialHistogram,
                1,
                PointData::ExponentialHistogram(&exponential),
                Err(DropReason::EmptyPoint),
            ),
            (MetricKind::Summary, 0, summary(4, &[]), Ok(Stored::Summary { avg: Some(2.5), count: 4.0 })),
            (MetricKind::Summary, 0, summary(0, &quantiles[1..]), Ok(Stored::Summary { avg: None, count: 0.0 })),
            (MetricKind::Summary, 0, summary(4, &quantiles), Err(DropReason::UnsupportedMetricType)),
            (MetricKind::Summary, 1, summary(4, &[]), Err(DropReason::EmptyPoint)),
        ] {
            let point = Point { flags, data, ..Point::default() };
            assert_eq!(stored(kind, &point, true), expected, "{kind:?} {data:?}");
            assert_eq!(stored(kind, &point, false), Err(DropReason::UnsupportedMetricType));
        }
    }

    #[test]
    fn quantiles_have_names() {
        let pairs =
            [(0.5, 1.0), (0.99, 2.0), (0.999, 3.0), (0.0, 4.0), (1.0, 5.0), (0.5, 9.0), (0.9, f64::NAN), (1.5, 7.0)];
        let all: Vec<Quantile> = pairs.map(|(quantile, value)| Quantile { quantile, value }).to_vec();
        let arena = Bump::new();
        let summary = SummaryPoint { count: 3, sum: 1.0, quantiles: &all };
        let expected = [("rpc.p50", 1.0), ("rpc.p99", 2.0), ("rpc.p99.9", 3.0), ("rpc.p0", 4.0), ("rpc.p100", 5.0)];
        assert_eq!(super::quantiles("rpc", &summary, &arena), expected);
    }

    #[test]
    fn a_histogram_has_two_names() {
        let arena = Bump::new();
        let names = histogram_names("shop.latency", &arena);
        assert_eq!((names.avg, names.count), ("shop.latency.avg", "shop.latency.count"));
    }
}
