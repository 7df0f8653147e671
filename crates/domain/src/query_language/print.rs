//! Prints a query in its canonical form.

use std::fmt;

use super::ast::{Expr, Field, Literal, Relation, Scope, SpanChain, TraceExpr};
use super::parser::begins_with;

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::All(operands) => joined(f, operands, " ", |operand| matches!(operand, Expr::Any(_))),
            Expr::Any(operands) => joined(f, operands, " OR ", |operand| matches!(operand, Expr::All(_))),
            Expr::Not(operand) => match &**operand {
                inner @ (Expr::All(_) | Expr::Any(_)) => write!(f, "-({inner})"),
                inner => write!(f, "-{inner}"),
            },
            Expr::Text(literal) => word(f, literal, true),
            Expr::Has(field) => write!(f, "has:{field}"),
            Expr::Compare { field, comparison, literal } => {
                write!(f, "{field}{}", comparison.symbol())?;
                word(f, literal, false)
            }
        }
    }
}

impl fmt::Display for TraceExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceExpr::All(operands) => joined(f, operands, " ", |operand| matches!(operand, TraceExpr::Any(_))),
            TraceExpr::Any(operands) => joined(f, operands, " OR ", |operand| matches!(operand, TraceExpr::All(_))),
            TraceExpr::Not(operand) => match &**operand {
                TraceExpr::Chain(chain) => write!(f, "!{chain}"),
                inner => write!(f, "!({inner})"),
            },
            TraceExpr::Chain(chain) => chain.fmt(f),
        }
    }
}

impl fmt::Display for SpanChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.first)?;
        for (relation, expr) in &self.rest {
            let symbol = match relation {
                Relation::Child => ">",
                Relation::Descendant => ">>",
            };
            write!(f, " {symbol} {{{expr}}}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scope) = self.scope {
            write!(f, "{}.", scope.name())?;
        }
        let looks_scoped = |scope: Scope| {
            self.key.strip_prefix(scope.name()).is_some_and(|rest| rest.starts_with('.') && rest.len() > 1)
        };
        // A key that looks like a scope, `has` or a negation is escaped at its beginning.
        let first = self.key.starts_with('-')
            || (self.scope.is_none() && (self.key == "has" || Scope::ALL.into_iter().any(looks_scoped)));
        escaped(f, &self.key, first, |c| ":=><!*\"\\(){}".contains(c) || c.is_whitespace())
    }
}

/// Operands between separators; those that bind less are in parentheses.
fn joined<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    operands: &[T],
    separator: &str,
    needs_parentheses: impl Fn(&T) -> bool,
) -> fmt::Result {
    for (place, operand) in operands.iter().enumerate() {
        if place > 0 {
            f.write_str(separator)?;
        }
        if needs_parentheses(operand) { write!(f, "({operand})")? } else { operand.fmt(f)? }
    }
    Ok(())
}

/// A literal; `alone` without a field before it, where the characters of operators are escaped too.
fn word(f: &mut fmt::Formatter<'_>, literal: &Literal, alone: bool) -> fmt::Result {
    if literal.quoted {
        f.write_str("\"")?;
        escaped(f, &literal.text(), false, |c| c == '"' || c == '\\')?;
        return f.write_str("\"");
    }
    let source = literal.text();
    let brackets_are_part = closes_its_brackets(&source);
    let is_keyword = ["AND", "OR", "NOT"].iter().any(|keyword| begins_with(&source, keyword));
    for (place, part) in literal.pattern.parts().iter().enumerate() {
        if place > 0 {
            f.write_str("*")?;
        }
        let begins = place == 0 && (is_keyword || part.starts_with(['-', '!', '(', '{', '<', '>', '=']));
        escaped(f, part, begins, |c| {
            c.is_whitespace()
                || "*\"\\".contains(c)
                || ("(){}".contains(c) && !brackets_are_part)
                || (alone && ":=><!".contains(c))
        })?;
    }
    Ok(())
}

/// Writes a text with a backslash before characters that have a meaning, and before the first one if asked.
fn escaped(f: &mut fmt::Formatter<'_>, text: &str, first: bool, special: impl Fn(char) -> bool) -> fmt::Result {
    for (place, character) in text.chars().enumerate() {
        if special(character) || (first && place == 0) {
            f.write_str("\\")?;
        }
        write!(f, "{character}")?;
    }
    Ok(())
}

/// Whether each bracket of a word has its counterpart inside it, and none is at its beginning.
fn closes_its_brackets(word: &str) -> bool {
    let mut open = Vec::new();
    for (place, character) in word.char_indices() {
        match character {
            '(' | '{' if place == 0 => return false,
            '(' => open.push(')'),
            '{' => open.push('}'),
            ')' | '}' if open.pop() != Some(character) => return false,
            _ => {}
        }
    }
    open.is_empty()
}
