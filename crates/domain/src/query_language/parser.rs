//! The parser: recursive descent over the text, without a separate lexer, because a word ends elsewhere in a key than in
//! a value.

use super::ast::{Comparison, Expr, Field, Literal, Position, Relation, Scope, SpanChain, TraceExpr};
use super::pattern::Pattern;

/// Bounds of a query.
#[derive(Debug, Clone, Copy)]
pub struct ParseLimits {
    /// Maximum length of the text in bytes.
    pub bytes: usize,
    /// Maximum number of terms.
    pub terms: usize,
    /// Maximum depth of parentheses, braces and negations.
    pub depth: usize,
}

/// Fault of a query: one sentence, and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// One sentence without the position.
    pub message: String,
    /// Offset in bytes at which the fault begins; the length of the text when something is missing at its end.
    pub position: usize,
}

/// Parses a condition on rows. An empty text is the condition that is true on every row.
pub fn parse(text: &str, limits: ParseLimits) -> Result<Expr, ParseError> {
    let mut parser = Parser::new(text, limits)?;
    let expr = parser.expression(None)?;
    parser.end()?;
    Ok(expr)
}

/// Parses a condition on traces: a condition on rows, which any span of the trace meets, or conditions in braces.
///
/// `{service:a} > {service:b}` is a parent and its child, `>>` an ancestor and its descendant, and `!{…}` a trace
/// without such spans. Conditions in braces combine as terms do.
pub fn parse_trace(text: &str, limits: ParseLimits) -> Result<TraceExpr, ParseError> {
    let mut parser = Parser::new(text, limits)?;
    if !parser.has_spans() {
        return Ok(TraceExpr::Chain(SpanChain { first: parse(text, limits)?, rest: Vec::new() }));
    }
    let expr = parser.trace_expression()?;
    parser.end()?;
    Ok(expr)
}

/// The field and the comparison of a list `key:(a OR b)`.
type Subject<'f> = Option<(&'f Field, Comparison)>;

struct Parser<'t> {
    text: &'t str,
    at: usize,
    limits: ParseLimits,
    terms: usize,
    depth: usize,
}

/// A word as read: its strings between wildcards, and whether a character was escaped.
struct Word {
    parts: Vec<String>,
    /// Position of the first escape or quote in the text.
    escaped_at: Option<usize>,
    quoted: bool,
    position: usize,
}

impl Word {
    fn literal(self) -> Literal {
        let pattern = Pattern::with_wildcards(self.parts);
        Literal { pattern, quoted: self.quoted, position: position(self.position) }
    }

    /// The text when the word is a plain one, without wildcards and escapes.
    fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [one] if self.escaped_at.is_none() => Some(one),
            _ => None,
        }
    }
}

