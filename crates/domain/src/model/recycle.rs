//! Reuses the memory of one batch for the next, which borrows from another body and so has another lifetime.

use super::{Body, LogBatch, MetricBatch, TraceBatch};

impl TraceBatch<'_> {
    /// Clears the batch and keeps the allocated lists.
    pub fn recycle<'b>(self) -> TraceBatch<'b> {
        TraceBatch {
            body: self.body.recycle(),
            resources: emptied(self.resources),
            scopes: emptied(self.scopes),
            spans: emptied(self.spans),
            refused: emptied(self.refused),
            attributes: emptied(self.attributes),
            events: emptied(self.events),
            links: emptied(self.links),
        }
    }
}

impl LogBatch<'_> {
    /// Clears the batch and keeps the allocated lists.
    pub fn recycle<'b>(self) -> LogBatch<'b> {
        LogBatch {
            body: self.body.recycle(),
            resources: emptied(self.resources),
            scopes: emptied(self.scopes),
            records: emptied(self.records),
            attributes: emptied(self.attributes),
        }
    }
}

impl MetricBatch<'_> {
    /// Clears the batch and keeps the allocated lists.
    pub fn recycle<'b>(self) -> MetricBatch<'b> {
        MetricBatch {
            body: self.body.recycle(),
            resources: emptied(self.resources),
            scopes: emptied(self.scopes),
            metrics: emptied(self.metrics),
            points: emptied(self.points),
            attributes: emptied(self.attributes),
        }
    }
}

impl Body<'_> {
    fn recycle<'b>(self) -> Body<'b> {
        Body { encoded_attributes: emptied(self.encoded_attributes), records_max: 0 }
    }
}

/// The list's memory for elements of another lifetime. Collecting elements of the same layout happens in place.
fn emptied<T, U>(mut list: Vec<T>) -> Vec<U> {
    list.clear();
    list.into_iter().map(|_| unreachable!("the list was emptied")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Span;

    #[test]
    fn recycling_keeps_the_memory() {
        let mut batch = TraceBatch::default();
        batch.spans.reserve(100);
        batch.spans.push(Span::default());
        let memory = batch.spans.as_ptr().addr();
        let batch = batch.recycle();
        assert_eq!(batch, TraceBatch::default());
        assert_eq!(batch.spans.as_ptr().addr(), memory);
        assert!(batch.spans.capacity() >= 100);
    }
}
