//! Tests of the lake's interface: every applied row is returned exactly once, whatever happens in between.

mod answers;
mod budget;
mod calls;
mod catalog_faults;
mod checking;
mod clock;
mod concurrent;
mod crash;
mod merging;
mod model;
mod names;
mod pages;
mod points;
mod power;
mod retention;
mod retries;
mod stacks;
pub(crate) mod support;
mod suspect;
mod usage;
mod visible;
