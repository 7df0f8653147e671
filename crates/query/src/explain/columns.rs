//! Attributes by row, dictionary-encoded.

use std::collections::HashMap;

use bumpalo::Bump;
use tidewatch_domain::explain::{Column, LeftOut, SampleRates, Set, Table, Values};
use tidewatch_domain::model::AnyValue;
use tidewatch_domain::wire;
use tidewatch_limits as limits;

use super::defining::Defining;
use crate::views::explain::{ExplainLeftOutReason, ExplainScope};

/// Values after which an attribute with mostly distinct ones is given up.
const PROBED: usize = 4096;
/// Part of distinct values above which it is.
const DISTINCT: f64 = 0.9;
/// Overlap with the selection above which a value means the same as a selection by attributes.
const SAME: f64 = 0.95;

/// An attribute of rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Attribute {
    /// Where it is.
    pub scope: ExplainScope,
    /// Service of the spans; empty outside the scope `child`.
    pub service: String,
    /// Its key.
    pub key: String,
}

impl Attribute {
    /// The name by which the engine orders causes.
    fn name(&self) -> String {
        match self.scope {
            ExplainScope::Record => format!("record.{}", self.key),
            ExplainScope::Resource => format!("resource.{}", self.key),
            ExplainScope::Scope => format!("scope.{}", self.key),
            ExplainScope::Child => format!("child:{} {}", self.service, self.key),
        }
    }
}

/// Key and value of an attribute, and the value as a number.
type Pair = (String, String, Option<f64>);

/// Attributes while rows are added.
pub struct Columns<'d> {
    defining: &'d Defining,
    attributes: Vec<Attribute>,
    places: HashMap<Attribute, usize>,
    building: Vec<Building>,
    /// Attributes of encoded lists that many rows share, by the list.
    shared: HashMap<Vec<u8>, Vec<Pair>>,
    bytes: usize,
    arena: Bump,
}

/// One attribute while rows are added.
#[derive(Default)]
struct Building {
    dictionary: HashMap<String, u32>,
    values: Vec<String>,
    cells: Vec<(u32, u32)>,
    numbers: Vec<(u32, f64)>,
    /// Reason for which it is not compared; it has no values then.
    left_out: Option<ExplainLeftOutReason>,
}

impl<'d> Columns<'d> {
    /// No rows. Attributes that define the selection are left out.
    pub fn new(defining: &'d Defining) -> Columns<'d> {
        Columns {
            defining,
            attributes: Vec::new(),
            places: HashMap::new(),
            building: Vec::new(),
            shared: HashMap::new(),
            bytes: 0,
            arena: Bump::new(),
        }
    }

    /// Adds the attributes of an encoded list to a row.
    pub fn add_encoded(&mut self, row: u32, scope: ExplainScope, service: &str, encoded: &[u8]) {
        if encoded.is_empty() {
            return;
        }
        // Rows share the lists of resources and scopes, hardly those of records.
        if scope == ExplainScope::Record {
            let pairs = self.decoded(encoded);
            return self.add_pairs(row, scope, service, &pairs);
        }
        let pairs = match self.shared.remove(encoded) {
            Some(pairs) => pairs,
            None => self.decoded(encoded),
        };
        self.add_pairs(row, scope, service, &pairs);
        self.shared.insert(encoded.to_vec(), pairs);
    }

    fn decoded(&mut self, encoded: &[u8]) -> Vec<Pair> {
        self.arena.reset();
        let pair = |pair: &tidewatch_domain::model::KeyValue<'_>| {
            let number = match pair.value {
                AnyValue::Int(number) => Some(number as f64),
                AnyValue::Double(number) => Some(number),
                _ => None,
            };
            (pair.key.to_owned(), wire::value_text(pair.value).into_owned(), number)
        };
        wire::decode_attributes(encoded, &self.arena).iter().map(pair).collect()
    }

