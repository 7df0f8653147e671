//! Reads the three levels that all signals share: request, resource block, scope block.

use super::reader::Reader;
use crate::decode::batch::{Batch, Owner, push};
use crate::decode::fault::Fault;
use crate::model::{Resource, Scope, Slice};

/// The key names of a signal, and the reader of its records.
pub(crate) trait Records<'a>: Batch<'a> {
    /// For example `resourceSpans`.
    const RESOURCE_BLOCKS: &'static str;
    /// For example `scopeSpans`.
    const SCOPE_BLOCKS: &'static str;
    /// For example `spans`.
    const RECORDS: &'static str;

    /// Reads one span, log record or metric.
    fn record(&mut self, reader: &mut Reader<'a>, owner: Owner) -> Result<(), Fault>;
}

/// `Export…ServiceRequest`.
pub(super) fn request<'a, B: Records<'a>>(reader: &mut Reader<'a>, batch: &mut B) -> Result<(), Fault> {
    reader.object("the request", |reader, key| {
        if key == B::RESOURCE_BLOCKS {
            each(reader, B::RESOURCE_BLOCKS, |reader| resource_block(reader, batch))
        } else {
            reader.skip()
        }
    })
}

/// Reads the objects of a list and skips `null` elements.
pub(super) fn each<'a>(
    reader: &mut Reader<'a>,
    what: &str,
    mut element: impl FnMut(&mut Reader<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    reader.list(what, |reader| if reader.take_null() { Ok(()) } else { element(reader) })
}

/// `ResourceSpans`, `ResourceLogs`, `ResourceMetrics`.
fn resource_block<'a, B: Records<'a>>(reader: &mut Reader<'a>, batch: &mut B) -> Result<(), Fault> {
    let lists = batch.lists();
    let index = push(lists.resources, Resource::default(), "resources", lists.body.records_max)?;
    let mut resource = Resource::default();
    reader.object("resource block", |reader, key| match key {
        "resource" => {
            (resource.attributes, resource.dropped_attributes) = (Slice::default(), 0);
            reader.object("resource", |reader, key| {
                match key {
                    "attributes" => resource.attributes = reader.attributes(batch.lists().attributes)?,
                    "droppedAttributesCount" => {
                        resource.dropped_attributes = reader.uint32("resource.droppedAttributesCount")?;
                    }
                    _ => reader.skip()?,
                }
                Ok(())
            })
        }
        "schemaUrl" => reader.string("schemaUrl").map(|url| resource.schema_url = url),
        _ if key == B::SCOPE_BLOCKS => each(reader, B::SCOPE_BLOCKS, |reader| scope_block(reader, index, batch)),
        _ => reader.skip(),
    })?;
    batch.lists().resources[index as usize] = resource;
    Ok(())
}

/// `ScopeSpans`, `ScopeLogs`, `ScopeMetrics`.
fn scope_block<'a, B: Records<'a>>(reader: &mut Reader<'a>, resource: u32, batch: &mut B) -> Result<(), Fault> {
    let lists = batch.lists();
    let index = push(lists.scopes, Scope::default(), "scopes", lists.body.records_max)?;
    let owner = Owner { resource, scope: index };
    let mut scope = Scope { resource, ..Scope::default() };
    reader.object("scope block", |reader, key| match key {
        "scope" => {
            scope = Scope { resource, schema_url: scope.schema_url, ..Scope::default() };
            reader.object("scope", |reader, key| {
                match key {
                    "name" => scope.name = reader.string("scope.name")?,
                    "version" => scope.version = reader.string("scope.version")?,
                    "attributes" => scope.attributes = reader.attributes(batch.lists().attributes)?,
                    _ => reader.skip()?,
                }
                Ok(())
            })
        }
        "schemaUrl" => reader.string("schemaUrl").map(|url| scope.schema_url = url),
        _ if key == B::RECORDS => each(reader, B::RECORDS, |reader| batch.record(reader, owner)),
        _ => reader.skip(),
    })?;
    batch.lists().scopes[index as usize] = scope;
    Ok(())
}
