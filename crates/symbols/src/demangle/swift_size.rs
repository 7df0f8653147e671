//! Computes an upper bound on the size of a demangled Swift name without building it.
//!
//! Swift's mangling is postfix: each operator pops nodes from a stack and pushes one. Identifiers, nominal types, bound
//! generic types, optionals and associated types are also entered into a table, and the operator `A` pushes an entry
//! again. Entries refer to entries, so a name of 200 bytes can expand to gigabytes.
//!
//! The name is read operator by operator, and each node is represented by its size. Operators that create entries of the
//! table are modeled exactly. Any other operator folds the complete stack into one node that is never popped
//! ([`Sizes::below`]); it includes all arguments of the operator, so sizes are never too small. After an operator whose
//! arguments are not parsed here, nothing may follow that could repeat an entry.

/// Maximum printed size of what an operator adds itself: keywords, punctuation, names of the standard library.
const OPERATOR_BYTES: usize = 64;

/// Maximum printed size of a list marker, which is printed only outside of a list.
const MARKER_BYTES: usize = 32;

/// Maximum printed size of one count in a generic signature, of which the demangler prints at most 128 parameters.
const PARAMETERS_BYTES: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Name,
    Type,
    /// `_`, after the first element of a list.
    First,
    /// `y`, an empty list.
    Empty,
    Other,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    kind: Kind,
    bytes: usize,
}

/// Reasons for which parsing ends early.
enum End {
    /// The demangler refuses the name and prints nothing.
    Malformed,
    /// Over the limit, or unknown.
    TooLarge,
}

struct Sizes<'n> {
    rest: &'n [u8],
    limit: usize,
    /// Size of all folded nodes.
    below: usize,
    stack: Vec<Node>,
    stack_bytes: usize,
    table: Vec<Node>,
    /// Length of the longest identifier, which a word reference may repeat.
    longest: usize,
}

/// An upper bound on the bytes that the demangler prints for this name, given without its prefix. `None` when it is more
/// than `limit` or unknown.
pub(super) fn printed_max(name: &str, limit: usize) -> Option<usize> {
    let mut sizes = Sizes {
        rest: name.as_bytes(),
        limit,
        below: 0,
        stack: Vec::new(),
        stack_bytes: 0,
        table: Vec::new(),
        longest: 0,
    };
    match sizes.run() {
        Ok(()) | Err(End::Malformed) => Some(sizes.below + sizes.stack_bytes),
        Err(End::TooLarge) => None,
    }
}

