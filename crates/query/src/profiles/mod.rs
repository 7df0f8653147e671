//! Profiles: lists, series, flame graphs, functions, downloads and the link from a span. WIRE 2.2.
//!
//! [`selection`] validates requests; [`counted`] finds the profiles that count; [`stacks`] reads sums and frames; [`tree`] merges stacks.
//!
//! A flame graph has at most as many nodes as a canvas can draw. Merged nodes keep their totals.

mod counted;
mod flame;
mod links;
mod lists;
mod names;
mod pprof;
mod selection;
mod series;
mod stacks;
mod tree;

pub use flame::{flame_graph, top};
pub use links::links;
pub use lists::{dimensions, grouped, labels, types};
pub use pprof::{PprofFile, pprof};
pub use series::{breakdown, series};
pub use stacks::NativeNames;
