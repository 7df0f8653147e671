//! The decoder of pprof: `profile.proto` of github.com/google/pprof.
//!
//! Fields come in any order, and the string table is usually last: the first pass finds the messages, and the second
//! reads them.

use std::collections::HashMap;

use bumpalo::Bump;
use xxhash_rust::xxh3::Xxh3Builder;

use super::bounds::{SAMPLE_TYPES_MAX, STACK_DEPTH_MAX, text};
use super::stacks::{self, Stacks};
use crate::decode::batch::push;
use crate::decode::fault::{Fault, fault};
use crate::decode::protobuf::reader::{KnownFields, Reader, length, varint};
use crate::model::{
    Function, Label, Location, Mapping, Profile, ProfileBatch, ProfileFormat, Sample, SampleType, Slice,
};

/// Keys of fields by their numbers: `V…` of integers, `L…` of messages and packed lists.
const V1: u32 = varint(1);
const V2: u32 = varint(2);
const V3: u32 = varint(3);
const V4: u32 = varint(4);
const V5: u32 = varint(5);
const V6: u32 = varint(6);
const L1: u32 = length(1);
const L2: u32 = length(2);
const L3: u32 = length(3);
const L4: u32 = length(4);

/// Indexes of the entries of a table by their ids, which are mostly 1, 2, 3 and so on.
#[derive(Default)]
struct Ids {
    /// By id; [`Ids::NONE`] when it is no id, or in `sparse`.
    dense: Vec<u32>,
    sparse: HashMap<u64, u32, Xxh3Builder>,
    count: usize,
}

impl Ids {
    const NONE: u32 = u32::MAX;

    /// The last entry with an id wins.
    fn insert(&mut self, id: u64, index: u32) {
        self.count += 1;
        match usize::try_from(id) {
            // At most twice as long as there are entries.
            Ok(place) if place <= 2 * self.count => {
                if place >= self.dense.len() {
                    self.dense.resize(place + 1, Ids::NONE);
                }
                self.dense[place] = index;
            }
            _ => {
                self.sparse.insert(id, index);
            }
        }
    }

    fn get(&self, id: u64) -> Option<u32> {
        let dense = usize::try_from(id).ok().and_then(|place| self.dense.get(place).copied());
        dense.filter(|index| *index != Ids::NONE).or_else(|| self.sparse.get(&id).copied())
    }
}

/// The messages of a body, unread.
#[derive(Default)]
struct Messages<'a> {
    sample_types: Vec<Reader<'a>>,
    samples: Vec<Reader<'a>>,
    mappings: Vec<Reader<'a>>,
    locations: Vec<Reader<'a>>,
    functions: Vec<Reader<'a>>,
    strings: Vec<&'a str>,
    time_ns: i64,
    duration_ns: i64,
}

/// Reads a profile.
pub(super) fn profile<'a>(body: &'a [u8], entries_max: usize, arena: &'a Bump) -> Result<ProfileBatch<'a>, Fault> {
    let messages = Messages::read(body, entries_max, arena)?;
    let mut reading = Reading {
        batch: ProfileBatch { format: ProfileFormat::Pprof, ..ProfileBatch::default() },
        strings: &messages.strings,
        entries_max,
        mappings: Ids::default(),
        locations: Ids::default(),
        functions: Ids::default(),
        stacks: Stacks::default(),
    };
    for message in &messages.sample_types {
        let sample_type = reading.sample_type(*message)?;
        reading.batch.sample_types.push(sample_type);
    }
    messages.functions.iter().try_for_each(|message| reading.function(*message))?;
    messages.mappings.iter().try_for_each(|message| reading.mapping(*message))?;
    messages.locations.iter().try_for_each(|message| reading.location(*message))?;
    messages.samples.iter().try_for_each(|message| reading.sample(*message))?;
    let mut batch = reading.batch;
    if batch.sample_types.is_empty() {
        return Err(fault!("the profile has no sample types"));
    }
    batch.profiles.push(Profile {
        sample_types: Slice { start: 0, end: batch.sample_types.len() as u32 },
        samples: Slice { start: 0, end: batch.samples.len() as u32 },
        time_ns: messages.time_ns.max(0) as u64,
        duration_ns: messages.duration_ns.max(0) as u64,
        ..Profile::default()
    });
    Ok(batch)
}

