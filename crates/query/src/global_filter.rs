//! The services and environments that a request selects: the filter of the dashboard's top bar.
//!
//! [`Executor`](crate::executor::Executor) adds it to every plan, so that no query can omit it. A query that must also
//! read other rows, such as that of the states of Issues, says so with
//! [`Executor::unfiltered`](crate::executor::Executor::unfiltered).
//!
//! Every read of records takes the filter, or is listed with its reason (`tests/it/global_filter.rs`).

use tidewatch_limits as limits;
use tidewatch_store::plan::{AttributeScope, Filter, Op, Plan};
use tidewatch_store::tables::Table;
use tidewatch_store::trace_search::{SpanPath, TraceCondition};

use crate::error::QueryError;
use crate::filters::{self, ENVIRONMENT_KEYS};

/// The selected services and environments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GlobalFilter {
    services: Vec<String>,
    environments: Vec<String>,
}

impl GlobalFilter {
    /// Selects records whose service is one of `services` and whose environment is one of `environments`; an empty list
    /// selects all. An empty string selects records without a service or environment. More than
    /// [`limits::GLOBAL_FILTER_VALUES_MAX`] values are [`QueryError::Unprocessable`] (422).
    pub fn new(services: Vec<String>, environments: Vec<String>) -> Result<GlobalFilter, QueryError> {
        for (name, values) in [("service", &services), ("environment", &environments)] {
            if values.len() > limits::GLOBAL_FILTER_VALUES_MAX {
                let most = limits::GLOBAL_FILTER_VALUES_MAX;
                return Err(QueryError::unprocessable(format!("at most {most} values of {name}")));
            }
        }
        Ok(GlobalFilter { services, environments })
    }

    /// Whether every record is selected.
    pub fn is_empty(&self) -> bool {
        self.services.is_empty() && self.environments.is_empty()
    }

    /// The selected services; all when empty.
    pub fn services(&self) -> &[String] {
        &self.services
    }

    /// The filter by environments alone.
    #[must_use]
    pub fn any_service(&self) -> GlobalFilter {
        GlobalFilter { services: Vec::new(), environments: self.environments.clone() }
    }

    /// Whether a deploy is selected. `environment`: `None` when its report does not say, so that it may be any.
    pub fn selects_deploy(&self, service: &str, environment: Option<&str>) -> bool {
        let has = |values: &[String], value: &str| values.is_empty() || values.iter().any(|one| one == value);
        has(&self.services, service) && environment.is_none_or(|environment| has(&self.environments, environment))
    }

    /// The plan with this filter.
    pub fn applied(&self, plan: Plan) -> Plan {
        if self.is_empty() {
            return plan;
        }
        // Spans with a peer have always been stored with their environment, and roll-ups have it.
        let is_stored = plan.table != Table::Spans || requires(&plan.filter, "peer_kind");
        Plan { filter: plan.filter.and(self.rows(plan.table, is_stored)), ..plan }
    }

    /// The filter on the rows of a table. A table without services or environments is not filtered by them.
    pub fn of(&self, table: Table) -> Filter {
        self.rows(table, table != Table::Spans)
    }

    /// `is_stored`: the column of the environment, if the table has one, is set in all rows.
    fn rows(&self, table: Table, is_stored: bool) -> Filter {
        let has = |column: &str| table.column(column).is_some();
        let mut filter = Filter::True;
        if !self.services.is_empty() && has("server_name") {
            filter = filters::strings("server_name", &self.services);
        }
        if self.environments.is_empty() {
            return filter;
        }
        filter.and(if has("environment") && is_stored {
            of_column(&self.environments)
        } else if has("resource") {
            of_attributes(AttributeScope::Resource, &self.environments)
        } else if table == Table::Sessions {
            // A session has the attributes of its client, and no resource.
            of_attributes(AttributeScope::Record, &self.environments)
        } else {
            Filter::True
        })
    }

    /// The condition on traces: the spans that a condition without relations names are selected ones, and any other
    /// trace has a selected span.
    pub fn of_traces(&self, condition: TraceCondition) -> TraceCondition {
        if self.is_empty() {
            return condition;
        }
        let spans = self.of(Table::Spans);
        match condition {
            TraceCondition::Spans(SpanPath { first, rest }) if rest.is_empty() => {
                TraceCondition::Spans(SpanPath { first: first.and(spans), rest })
            }
            condition => {
                let any = TraceCondition::Spans(SpanPath { first: spans, rest: Vec::new() });
                TraceCondition::All(vec![any, condition])
            }
        }
    }
}

