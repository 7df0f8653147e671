//! The words of a line, with its variables masked.

use std::fmt;

/// Form of a variable part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variable {
    /// A decimal number.
    Number,
    /// A UUID, or a long word of letters and digits.
    Id,
    /// A hexadecimal number.
    Hex,
    /// An address of IPv4 or IPv6.
    Ip,
    /// Any word: lines of the pattern differ here.
    Any,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// The same in every line.
    Fixed(String),
    /// Differs between lines.
    Variable(Variable),
}

/// A word of a line: what is between two spaces, possibly nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Token(pub Vec<Part>);

/// Shorter words are not hexadecimal numbers or ids.
const HEX_CHARS_MIN: usize = 8;
const ID_CHARS_MIN: usize = 12;
const ID_DIGITS_MIN: usize = 3;
/// Length of the groups of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

impl Token {
    /// A token that stands for any word.
    pub fn any() -> Token {
        Token(vec![Part::Variable(Variable::Any)])
    }

    /// Whether it stands for any word.
    pub fn is_any(&self) -> bool {
        self.0 == [Part::Variable(Variable::Any)]
    }

    /// The token of a word.
    pub fn of(word: &str) -> Token {
        let mut token = Token::default();
        let mut rest = word;
        let mut before = None;
        while let Some(next) = rest.chars().next() {
            let is_boundary = before.is_none_or(|c: char| !c.is_alphanumeric());
            let taken = match variable(rest).filter(|_| is_boundary) {
                Some((kind, length)) => {
                    token.push_variable(kind);
                    length
                }
                None if is_boundary && next.is_ascii_alphanumeric() => {
                    let run = run(rest);
                    token.push_run(run);
                    run.len()
                }
                None => {
                    token.push_fixed(next);
                    next.len_utf8()
                }
            };
            before = rest[..taken].chars().next_back();
            rest = &rest[taken..];
        }
        token
    }

    fn push_fixed(&mut self, c: char) {
        match self.0.last_mut() {
            Some(Part::Fixed(text)) => text.push(c),
            _ => self.0.push(Part::Fixed(c.to_string())),
        }
    }

    fn push_variable(&mut self, kind: Variable) {
        // Adjacent numbers are one.
        if self.0.last() != Some(&Part::Variable(kind)) {
            self.0.push(Part::Variable(kind));
        }
    }

    /// Letters and digits: the digits are numbers.
    fn push_run(&mut self, run: &str) {
        for c in run.chars() {
            if c.is_ascii_digit() {
                self.push_variable(Variable::Number);
            } else {
                self.push_fixed(c);
            }
        }
    }
}

/// The longest beginning of ASCII letters and digits.
fn run(text: &str) -> &str {
    let end = text.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(text.len());
    &text[..end]
}

/// Whether a variable may end here: the next character is neither letter nor digit.
fn ends(rest: &str) -> bool {
    !rest.chars().next().is_some_and(char::is_alphanumeric)
}

/// The variable at the beginning of a text, and its length in bytes.
fn variable(text: &str) -> Option<(Variable, usize)> {
    let found = |kind, length: Option<usize>| length.filter(|length| ends(&text[*length..])).map(|l| (kind, l));
    found(Variable::Id, uuid(text))
        .or_else(|| found(Variable::Ip, ipv4(text)))
        .or_else(|| found(Variable::Ip, ipv6(text)))
        .or_else(|| found(Variable::Hex, hexadecimal(text)))
        .or_else(|| found(Variable::Number, number(text)))
        .or_else(|| found(Variable::Id, id(text)))
}

fn uuid(text: &str) -> Option<usize> {
    let mut at = 0;
    for (i, length) in UUID.into_iter().enumerate() {
        if i > 0 {
            at += text[at..].starts_with('-').then_some(1)?;
        }
        let group = text.as_bytes().get(at..at + length)?;
        group.iter().all(u8::is_ascii_hexdigit).then_some(())?;
        at += length;
    }
    Some(at)
}

/// The number of ASCII digits at the beginning.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn ipv4(text: &str) -> Option<usize> {
    let mut at = 0;
    for i in 0..4 {
        if i > 0 {
            at += text[at..].starts_with('.').then_some(1)?;
        }
        let length = digits(&text[at..]);
        text[at..at + length].parse::<u8>().ok().filter(|_| length <= 3)?;
        at += length;
    }
    // `1.2.3.4.5` is a version.
    let is_longer = text[at..].strip_prefix('.').is_some_and(|rest| digits(rest) > 0);
    (!is_longer).then_some(at)
}

fn ipv6(text: &str) -> Option<usize> {
    let end = text.bytes().position(|byte| !(byte.is_ascii_hexdigit() || byte == b':')).unwrap_or(text.len());
    let address = text[..end].trim_end_matches(':');
    let colons = address.bytes().filter(|byte| *byte == b':').count();
    let is_address = (colons >= 2 && address.contains("::")) || colons == 7;
    // `a::b` is a path of a program.
    (is_address && address.bytes().any(|byte| byte.is_ascii_digit())).then_some(address.len())
}

fn hexadecimal(text: &str) -> Option<usize> {
    let run = run(text);
    if let Some(rest) = run.strip_prefix("0x").or_else(|| run.strip_prefix("0X")) {
        return (!rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(run.len());
    }
    let is_hex = run.len() >= HEX_CHARS_MIN
        && run.bytes().all(|byte| byte.is_ascii_hexdigit())
        && run.bytes().any(|byte| byte.is_ascii_digit())
        && run.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_hex.then_some(run.len())
}

fn number(text: &str) -> Option<usize> {
    let sign = usize::from(text.starts_with('-'));
    let whole = digits(&text[sign..]);
    if whole == 0 {
        return None;
    }
    let end = sign + whole;
    let fraction = text[end..].strip_prefix('.').map_or(0, digits);
    Some(if fraction > 0 { end + 1 + fraction } else { end })
}

fn id(text: &str) -> Option<usize> {
    let run = run(text);
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let is_id = run.len() >= ID_CHARS_MIN && digits >= ID_DIGITS_MIN && digits < run.len();
    is_id.then_some(run.len())
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Variable::Number => "<num>",
            Variable::Id => "<id>",
            Variable::Hex => "<hex>",
            Variable::Ip => "<ip>",
            Variable::Any => "<*>",
        })
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Fixed(text) => f.write_str(text),
            Part::Variable(kind) => kind.fmt(f),
        })
    }
}
