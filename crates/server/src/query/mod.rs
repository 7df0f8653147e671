//! Request to question to JSON view; one file per dashboard resource.

pub mod views;
