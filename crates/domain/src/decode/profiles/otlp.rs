//! The decoder of `ExportProfilesServiceRequest`, `opentelemetry.proto.profiles.v1development` (release 1.9 of the
//! protocol). Tables are in the request's dictionary; entry 0 of a table means "none".

use bumpalo::Bump;

use super::bounds::STACK_DEPTH_MAX;
use super::stacks;
use super::tables::Tables;
use crate::decode::batch::push;
use crate::decode::fault::{Fault, fault};
use crate::decode::protobuf::reader::{KnownFields, Reader, fixed64, length, varint};
use crate::model::{Function, Location, Mapping, Profile, ProfileBatch, ProfileFormat, Sample, SampleType, Slice};

const V1: u32 = varint(1);
const V2: u32 = varint(2);
const V3: u32 = varint(3);
const V4: u32 = varint(4);
const V5: u32 = varint(5);
const L1: u32 = length(1);
const L2: u32 = length(2);
const L3: u32 = length(3);
const L4: u32 = length(4);
const L5: u32 = length(5);
const L7: u32 = length(7);
const F3: u32 = fixed64(3);
const F5: u32 = fixed64(5);

/// Attributes of a mapping that have its build id, most specific first.
const BUILD_IDS: [&str; 3] =
    ["process.executable.build_id.gnu", "process.executable.build_id.go", "process.executable.build_id.htlhash"];

/// Reads a request.
pub(super) fn request<'a>(body: &'a [u8], entries_max: usize, arena: &'a Bump) -> Result<ProfileBatch<'a>, Fault> {
    // The dictionary comes after the profiles; the pieces of a repeated one are merged.
    let mut dictionaries = Vec::new();
    let mut blocks = Vec::new();
    let mut reader = Reader::new(body);
    while !reader.is_done() {
        match reader.key()? {
            L1 => {
                let block = reader.message()?;
                push(&mut blocks, block, "resources", entries_max)?;
            }
            L2 => {
                let dictionary = reader.message()?;
                push(&mut dictionaries, dictionary, "dictionaries", entries_max)?;
            }
            other => reader.skip(other, KnownFields::new(&[1, 2]))?,
        }
    }
    let mut tables = Tables::new(arena, entries_max);
    dictionaries.into_iter().try_for_each(|dictionary| tables.find(dictionary))?;
    let mut reading = Reading {
        batch: ProfileBatch { format: ProfileFormat::Otlp, ..ProfileBatch::default() },
        stacks: vec![None; tables.stacks.len()],
        tables,
        entries_max,
    };
    reading.functions()?;
    reading.mappings()?;
    reading.locations()?;
    blocks.into_iter().try_for_each(|block| reading.resource_block(block))?;
    Ok(reading.batch)
}

/// Attributes of a resource.
#[derive(Clone, Copy, Default)]
struct ResourceNames<'a> {
    service: &'a str,
    instance: &'a str,
    host: &'a str,
    version: &'a str,
    pid: i64,
    container: &'a str,
    /// The parts that identify the process.
    process: &'a str,
}

struct Reading<'a> {
    batch: ProfileBatch<'a>,
    tables: Tables<'a>,
    /// Indexes in the batch of the dictionary's stacks that are used.
    stacks: Vec<Option<u32>>,
    entries_max: usize,
}

/// A packed list, or one element of an unpacked one.
fn each(message: &mut Reader<'_>, key: u32, mut visit: impl FnMut(u64) -> Result<(), Fault>) -> Result<(), Fault> {
    if key & 7 == 0 {
        return visit(message.varint()?);
    }
    let mut packed = message.message()?;
    while !packed.is_done() {
        visit(packed.varint()?)?;
    }
    Ok(())
}

impl<'a> Reading<'a> {
    fn functions(&mut self) -> Result<(), Fault> {
        for message in &self.tables.functions {
            let (mut message, mut function, mut system_name) = (*message, Function::default(), "");
            while !message.is_done() {
                match message.key()? {
                    V1 => function.name = self.tables.string(message.varint()?)?,
                    V2 => system_name = self.tables.string(message.varint()?)?,
                    V3 => function.file = self.tables.string(message.varint()?)?,
                    other => message.skip(other, KnownFields::new(&[1, 2, 3]))?,
                }
            }
            if function.name.is_empty() {
                function.name = system_name;
            }
            self.batch.functions.push(function);
        }
        Ok(())
    }