    fn add_pairs(&mut self, row: u32, scope: ExplainScope, service: &str, pairs: &[Pair]) {
        for (key, text, number) in pairs {
            self.add(row, scope, service, key, text, *number);
        }
    }

    /// Adds one attribute with a text to a row.
    pub fn add_text(&mut self, row: u32, scope: ExplainScope, service: &str, key: &str, text: &str) {
        self.add(row, scope, service, key, text, None);
    }

    fn add(&mut self, row: u32, scope: ExplainScope, service: &str, key: &str, text: &str, number: Option<f64>) {
        let attribute = Attribute { scope, service: service.to_owned(), key: key.to_owned() };
        let place = match self.places.get(&attribute) {
            Some(place) => *place,
            None if self.attributes.len() >= limits::EXPLAIN_ATTRIBUTES_MAX => return,
            None => {
                let left_out = self.defining.has(key).then_some(ExplainLeftOutReason::Selection);
                self.building.push(Building { left_out, ..Building::default() });
                self.attributes.push(attribute.clone());
                self.places.insert(attribute, self.attributes.len() - 1);
                self.attributes.len() - 1
            }
        };
        let building = &mut self.building[place];
        if building.left_out.is_some() {
            return;
        }
        let is_new = !building.dictionary.contains_key(text);
        let too_many = is_new && building.values.len() >= limits::EXPLAIN_VALUES_MAX;
        if too_many || text.len() > limits::EXPLAIN_VALUE_BYTES_MAX || self.bytes > limits::EXPLAIN_BYTES_MAX {
            building.give_up(ExplainLeftOutReason::Limit);
            return;
        }
        let next = u32::try_from(building.values.len()).unwrap_or(u32::MAX);
        let code = *building.dictionary.entry(text.to_owned()).or_insert_with(|| {
            building.values.push(text.to_owned());
            next
        });
        self.bytes += if is_new { 2 * text.len() } else { 0 };
        building.cells.push((row, code));
        building.numbers.extend(number.map(|number| (row, number)));
        let cells = building.cells.len();
        let is_text = building.numbers.len() < cells;
        if is_text && cells == PROBED && building.values.len() as f64 > DISTINCT * cells as f64 {
            building.give_up(ExplainLeftOutReason::Identifier);
        }
    }

    /// The table of the engine. `sets`: the set of each row.
    pub fn finish(self, sets: Vec<Set>, rates: SampleRates) -> Compared {
        let (mut columns, mut attributes, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for (attribute, building) in self.attributes.into_iter().zip(self.building) {
            if let Some(reason) = building.left_out {
                left_out.push((attribute, reason));
                continue;
            }
            let column = building.column(&attribute, sets.len());
            if self.defining.by_attribute && means_the_selection(&column, &sets) {
                left_out.push((attribute, ExplainLeftOutReason::Selection));
                continue;
            }
            columns.push(column);
            attributes.push(attribute);
        }
        Compared { table: Table { sets, rates, columns }, attributes, left_out }
    }
}

impl Building {
    fn give_up(&mut self, reason: ExplainLeftOutReason) {
        *self = Building { left_out: Some(reason), ..Building::default() };
    }

