//! The operating system's side of the server: memory, disk, log lines, own spans.
//!
//! - [`memory`]: freed memory goes back to the system. [`reserve`]: disk space to open the control database on a full
//!   disk. [`missing_accounts`]: detects a lost control database.
//! - [`logging`], [`own_traces`]: log lines and spans of the server itself.
//! - [`limits_table`]: the limits as `docs/operate/limits.md` lists them.

pub mod limits_table;
pub mod logging;
pub mod memory;
pub mod missing_accounts;
pub mod own_traces;
pub mod reserve;
