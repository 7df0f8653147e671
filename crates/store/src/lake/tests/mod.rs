//! The lake from the outside: what goes in comes out, once, whatever happens in between.

mod answers;
mod catalog_faults;
mod checking;
mod concurrent;
mod crash;
mod keeping;
mod merging;
mod model;
mod names;
mod points;
mod power;
pub(crate) mod support;
mod suspect;
mod visible;