    fn column(mut self, attribute: &Attribute, rows: usize) -> Column {
        let name = attribute.name();
        if attribute.scope == ExplainScope::Child {
            self.cells.sort_unstable();
            self.cells.dedup();
            let mut offsets = vec![0; rows + 1];
            for (row, _) in &self.cells {
                offsets[*row as usize + 1] += 1;
            }
            for row in 0..rows {
                offsets[row + 1] += offsets[row];
            }
            let codes = self.cells.iter().map(|(_, code)| *code).collect();
            return Column { name, values: Values::Lists { offsets, codes, dictionary: self.values } };
        }
        if self.numbers.len() == self.cells.len() {
            let mut numbers = vec![f64::NAN; rows];
            for (row, number) in self.numbers {
                numbers[row as usize] = number;
            }
            return Column::numbers(name, numbers);
        }
        let mut codes = vec![0; rows];
        for (row, code) in self.cells {
            codes[row as usize] = code + 1;
        }
        Column { name, values: Values::Strings { codes, dictionary: self.values } }
    }
}

/// Whether one value holds for the selected rows and for hardly any other of the same minutes.
fn means_the_selection(column: &Column, sets: &[Set]) -> bool {
    let Values::Strings { codes, dictionary } = &column.values else { return false };
    let mut counts = vec![[0u32; 2]; dictionary.len() + 1];
    let mut selected = 0;
    for (code, set) in codes.iter().zip(sets) {
        match set {
            Set::Selected => {
                counts[*code as usize][0] += 1;
                selected += 1;
            }
            Set::Rest => counts[*code as usize][1] += 1,
            _ => {}
        }
    }
    counts.iter().any(|[inside, outside]| selected > 0 && f64::from(*inside) >= SAME * f64::from(selected + outside))
}

/// The reason of the engine in answers.
pub fn reason(left_out: LeftOut) -> ExplainLeftOutReason {
    match left_out {
        LeftOut::Constant => ExplainLeftOutReason::Constant,
        LeftOut::Identifier => ExplainLeftOutReason::Identifier,
    }
}

/// The columns of the engine, the attribute of each, and attributes that are not compared.
pub(super) struct Compared {
    pub(super) table: Table,
    pub(super) attributes: Vec<Attribute>,
    pub(super) left_out: Vec<(Attribute, ExplainLeftOutReason)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(query: &str, rows: &[&[(ExplainScope, &str, &str)]], sets: &[Set]) -> Compared {
        let expr = tidewatch_domain::query_language::parse(query, crate::language::LIMITS).expect("a query");
        let defining = Defining::of(&expr);
        let mut columns = Columns::new(&defining);
        for (row, attributes) in rows.iter().enumerate() {
            for (scope, key, text) in *attributes {
                columns.add_text(row as u32, *scope, "", key, text);
            }
        }
        columns.finish(sets.to_vec(), SampleRates::ALL)
    }

    #[test]
    fn what_defines_the_selection_and_what_means_the_same_are_left_out() {
        let new: &[_] = &[
            (ExplainScope::Resource, "service.version", "2"),
            (ExplainScope::Resource, "commit", "b"),
            (ExplainScope::Record, "error.type", "timeout"),
            (ExplainScope::Record, "tenant", "acme"),
        ];
        let old: &[_] = &[
            (ExplainScope::Resource, "service.version", "1"),
            (ExplainScope::Resource, "commit", "a"),
            (ExplainScope::Record, "tenant", "acme"),
        ];
        let compared = finished("version:2", &[new, new, old], &[Set::Selected, Set::Selected, Set::Rest]);
        let keys: Vec<&str> = compared.attributes.iter().map(|attribute| attribute.key.as_str()).collect();
        assert_eq!(keys, ["tenant"]);
        let left_out: Vec<&str> = compared.left_out.iter().map(|(attribute, _)| attribute.key.as_str()).collect();
        assert_eq!(left_out, ["service.version", "commit", "error.type"]);
        let compared = finished("duration>1s", &[new, old], &[Set::Selected, Set::Rest]);
        assert_eq!(compared.attributes.len(), 3, "versions may explain slow rows");
    }

    #[test]
    fn values_of_spans_below_are_lists_without_duplicates() {
        let row: &[_] =
            &[(ExplainScope::Child, "db", "b"), (ExplainScope::Child, "db", "a"), (ExplainScope::Child, "db", "b")];
        let compared = finished("duration>1s", &[row, &[], row], &[Set::Selected, Set::Rest, Set::Rest]);
        let Values::Lists { offsets, codes, dictionary } = &compared.table.columns[0].values else { panic!("lists") };
        assert_eq!((offsets.as_slice(), codes.as_slice()), (&[0, 2, 2, 4][..], &[0, 1, 0, 1][..]));
        assert_eq!(dictionary, &["b", "a"]);
    }
}
