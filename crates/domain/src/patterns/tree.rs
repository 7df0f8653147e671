//! Assigns lines to templates: a tree of fixed depth over the number of words and the first two words.

use std::collections::{HashMap, HashSet};

use super::template::Template;
use super::token::Token;

/// Bounds of the memory and the time per line.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Patterns; further lines that fit none are counted as others.
    pub patterns: usize,
    /// Distinct words at one place of the tree; further ones share a branch.
    pub branches: usize,
}

/// The share of equal words, in percent, from which a line belongs to a pattern.
const EQUAL_PERCENT_MIN: usize = 50;

/// A place in the tree: number of words, whether the body has more, and the first words.
type Place = (usize, bool, Vec<Token>);

/// The patterns of the lines so far.
#[derive(Debug)]
pub struct Patterns {
    limits: Limits,
    templates: Vec<Template>,
    /// By place of the first two words, the patterns there, earliest first.
    leaves: HashMap<Place, Vec<usize>>,
    /// The words that have a branch of their own at a place.
    branches: HashMap<Place, HashSet<Token>>,
}

impl Patterns {
    /// No patterns.
    pub fn new(limits: Limits) -> Patterns {
        Patterns { limits, templates: Vec::new(), leaves: HashMap::new(), branches: HashMap::new() }
    }

    /// The index in [`Patterns::templates`] of the pattern to which a body belongs; `None`: there are too many
    /// patterns, and it fits none.
    pub fn add(&mut self, body: &str) -> Option<usize> {
        let line = Template::of(body);
        let mut place: Place = (line.tokens.len(), line.has_more, Vec::new());
        for token in line.tokens.iter().take(2) {
            let branches = self.branches.entry(place.clone()).or_default();
            let has_room = branches.len() < self.limits.branches && self.templates.len() < self.limits.patterns;
            let has_branch = branches.contains(token) || (has_room && branches.insert(token.clone()));
            place.2.push(if has_branch { token.clone() } else { Token::any() });
        }
        let leaf = self.leaves.entry(place).or_default();
        let best = leaf
            .iter()
            .map(|index| (self.templates[*index].equal_tokens(&line), *index))
            // Of equally similar ones, the earliest.
            .max_by_key(|(equal, index)| (*equal, std::cmp::Reverse(*index)));
        if let Some((equal, index)) = best
            && (equal * 100 >= line.tokens.len() * EQUAL_PERCENT_MIN || self.templates[index].covers(&line))
        {
            self.templates[index].generalize(&line);
            return Some(index);
        }
        if self.templates.len() >= self.limits.patterns {
            return None;
        }
        leaf.push(self.templates.len());
        self.templates.push(line);
        Some(self.templates.len() - 1)
    }

    /// The templates, by index.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }
}
