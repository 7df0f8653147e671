//! Patterns of log lines, by Drain (He et al. 2017): a tree of fixed depth assigns each line to a template, which
//! generalizes as lines are added. Streaming and deterministic: the same lines in the same order give the same patterns.
//!
//! - [`token`]: the words of a line; numbers, addresses and ids in them are variables. [`template`]: a list of tokens,
//!   the lines that it matches, and a query for them. [`tree`]: assigns lines to templates.
//!
//! Invariant: a line belongs to at most one pattern, and that pattern matches it.

mod template;
mod token;
mod tree;

#[cfg(test)]
mod tests;

pub use template::Template;
pub use token::{Part, Token, Variable};
pub use tree::{Limits, Patterns};
