//! Indexes that lie in the file of a part, beside its rows: which pages can hold a trace, which can hold a text.

pub mod trace_id;
pub mod trigram;
