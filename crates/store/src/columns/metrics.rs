//! Rows of metric values: one row per stored value.

use tidewatch_domain::model::{Layout, MetricBatch, Signal};
use tidewatch_domain::project::{MetricProjection, MetricValue, ProjectContext};

use super::attributes::{SharedAttributes, SortedEncoder, trimmed};
use super::block::BLOCK_ROWS;
use super::dictionary_cells::DictionaryCells;
use super::keys::SeriesHasher;
use super::{Rows, Senders, TableRows};
use crate::tables::Table;

impl Rows {
    /// Builds the rows of a metric export. `project`: number of the project in the control database.
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
        let mut encoder = SortedEncoder::new(&batch.body, &batch.attributes);
        let resources: Vec<Resource> = batch
            .resources
            .iter()
            .zip(repeats)
            .map(|(resource, repeats)| {
                let shared = SharedAttributes::with(&mut encoder, resource.attributes, repeats);
                let hash = match shared.is_trimmed {
                    true => hasher.attributes(batch.attributes(resource.attributes).0),
                    false => DictionaryCells::hash_of(shared.bytes()),
                };
                Resource { shared, hash }
            })
            .collect();

        let mut points = TableRows::new(Table::MetricPoints);
        write_values(&mut points, project, batch, &resources, &projection.values, (&mut hasher, &mut encoder));
        let mut rows = Rows::new(project, Signal::Metrics, vec![points], batch.points.len(), &projection.dropped);
        let is_trimmed = |value: &MetricValue<'_>| {
            resources[batch.metrics[value.metric as usize].resource as usize].shared.is_trimmed
        };
        let stored = projection.values.iter();
        rows.senders = Senders::new(
            stored.map(|value| {
                (value.point, batch.metrics[value.metric as usize].resource, value.server_name, value.time_ns)
            }),
            |resource| batch.attributes(batch.resources[resource as usize].attributes),
        );
        rows.is_untimed = batch.points.iter().any(|point| point.time_ns == 0);
        rows.trimmed = trimmed(projection.values.iter().map(|value| (value.point, is_trimmed(value))));
        // One point may have several values, which are adjacent.
        rows.trimmed.dedup();
        rows
    }
}

struct Resource {
    shared: SharedAttributes,
    /// The hash that [`SeriesHasher::attributes`] returns; meaningful only for a resource with rows.
    hash: u64,
}

fn write_values(
    table: &mut TableRows,
    project: u32,
    batch: &MetricBatch<'_>,
    resources: &[Resource],
    all: &[MetricValue<'_>],
    (hasher, attributes): (&mut SeriesHasher, &mut SortedEncoder<'_, '_>),
) {
    let size = BLOCK_ROWS.min(all.len());
    let (mut triples, mut series) = (Vec::with_capacity(size), Vec::with_capacity(size));
    // Attributes of the block's points, encoded and hashed once for the series and the column.
    let (mut encoded, mut ranges) = (Vec::new(), Vec::<(std::ops::Range<usize>, u64)>::with_capacity(size));
    // The values of one point are adjacent and have its attributes.
    let mut last = u32::MAX;
    for block in all.chunks(BLOCK_ROWS) {
        triples.clear();
        triples.extend(block.iter().map(|v| (v, &batch.metrics[v.metric as usize], &batch.points[v.point as usize])));
        series.clear();
        encoded.clear();
        ranges.clear();
        for (value, metric, point) in &triples {
            let (range, hash) = match ranges.last() {
                Some(range) if last == value.point => range.clone(),
                _ => {
                    let start = encoded.len();
                    attributes.encode(point.attributes, Layout::default(), &mut encoded);
                    (start..encoded.len(), DictionaryCells::hash_of(&encoded[start..]))
                }
            };
            last = value.point;
            series.push(hasher.series(value.name, hash, resources[metric.resource as usize].hash));
            ranges.push((range, hash));
        }
        let rows = || triples.iter().copied();
        let histograms = || rows().map(|(value, ..)| value.buckets);
        table
            .block(block.iter().map(|value| value.point))
            .u32(rows().map(|_| project))
            .text(rows().map(|(value, ..)| value.name))
            .i64(rows().map(|(value, ..)| value.time_ns))
            .i64(rows().map(|(_, _, point)| i64::try_from(point.start_ns).unwrap_or(i64::MAX)))
            .f64(rows().map(|(value, ..)| value.value))
            .u8(rows().map(|(_, metric, _)| metric.kind as u8))
            .u8(rows().map(|(_, metric, _)| metric.temporality as u8))
            .bool(rows().map(|(_, metric, _)| metric.monotonic))
            .text(rows().map(|(_, metric, _)| metric.unit))
            .text(rows().map(|(_, metric, _)| metric.description))
            .u64(series.iter().copied())
            .text(rows().map(|(value, ..)| value.server_name))
            .dictionary_hashed(ranges.iter().map(|(range, hash)| (&encoded[range.start..range.end], *hash)))
            .dictionary(
                resources.iter().map(|resource| resource.shared.bytes()),
                rows().map(|(_, metric, _)| metric.resource),
            )
            .text(rows().map(|(_, metric, _)| batch.scopes[metric.scope as usize].name))
            .optional_bytes_with(histograms(), |histogram, out| {
                histogram.bounds.iter().for_each(|bound| out.extend_from_slice(&bound.to_le_bytes()));
            })
            .optional_bytes_with(histograms(), |histogram, out| {
                histogram.counts.iter().for_each(|count| out.extend_from_slice(&count.to_le_bytes()));
            })
            .optional_i64(rows().map(|(value, ..)| value.integer));
    }
}
