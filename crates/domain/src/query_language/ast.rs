//! The syntax tree.

use super::pattern::Pattern;
use super::quantity::Quantity;

/// A condition on one row.
///
/// The parser returns a normal form: `All` and `Any` have at least two operands and none of their own kind, and `Not`
/// never contains a `Not`. The empty query is `All` without operands, which is never an operand.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// Every operand is true; true without operands.
    All(Vec<Expr>),
    /// At least one operand is true.
    Any(Vec<Expr>),
    /// The operand is false.
    Not(Box<Expr>),
    /// A text of the row contains the literal; ASCII case is ignored.
    Text(Literal),
    /// The row has the field, with any value.
    Has(Field),
    /// Compares a field with a literal; false when the row lacks the field.
    Compare {
        /// The field, on the left.
        field: Field,
        /// The comparison.
        comparison: Comparison,
        /// The literal, on the right.
        literal: Literal,
    },
}

impl Expr {
    /// The condition that is true on every row.
    pub const fn everything() -> Expr {
        Expr::All(Vec::new())
    }

    /// Both conditions, in normal form.
    #[must_use]
    pub fn and(self, other: Expr) -> Expr {
        Expr::all([self, other])
    }

    /// The opposite condition, in normal form.
    #[must_use]
    pub fn negated(self) -> Expr {
        match self {
            Expr::Not(inner) => *inner,
            other => Expr::Not(Box::new(other)),
        }
    }

    /// The conjunction, in normal form.
    pub fn all(operands: impl IntoIterator<Item = Expr>) -> Expr {
        let mut flat = Vec::new();
        for operand in operands {
            match operand {
                Expr::All(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if flat.len() == 1 { flat.remove(0) } else { Expr::All(flat) }
    }

    /// The disjunction of at least one condition, in normal form. An operand that is always true remains an operand.
    pub fn any(operands: impl IntoIterator<Item = Expr>) -> Expr {
        let mut flat = Vec::new();
        for operand in operands {
            match operand {
                Expr::Any(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if flat.len() == 1 { flat.remove(0) } else { Expr::Any(flat) }
    }
}

/// A field of a row: a column or an attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The level that the query names with a prefix such as `resource.`; none: the row decides.
    pub scope: Option<Scope>,
    /// Name of the column, or key of the attribute; never empty.
    pub key: String,
    /// Where the field begins in the text.
    pub position: Position,
}

impl Field {
    /// A field without a scope and a position.
    pub fn named(key: impl Into<String>) -> Field {
        Field { scope: None, key: key.into(), position: Position::default() }
    }
}

/// The level of the OpenTelemetry data model at which an attribute is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `record.`: the span, log record or data point.
    Record,
    /// `resource.`: the resource.
    Resource,
    /// `scope.`: the instrumentation scope.
    Scope,
    /// `child.`: any span below the row's span.
    Child,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Scope; 4] = [Scope::Record, Scope::Resource, Scope::Scope, Scope::Child];

    /// The name that precedes the key and a dot.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Record => "record",
            Scope::Resource => "resource",
            Scope::Scope => "scope",
            Scope::Child => "child",
        }
    }
}

/// A comparison of a field with a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `:`: matches the pattern, in which `*` is any text.
    Matches,
    /// `=`: equals the text, in which `*` is an asterisk.
    Equals,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
}

impl Comparison {
    /// The operator as written.
    pub const fn symbol(self) -> &'static str {
        match self {
            Comparison::Matches => ":",
            Comparison::Equals => "=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
        }
    }

    /// Whether the comparison needs an order of values.
    pub const fn is_ordering(self) -> bool {
        !matches!(self, Comparison::Matches | Comparison::Equals)
    }

    /// Whether it holds for the order of a value and the literal.
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Comparison::Matches | Comparison::Equals => order.is_eq(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
        }
    }
}

/// A value in a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Literal {
    /// The text; only a literal without quotes has wildcards. A literal without quotes is not empty.
    pub pattern: Pattern,
    /// It was written in quotes: it is never a number, and `*` is an asterisk.
    pub quoted: bool,
    /// Where the literal begins in the text.
    pub position: Position,
}

impl Literal {
    /// A literal in quotes.
    pub fn quoted(text: impl Into<String>) -> Literal {
        Literal { pattern: Pattern::exact(text), quoted: true, position: Position::default() }
    }

    /// The text without wildcards, as `=` compares it: an asterisk stands for itself.
    pub fn text(&self) -> String {
        self.pattern.source()
    }

    /// The number with its unit; none for a quoted literal and for any other text.
    pub fn quantity(&self) -> Option<Quantity> {
        if self.quoted { None } else { Quantity::parse(self.pattern.as_exact()?) }
    }
}

/// A byte offset in the text of a query. It is no part of the meaning: all positions are equal.
#[derive(Debug, Clone, Copy, Default)]
pub struct Position(pub u32);

impl PartialEq for Position {
    fn eq(&self, _: &Position) -> bool {
        true
    }
}

/// A condition on one trace.
///
/// A query without braces is a chain of one expression: the trace matches when any of its spans does.
#[derive(Debug, Clone, PartialEq)]
pub enum TraceExpr {
    /// Every operand is true.
    All(Vec<TraceExpr>),
    /// At least one operand is true.
    Any(Vec<TraceExpr>),
    /// The operand is false: no spans of the trace are such a chain.
    Not(Box<TraceExpr>),
    /// Spans of the trace are such a chain.
    Chain(SpanChain),
}

impl TraceExpr {
    /// The conjunction of at least one condition, in normal form.
    pub fn all(operands: impl IntoIterator<Item = TraceExpr>) -> TraceExpr {
        let mut flat = Vec::new();
        for operand in operands {
            match operand {
                TraceExpr::All(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if flat.len() == 1 { flat.remove(0) } else { TraceExpr::All(flat) }
    }

    /// The disjunction of at least one condition, in normal form.
    pub fn any(operands: impl IntoIterator<Item = TraceExpr>) -> TraceExpr {
        let mut flat = Vec::new();
        for operand in operands {
            match operand {
                TraceExpr::Any(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if flat.len() == 1 { flat.remove(0) } else { TraceExpr::Any(flat) }
    }

    /// The opposite condition, in normal form.
    #[must_use]
    pub fn negated(self) -> TraceExpr {
        match self {
            TraceExpr::Not(inner) => *inner,
            other => TraceExpr::Not(Box::new(other)),
        }
    }
}

/// `{a} > {b} >> {c}`: a span matches the first expression, and each further span has the relation to the one before.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanChain {
    /// Condition on the first span.
    pub first: Expr,
    /// The relation to the span before, and the condition on the span.
    pub rest: Vec<(Relation, Expr)>,
}

/// The relation of a span to another one of its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `>`: it is a child.
    Child,
    /// `>>`: it is a descendant.
    Descendant,
}