    fn mappings(&mut self) -> Result<(), Fault> {
        for index in 0..self.tables.mappings.len() {
            let (mut message, mut mapping) = (self.tables.mappings[index], Mapping::default());
            let mut best = BUILD_IDS.len();
            while !message.is_done() {
                match message.key()? {
                    V1 => mapping.start = message.varint()?,
                    V3 => mapping.offset = message.varint()?,
                    V4 => mapping.file = self.tables.string(message.varint()?)?,
                    key @ (V5 | L5) => each(&mut message, key, |attribute| {
                        let label = self.tables.attribute(attribute)?;
                        let rank = BUILD_IDS.iter().position(|known| *known == label.key).unwrap_or(best);
                        if rank < best {
                            (best, mapping.build_id) = (rank, label.text);
                        }
                        Ok(())
                    })?,
                    other => message.skip(other, KnownFields::new(&[1, 3, 4, 5]))?,
                }
            }
            self.batch.mappings.push(mapping);
        }
        Ok(())
    }

    fn locations(&mut self) -> Result<(), Fault> {
        for index in 0..self.tables.locations.len() {
            let mut message = self.tables.locations[index];
            let mut location = Location { mapping: Location::NO_MAPPING, ..Location::default() };
            let start = self.batch.lines.len() as u32;
            while !message.is_done() {
                match message.key()? {
                    V1 => {
                        let mapping = message.varint()?;
                        let is_known = mapping > 0 && mapping < self.batch.mappings.len() as u64;
                        location.mapping = if is_known { mapping as u32 } else { Location::NO_MAPPING };
                    }
                    V2 => location.address = message.varint()?,
                    L3 => {
                        let line = message.message()?;
                        if let Some(function) = self.line(line)? {
                            push(&mut self.batch.lines, function, "lines", self.entries_max)?;
                        }
                    }
                    other => message.skip(other, KnownFields::new(&[1, 2, 3]))?,
                }
            }
            location.lines = Slice { start, end: self.batch.lines.len() as u32 };
            self.batch.locations.push(location);
        }
        Ok(())
    }

    fn line(&self, mut message: Reader<'a>) -> Result<Option<u32>, Fault> {
        let mut function = 0;
        while !message.is_done() {
            match message.key()? {
                V1 => function = message.varint()?,
                other => message.skip(other, KnownFields::new(&[1]))?,
            }
        }
        let functions = self.batch.functions.len();
        match function {
            0 => Ok(None),
            function if function < functions as u64 => Ok(Some(function as u32)),
            function => Err(fault!("function {function} is not in the table of {functions} functions")),
        }
    }

    fn resource_block(&mut self, block: Reader<'a>) -> Result<(), Fault> {
        let mut names = ResourceNames::default();
        // The resource may come after the profiles.
        let mut first = block;
        while !first.is_done() {
            match first.key()? {
                L1 => {
                    let resource = first.message()?;
                    self.resource(resource, &mut names)?;
                }
                other => first.skip(other, KnownFields::new(&[1]))?,
            }
        }
        let mut block = block;
        while !block.is_done() {
            match block.key()? {
                L2 => {
                    let scope = block.message()?;
                    self.scope_block(scope, names)?;
                }
                other => block.skip(other, KnownFields::new(&[2]))?,
            }
        }
        Ok(())
    }

    fn resource(&self, mut message: Reader<'a>, names: &mut ResourceNames<'a>) -> Result<(), Fault> {
        while !message.is_done() {
            match message.key()? {
                L1 => {
                    let pair = message.message()?;
                    let (key, value, number) = self.tables.pair(pair)?;
                    match key {
                        "service.name" => names.service = value,
                        "service.instance.id" => names.instance = value,
                        "host.name" => names.host = value,
                        "service.version" => names.version = value,
                        "process.pid" => names.pid = number,
                        "container.id" => names.container = value,
                        _ => {}
                    }
                }
                other => message.skip(other, KnownFields::new(&[1]))?,
            }
        }
        let pid = if names.pid > 0 { self.tables.made(&names.pid.to_string()) } else { "" };
        let mut parts = vec![names.instance, names.host, pid, names.container];
        parts.retain(|part| !part.is_empty());
        names.process = self.tables.made(&parts.join("/"));
        Ok(())
    }

    fn scope_block(&mut self, mut block: Reader<'a>, names: ResourceNames<'a>) -> Result<(), Fault> {
        while !block.is_done() {
            match block.key()? {
                L2 => {
                    let profile = block.message()?;
                    self.profile(profile, names)?;
                }
                other => block.skip(other, KnownFields::new(&[2]))?,
            }
        }
        Ok(())
    }