/// Whether only rows with a value in a column pass, by a condition on the column itself.
fn requires(filter: &Filter, name: &str) -> bool {
    match filter {
        Filter::All(filters) => filters.iter().any(|filter| requires(filter, name)),
        Filter::Compare { column, .. } | Filter::In { column, .. } => *column == name,
        _ => false,
    }
}

/// The column `environment` is one of the values; null: no environment.
fn of_column(environments: &[String]) -> Filter {
    let (none, named): (Vec<String>, Vec<String>) = environments.iter().cloned().partition(String::is_empty);
    let named = filters::strings("environment", &named);
    match none.is_empty() {
        true => named,
        false => Filter::Any(vec![Filter::IsNull { column: "environment" }, named]),
    }
}

/// The environment among attributes is one of the values.
fn of_attributes(scope: AttributeScope, environments: &[String]) -> Filter {
    let is = |key: &str, op, value: &str| Filter::Attribute { scope, key: key.to_owned(), op, value: value.to_owned() };
    // The earlier name counts when the first one is absent or empty.
    let [key, earlier] = ENVIRONMENT_KEYS;
    let lacks = |key| filters::not(is(key, Op::Ne, ""));
    let one = |value: &String| match value.as_str() {
        "" => lacks(key).and(lacks(earlier)),
        value => Filter::Any(vec![is(key, Op::Eq, value), lacks(key).and(is(earlier, Op::Eq, value))]),
    };
    Filter::Any(environments.iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidewatch_store::plan::{Shape, Value};

    fn strings(values: &[&str]) -> Vec<String> {
        values.iter().map(|value| (*value).to_owned()).collect()
    }

    #[test]
    fn every_table_of_services_and_environments_is_filtered() {
        let filter = GlobalFilter::new(strings(&["shop"]), strings(&["production", ""])).unwrap();
        for table in Table::ALL {
            let is_filtered = filter.of(table) != Filter::True;
            let has_any = ["server_name", "environment", "resource"].iter().any(|name| table.column(name).is_some());
            assert_eq!(is_filtered, has_any, "{table:?}");
        }
        assert!(GlobalFilter::default().is_empty());
        assert!(Table::ALL.iter().all(|table| GlobalFilter::default().of(*table) == Filter::True));
    }

    // The roll-up of calls has the column, and no resource.
    #[test]
    fn calls_are_filtered_by_the_column_of_the_environment() {
        let filter = GlobalFilter::new(Vec::new(), strings(&["production"])).unwrap();
        let of_calls = Filter::In { column: "peer_kind", values: vec![Value::U64(4)] };
        let shape = Shape::Rows { columns: Vec::new(), order: Vec::new(), limit: 1, offset: 0 };
        let plan = Plan { table: Table::Spans, projects: vec![1], from: 0, to: 1, filter: Filter::True, shape };
        let applied = filter.applied(Plan { filter: of_calls.clone(), ..plan.clone() });
        assert_eq!(applied.filter, of_calls.and(of_column(&strings(&["production"]))));
        let by_resource = of_attributes(AttributeScope::Resource, &strings(&["production"]));
        assert_eq!(filter.applied(plan).filter, by_resource);
    }

    #[test]
    fn deploys_are_selected() {
        for (services, environments, service, environment, expected) in [
            (&[][..], &[][..], "shop", None, true),
            (&["shop"], &[], "shop", Some("staging"), true),
            (&["shop"], &[], "cart", Some("staging"), false),
            (&["shop", "cart"], &["production"], "cart", Some("production"), true),
            (&["shop", "cart"], &["production"], "cart", Some("staging"), false),
            (&["cart"], &["production"], "cart", None, true),
            (&["cart"], &["production"], "cart", Some(""), false),
            (&[], &[""], "cart", Some("staging"), false),
        ] {
            let filter = GlobalFilter::new(strings(services), strings(environments)).unwrap();
            assert_eq!(filter.selects_deploy(service, environment), expected, "{filter:?} {service} {environment:?}");
        }
    }

    #[test]
    fn the_number_of_values_is_bounded() {
        let values = |count: usize| (0..count).map(|value| value.to_string()).collect::<Vec<_>>();
        let most = limits::GLOBAL_FILTER_VALUES_MAX;
        assert!(GlobalFilter::new(values(most), values(most)).is_ok());
        assert!(GlobalFilter::new(values(most + 1), Vec::new()).is_err());
        assert!(GlobalFilter::new(Vec::new(), values(most + 1)).is_err());
    }
}
