//! Projects profiles into rows. WIRE 2.1.
//!
//! Samples of a profile with equal type, stack, labels, trace and span are added up. Records are the samples.

use std::collections::{HashMap, HashSet};

use bumpalo::Bump;
use xxhash_rust::xxh3::{Xxh3, Xxh3Builder, xxh3_64};

use super::{DropReason, Dropped, ProjectContext};
use crate::model::{AnyValue, KeyValue, Location, Profile, ProfileBatch, Sample, SampleType, Slice, SpanId, TraceId};
use crate::rules::profile_stack::{FRAME_TEXT_BYTES_MAX, Frame, Prefixes, StackHash, put_frame};
use crate::rules::profile_type::{ProfileType, cut, profile_type};
use crate::rules::record_time::record_time;
use crate::units::DAY_NS;
use crate::wire::encode_attributes;

/// The label that is always stored. WIRE 2.1.
pub const ENDPOINT_LABEL: &str = "endpoint";

/// Maximum number of distinct values of a label's key in a request; further samples are stored without the label.
pub const LABEL_VALUES_MAX: usize = 1000;

/// Maximum length of the name of a service, instance, version, sample type or unit in bytes; the rest is cut off.
const NAME_BYTES_MAX: usize = 255;

/// Maximum length of a stored label's value in bytes; the rest is cut off.
const LABEL_BYTES_MAX: usize = 256;

/// Maximum number of frames of a stack, inlined functions included; those nearest to the root are replaced.
const FRAMES_MAX: usize = 1024;

/// Maximum number of frames that are made of one request. Samples beyond are dropped.
const WORK_MAX: usize = 64 << 20;

/// Maximum bytes of the stacks of one request. Samples beyond are dropped.
const STACK_BYTES_MAX: usize = 128 << 20;

/// Stands for the frames beyond [`FRAMES_MAX`].
pub const TRUNCATED: &str = "(truncated)";

/// Keys of labels with the id of a span, by convention of the profiler: Pyroscope, Datadog.
const SPAN_KEYS: [&str; 4] = ["span_id", "span id", "local root span id", "profile_id"];
const TRACE_KEYS: [&str; 2] = ["trace_id", "trace id"];

/// Facts about a request's profiles outside its body. WIRE 2.1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProfileSource<'s> {
    /// The service of profiles without one.
    pub service: &'s str,
    /// The instance of profiles without one.
    pub server_name: &'s str,
    /// The version of profiles without one.
    pub app_version: &'s str,
    /// The process of profiles without one.
    pub process: &'s str,
    /// Keys of labels that are stored beside [`ENDPOINT_LABEL`].
    pub labels: &'s [String],
}

/// The rows of one request with profiles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProfileProjection<'a> {
    /// One row per profile and type with samples.
    pub profiles: Vec<ProfileRow<'a>>,
    /// Samples, added up.
    pub samples: Vec<SampleRow>,
    /// Stacks of the samples, each once per day.
    pub stacks: Vec<StackRow<'a>>,
    /// Labels of samples as an encoded `KeyValueList`; the first is empty.
    pub labels: Vec<&'a [u8]>,
    /// Times of samples: differences to the profile's time in nanoseconds, little-endian i64; the first is empty.
    pub timestamps: Vec<&'a [u8]>,
    /// Samples that are not stored.
    pub dropped: Vec<Dropped>,
    /// Samples that are stored without a label that has too many values.
    pub trimmed: Vec<u32>,
    /// Number of samples.
    pub records: usize,
    /// Profiles with an id, as the hash of their identity and the range of their samples: the same in any body.
    pub identities: Vec<(u128, Slice)>,
    /// Whether a profile has no time of its own.
    pub is_untimed: bool,
}

