//! Maps metric points to stored values and names. SPEC metrics mapping, DECISIONS 16.

use bumpalo::Bump;

use super::drop_reason::DropReason;
use crate::model::{HistogramPoint, MetricKind, Point, PointData};

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
}

/// The stored form of a point of a metric of this kind.
pub fn stored(kind: MetricKind, point: &Point<'_>) -> Result<Stored, DropReason> {
    match kind {
        MetricKind::ExponentialHistogram | MetricKind::Summary => return Err(DropReason::UnsupportedMetricType),
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
        (MetricKind::Histogram, PointData::Histogram(histogram)) => Ok(of_histogram(&histogram)),
        _ => Err(DropReason::EmptyPoint),
    }
}

/// DECISIONS 16: the average is sum / count of the point as received; a point with count 0 has none.
fn of_histogram(histogram: &HistogramPoint<'_>) -> Stored {
    let count = histogram.count as f64;
    let avg = histogram.sum.filter(|_| histogram.count > 0).map(|sum| sum / count).filter(|avg| avg.is_finite());
    Stored::Histogram { avg, count }
}

/// The names of the two stored metrics of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistogramNames<'a> {
    /// `<name>.avg`.
    pub avg: &'a str,
    /// `<name>.count`.
    pub count: &'a str,
}

/// The names of the two stored metrics of the histogram `name`.
pub fn histogram_names<'a>(name: &str, arena: &'a Bump) -> HistogramNames<'a> {
    HistogramNames {
        avg: arena.alloc_str(&[name, ".avg"].concat()),
        count: arena.alloc_str(&[name, ".count"].concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(stored(kind, &point), expected, "{kind:?} {data:?}");
        }
    }

    #[test]
    fn a_histogram_has_two_names() {
        let arena = Bump::new();
        let names = histogram_names("shop.latency", &arena);
        assert_eq!((names.avg, names.count), ("shop.latency.avg", "shop.latency.count"));
    }
}