impl Sizes<'_> {
    fn run(&mut self) -> Result<(), End> {
        while let Some(operator) = self.next() {
            match operator {
                b'0'..=b'9' => self.identifier(operator)?,
                b'A' => self.repeat()?,
                b'S' => self.standard()?,
                b'C' | b'V' | b'O' | b'P' | b'a' => self.nominal()?,
                b'G' => self.bound_generic()?,
                b'Q' => self.archetype()?,
                b'L' => self.local_name()?,
                b'B' => self.builtin()?,
                b'Y' => self.annotation()?,
                b'y' => self.push(Kind::Empty, MARKER_BYTES)?,
                b'_' => self.push(Kind::First, MARKER_BYTES)?,
                b's' => self.push(Kind::Other, OPERATOR_BYTES)?,
                b'd' | b'K' => self.push(Kind::Other, OPERATOR_BYTES)?,
                b'x' => self.push(Kind::Type, OPERATOR_BYTES)?,
                b'q' => {
                    self.parameter()?;
                    self.push(Kind::Type, OPERATOR_BYTES)?;
                }
                b'h' | b'm' | b'n' | b'z' => self.wrap(Kind::Type)?,
                b'N' | b'Z' => self.wrap(Kind::Other)?,
                b'o' => {
                    self.next();
                    self.wrap(Kind::Name)?;
                }
                b'D' | b'E' | b'F' | b'c' | b'l' | b'p' | b't' | b'u' => self.fold(OPERATOR_BYTES)?,
                b'r' => self.signature()?,
                b'R' => self.requirement()?,
                b'f' => self.function()?,
                b'v' | b'i' => self.accessor()?,
                b'g' => {
                    self.index()?;
                    self.fold(OPERATOR_BYTES)?;
                }
                b'I' => self.implementation()?,
                b'X' => match self.next() {
                    Some(b'Y') => self.nominal()?,
                    Some(b'E' | b'A' | b'f' | b'K' | b'U' | b'L' | b'B' | b'C') => self.fold(OPERATOR_BYTES)?,
                    Some(b'o' | b'u' | b'w' | b'b' | b'D' | b'p' | b'c' | b'l' | b'P' | b'e') => {
                        self.fold(OPERATOR_BYTES)?;
                    }
                    _ => return self.tail(),
                },
                // A suffix of the compiler.
                b'.' => {
                    let bytes = self.rest.len();
                    self.rest = &[];
                    self.push(Kind::Other, bytes + 1)?;
                }
                b'T' | b'W' | b'M' | b'H' | b'w' | b'$' => {
                    self.next();
                    return self.tail();
                }
                _ => return Err(End::Malformed),
            }
        }
        Ok(())
    }

    /// Bounds the remaining operators without parsing them: none may repeat an entry, and each word of an identifier
    /// repeats at most the longest one.
    fn tail(&mut self) -> Result<(), End> {
        let repeats =
            self.rest.contains(&b'A') || self.rest.windows(2).any(|two| two[0] == b'S' && two[1].is_ascii_digit());
        if repeats {
            return Err(End::TooLarge);
        }
        let longest = self.longest.max(self.rest.len());
        let has_words = self.rest.contains(&b'0');
        let each = if has_words { OPERATOR_BYTES + longest } else { OPERATOR_BYTES };
        let bytes = self.rest.len().saturating_mul(each);
        self.rest = &[];
        self.fold(bytes)
    }

    fn identifier(&mut self, first: u8) -> Result<(), End> {
        let (mut has_words, mut is_punycode) = (false, false);
        let mut digits = Some(first);
        if first == b'0' {
            digits = None;
            match self.next_if(b'0') {
                true => is_punycode = true,
                false => has_words = true,
            }
        }
        let mut bytes = 0usize;
        loop {
            while has_words && let Some(letter) = self.rest.first().copied().filter(u8::is_ascii_alphabetic) {
                self.rest = &self.rest[1..];
                bytes = bytes.saturating_add(self.longest);
                has_words = letter.is_ascii_lowercase();
            }
            if digits.is_none() && self.next_if(b'0') {
                break;
            }
            let length = self.natural(digits.take())?;
            if is_punycode {
                self.next_if(b'_');
            }
            if length == 0 || length > self.rest.len() {
                return Err(End::Malformed);
            }
            self.rest = &self.rest[length..];
            self.longest = self.longest.max(length);
            // A character of Punycode is at most four bytes.
            bytes = bytes.saturating_add(if is_punycode { 4 * length } else { length });
            if !has_words {
                break;
            }
        }
        self.enter(Kind::Name, bytes)
    }

    /// `A`: letters refer to entries, all but the last in lower case, each with an optional repeat count.
    fn repeat(&mut self) -> Result<(), End> {
        let mut number = None;
        loop {
            match self.next() {
                Some(letter @ b'a'..=b'z') => self.push_entry(usize::from(letter - b'a'), number.take())?,
                Some(letter @ b'A'..=b'Z') => return self.push_entry(usize::from(letter - b'A'), number),
                Some(b'_') => {
                    let index = number.map_or(26, |number: usize| number.saturating_add(27));
                    return self.push_entry(index, None);
                }
                Some(digit @ b'0'..=b'9') => number = Some(self.natural(Some(digit))?),
                _ => return Err(End::Malformed),
            }
        }
    }

    fn push_entry(&mut self, index: usize, times: Option<usize>) -> Result<(), End> {
        let node = *self.table.get(index).ok_or(End::Malformed)?;
        for _ in 0..times.unwrap_or(1).max(1) {
            self.push(node.kind, node.bytes)?;
        }
        Ok(())
    }

    fn standard(&mut self) -> Result<(), End> {
        match self.next() {
            Some(b'o' | b'C') => self.push(Kind::Other, OPERATOR_BYTES),
            Some(b'g') => {
                let bytes = self.pop().bytes;
                self.enter(Kind::Type, bytes.saturating_add(OPERATOR_BYTES))
            }
            Some(first) => {
                let (mut times, mut letter) = (1, first);
                if first.is_ascii_digit() {
                    times = self.natural(Some(first))?;
                    letter = self.next().ok_or(End::Malformed)?;
                }
                if letter == b'c' {
                    self.next();
                }
                for _ in 0..times.max(1) {
                    self.push(Kind::Type, OPERATOR_BYTES)?;
                }
                Ok(())
            }
            None => Err(End::Malformed),
        }
    }

    /// Pops a name and a context.
    fn nominal(&mut self) -> Result<(), End> {
        let bytes = self.pop().bytes.saturating_add(self.pop().bytes);
        self.enter(Kind::Type, bytes.saturating_add(OPERATOR_BYTES))
    }

    /// Pops lists of types down to the empty list that begins them, and the type whose arguments they are.
    fn bound_generic(&mut self) -> Result<(), End> {
        let mut bytes = OPERATOR_BYTES;
        loop {
            let is_known = !self.stack.is_empty();
            let node = self.pop();
            bytes = bytes.saturating_add(node.bytes);
            if node.kind == Kind::Empty {
                bytes = bytes.saturating_add(self.pop().bytes);
                break;
            }
            // The folded node includes the remaining ones.
            if !is_known {
                break;
            }
        }
        self.enter(Kind::Type, bytes)
    }

    fn archetype(&mut self) -> Result<(), End> {
        match self.next() {
            Some(b'z') => self.member(),
            Some(b'y') => {
                self.parameter()?;
                self.member()
            }
            Some(b'Y') => {
                self.parameter()?;
                self.enter_all()
            }
            Some(b'o') => {
                self.index()?;
                self.enter_all()
            }
            Some(b'a' | b'x' | b'X' | b'Z') => self.enter_all(),
            Some(b'R' | b'e') => {
                self.index()?;
                self.fold(OPERATOR_BYTES)
            }
            Some(b'r') => self.push(Kind::Type, OPERATOR_BYTES),
            Some(b'O' | b'p' | b'P' | b'S') => self.fold(OPERATOR_BYTES),
            _ => Err(End::Malformed),
        }
    }

    /// A member of a generic parameter: pops its name, and its protocol if present.
    fn member(&mut self) -> Result<(), End> {
        let bytes = match &self.stack[..] {
            [.., Node { kind: Kind::Name, .. }] => self.pop().bytes,
            [.., Node { kind: Kind::Name, .. }, Node { kind: Kind::Type, .. }] => {
                self.pop().bytes.saturating_add(self.pop().bytes)
            }
            _ => return self.enter_all(),
        };
        self.enter(Kind::Type, bytes.saturating_add(OPERATOR_BYTES))
    }

    fn local_name(&mut self) -> Result<(), End> {
        let mut bytes = OPERATOR_BYTES;
        match self.rest.first() {
            Some(b'L') => {
                self.next();
                bytes = bytes.saturating_add(self.pop().bytes);
            }
            Some(b'l' | b'a'..=b'j' | b'A'..=b'J') => {
                self.next();
            }
            _ => self.index()?,
        }
        let bytes = bytes.saturating_add(self.pop().bytes);
        self.push(Kind::Name, bytes)
    }

    fn builtin(&mut self) -> Result<(), End> {
        match self.next() {
            Some(b'f' | b'i') => {
                self.index()?;
                self.push(Kind::Type, OPERATOR_BYTES)
            }
            Some(b'v') => {
                self.index()?;
                self.wrap(Kind::Type)
            }
            Some(b'V') => self.fold(OPERATOR_BYTES),
            Some(letter) if letter.is_ascii_alphabetic() => self.push(Kind::Type, OPERATOR_BYTES),
            _ => Err(End::Malformed),
        }
    }

    fn annotation(&mut self) -> Result<(), End> {
        match self.next() {
            Some(b'a' | b'A' | b'b' | b'C' | b'T') => self.push(Kind::Other, OPERATOR_BYTES),
            Some(b'c' | b'K') => self.wrap(Kind::Other),
            Some(b'i' | b'k' | b't' | b'g' | b'u') => self.wrap(Kind::Type),
            _ => self.tail(),
        }
    }

    fn signature(&mut self) -> Result<(), End> {
        while !self.next_if(b'l') {
            if !self.next_if(b'z') {
                self.index()?;
            }
            self.fold(PARAMETERS_BYTES)?;
        }
        self.fold(OPERATOR_BYTES)
    }

    fn requirement(&mut self) -> Result<(), End> {
        let letter = self.rest.first().copied().ok_or(End::Malformed)?;
        let is_known = b"VvcCbBtTsSmMlLpPQhiI".contains(&letter);
        if is_known {
            self.next();
        }
        if matches!(letter, b'i' | b'I') {
            self.index()?;
        }
        if !matches!(letter, b'B' | b'S' | b'L' | b'Q' | b'I') {
            self.parameter()?;
        }
        if matches!(letter, b'c' | b'C' | b't' | b'T' | b'm' | b'M' | b'p' | b'P') {
            self.enter_all()?;
        }
        if matches!(letter, b'm' | b'M' | b'l' | b'L')
            && !matches!(self.next(), Some(b'U' | b'R' | b'N' | b'C' | b'D' | b'T' | b'B'))
        {
            return self.tail();
        }
        self.fold(OPERATOR_BYTES)
    }

    fn function(&mut self) -> Result<(), End> {
        match self.next() {
            Some(b'U' | b'u' | b'A') => self.index()?,
            Some(b'D' | b'd' | b'Z' | b'E' | b'e' | b'i' | b'C' | b'c' | b'm' | b'p' | b'P' | b'F' | b'W') => {}
            _ => return self.tail(),
        }
        self.fold(OPERATOR_BYTES)
    }

    fn accessor(&mut self) -> Result<(), End> {
        match self.next() {
            Some(b'a' | b'l') => {
                self.next();
            }
            Some(letter) if letter.is_ascii_alphabetic() => {}
            _ => return Err(End::Malformed),
        }
        self.fold(OPERATOR_BYTES)
    }

    /// A lowered function type: letters up to `_`.
    fn implementation(&mut self) -> Result<(), End> {
        let end = self.rest.iter().position(|byte| *byte == b'_').ok_or(End::Malformed)?;
        if !self.rest[..end].iter().all(u8::is_ascii_alphabetic) {
            return self.tail();
        }
        self.rest = &self.rest[end + 1..];
        self.fold((end + 1) * OPERATOR_BYTES)
    }

    /// Reads depth and index of a generic parameter.
    fn parameter(&mut self) -> Result<(), End> {
        match self.rest.first() {
            Some(b'd') => {
                self.next();
                self.index()?;
                self.index()
            }
            Some(b'z' | b's') => {
                self.next();
                Ok(())
            }
            _ => self.index(),
        }
    }

    /// Reads decimal digits and `_`, or `_` alone.
    fn index(&mut self) -> Result<(), End> {
        if self.rest.first().is_some_and(u8::is_ascii_digit) {
            self.natural(None)?;
        }
        if self.next_if(b'_') { Ok(()) } else { Err(End::Malformed) }
    }

    fn natural(&mut self, first: Option<u8>) -> Result<usize, End> {
        let mut value = first.map(|digit| usize::from(digit - b'0'));
        while let Some(digit) = self.rest.first().copied().filter(u8::is_ascii_digit) {
            self.rest = &self.rest[1..];
            let more = value.unwrap_or(0).checked_mul(10).and_then(|tens| tens.checked_add(usize::from(digit - b'0')));
            // The demangler uses 31-bit numbers.
            value = Some(more.filter(|value| *value <= i32::MAX as usize).ok_or(End::TooLarge)?);
        }
        value.ok_or(End::Malformed)
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn next_if(&mut self, wanted: u8) -> bool {
        let is_there = self.rest.first() == Some(&wanted);
        if is_there {
            self.rest = &self.rest[1..];
        }
        is_there
    }

    fn push(&mut self, kind: Kind, bytes: usize) -> Result<(), End> {
        let bytes = bytes.max(1);
        self.stack_bytes = self.stack_bytes.saturating_add(bytes);
        if self.stack_bytes.saturating_add(self.below) > self.limit {
            return Err(End::TooLarge);
        }
        self.stack.push(Node { kind, bytes });
        Ok(())
    }

    /// Pushes a node and enters it into the table.
    fn enter(&mut self, kind: Kind, bytes: usize) -> Result<(), End> {
        self.push(kind, bytes)?;
        self.table.push(Node { kind, bytes: bytes.max(1) });
        Ok(())
    }

    /// Enters a node of unknown extent: everything so far.
    fn enter_all(&mut self) -> Result<(), End> {
        self.fold(OPERATOR_BYTES)?;
        self.table.push(Node { kind: Kind::Type, bytes: self.below });
        Ok(())
    }

    /// Pops a node. Below the known nodes is the folded one, which stays.
    fn pop(&mut self) -> Node {
        match self.stack.pop() {
            Some(node) => {
                self.stack_bytes -= node.bytes;
                node
            }
            None => Node { kind: Kind::Other, bytes: self.below },
        }
    }

    /// Replaces the top node by one that contains it.
    fn wrap(&mut self, kind: Kind) -> Result<(), End> {
        let bytes = self.pop().bytes;
        self.push(kind, bytes.saturating_add(OPERATOR_BYTES))
    }

    /// Folds the complete stack into one node.
    fn fold(&mut self, added: usize) -> Result<(), End> {
        self.below = self.below.saturating_add(self.stack_bytes).saturating_add(added);
        self.stack.clear();
        self.stack_bytes = 0;
        if self.below > self.limit { Err(End::TooLarge) } else { Ok(()) }
    }
}
