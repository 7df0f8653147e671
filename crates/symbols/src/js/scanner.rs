//! Finds the functions of a script by its tokens and brackets, without a full parser.
//!
//! A brace after a closing parenthesis opens a function unless a control keyword precedes the parentheses; an arrow opens
//! one, too. Names come from the declaration, the property or the assignment. Unrecognized syntax loses names, but the
//! scan stays linear.

use crate::limits::SCRIPT_SCOPES_MAX;

/// The name token of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NameToken {
    pub start: usize,
    pub end: usize,
    /// Whether it is a property, which minifiers do not rename.
    pub is_property: bool,
}

/// A function, by byte offsets in the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Function {
    pub start: usize,
    pub end: usize,
    pub name: Option<NameToken>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    None,
    Word,
    /// Strings, numbers, templates, regular expressions.
    Value,
    Punctuation(u8),
    Arrow,
}

#[derive(Debug, Clone, Copy)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

/// Number of recent tokens: enough for `name = async function *` before a parenthesis.
const MEMORY: usize = 6;

/// The last tokens, the newest first.
#[derive(Debug, Clone, Copy)]
struct Recent([Token; MEMORY]);

enum Open {
    /// The tokens before the parenthesis, and its offset.
    Paren(Recent, usize),
    Bracket,
    /// A block, an object, or the body of a function.
    Brace(Option<usize>),
    Class(Option<NameToken>),
    Template,
    /// The body of an arrow function that is an expression.
    ArrowBody(usize),
}

pub(super) struct Scanner<'s> {
    bytes: &'s [u8],
    at: usize,
    recent: Recent,
    open: Vec<Open>,
    /// The tokens before the parenthesis that closed last, and its offset.
    closed: (Recent, usize),
    functions: Vec<Function>,
    /// After `class`: its name, and the number of open brackets.
    class: Option<(Option<NameToken>, usize)>,
}

const NOTHING: Recent = Recent([Token { kind: Kind::None, start: 0, end: 0 }; MEMORY]);

