//! The roll-up of each table.

use tidewatch_domain::ranking::ApdexBands;

use crate::tables::Table;

/// The definition of one table's roll-up.
#[derive(Debug)]
pub struct Spec {
    /// Dimensions: rows of a cell have equal values in these, and the same project. The most selective one comes first.
    pub dims: &'static [Dim],
    /// Numeric columns that are summed, times weight.
    pub sums: &'static [&'static str],
    /// The I64 column that is sketched; `None`: no sketch.
    pub sketched: Option<&'static str>,
    /// Ascending edges of the bands of the sketched column; rows of a cell are in one band. A band ends at its upper
    /// edge, inclusive; the last band has none. Counts by a condition `<=` or `>` an edge are exact.
    pub bands: &'static [i64],
    /// Whether cells have the time of their earliest row; all have the time of the latest.
    pub earliest: bool,
    /// The Id16 column whose value in the latest row is stored, of equal times the greatest; `None`: no such column.
    pub latest: Option<&'static str>,
    /// The nullable column without which a row is in no cell; `None`: all rows are. Only queries that require the column
    /// are answered from cells.
    pub required: Option<&'static str>,
    /// Index in [`super::levels::WIDTHS`] of the narrowest cells. Rows of a part may be out of order by less than their
    /// width.
    pub finest: usize,
    /// Whether parts are sorted by project and first dimension.
    pub is_sorted: bool,
}

/// A dimension of a roll-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dim {
    /// The value of a column.
    Column(&'static str),
    /// Whether a nullable column has a value.
    Presence(&'static str),
}

impl Dim {
    /// The name of the column.
    pub fn column(self) -> &'static str {
        match self {
            Dim::Column(name) | Dim::Presence(name) => name,
        }
    }
}

/// Edges of the Apdex bands of Endpoints without an accepted slowness. WIRE 8.1.
const BANDS: &[i64] = &[
    ApdexBands::detail().satisfied_ns,
    ApdexBands::impact(0).satisfied_ns,
    ApdexBands::impact(0).tolerated_ns,
    ApdexBands::detail().tolerated_ns,
];

const SERVED: Spec = Spec {
    dims: &[
        Dim::Column("name"),
        Dim::Column("status_code"),
        Dim::Column("is_root"),
        Dim::Column("is_stream"),
        Dim::Column("is_error"),
        Dim::Column("server_name"),
        Dim::Column("app_version"),
        Dim::Column("environment"),
    ],
    sums: &["duration"],
    sketched: Some("duration"),
    bands: BANDS,
    earliest: false,
    latest: None,
    required: None,
    finest: 0,
    is_sorted: true,
};

const AI: Spec = Spec {
    dims: &[
        Dim::Column("name"),
        Dim::Column("model"),
        Dim::Column("operation"),
        Dim::Column("is_root"),
        Dim::Column("is_error"),
        Dim::Column("cost_estimated"),
        Dim::Column("server_name"),
        Dim::Column("app_version"),
        Dim::Column("environment"),
        Dim::Presence("input_tokens"),
        Dim::Presence("output_tokens"),
        Dim::Presence("total_tokens"),
        Dim::Presence("total_cost"),
        Dim::Presence("repeats_usage"),
    ],
    sums: &["duration", "input_tokens", "output_tokens", "total_tokens", "total_cost"],
    sketched: Some("duration"),
    bands: &[],
    earliest: false,
    latest: None,
    required: None,
    finest: 0,
    is_sorted: true,
};

/// Issues: number, first and last occurrence by group.
const ISSUES: Spec = Spec {
    dims: &[Dim::Column("group"), Dim::Column("server_name"), Dim::Column("app_version"), Dim::Column("environment")],
    sums: &[],
    sketched: None,
    bands: &[],
    earliest: true,
    latest: Some("row_id"),
    required: None,
    finest: 0,
    is_sorted: true,
};

