//! An exception as grouping takes it, and the parts of its key.

use crate::frames::Relation;

/// Divides the parts of a frame or an exception in a key.
pub(super) const INSIDE: char = '\u{1f}';
/// Divides frames and exceptions in a key.
pub(super) const BETWEEN: char = '\u{1e}';
/// One recorded exception. Absent parts are empty.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Occurrence<'a> {
    /// `telemetry.sdk.language`: decides where two grammars fit.
    pub language: &'a str,
    /// `exception.type`.
    pub exception_type: &'a str,
    /// `exception.message`.
    pub message: &'a str,
    /// Displayed stack trace, symbolicated where possible (DECISIONS 14).
    pub stack_trace: &'a str,
    /// Name of the span, or scope of the log record: counts where the message has only values.
    pub context: &'a str,
    /// `exception.group_id` or `tidewatch.fingerprint`.
    pub fingerprint: &'a str,
}

impl<'a> Occurrence<'a> {
    /// An exception of which nothing else is known.
    pub fn new(exception_type: &'a str, message: &'a str, stack_trace: &'a str) -> Occurrence<'a> {
        Occurrence { exception_type, message, stack_trace, ..Occurrence::default() }
    }
}

/// Material of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The explicit fingerprint.
    Fingerprint,
    /// Types and frames of the application.
    ApplicationFrames,
    /// Types and frames, none of them of the application.
    AllFrames,
    /// Type and message without values.
    Message,
    /// The type alone.
    Type,
}

impl Basis {
    /// Name in the API; it never changes.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Fingerprint => "fingerprint",
            Basis::ApplicationFrames => "application_frames",
            Basis::AllFrames => "all_frames",
            Basis::Message => "message",
            Basis::Type => "type",
        }
    }
}

/// Group of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// First 8 bytes of the SHA-256 of the key, big-endian: shown as 16 hexadecimal digits.
    pub hash: u64,
    /// Material of the key.
    pub basis: Basis,
}

/// Parts of a key, for the explanation and for comparing Issues.
#[derive(Debug, Clone, PartialEq)]
pub struct Components {
    /// Material of the key.
    pub basis: Basis,
    /// Exceptions of the trace, outermost first.
    pub exceptions: Vec<ExceptionComponent>,
    /// Message without values where it counts.
    pub message: Option<String>,
}

/// One exception of [`Components`].
#[derive(Debug, Clone, PartialEq)]
pub struct ExceptionComponent {
    /// Type as it counts.
    pub exception_type: String,
    /// Relation to the exception above.
    pub relation: Relation,
    /// Whether the exception counts.
    pub is_counted: bool,
    /// Frames, innermost first.
    pub frames: Vec<FrameComponent>,
}

/// One frame of [`Components`].
#[derive(Debug, Clone, PartialEq)]
pub struct FrameComponent {
    /// Module or file, a space, and the function, without what builds and values change.
    pub text: String,
    /// Reason for which the frame does not count; `None` where it does.
    pub left_out: Option<LeftOut>,
}

/// Reason for which a frame does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// Code of a library, and the application has frames.
    Library,
    /// Throw helpers, reflection, starts of threads.
    Plumbing,
    /// Repeated by a recursion.
    Repeated,
    /// Shared with the exception above, or of an exception that does not count.
    Shared,
    /// Beyond the number of frames that count, or the basis is not the frames.
    Limit,
}