impl<'s> Scanner<'s> {
    pub(super) fn new(bytes: &'s [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            recent: NOTHING,
            open: Vec::new(),
            closed: (NOTHING, 0),
            functions: Vec::new(),
            class: None,
        }
    }

    pub(super) fn scan(mut self) -> Vec<Function> {
        if self.bytes.starts_with(b"#!") {
            self.skip_line();
        }
        while let Some(&byte) = self.bytes.get(self.at) {
            if self.functions.len() >= SCRIPT_SCOPES_MAX {
                break;
            }
            self.step(byte);
        }
        let end = self.bytes.len();
        self.functions.iter_mut().filter(|f| f.end == 0).for_each(|f| f.end = end);
        self.functions
    }

    fn step(&mut self, byte: u8) {
        let start = self.at;
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
            b'/' => self.slash(),
            b'"' | b'\'' => self.string(byte),
            b'`' => {
                self.at += 1;
                self.template(start);
            }
            b'=' if self.bytes.get(start + 1) == Some(&b'>') => {
                self.at += 2;
                self.arrow(start);
            }
            b'0'..=b'9' => {
                self.skip_while(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
                self.remember(Kind::Value, start);
            }
            b if is_word(b) => {
                self.skip_while(is_word);
                self.word(start);
            }
            b => {
                self.at += 1;
                self.punctuation(b, start);
            }
        }
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|b| keep(*b)) {
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        self.skip_while(|b| b != b'\n');
    }

    fn remember(&mut self, kind: Kind, start: usize) {
        self.recent.0.rotate_right(1);
        self.recent.0[0] = Token { kind, start, end: self.at };
    }

    fn text(&self, token: &Token) -> &'s [u8] {
        &self.bytes[token.start..token.end]
    }

    fn is_word(&self, token: &Token, words: &[&str]) -> bool {
        token.kind == Kind::Word && words.iter().any(|w| w.as_bytes() == self.text(token))
    }

    fn word(&mut self, start: usize) {
        // `class` begins a class body unless it is a property: `a.class`, `{class: 1}`.
        let token = Token { kind: Kind::Word, start, end: self.at };
        let [last, ..] = self.recent.0;
        if self.is_word(&token, &["class"]) && last.kind != Kind::Punctuation(b'.') {
            self.class = Some((self.assigned_name(&self.recent.0), self.open.len()));
        } else if self.is_word(&last, &["class"])
            && !self.is_word(&token, &["extends"])
            && let Some((name, _)) = &mut self.class
        {
            *name = Some(NameToken { start, end: self.at, is_property: false });
        }
        self.remember(Kind::Word, start);
    }

    fn slash(&mut self) {
        let start = self.at;
        match self.bytes.get(start + 1) {
            Some(b'/') => self.skip_line(),
            Some(b'*') => {
                let end = self.bytes[start + 2..].windows(2).position(|w| w == b"*/");
                self.at = end.map_or(self.bytes.len(), |e| start + 2 + e + 2);
            }
            _ if self.divides() => {
                self.at += 1;
                self.remember(Kind::Punctuation(b'/'), start);
            }
            _ => self.regular_expression(start),
        }
    }

    /// Whether a slash here is a division, by the token before it.
    fn divides(&self) -> bool {
        let last = &self.recent.0[0];
        match last.kind {
            Kind::Word => !self.is_word(
                last,
                &[
                    "return",
                    "typeof",
                    "case",
                    "in",
                    "of",
                    "delete",
                    "void",
                    "throw",
                    "new",
                    "else",
                    "do",
                    "instanceof",
                    "yield",
                    "await",
                ],
            ),
            Kind::Value | Kind::Punctuation(b']') => true,
            Kind::Punctuation(b')') => !self.is_word(&self.closed.0.0[0], &["if", "while", "for", "with"]),
            _ => false,
        }
    }

    fn regular_expression(&mut self, start: usize) {
        let mut at = start + 1;
        let mut in_class = false;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => {
                    self.at = at + 1;
                    self.skip_while(is_word);
                    self.remember(Kind::Value, start);
                    return;
                }
                b'\n' => break,
                _ => {}
            }
            at += 1;
        }
        self.at = start + 1;
        self.remember(Kind::Punctuation(b'/'), start);
    }

    fn string(&mut self, quote: u8) {
        let start = self.at;
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\n' => break,
                b if b == quote => break,
                _ => {}
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.remember(Kind::Value, start);
    }

    /// Skips a template up to its end or the next `${`.
    fn template(&mut self, start: usize) {
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'`' => {
                    self.remember(Kind::Value, start);
                    return;
                }
                b'$' if self.bytes.get(self.at) == Some(&b'{') => {
                    self.at += 1;
                    self.open.push(Open::Template);
                    self.remember(Kind::Punctuation(b'{'), self.at - 1);
                    return;
                }
                _ => {}
            }
        }
        self.at = self.at.min(self.bytes.len());
    }

    fn arrow(&mut self, start: usize) {
        // The tokens before the parameters name the function. Parameters begin at a word or at a parenthesis.
        let (before, params) = match self.recent.0[0].kind {
            Kind::Punctuation(b')') => (self.closed.0.0, self.closed.1),
            _ => (self.before(1), self.recent.0[0].start),
        };
        let skip = usize::from(self.is_word(&before[0], &["async"]));
        let name = self.assigned_name(&before[skip..]);
        self.remember(Kind::Arrow, start);
        self.functions.push(Function { start: params.min(start), end: 0, name });
        self.open.push(Open::ArrowBody(self.functions.len() - 1));
    }

    /// The recent tokens without the latest `count`.
    fn before(&self, count: usize) -> [Token; MEMORY] {
        let mut tokens = self.recent.0;
        tokens.rotate_left(count);
        tokens[MEMORY - count..].fill(NOTHING.0[0]);
        tokens
    }

    /// The word before `=` or `:`.
    fn assigned_name(&self, before: &[Token]) -> Option<NameToken> {
        let [sign, word, dot, ..] = before else { return None };
        let word_token = |is_property| Some(NameToken { start: word.start, end: word.end, is_property });
        match (sign.kind, word.kind) {
            (Kind::Punctuation(b'='), Kind::Word) => word_token(dot.kind == Kind::Punctuation(b'.')),
            (Kind::Punctuation(b':'), Kind::Word)
                if !self.is_word(dot, &["case"]) && dot.kind != Kind::Punctuation(b'?') =>
            {
                word_token(true)
            }
            (Kind::Punctuation(b':'), Kind::Value) if matches!(self.bytes[word.start], b'"' | b'\'') => (word.end
                - word.start
                > 2)
            .then(|| NameToken { start: word.start + 1, end: word.end - 1, is_property: true }),
            _ => None,
        }
    }

    fn punctuation(&mut self, byte: u8, start: usize) {
        match byte {
            b'(' => self.open.push(Open::Paren(self.recent, start)),
            b'[' => self.open.push(Open::Bracket),
            b'{' => {
                let open = self.brace(start);
                self.open.push(open);
            }
            b')' | b']' | b'}' => {
                self.end_arrows(start);
                match self.open.pop() {
                    Some(Open::Paren(before, at)) => self.closed = (before, at),
                    Some(Open::Brace(Some(function))) => {
                        self.functions[function].end = self.at;
                        // The body of an arrow function is open as an arrow and as a brace.
                        if matches!(self.open.last(), Some(Open::ArrowBody(f)) if *f == function) {
                            self.open.pop();
                        }
                    }
                    Some(Open::Template) if byte == b'}' => {
                        self.template(start);
                        return;
                    }
                    _ => {}
                }
            }
            b',' | b';' => self.end_arrows(start),
            _ => {}
        }
        self.remember(Kind::Punctuation(byte), start);
    }

    fn end_arrows(&mut self, at: usize) {
        while let Some(Open::ArrowBody(function)) = self.open.last() {
            self.functions[*function].end = at;
            self.open.pop();
        }
    }

    /// The construct that an opening brace opens.
    fn brace(&mut self, start: usize) -> Open {
        let [last, ..] = self.recent.0;
        if last.kind == Kind::Arrow
            && let Some(Open::ArrowBody(function)) = self.open.last()
        {
            return Open::Brace(Some(*function));
        }
        if let Some((name, depth)) = self.class
            && depth == self.open.len()
            && last.kind != Kind::Punctuation(b'(')
        {
            self.class = None;
            return Open::Class(name);
        }
        if last.kind != Kind::Punctuation(b')') {
            return Open::Brace(None);
        }
        match self.function_before_parameters() {
            Some((from, name)) => {
                self.functions.push(Function { start: from.min(start), end: 0, name });
                Open::Brace(Some(self.functions.len() - 1))
            }
            None => Open::Brace(None),
        }
    }

    /// Start and name of the function whose parameters closed last.
    fn function_before_parameters(&self) -> Option<(usize, Option<NameToken>)> {
        let before = &self.closed.0.0;
        let parameters = self.closed.1;
        let [first, second, third, ..] = before;
        let is_star = |t: &Token| t.kind == Kind::Punctuation(b'*');
        if self.is_word(first, &["if", "for", "while", "switch", "with", "catch", "await"]) {
            return None;
        }
        // `function (`, `function *(`: named by the assignment.
        for (keyword, rest) in [(first, &before[1..]), (second, &before[2..])] {
            if self.is_word(keyword, &["function"]) && (std::ptr::eq(keyword, first) || is_star(first)) {
                let rest = if self.is_word(&rest[0], &["async"]) { &rest[1..] } else { rest };
                return Some((keyword.start, self.assigned_name(rest)));
            }
        }
        match first.kind {
            Kind::Word => {
                let is_declared =
                    self.is_word(second, &["function"]) || is_star(second) && self.is_word(third, &["function"]);
                let mut name = Some(NameToken { start: first.start, end: first.end, is_property: !is_declared });
                if !is_declared && self.text(first) == b"constructor" {
                    // Engines name a constructor by its class.
                    name = match self.open.last() {
                        Some(Open::Class(class)) => *class,
                        _ => name,
                    };
                }
                Some((first.start, name))
            }
            Kind::Value if first.end - first.start > 2 && matches!(self.bytes[first.start], b'"' | b'\'') => {
                Some((first.start, Some(NameToken { start: first.start + 1, end: first.end - 1, is_property: true })))
            }
            Kind::Value | Kind::Punctuation(b']') => Some((parameters, None)),
            _ => None,
        }
    }
}

