//! Metric values: one row per stored value.

use tidewatch_domain::model::{MetricBatch, PointData, Signal};
use tidewatch_domain::project::{MetricProjection, MetricValue, ProjectContext};

use super::keys::{SeriesHasher, series};
use super::{Rows, Shared, TableRows, encode_sorted, trimmed};
use crate::tables::Table;

impl Rows {
    /// The rows of a metric export. `project` is the number of the project in the control database.
    pub fn metrics(
        project: u32,
        _context: &ProjectContext,
        batch: &MetricBatch<'_>,
        projection: &MetricProjection<'_>,
    ) -> Rows {
        let mut repeats = vec![0; batch.resources.len()];
        for value in &projection.values {
            repeats[batch.metrics[value.metric as usize].resource as usize] += 1;
        }
        let mut hasher = SeriesHasher::new();
        let resources: Vec<Resource> = batch
            .resources
            .iter()
            .zip(repeats)
            .map(|(resource, repeats)| {
                let attributes = batch.attributes(resource.attributes).0;
                Resource { shared: Shared::new(attributes, repeats), hash: hasher.attributes(attributes) }
            })
            .collect();

        let mut points = TableRows::new(Table::MetricPoints);
        for value in &projection.values {
            let resource = &resources[batch.metrics[value.metric as usize].resource as usize];
            write_value(&mut points, project, batch, resource, value, &mut hasher);
        }
        let mut rows = Rows::new(project, Signal::Metrics, vec![points], batch.points.len(), &projection.dropped);
        let is_trimmed = |value: &MetricValue<'_>| {
            resources[batch.metrics[value.metric as usize].resource as usize].shared.is_trimmed
        };
        rows.trimmed = trimmed(projection.values.iter().map(|value| (value.point, is_trimmed(value))));
        // Several values may stem from one point; they lie together.
        rows.trimmed.dedup();
        rows
    }
}

struct Resource {
    shared: Shared,
    hash: u64,
}

fn write_value(
    table: &mut TableRows,
    project: u32,
    batch: &MetricBatch<'_>,
    resource: &Resource,
    value: &MetricValue<'_>,
    hasher: &mut SeriesHasher,
) {
    let metric = &batch.metrics[value.metric as usize];
    let point = &batch.points[value.point as usize];
    let attributes = batch.attributes(point.attributes).0;
    let histogram = match point.data {
        PointData::Histogram(histogram) if value.with_buckets => Some(histogram),
        _ => None,
    };
    let bounds: Option<Vec<u8>> = histogram.map(|h| h.bounds.iter().flat_map(|bound| bound.to_le_bytes()).collect());
    let buckets: Option<Vec<u8>> = histogram.map(|h| h.buckets.iter().flat_map(|count| count.to_le_bytes()).collect());
    table
        .row(value.point)
        .u32(project)
        .text(value.name)
        .i64(value.time_ns)
        .i64(i64::try_from(point.start_ns).unwrap_or(i64::MAX))
        .f64(value.value)
        .u8(metric.kind as u8)
        .u8(metric.temporality as u8)
        .bool(metric.monotonic)
        .text(metric.unit)
        .text(metric.description)
        .u64(series(value.name, hasher.attributes(attributes), resource.hash))
        .text(value.server_name)
        .bytes_with(|out| encode_sorted(attributes, out))
        .bytes(&resource.shared.bytes)
        .text(batch.scopes[metric.scope as usize].name)
        .optional_bytes(bounds.as_deref())
        .optional_bytes(buckets.as_deref());
}
