//! A template, the lines that it matches, and a query for them.

use std::fmt;

use super::token::{Part, Token};
use crate::query_language::{Comparison, Expr, Field, Literal, Pattern, Position};

/// Bytes of a body that are looked at.
const LINE_BYTES_MAX: usize = 1024;
/// Words of a body that are looked at.
const TOKENS_MAX: usize = 96;
/// Bytes of the fixed parts in a query, which is limited itself.
const QUERY_BYTES_MAX: usize = 1000;
/// Wildcards in a query.
const WILDCARDS_MAX: usize = 40;

/// A pattern of lines: the words of the beginning of a body.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Template {
    /// The words.
    pub tokens: Vec<Token>,
    /// Bodies of the pattern have more after these words: further lines, or more than is looked at.
    pub has_more: bool,
}

impl Template {
    /// The template of one body: its first line.
    pub fn of(body: &str) -> Template {
        let line = body.split('\n').next().unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        let cut = (0..=line.len().min(LINE_BYTES_MAX)).rev().find(|at| line.is_char_boundary(*at));
        let line = &line[..cut.unwrap_or(0)];
        let mut words = line.split(' ');
        let mut end = 0;
        let tokens: Vec<Token> = words
            .by_ref()
            .take(TOKENS_MAX)
            .map(|word| {
                end += word.len() + 1;
                Token::of(word)
            })
            .collect();
        Template { tokens, has_more: end - 1 < body.len() }
    }

    /// Whether the body belongs to this pattern or to one that is more special.
    pub fn matches(&self, body: &str) -> bool {
        self.covers(&Template::of(body))
    }

    /// Whether every body of `other` matches.
    pub fn covers(&self, other: &Template) -> bool {
        self.has_more == other.has_more
            && self.tokens.len() == other.tokens.len()
            && self.tokens.iter().zip(&other.tokens).all(|(own, other)| own.is_any() || own == other)
    }

    /// The number of equal words. `other` has as many words.
    pub(super) fn equal_tokens(&self, other: &Template) -> usize {
        self.tokens.iter().zip(&other.tokens).filter(|(own, other)| own == other).count()
    }

    /// Replaces the words that differ by variables, so that `other` is covered too.
    pub(super) fn generalize(&mut self, other: &Template) {
        for (own, other) in self.tokens.iter_mut().zip(&other.tokens) {
            if own != other {
                *own = Token::any();
            }
        }
    }

    /// A query that every body of the pattern meets, and few others do.
    pub fn query(&self) -> Expr {
        let mut parts = vec![String::new()];
        let mut bytes = 0;
        let mut is_whole = !self.has_more;
        let mut add = |text: &str, parts: &mut Vec<String>| {
            bytes += text.len();
            let fits = bytes <= QUERY_BYTES_MAX && parts.len() <= WILDCARDS_MAX;
            if fits && let Some(last) = parts.last_mut() {
                last.push_str(text);
            }
            fits
        };
        'words: for (i, token) in self.tokens.iter().enumerate() {
            if i > 0 && !add(" ", &mut parts) {
                is_whole = false;
                break;
            }
            for part in &token.0 {
                match part {
                    Part::Fixed(text) => {
                        if !add(text, &mut parts) {
                            is_whole = false;
                            break 'words;
                        }
                    }
                    Part::Variable(_) => {
                        // Two variables side by side are one wildcard.
                        if parts.len() == 1 || parts.last().is_some_and(|last| !last.is_empty()) {
                            parts.push(String::new());
                        }
                    }
                }
            }
        }
        if !is_whole && (parts.len() == 1 || parts.last().is_some_and(|last| !last.is_empty())) {
            parts.push(String::new());
        }
        let field = Field::named("body");
        let position = Position::default();
        match parts.as_slice() {
            [only] if only.is_empty() => Expr::Has(field).negated(),
            [only] => Expr::Compare { field, comparison: Comparison::Matches, literal: Literal::quoted(only.as_str()) },
            _ => {
                let literal = Literal { pattern: Pattern::with_wildcards(parts), quoted: false, position };
                Expr::Compare { field, comparison: Comparison::Matches, literal }
            }
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, token) in self.tokens.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            token.fmt(f)?;
        }
        if self.has_more { f.write_str(" …") } else { Ok(()) }
    }
}
