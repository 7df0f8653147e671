//! The canonical layout of a batch: flat lists in the order of their owners, without elements that have no owner.

use tidewatch_domain::model::{LogBatch, MetricBatch, Slice, TraceBatch};

/// Copies a slice's elements to the end of another list.
fn moved<T: Copy>(slice: &mut Slice, from: &[T], to: &mut Vec<T>) {
    let start = to.len() as u32;
    to.extend_from_slice(slice.of(from));
    *slice = Slice { start, end: to.len() as u32 };
}

pub fn traces<'a>(batch: &TraceBatch<'a>) -> TraceBatch<'a> {
    let mut canonical = TraceBatch { attributes: Vec::new(), events: Vec::new(), links: Vec::new(), ..batch.clone() };
    let attributes = &mut canonical.attributes;
    for resource in &mut canonical.resources {
        moved(&mut resource.attributes, &batch.attributes, attributes);
    }
    for scope in &mut canonical.scopes {
        moved(&mut scope.attributes, &batch.attributes, attributes);
    }
    for span in &mut canonical.spans {
        moved(&mut span.attributes, &batch.attributes, attributes);
        moved(&mut span.events, &batch.events, &mut canonical.events);
        moved(&mut span.links, &batch.links, &mut canonical.links);
    }
    for event in &mut canonical.events {
        moved(&mut event.attributes, &batch.attributes, attributes);
    }
    for link in &mut canonical.links {
        moved(&mut link.attributes, &batch.attributes, attributes);
    }
    canonical
}

pub fn logs<'a>(batch: &LogBatch<'a>) -> LogBatch<'a> {
    let mut canonical = LogBatch { attributes: Vec::new(), ..batch.clone() };
    let attributes = &mut canonical.attributes;
    for resource in &mut canonical.resources {
        moved(&mut resource.attributes, &batch.attributes, attributes);
    }
    for scope in &mut canonical.scopes {
        moved(&mut scope.attributes, &batch.attributes, attributes);
    }
    for record in &mut canonical.records {
        moved(&mut record.attributes, &batch.attributes, attributes);
    }
    canonical
}

pub fn metrics<'a>(batch: &MetricBatch<'a>) -> MetricBatch<'a> {
    let mut canonical = MetricBatch { attributes: Vec::new(), points: Vec::new(), ..batch.clone() };
    let attributes = &mut canonical.attributes;
    for resource in &mut canonical.resources {
        moved(&mut resource.attributes, &batch.attributes, attributes);
    }
    for scope in &mut canonical.scopes {
        moved(&mut scope.attributes, &batch.attributes, attributes);
    }
    for metric in &mut canonical.metrics {
        moved(&mut metric.points, &batch.points, &mut canonical.points);
    }
    for point in &mut canonical.points {
        moved(&mut point.attributes, &batch.attributes, attributes);
    }
    canonical
}
