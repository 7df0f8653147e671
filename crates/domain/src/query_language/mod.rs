//! The query language of lists, searches and rules: `service:checkout level>=error "card declined" -path:/health`.
//!
//! ```text
//! text ──parse──> Query ──print──> text        parse(print(query)) == query
//! ```
//!
//! One grammar serves every kind of row: `docs/use/query-language.md` is its reference. Rows give fields their types:
//! [`evaluate`] defines the meaning of a query on one row, and every engine gives the same answer.
//!
//! An error names its position in the query.

mod ast;
mod evaluate;
mod parser;
mod pattern;
mod print;
mod quantity;
#[cfg(test)]
mod tests;

pub use ast::{Comparison, Expr, Field, Literal, Position, Relation, Scope, SpanChain, TraceExpr};
pub use evaluate::{Cell, Row, compare, evaluate};
pub use parser::{ParseError, ParseLimits, parse, parse_trace};
pub use pattern::Pattern;
pub use quantity::{Quantity, Unit};