    fn profile(&mut self, mut message: Reader<'a>, names: ResourceNames<'a>) -> Result<(), Fault> {
        let samples = self.batch.samples.len() as u32;
        let mut sample_type = SampleType::default();
        let mut profile = Profile {
            service: names.service,
            server_name: if names.host.is_empty() { names.instance } else { names.host },
            app_version: names.version,
            process: names.process,
            ..Profile::default()
        };
        while !message.is_done() {
            match message.key()? {
                L1 => {
                    let value_type = message.message()?;
                    sample_type = self.tables.value_type(value_type)?;
                }
                L2 => {
                    let sample = message.message()?;
                    self.sample(sample)?;
                }
                F3 => profile.time_ns = message.fixed64()?,
                V4 => profile.duration_ns = message.varint()?,
                // An id of another length identifies nothing.
                L7 => profile.id = message.bytes()?.try_into().unwrap_or_default(),
                other => message.skip(other, KnownFields::new(&[1, 2, 3, 4, 7]))?,
            }
        }
        let types = self.batch.sample_types.len() as u32;
        push(&mut self.batch.sample_types, sample_type, "profiles", self.entries_max)?;
        profile.sample_types = Slice { start: types, end: types + 1 };
        profile.samples = Slice { start: samples, end: self.batch.samples.len() as u32 };
        self.batch.profiles.push(profile);
        Ok(())
    }

    fn sample(&mut self, mut message: Reader<'a>) -> Result<(), Fault> {
        let mut sample = Sample::default();
        let batch = &mut self.batch;
        let (values, labels) = (batch.values.len(), batch.labels.len() as u32);
        let timestamps = batch.timestamps.len() as u32;
        let mut stack = 0;
        while !message.is_done() {
            match message.key()? {
                V1 => stack = message.varint()?,
                key @ (V2 | L2) => each(&mut message, key, |attribute| {
                    let label = self.tables.attribute(attribute)?;
                    push(&mut batch.labels, label, "labels", self.entries_max).map(drop)
                })?,
                V3 => (sample.trace_id, sample.span_id) = self.tables.link(message.varint()?)?,
                key @ (V4 | L4) => each(&mut message, key, |value| {
                    push(&mut batch.values, value as i64, "values", 2 * self.entries_max).map(drop)
                })?,
                F5 => {
                    let time = message.fixed64()?;
                    push(&mut batch.timestamps, time, "timestamps", self.entries_max)?;
                }
                L5 => {
                    let mut packed = message.message()?;
                    while !packed.is_done() {
                        let time = packed.fixed64()?;
                        push(&mut batch.timestamps, time, "timestamps", self.entries_max)?;
                    }
                }
                other => message.skip(other, KnownFields::new(&[1, 2, 3, 4, 5]))?,
            }
        }
        sample.labels = Slice { start: labels, end: batch.labels.len() as u32 };
        sample.timestamps = Slice { start: timestamps, end: batch.timestamps.len() as u32 };
        // Values: one per timestamp, one for all, or none (then each timestamp counts one).
        let times = sample.timestamps.of(&batch.timestamps).len() as i64;
        let total = match batch.values[values..].iter().copied().reduce(i64::saturating_add) {
            Some(total) => total,
            None => times,
        };
        batch.values.truncate(values);
        batch.values.push(total);
        sample.values = Slice { start: values as u32, end: values as u32 + 1 };
        sample.stack = self.stack(stack)?;
        push(&mut self.batch.samples, sample, "samples", self.entries_max)?;
        Ok(())
    }

    fn stack(&mut self, index: u64) -> Result<u32, Fault> {
        let Some(index) = usize::try_from(index).ok().filter(|index| *index < self.stacks.len()) else {
            return Ok(Sample::NO_STACK);
        };
        if let Some(known) = self.stacks[index] {
            return Ok(known);
        }
        let mut message = self.tables.stacks[index];
        let mut references = Vec::new();
        while !message.is_done() {
            match message.key()? {
                key @ (V1 | L1) => each(&mut message, key, |location| {
                    if references.len() < STACK_DEPTH_MAX {
                        references.push(location);
                    }
                    Ok(())
                })?,
                other => message.skip(other, KnownFields::new(&[1]))?,
            }
        }
        let locations = self.batch.locations.len() as u64;
        let locate = |index: u64| (index < locations).then_some(index as u32);
        let stack = stacks::push(references.into_iter().map(Ok), &mut self.batch, locate)?;
        self.stacks[index] = Some(stack);
        Ok(stack)
    }
}
