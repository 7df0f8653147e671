//! Groups exceptions into Issues: by an explicit fingerprint, else by the types of the chain and the frames of the
//! application, else by type and message. DECISIONS 30, docs/develop/grouping.md.
//!
//! - [`tree`]: chooses the frames that count.
//! - [`explain`]: the basis in words.
//! - [`message`]: messages without their values. [`parts`]: the parts of a key.
//! - [`v1`]: the rule before.

mod explain;
mod memo;
pub mod message;
mod parts;
mod tree;
pub mod v1;

use sha2::{Digest, Sha256};

use crate::frames::{Event, Stack, cleaned};
use parts::BETWEEN;
pub use parts::{Basis, Components, ExceptionComponent, FrameComponent, Group, LeftOut, Occurrence};
use tree::Tree;

/// Placeholder of the computed key in an explicit fingerprint.
const DEFAULT: &str = "{{default}}";

/// The group of an exception. Recent ones are cached by their whole content.
pub fn group(of: &Occurrence<'_>) -> Group {
    let parts = [
        of.language,
        "\u{1e}",
        of.exception_type,
        "\u{1e}",
        of.message,
        "\u{1e}",
        of.context,
        "\u{1e}",
        of.fingerprint,
        "\u{1e}",
        of.stack_trace,
    ];
    memo::group_of(&parts, || computed(of))
}

fn computed(of: &Occurrence<'_>) -> Group {
    let fingerprint = of.fingerprint.trim();
    if fingerprint.is_empty() {
        let mut key = String::with_capacity(512);
        let basis = write_key(of, &mut key);
        return Group { hash: hash(&key), basis };
    }
    let mut key = ["fingerprint", "\u{1e}"].concat();
    match fingerprint.contains(DEFAULT) {
        true => {
            let default = computed(&Occurrence { fingerprint: "", ..*of }).hash;
            key.push_str(&fingerprint.replace(DEFAULT, &format!("{default:016x}")));
        }
        false => key.push_str(fingerprint),
    }
    Group { hash: hash(&key), basis: Basis::Fingerprint }
}

fn hash(key: &str) -> u64 {
    let digest = Sha256::digest(key);
    u64::from_be_bytes(*digest.first_chunk().expect("a SHA-256 digest has 32 bytes"))
}

fn event<'a>(of: &Occurrence<'a>) -> Event<'a> {
    Event { language: of.language, exception_type: of.exception_type.trim(), message: of.message }
}

/// Writes the computed key.
fn write_key(of: &Occurrence<'_>, key: &mut String) -> Basis {
    let text = cleaned(of.stack_trace);
    let stack = Stack::parse(&text, &event(of));
    let tree = Tree::of(&stack);
    if let Some(basis) = tree.basis() {
        key.push_str(basis.name());
        tree.write(key);
        return basis;
    }
    let (template, basis) = message_key(of, &text);
    key.push_str(basis.name());
    key.push(BETWEEN);
    key.push_str(of.exception_type.trim());
    key.push(BETWEEN);
    key.push_str(&template);
    if let Some(file) = tree.minified_file() {
        key.push(BETWEEN);
        crate::frames::text::write_file(file, key);
    }
    basis
}

/// The message without values, of a text without frames the whole text.
fn message_key(of: &Occurrence<'_>, text: &str) -> (String, Basis) {
    let mut template = String::new();
    let exception_type = of.exception_type.trim();
    message::write_template(unknown_text(of, text).unwrap_or(of.message), &mut template);
    if template.is_empty() {
        let basis = if exception_type.is_empty() { Basis::Message } else { Basis::Type };
        return (template, basis);
    }
    if !message::has_words(&template) {
        template.push(BETWEEN);
        template.push_str(of.context);
    }
    (template, Basis::Message)
}

/// The trace, where it has more than type and message and nothing in it is a frame.
fn unknown_text<'a>(of: &Occurrence<'_>, text: &'a str) -> Option<&'a str> {
    let text = text.trim();
    let exception_type = of.exception_type.trim();
    let rest = match text.strip_prefix(exception_type) {
        Some(rest) if !exception_type.is_empty() => rest.trim_start_matches([':', ' ']),
        _ => text,
    };
    let rest = rest.trim();
    let message = of.message.trim();
    let more = rest.strip_prefix(message).map_or(rest, str::trim);
    if more.is_empty() {
        return None;
    }
    // A trace whose frames do not count, such as a minified one, is not the message.
    let is_parsed = !Stack::parse(text, &event(of)).frames.is_empty();
    (!is_parsed || message.is_empty() && exception_type.is_empty()).then_some(rest)
}

/// The parts of the group's key.
pub fn components(of: &Occurrence<'_>) -> Components {
    let text = cleaned(of.stack_trace);
    let stack = Stack::parse(&text, &event(of));
    let tree = Tree::of(&stack);
    let exceptions = tree.components();
    let basis = tree.basis();
    let fingerprint = of.fingerprint.trim();
    let (message, own) = match basis {
        Some(basis) => (None, basis),
        None => {
            let (template, basis) = message_key(of, &text);
            (Some(template.replace(BETWEEN, " ")), basis)
        }
    };
    let basis = if fingerprint.is_empty() { own } else { Basis::Fingerprint };
    Components { basis, exceptions, message }
}

/// Whether two records on nested spans record one failure: the same type and message, and the counted frames of one
/// begin those of the other, from the innermost. The trace that a span records ends at the span.
pub fn is_one_failure(one: &Occurrence<'_>, other: &Occurrence<'_>) -> bool {
    if one.exception_type != other.exception_type
        || one.message != other.message
        || one.fingerprint != other.fingerprint
    {
        return false;
    }
    let (left, right) = (spine(one), spine(other));
    let common = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
    common > 0 && common == left.len().min(right.len())
}

/// The counted frames of the innermost exception, innermost first.
fn spine(of: &Occurrence<'_>) -> Vec<String> {
    let innermost = components(of).exceptions.into_iter().rfind(|exception| exception.is_counted);
    let frames = innermost.map(|exception| exception.frames).unwrap_or_default();
    frames.into_iter().filter(|frame| frame.left_out.is_none()).map(|frame| frame.text).collect()
}

/// The group that `stack_trace` has without context and fingerprint, as tests of other rules need it.
pub fn group_of_text(exception_type: &str, message: &str, stack_trace: &str) -> u64 {
    group(&Occurrence::new(exception_type, message, stack_trace)).hash
}

#[cfg(test)]
mod pairs_tests;
#[cfg(test)]
mod tests;
