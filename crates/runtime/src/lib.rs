//! The process and its machine: files, memory, background threads, outbound HTTP and redaction.
//!
//! - [`background`]: heartbeats of background threads, which report a panic. [`files`]: the data directory and its file
//!   system.
//! - [`outbound`]: HTTP to other servers. [`machine`]: the memory available to the process.
//! - [`redact`]: removes credentials from spans, log lines and errors, and hidden characters from names and log lines.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod background;
pub mod files;
pub mod machine;
pub mod outbound;
pub mod redact;