impl<'a> Messages<'a> {
    fn read(body: &'a [u8], entries_max: usize, arena: &'a Bump) -> Result<Messages<'a>, Fault> {
        const SAMPLE_TYPE: u32 = length(1);
        const SAMPLE: u32 = length(2);
        const MAPPING: u32 = length(3);
        const LOCATION: u32 = length(4);
        const FUNCTION: u32 = length(5);
        const STRING: u32 = length(6);
        const TIME: u32 = varint(9);
        const DURATION: u32 = varint(10);
        const KNOWN: KnownFields = KnownFields::new(&[1, 2, 3, 4, 5, 6, 9, 10]);
        let mut messages = Messages::default();
        let mut reader = Reader::new(body);
        while !reader.is_done() {
            let (list, what) = match reader.key()? {
                SAMPLE_TYPE => {
                    let message = reader.message()?;
                    push(&mut messages.sample_types, message, "sample types", SAMPLE_TYPES_MAX)?;
                    continue;
                }
                SAMPLE => (&mut messages.samples, "samples"),
                MAPPING => (&mut messages.mappings, "mappings"),
                LOCATION => (&mut messages.locations, "locations"),
                FUNCTION => (&mut messages.functions, "functions"),
                STRING => {
                    let string = text(reader.bytes()?, arena);
                    push(&mut messages.strings, string, "strings", entries_max)?;
                    continue;
                }
                TIME => {
                    messages.time_ns = reader.varint()? as i64;
                    continue;
                }
                DURATION => {
                    messages.duration_ns = reader.varint()? as i64;
                    continue;
                }
                other => {
                    reader.skip(other, KNOWN)?;
                    continue;
                }
            };
            let message = reader.message()?;
            push(list, message, what, entries_max)?;
        }
        Ok(messages)
    }
}

struct Reading<'m, 'a> {
    batch: ProfileBatch<'a>,
    strings: &'m [&'a str],
    entries_max: usize,
    mappings: Ids,
    locations: Ids,
    functions: Ids,
    stacks: Stacks<'a>,
}

