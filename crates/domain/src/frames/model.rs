//! A parsed stack trace, and what grammars build it with.

/// Frames of a trace that are kept.
const FRAMES_MAX: usize = 20_000;
/// Exceptions of a trace that are kept.
const EXCEPTIONS_MAX: usize = 64;
/// Places of a message of several lines that are skipped.
pub(super) const HOLES_MAX: usize = 4;

/// Grammar of a printed stack trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// CPython, PyPy.
    Python,
    /// Java, Kotlin, Scala, Groovy, Clojure.
    Jvm,
    /// V8, SpiderMonkey, JavaScriptCore, Hermes.
    JavaScript,
    /// Go.
    Go,
    /// Rust.
    Rust,
    /// CoreCLR, Mono.
    DotNet,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Elixir and Erlang.
    Elixir,
    /// Dart and Flutter.
    Dart,
    /// C, C++, Swift, Objective-C: backtraces of native code.
    Native,
}

/// Owner of the code of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Code of the application.
    Application,
    /// Code of a library, a framework or the runtime.
    Library,
    /// Throw helpers, reflection and starts of threads: never of interest.
    Plumbing,
}

/// One frame as printed. Absent parts are empty strings or 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame<'a> {
    /// Class, package or namespace.
    pub module: &'a str,
    /// Function without arguments.
    pub function: &'a str,
    /// Path or URL.
    pub file: &'a str,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// Owner of the code.
    pub role: Role,
}

/// Relation of an exception to its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The exception that was recorded.
    Outermost,
    /// Caused the parent, or was handled when the parent was raised.
    Cause,
    /// Occurred while the parent was handled by closing resources.
    Suppressed,
    /// One of the exceptions of a group.
    Member,
}

/// One exception of a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thrown<'a> {
    /// Type as printed; empty when unknown.
    pub exception_type: &'a str,
    /// Relation to the parent.
    pub relation: Relation,
    /// Index of the parent in [`Stack::exceptions`]; its own index for the outermost.
    pub parent: usize,
    /// Start and end in [`Stack::frames`], innermost first.
    pub frames: (usize, usize),
    /// Outermost frames that were left out by the printer because the parent has them.
    pub shared: usize,
}

/// A parsed stack trace.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stack<'a> {
    /// Grammar; `None` for a text without frames.
    pub language: Option<Language>,
    /// Exceptions in the order of the text.
    pub exceptions: Vec<Thrown<'a>>,
    /// Frames of all exceptions.
    pub frames: Vec<Frame<'a>>,
    /// Index of the outermost exception.
    pub outermost: usize,
}

/// Type and message of the recorded exception, and the language of its SDK.
#[derive(Debug, Clone, Copy, Default)]
pub struct Event<'a> {
    /// `telemetry.sdk.language`, or empty.
    pub language: &'a str,
    /// `exception.type`, or empty.
    pub exception_type: &'a str,
    /// `exception.message`, or empty.
    pub message: &'a str,
}

/// Lines without those of a known message and without carriage returns.
#[derive(Clone)]
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) holes: [(usize, usize); HOLES_MAX],
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let end = self.at + length;
        self.at = match self.holes.iter().find(|hole| hole.0 == end) {
            Some(hole) => hole.1,
            None => end + 1,
        };
        let line = &rest[..length];
        Some(line.strip_suffix('\r').unwrap_or(line))
    }
}

/// Collects exceptions and frames.
pub(super) struct Builder<'a> {
    pub(super) event: Event<'a>,
    pub(super) stack: Stack<'a>,
}

impl<'a> Builder<'a> {
    /// Adds a frame to the latest exception. The first frame without exception starts that of the event.
    #[inline]
    pub(super) fn frame(&mut self, frame: Frame<'a>) {
        if self.stack.exceptions.is_empty() {
            self.exception("", Relation::Outermost, 0);
        }
        if self.stack.frames.len() < FRAMES_MAX {
            self.stack.frames.push(frame);
        }
        let end = self.stack.frames.len();
        if let Some(latest) = self.stack.exceptions.last_mut() {
            latest.frames.1 = end;
        }
    }

    /// Starts an exception and returns its index. Above the limit the latest continues.
    pub(super) fn exception(&mut self, exception_type: &'a str, relation: Relation, parent: usize) -> usize {
        let index = self.stack.exceptions.len();
        if index >= EXCEPTIONS_MAX {
            return index - 1;
        }
        let at = self.stack.frames.len();
        let frames = (at, at);
        self.stack.exceptions.push(Thrown { exception_type, relation, parent, frames, shared: 0 });
        index
    }

    /// Frames of the latest exception.
    pub(super) fn latest_is_empty(&self) -> bool {
        self.stack.exceptions.last().is_none_or(|latest| latest.frames.0 == latest.frames.1)
    }
}
