//! What stands before a handler: who is asking, how large and how slow a body may be. Holds no numbers.

pub mod admission;
pub mod auth;
pub mod body;
pub mod budget;
pub mod login;
pub mod pace;
