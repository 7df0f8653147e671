//! What the process takes from the machine and gives to the operator.
//!
//! - [`background`]: threads that a panic does not end in silence. [`files`]: the data directory and its file system.
//! - [`outbound`]: HTTP to other servers. [`machine`]: how much memory there is.
//! - [`redact`]: what spans, log lines and names must not carry.

#![forbid(unsafe_code)]

pub mod background;
pub mod files;
pub mod machine;
pub mod outbound;
pub mod redact;