/// Calls between services, and to databases, messaging destinations and hosts. Spans are sorted by five minutes, then by
/// trace. docs/use/services.md.
const CALLS: Spec = Spec {
    dims: &[
        Dim::Column("server_name"),
        Dim::Column("peer"),
        Dim::Column("peer_kind"),
        Dim::Column("peer_service"),
        Dim::Column("kind"),
        Dim::Column("is_error"),
        Dim::Column("environment"),
    ],
    sums: &["duration"],
    sketched: Some("duration"),
    bands: &[],
    earliest: false,
    latest: None,
    required: Some("peer_kind"),
    finest: 1,
    is_sorted: false,
};

impl Spec {
    /// The roll-up of `table`; `None` when it has none.
    pub fn of(table: Table) -> Option<&'static Spec> {
        match table {
            Table::Endpoints | Table::Tasks => Some(&SERVED),
            Table::AiTraces => Some(&AI),
            Table::Exceptions => Some(&ISSUES),
            Table::Spans => Some(&CALLS),
            _ => None,
        }
    }

    /// The index of a summed column; `None` when the column is not summed.
    pub fn sum(&self, name: &str) -> Option<usize> {
        self.sums.iter().position(|sum| *sum == name)
    }

    /// Whether the presence of a column is a dimension.
    pub fn has_presence(&self, name: &str) -> bool {
        self.dims.contains(&Dim::Presence(self.dim_name(name)))
    }

    /// Whether the value of a column is a dimension.
    pub fn has_column(&self, name: &str) -> bool {
        self.dims.contains(&Dim::Column(self.dim_name(name)))
    }

    /// The band of a value: the number of edges below it.
    pub fn band_of(&self, value: i64) -> u8 {
        self.bands.partition_point(|edge| *edge < value) as u8
    }

    /// The greatest value of a band.
    pub fn band_end(&self, band: u8) -> i64 {
        self.bands.get(usize::from(band)).copied().unwrap_or(i64::MAX)
    }

    /// The static name of a dimension; "" when there is none of this name.
    fn dim_name(&self, name: &str) -> &'static str {
        self.dims.iter().map(|dim| dim.column()).find(|dim| *dim == name).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Kind;

    #[test]
    fn specs_fit_their_tables() {
        for table in Table::ALL {
            let Some(spec) = Spec::of(table) else { continue };
            for dim in spec.dims {
                let (_, column) = table.column(dim.column()).expect("a dim is a column");
                assert!(*dim == Dim::Column(column.name) || column.nullable, "{dim:?}");
            }
            for name in spec.sums.iter().chain(&spec.sketched) {
                let (_, column) = table.column(name).expect("a sum is a column");
                // The presence of a nullable summed column must be a dimension.
                assert!(!column.nullable || spec.has_presence(name), "{name}");
                assert!(matches!(column.kind, Kind::I64 | Kind::F64), "{name}");
            }
            assert!(table.column("weight").is_some());
            assert!(spec.bands.is_sorted());
            let kind = |name| table.column(name).map(|(_, column)| column.kind);
            assert!(spec.latest.is_none_or(|name| kind(name) == Some(Kind::Id16)));
            assert!(spec.required.is_none_or(|name| table.column(name).is_some_and(|(_, column)| column.nullable)));
            assert!(spec.is_sorted || spec.latest.is_none(), "cells of unsorted rows are closed early");
        }
    }

    // WIRE 8.1: up to and including.
    #[test]
    fn bands_end_at_their_edges() {
        let ms = 1_000_000;
        for (value, band) in [
            (-1, 0),
            (0, 0),
            (500 * ms, 0),
            (500 * ms + 1, 1),
            (750 * ms, 1),
            (751 * ms, 2),
            (1500 * ms, 2),
            (2000 * ms, 3),
            (2000 * ms + 1, 4),
            (i64::MAX, 4),
        ] {
            assert_eq!(SERVED.band_of(value), band, "{value}");
            assert!(value <= SERVED.band_end(band));
        }
    }
}
