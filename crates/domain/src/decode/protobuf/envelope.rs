//! Reads the three levels that all signals share: request, resource block, scope block.
//!
//! Fields may come in any order, and protobuf merges repeated occurrences of `Resource` or `InstrumentationScope`. The
//! first occurrence is read immediately. If there are more, all of them are read again at the end of the block, so that
//! their attributes are contiguous.

use super::check::{ENTITY_REF, check};
use super::reader::{KnownFields, Reader, length, varint};
use super::value::Values;
use crate::decode::batch::{Batch, Owner, push};
use crate::decode::fault::Fault;
use crate::model::{Resource, Scope, Slice};

/// The reader of a signal's records.
pub(crate) trait Records<'a>: Batch<'a> {
    /// Reads one span, log record or metric.
    fn record(&mut self, message: Reader<'a>, owner: Owner, values: &mut Values<'a>) -> Result<(), Fault>;
}

/// `Export…ServiceRequest`.
pub(crate) fn request<'a>(
    mut message: Reader<'a>,
    batch: &mut impl Records<'a>,
    values: &mut Values<'a>,
) -> Result<(), Fault> {
    const BLOCK: u32 = length(1);
    while !message.is_done() {
        match message.key()? {
            BLOCK => resource_block(message.message()?, batch, values)?,
            other => message.skip(other, KnownFields::new(&[1]))?,
        }
    }
    Ok(())
}

/// `ResourceSpans`, `ResourceLogs`, `ResourceMetrics`.
fn resource_block<'a>(
    mut message: Reader<'a>,
    batch: &mut impl Records<'a>,
    values: &mut Values<'a>,
) -> Result<(), Fault> {
    const RESOURCE: u32 = length(1);
    const SCOPE_BLOCK: u32 = length(2);
    const SCHEMA_URL: u32 = length(3);
    let block = message;
    let lists = batch.lists();
    let index = push(lists.resources, Resource::default(), "resources", lists.body.records_max)?;
    let mut resource = Resource::default();
    let mut pieces = 0;
    while !message.is_done() {
        match message.key()? {
            RESOURCE => {
                let piece = message.message()?;
                if pieces == 0 {
                    read_resource(piece, &mut resource, batch, values)?;
                }
                pieces += 1;
            }
            SCOPE_BLOCK => scope_block(message.message()?, index, batch, values)?,
            SCHEMA_URL => resource.schema_url = message.string("resource schema url")?,
            other => message.skip(other, KnownFields::new(&[1, 2, 3]))?,
        }
    }
    if pieces > 1 {
        resource = Resource { schema_url: resource.schema_url, ..Resource::default() };
        for piece in pieces_of(block, RESOURCE) {
            read_resource(piece?, &mut resource, batch, values)?;
        }
    }
    batch.lists().resources[index as usize] = resource;
    Ok(())
}

/// `ScopeSpans`, `ScopeLogs`, `ScopeMetrics`.
fn scope_block<'a>(
    mut message: Reader<'a>,
    resource: u32,
    batch: &mut impl Records<'a>,
    values: &mut Values<'a>,
) -> Result<(), Fault> {
    const SCOPE: u32 = length(1);
    const RECORD: u32 = length(2);
    const SCHEMA_URL: u32 = length(3);
    let block = message;
    let lists = batch.lists();
    let index = push(lists.scopes, Scope::default(), "scopes", lists.body.records_max)?;
    let mut scope = Scope { resource, ..Scope::default() };
    let mut pieces = 0;
    while !message.is_done() {
        match message.key()? {
            RECORD => batch.record(message.message()?, Owner { resource, scope: index }, values)?,
            SCOPE => {
                let piece = message.message()?;
                if pieces == 0 {
                    read_scope(piece, &mut scope, batch, values)?;
                }
                pieces += 1;
            }
            SCHEMA_URL => scope.schema_url = message.string("scope schema url")?,
            other => message.skip(other, KnownFields::new(&[1, 2, 3]))?,
        }
    }
    if pieces > 1 {
        scope.attributes = Slice::default();
        for piece in pieces_of(block, SCOPE) {
            read_scope(piece?, &mut scope, batch, values)?;
        }
    }
    batch.lists().scopes[index as usize] = scope;
    Ok(())
}

fn read_resource<'a>(
    mut piece: Reader<'a>,
    resource: &mut Resource<'a>,
    batch: &mut impl Records<'a>,
    values: &mut Values<'a>,
) -> Result<(), Fault> {
    const ATTRIBUTE: u32 = length(1);
    const DROPPED: u32 = varint(2);
    const ENTITY: u32 = length(3);
    while !piece.is_done() {
        match piece.key()? {
            ATTRIBUTE => {
                values.attributes(&mut piece, batch.lists().attributes, &mut resource.attributes)?;
            }
            DROPPED => resource.dropped_attributes = piece.uint32()?,
            ENTITY => check(piece.message()?, ENTITY_REF, values)?,
            other => piece.skip(other, KnownFields::new(&[1, 2, 3]))?,
        }
    }
    Ok(())
}

fn read_scope<'a>(
    mut piece: Reader<'a>,
    scope: &mut Scope<'a>,
    batch: &mut impl Records<'a>,
    values: &mut Values<'a>,
) -> Result<(), Fault> {
    const NAME: u32 = length(1);
    const VERSION: u32 = length(2);
    const ATTRIBUTE: u32 = length(3);
    const DROPPED: u32 = varint(4);
    while !piece.is_done() {
        match piece.key()? {
            NAME => scope.name = piece.string("scope name")?,
            VERSION => scope.version = piece.string("scope version")?,
            ATTRIBUTE => {
                values.attributes(&mut piece, batch.lists().attributes, &mut scope.attributes)?;
            }
            DROPPED => drop(piece.uint32()?),
            other => piece.skip(other, KnownFields::new(&[1, 2, 3, 4]))?,
        }
    }
    Ok(())
}

/// The occurrences of a length-delimited field in a message that has been read before.
pub(super) fn pieces_of<'a>(mut message: Reader<'a>, wanted: u32) -> impl Iterator<Item = Result<Reader<'a>, Fault>> {
    std::iter::from_fn(move || {
        while !message.is_done() {
            let step = message.key().and_then(|key| {
                if key == wanted {
                    message.message().map(Some)
                } else {
                    message.skip(key, KnownFields::new(&[])).map(|()| None)
                }
            });
            if let Some(found) = step.transpose() {
                return Some(found);
            }
        }
        None
    })
}