/// Whether this is an identifier byte. All bytes outside of ASCII count as letters.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | b'\\') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Asserts the functions found, each as `name@text`.
    #[track_caller]
    fn check(script: &str, expected: &[&str]) {
        let functions = Scanner::new(script.as_bytes()).scan();
        let got: Vec<String> = functions
            .iter()
            .map(|f| format!("{}@{}", f.name.map_or("", |n| &script[n.start..n.end]), &script[f.start..f.end]))
            .collect();
        assert_eq!(got, expected, "{script}");
    }

    #[test]
    fn functions_are_found_with_their_names() {
        check("function a(b){return b}", &["a@a(b){return b}"]);
        check("x=function(){};", &["x@function(){}"]);
        check("a.b=async function*(){}", &["b@function*(){}"]);
        check("var f=(a,b)=>a+b,g=c=>{c()};", &["f@(a,b)=>a+b", "g@c=>{c()}"]);
        check("f(e=>e.a(g=>1),2)", &["@e=>e.a(g=>1)", "@g=>1"]);
        check(
            "({m(){},'n o'(){},get p(){return 1},q:()=>1,[r](){}})",
            &["m@m(){}", "n o@'n o'(){}", "p@p(){return 1}", "q@()=>1", "@(){}"],
        );
        check(
            "class A extends B{constructor(a){super(a)}static m(){}#p(){}}",
            &["A@constructor(a){super(a)}", "m@m(){}", "#p@#p(){}"],
        );
        check("if(a){b()}for(;;){}while(1){}", &[]);
        check("let s=`a${(()=>{return `}`})()}b`,t=1", &["@()=>{return `}`}"]);
    }

    #[test]
    fn text_and_regular_expressions_hide_brackets() {
        check("a=/[/{]\\/(/;function f(){}", &["f@f(){}"]);
        check("b=a/2;c=d/e;function f(){}/* { */", &["f@f(){}"]);
        check("x='{';y=\"\\\"{\";// {\nfunction f(){}", &["f@f(){}"]);
        check("if(a)/{/.test(b);function f(){}", &["f@f(){}"]);
    }

    proptest! {
        #[test]
        fn any_script_is_scanned(script in "[a-z(){}\\[\\]=>`$'\"/*,;:.\\\\ \nü]{0,120}") {
            for f in Scanner::new(script.as_bytes()).scan() {
                prop_assert!(f.end <= script.len());
            }
        }
    }
}
