use bumpalo::Bump;

use super::builder::{RECEIVED_NS, context, slice};
use crate::model::{HistogramPoint, Metric, MetricBatch, MetricKind, Point, PointData, Resource, Slice};
use crate::project::{MetricProjection, metrics};

/// One metric per row: name, kind, its points.
fn batch(rows: &[(&'static str, MetricKind, &[PointData<'static>])]) -> MetricBatch<'static> {
    let mut batch = MetricBatch::default();
    let attributes = slice(&mut batch.attributes, &[("service.name", "shop")]);
    batch.resources.push(Resource { attributes, ..Resource::default() });
    for (name, kind, data) in rows {
        let start = batch.points.len() as u32;
        batch.points.extend(data.iter().map(|data| Point { data: *data, time_ns: 7, ..Point::default() }));
        let points = Slice { start, end: batch.points.len() as u32 };
        batch.metrics.push(Metric { name, kind: *kind, points, ..Metric::default() });
    }
    batch
}

/// `name=value@point`, then `dropped point reason`.
fn summary(projection: &MetricProjection<'_>) -> String {
    let value = |row: &crate::project::MetricValue<'_>| {
        format!("{}={}@{}{}", row.name, row.value, row.point, if row.buckets.is_some() { " buckets" } else { "" })
    };
    let dropped = |row: &crate::project::Dropped| format!("dropped {} {}", row.record, row.reason.as_str());
    let lines: Vec<_> = projection.values.iter().map(value).chain(projection.dropped.iter().map(dropped)).collect();
    lines.join(" | ")
}

// Spec: metrics mapping; DECISIONS 16.
#[test]
fn instruments_table() {
    let histogram = |count, sum| PointData::Histogram(HistogramPoint { count, sum, ..HistogramPoint::default() });
    let batch = batch(&[
        ("requests", MetricKind::Sum, &[PointData::Int(5), PointData::Double(2.5)]),
        ("temp", MetricKind::Gauge, &[PointData::Double(21.5), PointData::Double(f64::NAN), PointData::Empty]),
        ("latency", MetricKind::Histogram, &[histogram(4, Some(100.0)), histogram(0, Some(0.0))]),
        ("exp", MetricKind::ExponentialHistogram, &[PointData::Empty]),
        ("summ", MetricKind::Summary, &[PointData::Empty]),
        ("nothing", MetricKind::Gauge, &[]),
        ("", MetricKind::Gauge, &[PointData::Int(1)]),
    ]);
    let arena = Bump::new();
    let projection = metrics(&batch, &context(), &arena);
    assert_eq!(
        summary(&projection),
        "requests=5@0 | requests=2.5@1 | temp=21.5@2 | latency.avg=25@5 | latency.count=4@5 buckets | latency.count=0@6 buckets \
         | dropped 3 not_finite | dropped 4 empty_point | dropped 7 unsupported_metric_type | dropped 8 unsupported_metric_type \
         | dropped 9 empty_point"
    );
    assert!(projection.values.iter().all(|row| row.server_name == "shop" && row.time_ns == 7));
}

#[test]
fn a_point_without_time_has_the_receive_time() {
    let mut batch = batch(&[("temp", MetricKind::Gauge, &[PointData::Int(1)])]);
    batch.points[0].time_ns = 0;
    let arena = Bump::new();
    assert_eq!(metrics(&batch, &context(), &arena).values[0].time_ns, RECEIVED_NS);
}

#[test]
fn points_outside_of_all_metrics_are_counted_as_dropped() {
    let mut batch =
        batch(&[("a", MetricKind::Gauge, &[PointData::Int(1)]), ("b", MetricKind::Gauge, &[PointData::Int(2)])]);
    batch.points.push(Point::default());
    batch.metrics[0].points = Slice { start: 0, end: 0 };
    let arena = Bump::new();
    assert_eq!(summary(&metrics(&batch, &context(), &arena)), "b=2@1 | dropped 0 empty_point | dropped 2 empty_point");
}
