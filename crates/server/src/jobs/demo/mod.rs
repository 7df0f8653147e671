//! Demo data in a project of its own, loaded by the server: [`load`] sends it through the pipeline, [`state`] reports
//! its progress. The traffic comes from [`tidewatch_bench::demo`].

pub mod load;
pub mod state;
