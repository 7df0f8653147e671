//! The lists that all three batches share, and the limits on their size.

use super::fault::{Fault, fault};
use crate::model::{Body, KeyValue, LogBatch, MetricBatch, Resource, Scope, TraceBatch};

/// Maximum number of resources, scopes, spans, events, links, log records, metrics or points in one request.
pub const RECORDS_MAX: usize = 1 << 20;

/// Encoded size that every useful record exceeds. An empty record takes two bytes in the body and hundreds in memory.
const RECORD_BYTES_MIN: usize = 16;

/// Number of records accepted from a body of any size.
const RECORDS_ALWAYS: usize = 4096;

/// Maximum number of records of a kind in a body of this size. Bounds the memory of a request by its size.
pub fn records_max(body_bytes: usize) -> usize {
    (body_bytes / RECORD_BYTES_MIN).clamp(RECORDS_ALWAYS, RECORDS_MAX)
}

/// Mutable references to the lists of a batch that every signal has.
pub(crate) struct Lists<'b, 'a> {
    pub resources: &'b mut Vec<Resource<'a>>,
    pub scopes: &'b mut Vec<Scope<'a>>,
    pub attributes: &'b mut Vec<KeyValue<'a>>,
    pub body: &'b mut Body<'a>,
}

/// Indexes of a record's resource and scope in `resources` and `scopes`.
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

/// Appends a record and returns its index. `what` is the plural name of the kind, for the error.
#[inline]
pub(crate) fn push<T>(list: &mut Vec<T>, record: T, what: &str, records_max: usize) -> Result<u32, Fault> {
    let index = list.len();
    if index >= records_max {
        return Err(fault!("more than {records_max} {what} in a request of this size"));
    }
    list.push(record);
    Ok(index as u32)
}

/// Limits a body to 2 GiB: list indexes are 32 bits wide, and no list has more elements than the body has bytes.
pub(super) fn check_size(body: &[u8]) -> Result<(), Fault> {
    if i32::try_from(body.len()).is_err() {
        return Err(fault!("a body of {} bytes is too large", body.len()));
    }
    Ok(())
}
