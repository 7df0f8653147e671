//! The reasons for which records are not stored.

/// Reasons for which a record is not stored. The names are part of the API (`POST /api/drops`) and never change
/// meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DropReason {
    /// A root span that no rule promotes. SPEC classification, last row; DECISIONS 4.
    UnmatchedRoot,
    /// A span with invalid ids. Reported as partial success. DECISIONS 5.
    InvalidId,
    /// An ExponentialHistogram or Summary of a project that does not store them, or a summary with too many quantiles.
    /// SPEC metrics mapping; docs/decisions/0013.
    UnsupportedMetricType,
    /// A point without a value ("no recorded value", an empty number), or a metric without data or name.
    EmptyPoint,
    /// A value that is NaN or infinite.
    NotFinite,
    /// Not in the sample. DECISIONS 13.
    Sampled,
    /// A successful health check or a descendant of one. WIRE 8.6.
    Healthcheck,
    /// A time outside of 64-bit nanoseconds. Reported as partial success. DECISIONS 25.
    InvalidTime,
    /// Older than the project's retention. Reported as partial success. DECISIONS 25.
    TooOld,
    /// Already stored, as the store detects. DECISIONS 11.
    Duplicate,
    /// An item of a native report that cannot be read. WIRE 1.1.
    InvalidItem,
    /// A segment of a recording without content. WIRE 1.7.
    EmptyRecording,
    /// A segment of a recording that belongs to no session, and to no exception that is stored. WIRE 1.7.
    RecordingWithoutOwner,
    /// A segment of a recording with more than `rules::session::SEGMENT_BYTES_MAX` bytes.
    RecordingTooLarge,
    /// A segment of a recording of a project that stores none.
    RecordingsOff,
    /// A sample of a profile whose values are all zero. WIRE 2.1.
    EmptySample,
    /// A sample of a profile with more or longer stacks than one request may have.
    ProfileTooLarge,
}

impl DropReason {
    /// The name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            DropReason::UnmatchedRoot => "unmatched_root",
            DropReason::InvalidId => "invalid_id",
            DropReason::UnsupportedMetricType => "unsupported_metric_type",
            DropReason::EmptyPoint => "empty_point",
            DropReason::NotFinite => "not_finite",
            DropReason::Sampled => "sampled",
            DropReason::Healthcheck => "healthcheck",
            DropReason::InvalidTime => "invalid_time",
            DropReason::TooOld => "too_old",
            DropReason::Duplicate => "duplicate",
            DropReason::InvalidItem => "invalid_item",
            DropReason::EmptyRecording => "empty_recording",
            DropReason::RecordingWithoutOwner => "recording_without_owner",
            DropReason::RecordingTooLarge => "recording_too_large",
            DropReason::RecordingsOff => "recordings_off",
            DropReason::EmptySample => "empty_sample",
            DropReason::ProfileTooLarge => "profile_too_large",
        }
    }
}
