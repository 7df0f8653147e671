//! Removal of rows: rows past their retention ([`delete_rows`], by the time of [`expire`]), and the oldest days when
//! the disk budget is exceeded ([`disk_budget`]).

mod delete_matching;
pub(crate) mod delete_rows;
pub(crate) mod disk_budget;
mod expire;