/// A profile's values of one type.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileRow<'a> {
    /// Index of the first sample that it has a row for.
    pub record: u32,
    /// Start, nanoseconds since the epoch.
    pub time_ns: i64,
    /// Nanoseconds.
    pub duration_ns: i64,
    /// Type of the values.
    pub kind: ProfileType,
    /// Name of the sample type as received.
    pub sample_type: &'a str,
    /// Unit of the values.
    pub unit: &'a str,
    /// The service.
    pub service: &'a str,
    /// The instance.
    pub server_name: &'a str,
    /// The version of the application.
    pub app_version: &'a str,
    /// The process; empty when unknown.
    pub process: &'a str,
    /// Number of samples with a value.
    pub samples: u64,
    /// Sum of the values.
    pub value: i64,
    /// Whether samples have times of their own.
    pub has_timestamps: bool,
}

/// Samples of one profile and type with equal stack, labels and span.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleRow {
    /// Index of the first sample.
    pub record: u32,
    /// Index into [`ProfileProjection::profiles`].
    pub profile: u32,
    /// Hash of the stack.
    pub stack: u64,
    /// Sum of the values.
    pub value: i64,
    /// Index into [`ProfileProjection::labels`].
    pub labels: u32,
    /// Index into [`ProfileProjection::timestamps`].
    pub timestamps: u32,
    /// The trace; zeros when none.
    pub trace_id: TraceId,
    /// The span; zeros when none.
    pub span_id: SpanId,
}

/// A stack of a day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StackRow<'a> {
    /// Index of the first sample with it.
    pub record: u32,
    /// Time of a profile with it, nanoseconds since the epoch.
    pub time_ns: i64,
    /// Its hash.
    pub stack: u64,
    /// Its frames as [`put_frame`] stores them, root first.
    pub frames: &'a [u8],
}

/// Projects profiles into rows.
pub fn profiles<'a>(
    batch: &ProfileBatch<'a>,
    context: &ProjectContext,
    source: &ProfileSource<'a>,
    arena: &'a Bump,
) -> ProfileProjection<'a> {
    let mut projector = Projector {
        batch,
        source,
        arena,
        out: ProfileProjection { labels: vec![&[]], timestamps: vec![&[]], ..ProfileProjection::default() },
        hashes: vec![None; batch.stacks.len()],
        encoded: vec![None; batch.locations.len()],
        prefixes: Prefixes::default(),
        label_lists: HashMap::default(),
        label_values: HashMap::default(),
        stored_stacks: HashSet::default(),
        work: 0,
        stack_bytes: 0,
    };
    projector.out.records = batch.samples.len();
    for profile in &batch.profiles {
        projector.out.is_untimed |= profile.time_ns == 0 && !profile.samples.is_empty();
        match record_time(&[profile.time_ns], context.received_ns, context.settings.oldest_ns) {
            Ok(time_ns) => projector.profile(profile, time_ns),
            Err(reason) => {
                let all = profile.samples.start..profile.samples.end;
                projector.out.dropped.extend(all.map(|record| Dropped { record, reason }));
            }
        }
    }
    projector.out.trimmed.sort_unstable();
    projector.out.trimmed.dedup();
    projector.out
}

/// A stack that was made: its hash and stored frames.
type MadeStack<'a> = (u64, &'a [u8]);

struct Projector<'b, 'a> {
    batch: &'b ProfileBatch<'a>,
    source: &'b ProfileSource<'a>,
    arena: &'a Bump,
    out: ProfileProjection<'a>,
    /// The stacks that were made, by index in the batch.
    hashes: Vec<Option<MadeStack<'a>>>,
    /// The stored frames of locations, by index in the batch.
    encoded: Vec<Option<&'a [u8]>>,
    prefixes: Prefixes,
    /// Indexes into `out.labels`.
    label_lists: HashMap<&'a [u8], u32, Xxh3Builder>,
    /// Hashes of the values of each key.
    label_values: HashMap<&'a str, HashSet<u64>>,
    /// Stacks in `out.stacks`, by day and hash.
    stored_stacks: HashSet<(i64, u64), Xxh3Builder>,
    /// Number of frames made so far.
    work: usize,
    stack_bytes: usize,
}

