//! Bodies of requests and responses: plain structs, without computation.

pub mod login;
pub mod people;
pub mod project;
