//! Roll-ups of parts, built when a part is written and stored in its file.
//!
//! ```text
//! sorted rows of a part ──builder──> cells per minute, quarter, hour, 4 hours, day ──chunk──> a section of its file
//! ```
//!
//! - [`builder`] builds cells while a part is written; [`chunk`] and [`keys`] encode them; [`directory`] locates them
//!   in the file. [`verify`] compares them with the rows.
//! - [`tidewatch_store::rollup`] defines what is rolled up; `scan/from_rollups` answers plans with the cells.
//!
//! A part's roll-up aggregates exactly the rows of that part and is stored in its file. The transaction that registers
//! a part registers its roll-up, a merge that drops a duplicate row drops it from the roll-up too, and retention
//! deletes both together. Roll-ups count the same rows as a scan.

pub mod builder;
pub mod chunk;
pub mod directory;
pub mod keys;
mod varint;
pub mod verify;
