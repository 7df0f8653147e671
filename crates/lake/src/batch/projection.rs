//! The columns and attributes to read. A single attribute costs less than all attributes: a part may store it in a
//! separate column, see [`crate::attr_columns`].

use super::places::Place;

/// Columns and attributes to read, without duplicates.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Projection {
    /// Columns of the table, read whole.
    pub columns: Vec<&'static str>,
    /// Single attributes: encoded column and key.
    pub attributes: Vec<(&'static str, String)>,
    /// Encoded columns whose attributes are read one by one, in any order.
    pub pairs: Vec<&'static str>,
}

impl Projection {
    pub fn of_columns(names: impl IntoIterator<Item = &'static str>) -> Projection {
        let mut projection = Projection::default();
        names.into_iter().for_each(|name| projection.column(name));
        projection
    }

    pub fn column(&mut self, name: &'static str) {
        if !self.columns.contains(&name) {
            self.columns.push(name);
        }
    }

    pub fn attribute(&mut self, places: &[Place], key: &str) {
        for place in places {
            match place {
                Place::Text(column) | Place::Json(column) => self.column(column.name),
                Place::Encoded(column) => {
                    let attribute = (column.name, key.to_owned());
                    if !self.attributes.contains(&attribute) {
                        self.attributes.push(attribute);
                    }
                }
            }
        }
    }

    pub fn pairs(&mut self, name: &'static str) {
        if !self.pairs.contains(&name) {
            self.pairs.push(name);
        }
    }

    /// The table's columns that hold the projection.
    pub fn table_columns(&self) -> Vec<&'static str> {
        let mut names = self.columns.clone();
        let encoded = self.attributes.iter().map(|(name, _)| *name).chain(self.pairs.iter().copied());
        for name in encoded {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
