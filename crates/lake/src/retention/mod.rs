//! Removal of rows: those that are kept no longer ([`delete_rows`], by the time of [`expire`]), and the oldest days of a
//! disk that has no room for more ([`disk_budget`]).

pub(crate) mod delete_rows;
pub(crate) mod disk_budget;
mod expire;
