//! Strings with wildcards.

/// A text in which wildcards stand for any text, also for none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The strings between the wildcards: one more than there are wildcards.
    parts: Vec<String>,
}

impl Pattern {
    /// A pattern without wildcards.
    pub fn exact(text: impl Into<String>) -> Pattern {
        Pattern { parts: vec![text.into()] }
    }

    /// A wildcard between each two strings; without strings it matches only the empty text.
    pub fn with_wildcards(parts: Vec<String>) -> Pattern {
        if parts.is_empty() { Pattern::exact("") } else { Pattern { parts } }
    }

    /// The strings between the wildcards.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// The text when there is no wildcard.
    pub fn as_exact(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The pattern with its ASCII letters in lower case.
    #[must_use]
    pub fn to_ascii_lowercase(&self) -> Pattern {
        Pattern { parts: self.parts.iter().map(|part| part.to_ascii_lowercase()).collect() }
    }

    /// Whether it is wildcards only, which any text matches.
    pub fn matches_everything(&self) -> bool {
        self.parts.len() > 1 && self.parts.iter().all(String::is_empty)
    }

    /// The text with an asterisk for each wildcard.
    pub fn source(&self) -> String {
        self.parts.join("*")
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.parts.split_first() else { return text.is_empty() };
        let Some((last, middle)) = rest.split_last() else { return text == first };
        let Some(text) = text.strip_prefix(first.as_str()) else { return false };
        let Some(mut text) = text.strip_suffix(last.as_str()) else { return false };
        // The leftmost place of each part leaves the most text for the parts after it.
        for part in middle {
            let Some(place) = text.find(part.as_str()) else { return false };
            text = &text[place + part.len()..];
        }
        true
    }
}
