//! Writing parts: [`flush`] writes a memtable, [`part_writer`] writes sorted rows of any origin.

pub(crate) mod flush;
pub(crate) mod part_writer;
