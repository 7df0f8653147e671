//! Roll-ups of parts: made when a part is written, stored in its file.
//!
//! ```text
//! sorted rows of a part ──builder──> cells per minute, quarter, hour, day ──chunk──> a section of the same file
//! ```
//!
//! - [`builder`] makes cells while a part is written; [`chunk`] and [`keys`] encode them; [`directory`] says where in
//!   the file they lie. [`verify`] compares them with the rows.
//! - [`tidewatch_store::rollup`] defines what is rolled up; `scan/from_rollups` answers plans with the cells.
//!
//! A part's roll-up is made of that part's rows, in that part's file. So it comes and goes with them: the transaction
//! that registers a part registers its roll-up, a merge that drops a row twice received drops it from the roll-up too,
//! and retention has nothing more to delete. No answer from roll-ups counts what a scan would not.

pub mod builder;
pub mod chunk;
pub mod directory;
pub mod keys;
mod varint;
pub mod verify;
