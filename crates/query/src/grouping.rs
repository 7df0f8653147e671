//! Groups of rows by a column or an attribute, under names that are strings.
//!
//! A row without a value is in the group without a name.

use tidewatch_store::plan::{Filter, Key, KeySource, Op};
use tidewatch_store::tables::{Kind, Table};

use crate::answer::Row;
use crate::filters;

/// The output column of the name of a group.
pub const NAME: &str = "name";

/// The key of groups by `source`; its output column is [`NAME`]. Rows without a value form the group with a null name,
/// which [`Row::text`](crate::answer::Row::text) reads as an empty string.
pub fn key(source: &KeySource) -> Key {
    source.clone().named(NAME)
}

/// The name of the group of a row whose key is [`key`]. Numbers are written in decimal, zero as an empty string.
pub fn name_of(row: Row<'_>, table: Table, source: &KeySource) -> String {
    match source {
        KeySource::Column(column) if is_number(table, column) => match row.int(NAME) {
            0 => String::new(),
            number => number.to_string(),
        },
        _ => row.text(NAME).to_owned(),
    }
}

fn is_number(table: Table, column: &str) -> bool {
    table.column(column).is_some_and(|(_, column)| column.kind == Kind::I16)
}

/// The rows of `table` in the groups with these names. The empty name stands for rows without a value, too.
pub fn of_names(table: Table, source: &KeySource, names: &[String]) -> Filter {
    let absent = names.iter().any(String::is_empty);
    match source {
        KeySource::Attribute { scope, key } => {
            let equal =
                |name: &String| Filter::Attribute { scope: *scope, key: key.clone(), op: Op::Eq, value: name.clone() };
            let mut any: Vec<Filter> = names.iter().map(equal).collect();
            if absent {
                any.push(filters::not(Filter::has_attribute(*scope, key.clone())));
            }
            Filter::Any(any)
        }
        KeySource::Column(column) if is_number(table, column) => {
            let equal = |name: &String| filters::compare(column, Op::Eq, name.parse::<i64>().unwrap_or_default());
            Filter::Any(names.iter().map(equal).collect())
        }
        KeySource::Column(column) => {
            let equal = filters::strings(column, names);
            match table.column(column).is_some_and(|(_, column)| column.nullable) && absent {
                true => Filter::Any(vec![equal, Filter::IsNull { column }]),
                false => equal,
            }
        }
        // Other sources are no names.
        _ => Filter::never(),
    }
}
