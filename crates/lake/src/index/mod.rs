//! Indexes stored in a part's file, beside its rows: which pages may have a trace id, which may contain a string.

pub mod trace_id;
pub mod trigram;
