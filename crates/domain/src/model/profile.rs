//! Profiles: pprof and the OTLP profiles signal, in one form.

use super::{Slice, SpanId, TraceId};

/// The format of a request with profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProfileFormat {
    /// `profile.proto`. WIRE 2.1.
    #[default]
    Pprof,
    /// OTLP, `v1development`.
    Otlp,
}

/// The profiles of one request. Lists refer to each other by index or range.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProfileBatch<'a> {
    /// The format of the request.
    pub format: ProfileFormat,
    /// The profiles.
    pub profiles: Vec<Profile<'a>>,
    /// Measures of the values of samples; each profile has a range.
    pub sample_types: Vec<SampleType<'a>>,
    /// Samples; each profile has a range.
    pub samples: Vec<Sample>,
    /// Values of samples, one per sample type.
    pub values: Vec<i64>,
    /// Labels of samples.
    pub labels: Vec<Label<'a>>,
    /// Times of samples, nanoseconds since the epoch.
    pub timestamps: Vec<u64>,
    /// Ranges of `stack_locations`, leaf first.
    pub stacks: Vec<Slice>,
    /// Indexes into `locations`.
    pub stack_locations: Vec<u32>,
    /// Code locations.
    pub locations: Vec<Location>,
    /// Indexes into `functions`: the lines of a location, innermost inlined function first.
    pub lines: Vec<u32>,
    /// Functions.
    pub functions: Vec<Function<'a>>,
    /// Loaded files.
    pub mappings: Vec<Mapping<'a>>,
}

/// One profile.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Profile<'a> {
    /// `profile_id`; zeros when none.
    pub id: [u8; 16],
    /// Range of `sample_types`.
    pub sample_types: Slice,
    /// Range of `samples`.
    pub samples: Slice,
    /// Start, nanoseconds since the epoch; 0 when unknown.
    pub time_ns: u64,
    /// Nanoseconds; 0 when unknown.
    pub duration_ns: u64,
    /// `service.name` of the resource; empty for pprof.
    pub service: &'a str,
    /// The instance: `service.instance.id`, else `host.name` of the resource; empty for pprof.
    pub server_name: &'a str,
    /// `service.version` of the resource; empty for pprof.
    pub app_version: &'a str,
    /// The process: instance id, host, pid and container of the resource, as far as there are any; empty for pprof.
    pub process: &'a str,
}

/// Measure of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SampleType<'a> {
    /// For example `cpu`.
    pub name: &'a str,
    /// For example `nanoseconds`.
    pub unit: &'a str,
}

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// Index into `stacks`; [`Sample::NO_STACK`] when the sample cannot be read.
    pub stack: u32,
    /// Range of `values`.
    pub values: Slice,
    /// Range of `labels`.
    pub labels: Slice,
    /// Range of `timestamps`.
    pub timestamps: Slice,
    /// The trace of the sample; zeros when none.
    pub trace_id: TraceId,
    /// The span of the sample; zeros when none.
    pub span_id: SpanId,
}

impl Sample {
    /// The stack of a sample that refers to something that does not exist.
    pub const NO_STACK: u32 = u32::MAX;
}

/// One label of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Label<'a> {
    /// The key.
    pub key: &'a str,
    /// The string; empty for a numeric label.
    pub text: &'a str,
    /// The number of a numeric label.
    pub number: i64,
}

/// A code location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Location {
    /// Index into `mappings`; [`Location::NO_MAPPING`] when unknown.
    pub mapping: u32,
    /// Address of the instruction.
    pub address: u64,
    /// Range of `lines`; empty when the location is not symbolized.
    pub lines: Slice,
}

impl Location {
    /// The mapping of a location without one.
    pub const NO_MAPPING: u32 = u32::MAX;
}

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Function<'a> {
    /// The name; the system name when it is empty.
    pub name: &'a str,
    /// The source file; empty when unknown.
    pub file: &'a str,
}

/// A file that is loaded into the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mapping<'a> {
    /// First address.
    pub start: u64,
    /// Offset of the first address in the file.
    pub offset: u64,
    /// Path of the file; empty when unknown.
    pub file: &'a str,
    /// Build id in hex digits; empty when unknown.
    pub build_id: &'a str,
}
