//! Parts are written: a memtable by [`flush`], sorted rows of any origin by [`part_writer`].

pub(crate) mod flush;
pub(crate) mod part_writer;