/// Identifies a row of samples within a profile: type, stack, labels, trace, span.
type SampleKey = (u32, u64, u32, TraceId, SpanId);

impl<'a> Projector<'_, 'a> {
    fn profile(&mut self, profile: &Profile<'a>, time_ns: i64) {
        let types = profile.sample_types.of(&self.batch.sample_types);
        if profile.id != [0; 16] {
            self.out.identities.push((identity(profile, types), profile.samples));
        }
        let or = |own: &'a str, other: &'a str| cut(if own.is_empty() { other } else { own }, NAME_BYTES_MAX);
        let first = self.out.profiles.len() as u32;
        self.out.profiles.extend(types.iter().map(|sample_type| ProfileRow {
            record: profile.samples.start,
            time_ns,
            duration_ns: i64::try_from(profile.duration_ns).unwrap_or(i64::MAX).min(DAY_NS),
            kind: profile_type(self.batch.format, sample_type.name, sample_type.unit),
            sample_type: cut(sample_type.name, NAME_BYTES_MAX),
            unit: if sample_type.unit.is_empty() { "count" } else { cut(sample_type.unit, NAME_BYTES_MAX) },
            service: or(profile.service, self.source.service),
            server_name: or(profile.server_name, self.source.server_name),
            app_version: or(profile.app_version, self.source.app_version),
            process: or(profile.process, self.source.process),
            samples: 0,
            value: 0,
            has_timestamps: false,
        }));
        let mut rows: HashMap<SampleKey, usize, Xxh3Builder> = HashMap::default();
        // Times of the samples of a row.
        let mut times: HashMap<usize, Vec<u8>, Xxh3Builder> = HashMap::default();
        for record in profile.samples.start..profile.samples.end {
            let sample = &self.batch.samples[record as usize];
            if let Err(reason) = self.sample((record, sample), (first, time_ns), &mut rows, &mut times) {
                self.out.dropped.push(Dropped { record, reason });
            }
        }
        for (row, bytes) in times {
            self.out.samples[row].timestamps = self.out.timestamps.len() as u32;
            self.out.timestamps.push(self.arena.alloc_slice_copy(&bytes));
        }
        // Types without any value have no row.
        let stored = self.out.profiles.split_off(first as usize);
        let mut places = Vec::with_capacity(stored.len());
        for row in stored {
            places.push(self.out.profiles.len() as u32);
            if row.samples > 0 {
                self.out.profiles.push(row);
            }
        }
        let of_profile = self.out.samples.iter_mut().rev().take_while(|row| row.record >= profile.samples.start);
        of_profile.for_each(|row| row.profile = places[(row.profile - first) as usize]);
    }

    fn sample(
        &mut self,
        (record, sample): (u32, &Sample),
        (first, time_ns): (u32, i64),
        rows: &mut HashMap<SampleKey, usize, Xxh3Builder>,
        times: &mut HashMap<usize, Vec<u8>, Xxh3Builder>,
    ) -> Result<(), DropReason> {
        if sample.stack == Sample::NO_STACK {
            return Err(DropReason::InvalidItem);
        }
        let values = sample.values.of(&self.batch.values);
        if values.iter().all(|value| *value == 0) {
            return Err(DropReason::EmptySample);
        }
        let (stack, frames) = self.stack(sample.stack)?;
        let (labels, trace_id, span_id) = self.labels(record, sample);
        if self.stored_stacks.insert((time_ns.div_euclid(DAY_NS), stack)) {
            self.out.stacks.push(StackRow { record, time_ns, stack, frames });
        }
        let timestamps = sample.timestamps.of(&self.batch.timestamps);
        for (index, value) in values.iter().enumerate().filter(|(_, value)| **value != 0) {
            let profile = first + index as u32;
            let row = *rows.entry((profile, stack, labels, trace_id, span_id)).or_insert_with(|| {
                self.out.samples.push(SampleRow {
                    record,
                    profile,
                    stack,
                    value: 0,
                    labels,
                    timestamps: 0,
                    trace_id,
                    span_id,
                });
                self.out.samples.len() - 1
            });
            self.out.samples[row].value = self.out.samples[row].value.saturating_add(*value);
            let of = &mut self.out.profiles[profile as usize];
            of.samples += 1;
            of.value = of.value.saturating_add(*value);
            if !timestamps.is_empty() {
                of.has_timestamps = true;
                let list = times.entry(row).or_default();
                for time in timestamps {
                    let offset = i64::try_from(*time).unwrap_or(i64::MAX).saturating_sub(time_ns);
                    list.extend(offset.to_le_bytes());
                }
            }
        }
        Ok(())
    }

    fn stack(&mut self, index: u32) -> Result<MadeStack<'a>, DropReason> {
        if let Some(made) = self.hashes[index as usize] {
            return Ok(made);
        }
        if self.work > WORK_MAX || self.stack_bytes > STACK_BYTES_MAX {
            return Err(DropReason::ProfileTooLarge);
        }
        let batch = self.batch;
        let locations = batch.stacks[index as usize].of(&batch.stack_locations);
        let of = |location: &u32| &batch.locations[*location as usize];
        let count: usize = locations.iter().map(|location| frame_count(of(location))).sum();
        self.work += count.min(FRAMES_MAX + 1) + 1;
        let (hash, stored) = if count > FRAMES_MAX {
            let leaf_first = locations.iter().flat_map(|location| frames_of(batch, of(location)));
            let mut list: Vec<Frame<'a>> = leaf_first.take(FRAMES_MAX + 1).collect();
            list[FRAMES_MAX] = Frame { function: TRUNCATED, ..Frame::default() };
            let (mut hash, mut stored) = (StackHash::default(), Vec::new());
            for frame in list.iter().rev() {
                hash.add(frame);
                put_frame(frame, &mut stored);
            }
            (hash, stored)
        } else {
            self.whole_stack(locations)
        };
        self.stack_bytes += stored.len();
        let made = (hash.get(), &*self.arena.alloc_slice_copy(&stored));
        self.hashes[index as usize] = Some(made);
        Ok(made)
    }

    /// The hash and the stored frames of a stack, of which all frames are stored.
    fn whole_stack(&mut self, locations: &[u32]) -> (StackHash, Vec<u8>) {
        let mut stored = Vec::new();
        locations.iter().rev().for_each(|location| stored.extend_from_slice(self.encoded(*location)));
        let batch = self.batch;
        let frames = |location: u32| frames_of(batch, &batch.locations[location as usize]).rev();
        (self.prefixes.hash(locations.iter().rev().copied(), frames), stored)
    }

    /// The stored frames of a location.
    fn encoded(&mut self, location: u32) -> &'a [u8] {
        if let Some(encoded) = self.encoded[location as usize] {
            return encoded;
        }
        let mut stored = Vec::new();
        let frames = frames_of(self.batch, &self.batch.locations[location as usize]);
        frames.rev().for_each(|frame| put_frame(&frame, &mut stored));
        let encoded: &'a [u8] = self.arena.alloc_slice_copy(&stored);
        self.encoded[location as usize] = Some(encoded);
        encoded
    }

    /// The labels that are stored, and the ids of trace and span.
    fn labels(&mut self, record: u32, sample: &Sample) -> (u32, TraceId, SpanId) {
        let (mut trace_id, mut span_id) = (sample.trace_id, sample.span_id);
        let mut kept: Vec<KeyValue<'a>> = Vec::new();
        for label in sample.labels.of(&self.batch.labels) {
            if SPAN_KEYS.contains(&label.key) && span_id == SpanId::default() {
                span_id = span_of(label.text, label.number);
            } else if TRACE_KEYS.contains(&label.key) && trace_id == TraceId::default() {
                trace_id = trace_of(label.text);
            }
            let is_allowed = label.key == ENDPOINT_LABEL || self.source.labels.iter().any(|key| key == label.key);
            // The first value of each key. WIRE 2.1.
            if !is_allowed || kept.iter().any(|known| known.key == label.key) {
                continue;
            }
            let value = match label.text {
                "" if label.number != 0 => &*self.arena.alloc_str(&label.number.to_string()),
                "" => continue,
                text => cut(text, LABEL_BYTES_MAX),
            };
            let known = self.label_values.entry(label.key).or_default();
            let hash = xxh3_64(value.as_bytes());
            if known.len() >= LABEL_VALUES_MAX && !known.contains(&hash) {
                self.out.trimmed.push(record);
                continue;
            }
            known.insert(hash);
            kept.push(KeyValue { key: label.key, value: AnyValue::Str(value) });
        }
        if kept.is_empty() {
            return (0, trace_id, span_id);
        }
        kept.sort_unstable_by_key(|label| label.key);
        let mut encoded = Vec::new();
        encode_attributes(&kept, &mut encoded);
        let list = match self.label_lists.get(encoded.as_slice()) {
            Some(known) => *known,
            None => {
                let stored: &'a [u8] = self.arena.alloc_slice_copy(&encoded);
                let list = self.out.labels.len() as u32;
                self.out.labels.push(stored);
                self.label_lists.insert(stored, list);
                list
            }
        };
        (list, trace_id, span_id)
    }
}

