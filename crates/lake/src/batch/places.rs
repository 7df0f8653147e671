//! Finds columns and the columns that may hold an attribute.

use tidewatch_store::StoreError;
use tidewatch_store::plan::AttributeScope;
use tidewatch_store::tables::{Column, Table};

/// The index and description of a column; [`StoreError::BadPlan`] when the table does not have it.
pub(crate) fn find(table: Table, name: &str) -> Result<(usize, &'static Column), StoreError> {
    table.column(name).ok_or_else(|| StoreError::BadPlan(format!("table {} has no column {name}", table.name())))
}

/// A column that may hold an attribute. The first place that has the attribute takes precedence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place {
    /// A column of encoded attributes.
    Encoded(&'static Column),
    /// A text column that holds only this attribute; an empty string means absent.
    Text(&'static Column),
    /// A text column of JSON objects, in which the attribute is a field; see [`tidewatch_domain::rules::body_field`].
    Json(&'static Column),
}

impl Place {
    pub fn column(self) -> &'static Column {
        match self {
            Place::Encoded(column) | Place::Text(column) | Place::Json(column) => column,
        }
    }
}

/// The places of the attribute `key`. `RecordThenResource` reads the record, then the column `server_name` (for that
/// key only), then the resource if the table has one.
pub(crate) fn places(table: Table, scope: AttributeScope, key: &str) -> Result<Vec<Place>, StoreError> {
    let encoded = |name| find(table, name).map(|(_, column)| Place::Encoded(column));
    Ok(match scope {
        AttributeScope::Record => vec![encoded("attributes")?],
        AttributeScope::Resource => vec![encoded("resource")?],
        AttributeScope::Scope => vec![encoded("scope_attributes")?],
        AttributeScope::Event => vec![encoded("event_attributes")?],
        AttributeScope::Body => vec![find(table, "body").map(|(_, column)| Place::Json(column))?],
        AttributeScope::Nearest => {
            let nearest_first = ["event_attributes", "attributes", "scope_attributes", "resource"];
            let of_table = |name| table.column(name).map(|(_, column)| Place::Encoded(column));
            nearest_first.into_iter().filter_map(of_table).collect()
        }
        AttributeScope::RecordThenResource => {
            let mut places = vec![encoded("attributes")?];
            if key == "server_name" {
                places.extend(table.column("server_name").map(|(_, column)| Place::Text(column)));
            }
            places.extend(table.column("resource").map(|(_, column)| Place::Encoded(column)));
            places
        }
    })
}