fn position(at: usize) -> Position {
    Position(u32::try_from(at).unwrap_or(u32::MAX))
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, limits: ParseLimits) -> Result<Parser<'t>, ParseError> {
        if text.len() > limits.bytes {
            return Err(ParseError {
                message: format!("a query has at most {} bytes", limits.bytes),
                position: limits.bytes,
            });
        }
        Ok(Parser { text, at: 0, limits, terms: 0, depth: 0 })
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes a keyword that stands alone.
    fn take_keyword(&mut self, keyword: &str) -> bool {
        let found = begins_with(self.rest(), keyword);
        if found {
            self.at += keyword.len();
        }
        found
    }

    /// Takes a sign of negation: one that stands directly before a term.
    fn take_sign(&mut self, sign: char) -> bool {
        let mut characters = self.rest().chars();
        let found = characters.next() == Some(sign) && characters.next().is_some_and(|next| !next.is_whitespace());
        if found {
            self.at += sign.len_utf8();
        }
        found
    }

    fn error<T>(&self, position: usize, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { message: message.into(), position })
    }

    fn end(&mut self) -> Result<(), ParseError> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(closing @ (')' | '}')) => self.error(self.at, format!("`{closing}` closes nothing")),
            Some(_) => self.error(self.at, "a condition in braces is expected, as in `{service:checkout}`"),
        }
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, ParseError>) -> Result<T, ParseError> {
        if self.depth == self.limits.depth {
            return self.error(self.at, format!("a query is at most {} levels deep", self.limits.depth));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn close(&mut self, opened: usize, closing: &str) -> Result<(), ParseError> {
        self.skip_space();
        if self.take(closing) {
            return Ok(());
        }
        match self.peek() {
            None => self.error(opened, format!("`{closing}` is missing for this")),
            Some(_) => self.error(self.at, format!("`{closing}` is expected")),
        }
    }

    /// `a b OR c`: AND binds closer than OR.
    fn expression(&mut self, subject: Subject<'_>) -> Result<Expr, ParseError> {
        let mut alternatives = vec![self.conjunction(subject)?];
        loop {
            self.skip_space();
            let at = self.at;
            if !self.take_keyword("OR") {
                return Ok(Expr::any(alternatives));
            }
            if alternatives.last() == Some(&Expr::everything()) {
                return self.error(at, "a term is missing before `OR`");
            }
            let next = self.conjunction(subject)?;
            if next == Expr::everything() {
                return self.error(self.at, "a term is missing after `OR`");
            }
            alternatives.push(next);
        }
    }

    fn conjunction(&mut self, subject: Subject<'_>) -> Result<Expr, ParseError> {
        let mut terms = Vec::new();
        loop {
            self.skip_space();
            let at = self.at;
            if self.take_keyword("AND") {
                if terms.is_empty() {
                    return self.error(at, "a term is missing before `AND`");
                }
                self.skip_space();
                if self.at_end_of_terms() {
                    return self.error(self.at, "a term is missing after `AND`");
                }
            } else if self.at_end_of_terms() {
                return Ok(Expr::all(terms));
            }
            terms.push(self.term(subject)?);
        }
    }

    fn at_end_of_terms(&mut self) -> bool {
        let at = self.at;
        let or = self.take_keyword("OR");
        let and = self.take_keyword("AND");
        self.at = at;
        or || and || matches!(self.peek(), None | Some(')' | '}'))
    }

    fn term(&mut self, subject: Subject<'_>) -> Result<Expr, ParseError> {
        let opened = self.at;
        if self.take_keyword("NOT") || self.take_sign('-') || self.take_sign('!') {
            return self.deeper(|parser| {
                parser.skip_space();
                if parser.at_end_of_terms() {
                    return parser.error(parser.at, "a term is missing after the negation");
                }
                Ok(parser.term(subject)?.negated())
            });
        }
        if self.take("(") {
            let inner = self.deeper(|parser| parser.expression(subject))?;
            self.close(opened, ")")?;
            if inner == Expr::everything() {
                return self.error(opened, "the parentheses are empty");
            }
            return Ok(inner);
        }
        self.terms += 1;
        if self.terms > self.limits.terms {
            return self.error(opened, format!("a query has at most {} terms", self.limits.terms));
        }
        if let Some((field, comparison)) = subject {
            let literal = self.value()?;
            return Ok(Expr::Compare { field: field.clone(), comparison, literal });
        }
        let word = self.key_or_word()?;
        match self.comparison() {
            None => self.free_text(word),
            Some(_) if word.parts.len() > 1 => self.error(word.position, "a field's name has no wildcards"),
            Some(_) if word.parts.concat().is_empty() => self.error(word.position, "a field's name is missing"),
            Some((":", at)) if word.plain() == Some("has") => {
                let key = self.key_or_word()?;
                if key.parts.len() > 1 || key.parts.concat().is_empty() {
                    return self.error(at, "a field's name is expected after `has:`");
                }
                Ok(Expr::Has(field(key)))
            }
            Some((symbol, at)) => self.compared(field(word), symbol, at),
        }
    }

    fn free_text(&mut self, word: Word) -> Result<Expr, ParseError> {
        if !word.quoted && word.parts == [""] {
            return self.error(word.position, "only a search of traces has conditions in braces");
        }
        Ok(Expr::Text(word.literal()))
    }

    /// The operator at this place, and where its value begins.
    fn comparison(&mut self) -> Option<(&'static str, usize)> {
        for symbol in [":>=", ":<=", ":>", ":<", ":", "!=", ">=", "<=", "=", ">", "<"] {
            if self.take(symbol) {
                let symbol = if symbol.len() > 1 { symbol.trim_start_matches(':') } else { symbol };
                return Some((symbol, self.at));
            }
        }
        None
    }

    fn compared(&mut self, field: Field, symbol: &str, at: usize) -> Result<Expr, ParseError> {
        let comparison = match symbol {
            ":" => Comparison::Matches,
            "=" | "!=" => Comparison::Equals,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            "<" => Comparison::Less,
            _ => Comparison::LessOrEqual,
        };
        let expr = if self.peek() == Some('(') {
            self.take("(");
            let inner = self.deeper(|parser| parser.expression(Some((&field, comparison))))?;
            self.close(at, ")")?;
            if inner == Expr::everything() {
                return self.error(at, "the parentheses are empty");
            }
            inner
        } else {
            let literal = self.value()?;
            Expr::Compare { field, comparison, literal }
        };
        Ok(if symbol == "!=" { expr.negated() } else { expr })
    }

    /// A value: a word that may contain the characters of operators, or a text in quotes.
    fn value(&mut self) -> Result<Literal, ParseError> {
        let word = self.word(|_| false)?;
        if !word.quoted && word.parts == [""] {
            return self.error(word.position, "a value is missing here");
        }
        Ok(word.literal())
    }

    /// A word up to an operator, or a text in quotes.
    fn key_or_word(&mut self) -> Result<Word, ParseError> {
        self.word(|rest| rest.starts_with([':', '=', '>', '<']) || rest.starts_with("!="))
    }

    fn word(&mut self, is_operator: impl Fn(&str) -> bool) -> Result<Word, ParseError> {
        let mut word = Word { parts: vec![String::new()], escaped_at: None, quoted: false, position: self.at };
        if self.peek() == Some('"') {
            word.quoted = true;
            word.escaped_at = Some(self.at);
            word.parts = vec![self.quoted()?];
            return Ok(word);
        }
        // Brackets inside a word belong to it as far as they are closed in it: `/users/{id}`, `render()`.
        let mut open = Vec::new();
        while let Some(next) = self.peek() {
            match next {
                _ if next.is_whitespace() || next == '"' || is_operator(self.rest()) => break,
                '(' if self.at > word.position => open.push(')'),
                '{' if self.at > word.position => open.push('}'),
                '(' | '{' => break,
                ')' | '}' if open.last() == Some(&next) => drop(open.pop()),
                ')' | '}' => break,
                _ => {}
            }
            self.at += next.len_utf8();
            match next {
                '*' => word.parts.push(String::new()),
                '\\' => {
                    let at = self.at - 1;
                    let Some(escaped) = self.peek() else {
                        return self.error(at, "a character is missing after the backslash");
                    };
                    self.at += escaped.len_utf8();
                    word.escaped_at.get_or_insert(at);
                    push(&mut word.parts, escaped);
                }
                other => push(&mut word.parts, other),
            }
        }
        if word.parts.len() > 1 && word.parts.concat().is_empty() {
            // Several wildcards side by side mean the same as one.
            word.parts.truncate(2);
        }
        Ok(word)
    }

    /// A text in quotes, in which a backslash escapes the next character.
    fn quoted(&mut self) -> Result<String, ParseError> {
        let opened = self.at;
        self.at += 1;
        let mut text = String::new();
        while let Some(next) = self.peek() {
            self.at += next.len_utf8();
            match next {
                '"' => return Ok(text),
                '\\' => match self.peek() {
                    Some(escaped) => {
                        self.at += escaped.len_utf8();
                        text.push(escaped);
                    }
                    None => break,
                },
                other => text.push(other),
            }
        }
        self.error(opened, "the closing quote is missing")
    }

    /// Whether the text has a condition in braces at the beginning of a term.
    fn has_spans(&self) -> bool {
        let mut text = self.text;
        loop {
            let before = text;
            text = text.trim_start_matches(|c: char| c.is_whitespace() || "(!-".contains(c));
            text = text.strip_prefix("NOT").unwrap_or(text);
            if text == before {
                return text.starts_with('{');
            }
        }
    }

    fn trace_expression(&mut self) -> Result<TraceExpr, ParseError> {
        let mut alternatives = vec![self.trace_conjunction()?];
        loop {
            self.skip_space();
            if !self.take_keyword("OR") {
                return Ok(TraceExpr::any(alternatives));
            }
            alternatives.push(self.trace_conjunction()?);
        }
    }

    fn trace_conjunction(&mut self) -> Result<TraceExpr, ParseError> {
        let mut operands = vec![self.trace_term()?];
        loop {
            self.skip_space();
            if !self.take_keyword("AND") && !self.rest().starts_with(['{', '(', '!', '-']) {
                let at = self.at;
                let not = self.take_keyword("NOT");
                self.at = at;
                if !not {
                    return Ok(TraceExpr::all(operands));
                }
            }
            operands.push(self.trace_term()?);
        }
    }

    fn trace_term(&mut self) -> Result<TraceExpr, ParseError> {
        self.skip_space();
        let opened = self.at;
        if self.take("!") || self.take("-") || self.take_keyword("NOT") {
            return Ok(self.deeper(Self::trace_term)?.negated());
        }
        if self.take("(") {
            let inner = self.deeper(Self::trace_expression)?;
            self.close(opened, ")")?;
            return Ok(inner);
        }
        let first = self.spans()?;
        let mut rest = Vec::new();
        loop {
            self.skip_space();
            let relation = match () {
                () if self.take(">>") => Relation::Descendant,
                () if self.take(">") => Relation::Child,
                () => return Ok(TraceExpr::Chain(SpanChain { first, rest })),
            };
            self.skip_space();
            rest.push((relation, self.spans()?));
        }
    }

    /// `{…}`: a condition on one span. Empty braces are any span.
    fn spans(&mut self) -> Result<Expr, ParseError> {
        let opened = self.at;
        if !self.take("{") {
            return self.error(opened, "a condition in braces is expected, as in `{service:checkout}`");
        }
        let expr = self.deeper(|parser| parser.expression(None))?;
        self.close(opened, "}")?;
        Ok(expr)
    }
}

fn push(parts: &mut [String], character: char) {
    if let Some(last) = parts.last_mut() {
        last.push(character);
    }
}

/// The field of a word that is a key: a scope before the first dot, unless it is escaped or quoted.
fn field(word: Word) -> Field {
    let (key, at) = (word.parts.concat(), word.position);
    let scope = Scope::ALL.into_iter().find(|scope| {
        let prefix = key.strip_prefix(scope.name()).and_then(|rest| rest.strip_prefix('.'));
        let is_escaped = word.escaped_at.is_some_and(|escape| escape <= at + scope.name().len());
        prefix.is_some_and(|rest| !rest.is_empty()) && !is_escaped
    });
    let key = match scope {
        Some(scope) => key[scope.name().len() + 1..].to_owned(),
        None => key,
    };
    Field { scope, key, position: position(at) }
}

/// Whether a text begins with a keyword, which white space, a bracket or a quote ends.
pub(super) fn begins_with(text: &str, keyword: &str) -> bool {
    let ends = |next: char| next.is_whitespace() || "(){}\"".contains(next);
    text.strip_prefix(keyword).is_some_and(|rest| rest.chars().next().is_none_or(ends))
}
