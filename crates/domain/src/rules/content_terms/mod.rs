//! Content flags: the terms of word lists and of the project in a conversation. WIRE 8.3.
//!
//! A term is one or several words. It is found where its words follow each other in the text, whole and without regard
//! to case; whatever separates words does not matter. A word is a run of letters and digits of any script, with the
//! combining marks on them. The search takes time linear in the text: each position is compared with at most
//! [`TERM_WORDS_MAX`] words.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use super::ai_trace::Conversation;

/// Words of one term.
pub const TERM_WORDS_MAX: usize = 8;
/// Bytes of a conversation that are searched, from its beginning.
pub const SEARCHED_BYTES_MAX: usize = 256 * 1024;
/// Distinct terms of one conversation, the first ones.
pub const FOUND_TERMS_MAX: usize = 16;

/// A language with a word list. Its number is the position of its bit in journaled requests, and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Language {
    /// English.
    En = 0,
    /// German.
    De = 1,
    /// Spanish.
    Es = 2,
    /// French.
    Fr = 3,
    /// Italian.
    It = 4,
    /// Portuguese.
    Pt = 5,
    /// Serbian, in both scripts.
    Sr = 6,
}

impl Language {
    /// Every language, in the order of their bits.
    pub const ALL: [Language; 7] =
        [Language::En, Language::De, Language::Es, Language::Fr, Language::It, Language::Pt, Language::Sr];

    /// The code of ISO 639-1.
    pub const fn code(self) -> &'static str {
        match self {
            Language::En => "en",
            Language::De => "de",
            Language::Es => "es",
            Language::Fr => "fr",
            Language::It => "it",
            Language::Pt => "pt",
            Language::Sr => "sr",
        }
    }

    /// Parses [`Language::code`]; `None` for other strings.
    pub fn parse(code: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.code() == code)
    }

    /// The terms of the word list.
    fn terms(self) -> impl Iterator<Item = &'static str> {
        let list = match self {
            Language::En => include_str!("en.txt"),
            Language::De => include_str!("de.txt"),
            Language::Es => include_str!("es.txt"),
            Language::Fr => include_str!("fr.txt"),
            Language::It => include_str!("it.txt"),
            Language::Pt => include_str!("pt.txt"),
            Language::Sr => include_str!("sr.txt"),
        };
        list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
    }
}

/// Languages as bits, see [`Language`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Languages(pub u8);

impl Languages {
    /// The set of these languages.
    pub fn of(languages: impl IntoIterator<Item = Language>) -> Languages {
        Languages(languages.into_iter().fold(0, |bits, language| bits | 1 << language as u8))
    }

    /// The languages in the order of their bits. Bits of later versions are ignored.
    pub fn iter(self) -> impl Iterator<Item = Language> {
        Language::ALL.into_iter().filter(move |language| self.0 & 1 << *language as u8 != 0)
    }
}

/// A term as it is stored: lower case, its words separated by one space. `None` without a word, or with more than
/// [`TERM_WORDS_MAX`].
pub fn normalized(term: &str) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    each_word(term, |word| words.push(word.to_owned()));
    (!words.is_empty() && words.len() <= TERM_WORDS_MAX).then(|| words.join(" "))
}

/// Stands around each term of a stored row: terms contain none.
pub const SEPARATOR: char = '\u{1f}';

/// Terms as a row stores them: [`SEPARATOR`] before, between and after them.
pub fn joined(terms: &[&str]) -> String {
    terms.iter().fold(SEPARATOR.to_string(), |mut joined, term| {
        joined.push_str(term);
        joined.push(SEPARATOR);
        joined
    })
}

/// The inverse of [`joined`].
pub fn split(stored: &str) -> impl Iterator<Item = &str> {
    stored.split(SEPARATOR).filter(|term| !term.is_empty())
}

/// The content flags of a project: languages and own terms.
#[derive(Default)]
pub struct ContentTerms {
    languages: Languages,
    /// One per line.
    terms: Box<str>,
    matcher: OnceLock<Matcher>,
}

/// As the audit log has it.
impl fmt::Debug for ContentTerms {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes: Vec<&str> = self.languages.iter().map(Language::code).collect();
        let terms: Vec<&str> = self.terms.lines().collect();
        formatter.debug_struct("ContentTerms").field("languages", &codes).field("terms", &terms).finish()
    }
}

impl PartialEq for ContentTerms {
    fn eq(&self, other: &ContentTerms) -> bool {
        (self.languages, &self.terms) == (other.languages, &other.terms)
    }
}

impl ContentTerms {
    /// `terms` has one term per line; lines without a word are ignored.
    pub fn new(languages: Languages, terms: &str) -> ContentTerms {
        ContentTerms { languages, terms: terms.into(), matcher: OnceLock::new() }
    }

