//! The dictionary of an `ExportProfilesServiceRequest`: tables to which profiles refer by index.

use std::collections::HashMap;

use bumpalo::Bump;

use super::bounds::text;
use crate::decode::batch::push;
use crate::decode::fault::{Fault, fault};
use crate::decode::protobuf::reader::{KnownFields, Reader, length, varint};
use crate::model::{Label, SampleType, SpanId, TraceId};

const V1: u32 = varint(1);
const V2: u32 = varint(2);
const V3: u32 = varint(3);
const V8: u32 = varint(8);
const L1: u32 = length(1);
const L2: u32 = length(2);
const L3: u32 = length(3);
const L4: u32 = length(4);
const L5: u32 = length(5);
const L6: u32 = length(6);
const L7: u32 = length(7);

/// The dictionary of a request, its messages unread.
pub(super) struct Tables<'a> {
    arena: &'a Bump,
    entries_max: usize,
    pub(super) mappings: Vec<Reader<'a>>,
    pub(super) locations: Vec<Reader<'a>>,
    pub(super) functions: Vec<Reader<'a>>,
    links: Vec<Reader<'a>>,
    strings: Vec<&'a str>,
    attributes: Vec<Reader<'a>>,
    pub(super) stacks: Vec<Reader<'a>>,
    /// Attributes that were read.
    labels: HashMap<u64, Label<'a>>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(arena: &'a Bump, entries_max: usize) -> Tables<'a> {
        Tables {
            arena,
            entries_max,
            mappings: Vec::new(),
            locations: Vec::new(),
            functions: Vec::new(),
            links: Vec::new(),
            strings: Vec::new(),
            attributes: Vec::new(),
            stacks: Vec::new(),
            labels: HashMap::new(),
        }
    }

    /// Finds the messages of a dictionary.
    pub(super) fn find(&mut self, mut dictionary: Reader<'a>) -> Result<(), Fault> {
        while !dictionary.is_done() {
            let (list, what) = match dictionary.key()? {
                L1 => (&mut self.mappings, "mappings"),
                L2 => (&mut self.locations, "locations"),
                L3 => (&mut self.functions, "functions"),
                L4 => (&mut self.links, "links"),
                L5 => {
                    let string = text(dictionary.bytes()?, self.arena);
                    push(&mut self.strings, string, "strings", self.entries_max)?;
                    continue;
                }
                L6 => (&mut self.attributes, "attributes"),
                L7 => (&mut self.stacks, "stacks"),
                other => {
                    dictionary.skip(other, KnownFields::new(&[1, 2, 3, 4, 5, 6, 7]))?;
                    continue;
                }
            };
            let message = dictionary.message()?;
            push(list, message, what, self.entries_max)?;
        }
        Ok(())
    }

    /// An entry of the string table.
    pub(super) fn string(&self, index: u64) -> Result<&'a str, Fault> {
        match usize::try_from(index).ok().and_then(|index| self.strings.get(index)) {
            Some(string) => Ok(string),
            None if index == 0 => Ok(""),
            None => Err(fault!("string {index} is not in the string table of {} strings", self.strings.len())),
        }
    }

    /// An entry of the attribute table. Values other than strings and numbers read as empty.
    pub(super) fn attribute(&mut self, index: u64) -> Result<Label<'a>, Fault> {
        if let Some(known) = self.labels.get(&index) {
            return Ok(*known);
        }
        let message = usize::try_from(index).ok().and_then(|index| self.attributes.get(index)).copied();
        let Some(mut message) = message else {
            return Err(fault!("attribute {index} is not in the table of {} attributes", self.attributes.len()));
        };
        let mut label = Label::default();
        while !message.is_done() {
            match message.key()? {
                V1 => label.key = self.string(message.varint()?)?,
                L2 => {
                    let value = message.message()?;
                    (label.text, label.number) = self.value(value)?;
                }
                other => message.skip(other, KnownFields::new(&[1, 2]))?,
            }
        }
        self.labels.insert(index, label);
        Ok(label)
    }

    /// The string or integer of an `AnyValue`.
    fn value(&self, mut message: Reader<'a>) -> Result<(&'a str, i64), Fault> {
        const STRING: u32 = length(1);
        let mut value = ("", 0);
        while !message.is_done() {
            match message.key()? {
                STRING => value = (text(message.bytes()?, self.arena), 0),
                V2 => value = (if message.varint()? != 0 { "true" } else { "false" }, 0),
                V3 => value = ("", message.varint()? as i64),
                V8 => value = (self.string(message.varint()?)?, 0),
                other => message.skip(other, KnownFields::new(&[1, 2, 3, 8]))?,
            }
        }
        Ok(value)
    }

    /// A `KeyValue` of a resource, whose strings may be in the string table: key, string and integer.
    pub(super) fn pair(&self, mut message: Reader<'a>) -> Result<(&'a str, &'a str, i64), Fault> {
        let (mut key, mut value) = ("", ("", 0));
        while !message.is_done() {
            match message.key()? {
                L1 => key = text(message.bytes()?, self.arena),
                L2 => {
                    let content = message.message()?;
                    value = self.value(content)?;
                }
                V3 => key = self.string(message.varint()?)?,
                other => message.skip(other, KnownFields::new(&[1, 2, 3]))?,
            }
        }
        Ok((key, value.0, value.1))
    }

    /// A text that lives as long as the request.
    pub(super) fn made(&self, text: &str) -> &'a str {
        self.arena.alloc_str(text)
    }

    /// A `ValueType`.
    pub(super) fn value_type(&self, mut message: Reader<'a>) -> Result<SampleType<'a>, Fault> {
        let mut sample_type = SampleType::default();
        while !message.is_done() {
            match message.key()? {
                V1 => sample_type.name = self.string(message.varint()?)?,
                V2 => sample_type.unit = self.string(message.varint()?)?,
                other => message.skip(other, KnownFields::new(&[1, 2]))?,
            }
        }
        Ok(sample_type)
    }

    /// The ids of a link; zeros when they have the wrong length.
    pub(super) fn link(&self, index: u64) -> Result<(TraceId, SpanId), Fault> {
        let mut ids = (TraceId::default(), SpanId::default());
        if index == 0 {
            return Ok(ids);
        }
        let message = usize::try_from(index).ok().and_then(|index| self.links.get(index)).copied();
        let Some(mut message) = message else {
            return Err(fault!("link {index} is not in the table of {} links", self.links.len()));
        };
        while !message.is_done() {
            match message.key()? {
                L1 => ids.0 = TraceId(message.bytes()?.try_into().unwrap_or_default()),
                L2 => ids.1 = SpanId(message.bytes()?.try_into().unwrap_or_default()),
                other => message.skip(other, KnownFields::new(&[1, 2]))?,
            }
        }
        Ok(ids)
    }
}
