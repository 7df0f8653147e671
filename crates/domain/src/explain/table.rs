//! The requests that are compared: their sets and their attributes.

use std::collections::{HashMap, HashSet};

/// The set of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// In the band of the selection, in its minutes.
    Selected,
    /// Not in the band, in the same minutes.
    Rest,
    /// In the band, before the selected minutes.
    SelectedBefore,
    /// Not in the band, before the selected minutes.
    RestBefore,
    /// Not in the band, in the five minutes before the selected ones; counts as [`Set::RestBefore`] too.
    RestJustBefore,
}

/// Number of the sets.
pub(super) const SETS: usize = 5;

/// The fraction of requests of each set that the table holds: 1 is all of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleRates {
    /// Of [`Set::Selected`].
    pub selected: f64,
    /// Of [`Set::Rest`].
    pub rest: f64,
    /// Of the sets before the selected minutes.
    pub before: f64,
}

impl SampleRates {
    /// The table holds every request.
    pub const ALL: SampleRates = SampleRates { selected: 1.0, rest: 1.0, before: 1.0 };
}

/// The requests that are compared, one row each, and their attributes by column.
#[derive(Debug, Clone)]
pub struct Table {
    /// The set of each request.
    pub sets: Vec<Set>,
    /// The fraction of requests that the table holds.
    pub rates: SampleRates,
    /// Attributes; each column has a value for every request.
    pub columns: Vec<Column>,
}

/// One attribute of all requests.
#[derive(Debug, Clone)]
pub struct Column {
    /// The name by which causes are ordered and ties are broken: the key with its scope.
    pub name: String,
    /// The values.
    pub values: Values,
}

/// The values of one attribute.
#[derive(Debug, Clone)]
pub enum Values {
    /// Strings: 0 where the request lacks the attribute, else 1 + the place in the dictionary.
    Strings {
        /// One code per request.
        codes: Vec<u32>,
        /// The distinct values.
        dictionary: Vec<String>,
    },
    /// Several strings per request, such as the values of the spans below it.
    Lists {
        /// Where the codes of each request begin in `codes`, and at last their number: one more than requests.
        offsets: Vec<u32>,
        /// Places in the dictionary; each at most once per request.
        codes: Vec<u32>,
        /// The distinct values.
        dictionary: Vec<String>,
    },
    /// Numbers; NaN where the request lacks the attribute.
    Numbers(Vec<f64>),
}

/// Distinct values below which numbers are treated as strings.
const NUMBERS_MIN: usize = 20;

impl Column {
    /// A column of strings; none where the request lacks the attribute.
    pub fn strings<S: AsRef<str>>(name: impl Into<String>, values: impl IntoIterator<Item = Option<S>>) -> Column {
        let (mut codes, mut dictionary, mut places) = (Vec::new(), Vec::new(), HashMap::new());
        for value in values {
            codes.push(value.map_or(0, |value| {
                let next = u32::try_from(dictionary.len() + 1).unwrap_or(u32::MAX);
                *places.entry(value.as_ref().to_owned()).or_insert_with(|| {
                    dictionary.push(value.as_ref().to_owned());
                    next
                })
            }));
        }
        Column { name: name.into(), values: Values::Strings { codes, dictionary } }
    }

    /// A column of numbers, NaN where the request lacks the attribute. Few distinct numbers, and those of an attribute
    /// whose key ends with `id`, are treated as strings.
    pub fn numbers(name: impl Into<String>, numbers: Vec<f64>) -> Column {
        let name = name.into();
        let distinct: HashSet<u64> =
            numbers.iter().filter(|number| !number.is_nan()).map(|one| one.to_bits()).collect();
        if distinct.len() >= NUMBERS_MIN && !name.ends_with("id") {
            return Column { name, values: Values::Numbers(numbers) };
        }
        Column::strings(name, numbers.iter().map(|number| (!number.is_nan()).then(|| number.to_string())))
    }
}

/// A condition on one attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    /// Place of the column in the table.
    pub column: usize,
    /// The condition on its value.
    pub predicate: Predicate,
}

/// A condition on a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Predicate {
    /// The value is, or is among, the entry of the dictionary.
    Is(u32),
    /// The request lacks the attribute.
    Absent,
    /// The number is at least this.
    AtLeast(f64),
    /// The number is less than this.
    LessThan(f64),
}

/// Reasons for which an attribute is no candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// Every request has the same value.
    Constant,
    /// Nearly every request has a value of its own.
    Identifier,
}

impl Table {
    /// Whether a request meets a condition.
    pub fn holds(&self, condition: Condition, request: usize) -> bool {
        match (&self.columns[condition.column].values, condition.predicate) {
            (Values::Strings { codes, .. }, Predicate::Is(code)) => codes[request] == code + 1,
            (Values::Strings { codes, .. }, Predicate::Absent) => codes[request] == 0,
            (Values::Lists { offsets, codes, .. }, Predicate::Is(code)) => {
                codes[offsets[request] as usize..offsets[request + 1] as usize].contains(&code)
            }
            (Values::Lists { offsets, .. }, Predicate::Absent) => offsets[request] == offsets[request + 1],
            (Values::Numbers(numbers), Predicate::AtLeast(cut)) => numbers[request] >= cut,
            (Values::Numbers(numbers), Predicate::LessThan(cut)) => numbers[request] < cut,
            (Values::Numbers(numbers), Predicate::Absent) => numbers[request].is_nan(),
            _ => false,
        }
    }

    /// The value that a condition names; none when it is the absence of one.
    pub fn value(&self, condition: Condition) -> Option<String> {
        match (&self.columns[condition.column].values, condition.predicate) {
            (Values::Strings { dictionary, .. } | Values::Lists { dictionary, .. }, Predicate::Is(code)) => {
                dictionary.get(code as usize).cloned()
            }
            (_, Predicate::AtLeast(cut) | Predicate::LessThan(cut)) => Some(cut.to_string()),
            _ => None,
        }
    }

    /// The count of requests per set.
    pub(super) fn count(&self, mut holds: impl FnMut(usize) -> bool) -> Counts {
        let mut counts = Counts::default();
        for (request, set) in self.sets.iter().enumerate() {
            if holds(request) {
                counts.0[*set as usize] += 1;
            }
        }
        counts
    }
}

/// The count of requests per set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts(pub [u32; SETS]);

impl Counts {
    pub fn selected(self) -> f64 {
        f64::from(self.0[Set::Selected as usize])
    }

    pub fn rest(self) -> f64 {
        f64::from(self.0[Set::Rest as usize])
    }

    pub fn selected_before(self) -> f64 {
        f64::from(self.0[Set::SelectedBefore as usize])
    }

    pub fn just_before(self) -> f64 {
        f64::from(self.0[Set::RestJustBefore as usize])
    }

    pub fn before(self) -> f64 {
        self.selected_before() + f64::from(self.0[Set::RestBefore as usize]) + self.just_before()
    }

    /// The requests of the selected minutes, of which the table holds a sample.
    pub fn on(self, rates: SampleRates) -> f64 {
        self.selected() / rates.selected + self.rest() / rates.rest
    }

    pub fn add(&mut self, set: Set) {
        self.0[set as usize] += 1;
    }

    pub fn plus(self, other: Counts) -> Counts {
        Counts(std::array::from_fn(|set| self.0[set] + other.0[set]))
    }

    pub fn minus(self, other: Counts) -> Counts {
        Counts(std::array::from_fn(|set| self.0[set] - other.0[set]))
    }
}