    /// Languages of the word lists.
    pub fn languages(&self) -> Languages {
        self.languages
    }

    /// The project's own terms, one per line.
    pub fn terms(&self) -> &str {
        &self.terms
    }

    /// The distinct terms of a conversation in the order of their first occurrences, at most [`FOUND_TERMS_MAX`].
    /// Messages of the system are not searched: the operator wrote them.
    pub fn of_conversation(&self, conversation: &Conversation) -> Vec<&str> {
        let spoken = conversation.messages.iter().filter(|message| !matches!(&*message.role, "system" | "developer"));
        self.of_contents(spoken.map(|message| message.content.as_str()))
    }

    /// The distinct terms of these contents. A term does not continue in the next one.
    fn of_contents<'t>(&self, contents: impl IntoIterator<Item = &'t str>) -> Vec<&str> {
        let matcher = self.matcher.get_or_init(|| {
            let mut matcher = Matcher::default();
            self.languages.iter().flat_map(Language::terms).for_each(|term| matcher.add(term));
            self.terms.lines().for_each(|term| matcher.add(term));
            matcher
        });
        let mut found = Vec::new();
        let mut left = SEARCHED_BYTES_MAX;
        for content in contents {
            let searched = beginning(content, left);
            left -= searched.len();
            matcher.find(searched, &mut found);
            if left == 0 || found.len() >= FOUND_TERMS_MAX {
                break;
            }
        }
        found.into_iter().map(|term| matcher.terms[term as usize].as_str()).collect()
    }
}

/// Terms as a tree of words.
struct Matcher {
    /// Normalized.
    terms: Vec<String>,
    /// The first node is the root.
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    next: HashMap<Box<str>, u32>,
    /// The term that ends here.
    term: Option<u32>,
}

impl Default for Matcher {
    fn default() -> Matcher {
        Matcher { terms: Vec::new(), nodes: vec![Node::default()] }
    }
}

impl Matcher {
    /// Adds a term that has words.
    fn add(&mut self, term: &str) {
        let Some(term) = normalized(term) else { return };
        let mut node = 0;
        for word in term.split(' ') {
            let made = self.nodes.len() as u32;
            node = *self.nodes[node as usize].next.entry(word.into()).or_insert(made);
            if node == made {
                self.nodes.push(Node::default());
            }
        }
        if self.nodes[node as usize].term.is_none() {
            self.nodes[node as usize].term = Some(self.terms.len() as u32);
            self.terms.push(term);
        }
    }

    /// Adds the numbers of the terms in `text` to `found`, each once.
    fn find(&self, text: &str, found: &mut Vec<u32>) {
        // Nodes of terms that have begun: at most one for each of the latest `TERM_WORDS_MAX` words.
        let (mut begun, mut going_on): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        each_word(text, |word| {
            going_on.clear();
            for node in begun.iter().copied().chain([0]) {
                let Some(&next) = self.nodes[node as usize].next.get(word) else { continue };
                going_on.push(next);
                if let Some(term) = self.nodes[next as usize].term
                    && found.len() < FOUND_TERMS_MAX
                    && !found.contains(&term)
                {
                    found.push(term);
                }
            }
            std::mem::swap(&mut begun, &mut going_on);
        });
    }
}

/// Calls `take` with each word of the text, in lower case.
fn each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut word = String::new();
    for char in text.chars() {
        if char.is_ascii_alphanumeric() {
            word.push(char.to_ascii_lowercase());
        } else if !char.is_ascii() && (char.is_alphanumeric() || is_mark(char)) {
            word.extend(char.to_lowercase());
        } else if !word.is_empty() {
            take(&word);
            word.clear();
        }
    }
    if !word.is_empty() {
        take(&word);
    }
}

