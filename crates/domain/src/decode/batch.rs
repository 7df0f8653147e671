//! What the three batches have in common, and the bounds that keep a hostile body from growing them.

use super::fault::{Fault, fault};
use crate::model::{Body, KeyValue, LogBatch, MetricBatch, Resource, Scope, TraceBatch};

/// Most resources, scopes, spans, events, links, log records, metrics or points in one request.
pub const RECORDS_MAX: usize = 1 << 20;

/// A record of any use takes more bytes than this in the body; an empty one takes two there, and hundreds in memory.
const RECORD_BYTES_MIN: usize = 16;

/// So many records are read from a body of any size.
const RECORDS_ALWAYS: usize = 4096;

/// Most records of a kind in a body of this many bytes, so that what is made of it is bounded by its size.
pub fn records_max(body_bytes: usize) -> usize {
    (body_bytes / RECORD_BYTES_MIN).clamp(RECORDS_ALWAYS, RECORDS_MAX)
}

/// The lists that every signal has.
pub(crate) struct Lists<'b, 'a> {
    pub resources: &'b mut Vec<Resource<'a>>,
    pub scopes: &'b mut Vec<Scope<'a>>,
    pub attributes: &'b mut Vec<KeyValue<'a>>,
    pub body: &'b mut Body<'a>,
}

/// Where a record was found: indexes into `resources` and `scopes`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    pub resource: u32,
    pub scope: u32,
}

/// A batch of any signal.
pub(crate) trait Batch<'a> {
    fn lists(&mut self) -> Lists<'_, 'a>;
}

macro_rules! batch {
    ($($batch:ident),*) => { $(
        impl<'a> Batch<'a> for $batch<'a> {
            #[inline]
            fn lists(&mut self) -> Lists<'_, 'a> {
                Lists {
                    resources: &mut self.resources,
                    scopes: &mut self.scopes,
                    attributes: &mut self.attributes,
                    body: &mut self.body,
                }
            }
        }
    )* };
}
batch!(TraceBatch, LogBatch, MetricBatch);

/// Appends a record; `what` names the kind in plural for the fault. Returns its index.
#[inline]
pub(crate) fn push<T>(list: &mut Vec<T>, record: T, what: &str, records_max: usize) -> Result<u32, Fault> {
    let index = list.len();
    if index >= records_max {
        return Err(fault!("more than {records_max} {what} in a request of this size"));
    }
    list.push(record);
    Ok(index as u32)
}