/// Identifies a profile: its id, and what it measures when, because converters give the values of one profile the same
/// id.
fn identity(profile: &Profile<'_>, types: &[SampleType<'_>]) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(&profile.id);
    hasher.update(&profile.time_ns.to_le_bytes());
    for part in types.iter().flat_map(|one| [one.name, one.unit]).chain([profile.service, profile.server_name]) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.digest128()
}

/// The number of [`frames_of`] a location.
fn frame_count(location: &Location) -> usize {
    ((location.lines.end - location.lines.start) as usize).max(1)
}

/// The frames of a location, innermost first: its lines, or its address.
fn frames_of<'a>(batch: &ProfileBatch<'a>, location: &Location) -> impl DoubleEndedIterator<Item = Frame<'a>> {
    let functions = location.lines.of(&batch.lines).iter().map(|function| batch.functions[*function as usize]);
    let named = functions.map(|function| Frame {
        function: if function.name.is_empty() { "(unknown)" } else { cut(function.name, FRAME_TEXT_BYTES_MAX) },
        file: cut(function.file, FRAME_TEXT_BYTES_MAX),
        ..Frame::default()
    });
    let address = location.lines.is_empty().then(|| {
        let mapping = batch.mappings.get(location.mapping as usize).copied().unwrap_or_default();
        let file = cut(mapping.file, FRAME_TEXT_BYTES_MAX);
        // Addresses of pprof are those of the process, addresses of OTLP those of the file.
        let address = match location.address.checked_sub(mapping.start) {
            Some(in_mapping) if batch.format == crate::model::ProfileFormat::Pprof => {
                in_mapping.wrapping_add(mapping.offset)
            }
            _ => location.address,
        };
        let build_id = cut(mapping.build_id, LABEL_BYTES_MAX);
        match location.address {
            0 => Frame { function: "(unknown)", file, ..Frame::default() },
            _ => Frame { function: "", file, build_id, address: address.max(1) },
        }
    });
    named.chain(address)
}

/// The id of a span: 16 hex digits, or a number as Datadog writes it; zeros when it is neither.
fn span_of(text: &str, number: i64) -> SpanId {
    let bits = match text.len() {
        16 => u64::from_str_radix(text, 16).ok(),
        0 => Some(number as u64),
        _ => text.parse().ok(),
    };
    SpanId(bits.unwrap_or_default().to_be_bytes())
}

/// The id of a trace: 32 hex digits; zeros when it is not.
fn trace_of(text: &str) -> TraceId {
    let bits = if text.len() == 32 { u128::from_str_radix(text, 16).ok() } else { None };
    TraceId(bits.unwrap_or_default().to_be_bytes())
}