/// The longest beginning of the text that has at most `bytes` bytes.
fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// Combining diacritical marks, which `char::is_alphanumeric` excludes.
fn is_mark(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rules::ai_trace::Message;

    fn found(languages: &[Language], terms: &str, text: &str) -> Vec<String> {
        let terms = ContentTerms::new(Languages::of(languages.iter().copied()), terms);
        terms.of_contents([text]).into_iter().map(str::to_owned).collect()
    }

    // WIRE 8.3: word lists and custom terms, whole word.
    #[test]
    fn terms_are_found_as_whole_words() {
        for (text, expected) in [
            ("", &[] as &[&str]),
            ("Project Falcon is late", &["project falcon"]),
            ("PROJECT\n  falcon, again: project-falcon", &["project falcon"]),
            ("the projects falcon", &[]),
            ("project the falcon", &[]),
            ("falcon project", &[]),
            ("Acme", &["acme"]),
            ("acmeline (acme)", &["acme"]),
            ("acmeline", &[]),
            ("acme2", &[]),
            ("Überraschung! ÜBER alles", &["über"]),
            ("a u\u{308}ber b", &[]),
            ("acme und Project Falcon über", &["acme", "project falcon", "über"]),
            ("project project falcon", &["project falcon"]),
            ("ΑΘΗΝΑ", &["αθηνα"]),
        ] {
            assert_eq!(found(&[], "Project Falcon\nacme\nüber\n--\nαθηνα", text), expected, "{text:?}");
        }
    }

    #[test]
    fn languages_have_their_lists() {
        for (language, text) in [
            (Language::En, "I want to kill myself"),
            (Language::De, "Du ARSCHLOCH!"),
            (Language::Es, "eres un hijo de puta"),
            (Language::Fr, "quelle MERDE"),
            (Language::It, "che cazzo"),
            (Language::Pt, "vai se foder"),
            (Language::Sr, "Ubiću te; УБИЋУ ТЕ"),
        ] {
            assert!(!found(&[language], "", text).is_empty(), "{language:?}");
            assert_eq!(found(&[], "", text), [] as [&str; 0], "off unless the language is set");
            assert_eq!(Language::parse(language.code()), Some(language));
            let terms: Vec<Option<String>> = language.terms().map(normalized).collect();
            assert!(terms.iter().all(Option::is_some), "{language:?}: every term has 1 to 8 words");
        }
        assert_eq!(found(&Language::ALL, "", "Good morning. Kill the process and release the lock."), [] as [&str; 0]);
        assert_eq!(Languages(u8::MAX).iter().count(), Language::ALL.len());
    }

    #[test]
    fn what_is_searched_and_found_is_bounded() {
        let terms: String = (0..40).map(|n| format!("term{n}\n")).collect();
        assert_eq!(found(&[], &terms, &terms).len(), FOUND_TERMS_MAX);
        let late = format!("{} acme", "é ".repeat(SEARCHED_BYTES_MAX));
        assert_eq!(found(&[], "acme", &late), [] as [&str; 0]);
        assert_eq!(normalized(&"a ".repeat(8)).as_deref(), Some("a a a a a a a a"));
        assert_eq!(normalized(&"a ".repeat(9)), None);
        assert_eq!(normalized(" - "), None);
    }

    #[test]
    fn stored_terms_are_split_again() {
        for terms in [&["a b", "c"] as &[&str], &["a"], &[]] {
            assert_eq!(split(&joined(terms)).collect::<Vec<_>>(), terms);
        }
        assert_eq!(split("").count(), 0);
    }

    #[test]
    fn messages_of_the_system_are_not_searched() {
        let message = |role: &str, content: &str| Message {
            role: role.to_owned(),
            content: content.to_owned(),
            tool_calls: Vec::new(),
        };
        let messages = vec![
            message("system", "Never say acme"),
            message("user", "What is project"),
            message("assistant", "Falcon? I do not know."),
            message("user", "The FALCON of acme"),
        ];
        let conversation = Conversation { messages, ..Conversation::default() };
        let terms = ContentTerms::new(Languages::default(), "acme\nproject falcon\nfalcon");
        assert_eq!(terms.of_conversation(&conversation), ["falcon", "acme"]);
    }

    /// Splits the text into words, and looks for each term at each place.
    fn naive(terms: &[String], text: &str) -> Vec<String> {
        let lower: String = text.chars().flat_map(char::to_lowercase).collect();
        let words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric() && !is_mark(c)).filter(|word| !word.is_empty()).collect();
        let mut found: Vec<(usize, usize, String)> = Vec::new();
        for term in terms.iter().filter_map(|term| normalized(term)) {
            let wanted: Vec<&str> = term.split(' ').collect();
            if let Some(at) = words.windows(wanted.len()).position(|window| window == wanted) {
                found.push((at + wanted.len(), wanted.len(), term));
            }
        }
        // By the end of the first occurrence, the longest first.
        found.sort_by_key(|(end, length, _)| (*end, std::cmp::Reverse(*length)));
        let mut names: Vec<String> = found.into_iter().map(|(_, _, term)| term).collect();
        names.dedup();
        names
    }

    proptest! {
        #[test]
        fn the_same_as_a_naive_search(
            terms in proptest::collection::vec("[ab]{1,2}( [abé]{1,2}){0,3}", 0..8),
            text in "[abABéÉ ,.]{0,60}",
        ) {
            let expected = naive(&terms, &text);
            prop_assume!(expected.len() <= FOUND_TERMS_MAX);
            prop_assert_eq!(found(&[], &terms.join("\n"), &text), expected);
        }

        #[test]
        fn any_text_is_searched(terms in ".*", text in ".*") {
            let _ = found(&Language::ALL, &terms, &text);
        }
    }
}
