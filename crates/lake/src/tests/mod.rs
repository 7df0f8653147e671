//! The lake from the outside: what goes in comes out, once, whatever happens in between.

mod answers;
mod budget;
mod catalog_faults;
mod checking;
mod clock;
mod concurrent;
mod crash;
mod keeping;
mod merging;
mod model;
mod names;
mod pages;
mod points;
mod power;
mod retries;
pub(crate) mod support;
mod suspect;
mod visible;
