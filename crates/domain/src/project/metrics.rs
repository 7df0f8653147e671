//! Projects metric points into rows.

use bumpalo::Bump;

use super::{DropReason, Dropped, MetricProjection, MetricValue, ProjectContext};
use crate::model::{HistogramPoint, Metric, MetricBatch, MetricKind, Point, PointData};
use crate::rules::edge_platform::Process;
use crate::rules::exponential::{ExplicitBuckets, explicit_buckets};
use crate::rules::metric_names::{HistogramNames, Stored, histogram_names, quantiles, stored};
use crate::rules::record_time::record_time;

/// Projects metric points into rows. Temporality, unit, tags and buckets stay in the batch and are reached by index.
pub fn metrics<'a>(batch: &MetricBatch<'a>, context: &ProjectContext, arena: &'a Bump) -> MetricProjection<'a> {
    let servers: Vec<&'a str> = batch
        .resources
        .iter()
        .map(|resource| Process::read(batch.attributes(resource.attributes)).server_name)
        .collect();
    let mut projection = MetricProjection { values: Vec::with_capacity(batch.points.len()), dropped: Vec::new() };
    let mut next_point = 0;
    for (position, metric) in batch.metrics.iter().enumerate() {
        // Ranges of points follow the order of metrics. A point outside all ranges is dropped.
        let points = metric.points.start.max(next_point)..metric.points.end.min(batch.points.len() as u32);
        projection.dropped.extend((next_point..points.start.min(batch.points.len() as u32)).map(empty));
        next_point = next_point.max(points.end);
        let server_name = servers.get(metric.resource as usize).copied().unwrap_or("");
        let rows = MetricRows { metric, position: position as u32, server_name, context, arena };
        rows.write(batch, points, &mut projection);
    }
    projection.dropped.extend((next_point..batch.points.len() as u32).map(empty));
    projection
}

fn empty(point: u32) -> Dropped {
    Dropped { record: point, reason: DropReason::EmptyPoint }
}

/// The points of one metric.
struct MetricRows<'b, 'a> {
    metric: &'b Metric<'a>,
    position: u32,
    server_name: &'a str,
    context: &'b ProjectContext,
    arena: &'a Bump,
}

impl<'a> MetricRows<'_, 'a> {
    fn write(&self, batch: &MetricBatch<'a>, points: std::ops::Range<u32>, projection: &mut MetricProjection<'a>) {
        let names = match self.metric.kind {
            MetricKind::Histogram | MetricKind::ExponentialHistogram | MetricKind::Summary => {
                histogram_names(self.metric.name, self.arena)
            }
            _ => HistogramNames { avg: "", count: "" },
        };
        for point in points {
            let received = &batch.points[point as usize];
            let result = match self.metric.name {
                "" => Err(DropReason::EmptyPoint),
                _ => stored(self.metric.kind, received, self.context.settings.all_metric_kinds),
            };
            let (received_ns, oldest_ns) = (self.context.received_ns, self.context.settings.oldest_ns);
            let timed =
                result.and_then(|stored| Ok((stored, record_time(&[received.time_ns], received_ns, oldest_ns)?)));
            let (result, time_ns) = match timed {
                Ok(timed) => timed,
                Err(reason) => {
                    projection.dropped.push(Dropped { record: point, reason });
                    continue;
                }
            };
            let row = |name, value, integer, buckets| MetricValue {
                point,
                metric: self.position,
                name,
                time_ns,
                value,
                integer,
                buckets,
                server_name: self.server_name,
            };
            match result {
                Stored::AsIs { value, integer } => {
                    projection.values.push(row(self.metric.name, value, integer, None));
                }
                Stored::Histogram { avg, count } => {
                    projection.values.extend(avg.map(|avg| row(names.avg, avg, None, None)));
                    projection.values.push(row(names.count, count, None, self.buckets(received)));
                }
                Stored::Summary { avg, count } => {
                    projection.values.extend(avg.map(|avg| row(names.avg, avg, None, None)));
                    projection.values.push(row(names.count, count, None, None));
                    if let PointData::Summary(summary) = &received.data {
                        let quantiles = quantiles(self.metric.name, summary, self.arena);
                        projection
                            .values
                            .extend(quantiles.into_iter().map(|(name, value)| row(name, value, None, None)));
                    }
                }
            }
        }
    }

    /// The buckets of a histogram.
    fn buckets(&self, received: &Point<'a>) -> Option<&'a ExplicitBuckets<'a>> {
        let buckets = match received.data {
            PointData::Histogram(HistogramPoint { bounds, buckets, .. }) => ExplicitBuckets { bounds, counts: buckets },
            PointData::ExponentialHistogram(histogram) => explicit_buckets(histogram, self.arena),
            _ => return None,
        };
        Some(self.arena.alloc(buckets))
    }
}