impl<'a> Reading<'_, 'a> {
    fn string(&self, index: u64) -> Result<&'a str, Fault> {
        match usize::try_from(index).ok().and_then(|index| self.strings.get(index)) {
            Some(string) => Ok(string),
            None if index == 0 => Ok(""),
            None => Err(fault!("string {index} is not in the string table of {} strings", self.strings.len())),
        }
    }

    fn sample_type(&self, mut message: Reader<'a>) -> Result<SampleType<'a>, Fault> {
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

    fn function(&mut self, mut message: Reader<'a>) -> Result<(), Fault> {
        let (mut id, mut function, mut system_name) = (0, Function::default(), "");
        while !message.is_done() {
            match message.key()? {
                V1 => id = message.varint()?,
                V2 => function.name = self.string(message.varint()?)?,
                V3 => system_name = self.string(message.varint()?)?,
                V4 => function.file = self.string(message.varint()?)?,
                other => message.skip(other, KnownFields::new(&[1, 2, 3, 4]))?,
            }
        }
        if function.name.is_empty() {
            function.name = system_name;
        }
        self.functions.insert(id, self.batch.functions.len() as u32);
        self.batch.functions.push(function);
        Ok(())
    }

    fn mapping(&mut self, mut message: Reader<'a>) -> Result<(), Fault> {
        let (mut id, mut mapping) = (0, Mapping::default());
        while !message.is_done() {
            match message.key()? {
                V1 => id = message.varint()?,
                V2 => mapping.start = message.varint()?,
                V4 => mapping.offset = message.varint()?,
                V5 => mapping.file = self.string(message.varint()?)?,
                V6 => mapping.build_id = self.string(message.varint()?)?,
                other => message.skip(other, KnownFields::new(&[1, 2, 4, 5, 6]))?,
            }
        }
        self.mappings.insert(id, self.batch.mappings.len() as u32);
        self.batch.mappings.push(mapping);
        Ok(())
    }

    fn location(&mut self, mut message: Reader<'a>) -> Result<(), Fault> {
        let mut id = 0;
        let mut location = Location { mapping: Location::NO_MAPPING, ..Location::default() };
        let start = self.batch.lines.len() as u32;
        while !message.is_done() {
            match message.key()? {
                V1 => id = message.varint()?,
                V2 => {
                    let mapping = message.varint()?;
                    location.mapping = self.mappings.get(mapping).unwrap_or(Location::NO_MAPPING);
                }
                V3 => location.address = message.varint()?,
                L4 => {
                    let line = message.message()?;
                    if let Some(function) = self.line(line)? {
                        push(&mut self.batch.lines, function, "lines", self.entries_max)?;
                    }
                }
                other => message.skip(other, KnownFields::new(&[1, 2, 3, 4]))?,
            }
        }
        location.lines = Slice { start, end: self.batch.lines.len() as u32 };
        self.locations.insert(id, self.batch.locations.len() as u32);
        self.batch.locations.push(location);
        Ok(())
    }

    /// The function of a line; `None` when it is unknown (id 0).
    fn line(&self, mut message: Reader<'a>) -> Result<Option<u32>, Fault> {
        let mut id = 0;
        while !message.is_done() {
            match message.key()? {
                V1 => id = message.varint()?,
                other => message.skip(other, KnownFields::new(&[1]))?,
            }
        }
        match self.functions.get(id) {
            Some(function) => Ok(Some(function)),
            None if id == 0 => Ok(None),
            None => Err(fault!("function {id} is not in the profile")),
        }
    }

    fn sample(&mut self, mut message: Reader<'a>) -> Result<(), Fault> {
        let mut sample = Sample::default();
        let values = self.batch.values.len() as u32;
        let labels = self.batch.labels.len() as u32;
        // Encoders write the locations packed, in one piece; anything else is collected.
        let mut packed: Option<&'a [u8]> = None;
        let mut pieces: Vec<u64> = Vec::new();
        while !message.is_done() {
            match message.key()? {
                L1 => {
                    let bytes = message.bytes()?;
                    match packed.is_none() && pieces.is_empty() {
                        true => packed = Some(bytes),
                        false => {
                            collect(packed.take().unwrap_or_default(), &mut pieces)?;
                            collect(bytes, &mut pieces)?;
                        }
                    }
                }
                V1 => {
                    collect(packed.take().unwrap_or_default(), &mut pieces)?;
                    add(message.varint()?, &mut pieces);
                }
                L2 => {
                    let mut packed = message.message()?;
                    while !packed.is_done() {
                        let value = packed.varint()? as i64;
                        self.value(value)?;
                    }
                }
                V2 => {
                    let value = message.varint()? as i64;
                    self.value(value)?;
                }
                L3 => {
                    let label = message.message()?;
                    let label = self.label(label)?;
                    push(&mut self.batch.labels, label, "labels", self.entries_max)?;
                }
                other => message.skip(other, KnownFields::new(&[1, 2, 3]))?,
            }
        }
        sample.values = Slice { start: values, end: self.batch.values.len() as u32 };
        sample.labels = Slice { start: labels, end: self.batch.labels.len() as u32 };
        let locations = &self.locations;
        let locate = |id: u64| locations.get(id);
        sample.stack = match pieces.is_empty() {
            true => self.stacks.packed(packed.unwrap_or_default(), &mut self.batch, locate)?,
            false => stacks::push(pieces.into_iter().map(Ok), &mut self.batch, locate)?,
        };
        if (sample.values.end - sample.values.start) as usize != self.batch.sample_types.len() {
            sample.stack = Sample::NO_STACK;
        }
        self.batch.samples.push(sample);
        Ok(())
    }

    fn value(&mut self, value: i64) -> Result<(), Fault> {
        push(&mut self.batch.values, value, "values", 2 * self.entries_max).map(drop)
    }

    fn label(&self, mut message: Reader<'a>) -> Result<Label<'a>, Fault> {
        let mut label = Label::default();
        while !message.is_done() {
            match message.key()? {
                V1 => label.key = self.string(message.varint()?)?,
                V2 => label.text = self.string(message.varint()?)?,
                V3 => label.number = message.varint()? as i64,
                other => message.skip(other, KnownFields::new(&[1, 2, 3]))?,
            }
        }
        Ok(label)
    }
}

/// Appends the numbers of a packed list.
fn collect(packed: &[u8], into: &mut Vec<u64>) -> Result<(), Fault> {
    let mut reader = Reader::new(packed);
    while !reader.is_done() {
        add(reader.varint()?, into);
    }
    Ok(())
}

/// Appends a location, as far as a stack has locations.
fn add(location: u64, into: &mut Vec<u64>) {
    if into.len() < STACK_DEPTH_MAX {
        into.push(location);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_their_last_id() {
        let all = [1, 2, 3, 0, 9, 40, 2, u64::MAX, 5, 6, 7, 8, 9, 1 << 40];
        let (mut ids, mut naive) = (Ids::default(), HashMap::new());
        for (index, id) in (0..).zip(all) {
            ids.insert(id, index);
            naive.insert(id, index);
        }
        for id in (0..50).chain(all) {
            assert_eq!(ids.get(id), naive.get(&id).copied(), "{id}");
        }
        assert!(ids.dense.len() <= 2 * all.len() + 1 && ids.sparse.len() >= 3);
    }
}
