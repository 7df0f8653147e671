//! Roll-ups: what a ranking or a chart asks of many rows, added up when the rows are written.
//!
//! ```text
//! sorted rows of a part ──builder──> cells per minute, quarter, hour, day ──chunk──> a section of the same file
//! ```
//!
//! - [`spec`] says what is rolled up of each table: which columns tell cells apart, what is summed, what is sketched.
//! - [`sketch`] is the log-bucket sketch: mergeable, relative error below 1 %.
//! - [`builder`] makes cells while a part is written; [`chunk`] and [`keys`] encode them; [`directory`] says where in
//!   the file they lie. [`levels`] knows the widths, and which cells cover a range of time.
//! - `lake/scan/rolled` answers plans with them.
//!
//! A part's roll-up is made of that part's rows, in that part's file. So it comes and goes with them: the transaction
//! that registers a part registers its roll-up, a merge that drops a row twice received drops it from the roll-up too,
//! and retention has nothing more to delete. No answer from roll-ups counts what a scan would not.

pub mod builder;
pub mod chunk;
pub mod directory;
pub mod keys;
pub mod levels;
pub mod sketch;
pub mod spec;
mod varint;
pub mod verify;
