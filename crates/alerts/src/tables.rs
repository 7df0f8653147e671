//! SQL of all rooms: the values of a written row, and reads of the escalation policies, because an object that a policy
//! names is not deleted.

use sqlx::any::AnyArguments;
use sqlx::error::BoxDynError;
use sqlx::{Any, Arguments, AssertSqlSafe, Encode, Type};
use tidewatch_accounts::{ControlError, Write};

/// The columns of a row with their values: one list for the insert and the update.
///
/// Tables and columns are words of this crate. Values are arguments of the statement.
pub(crate) struct RowValues {
    table: &'static str,
    columns: Vec<&'static str>,
    values: Result<AnyArguments, BoxDynError>,
}

impl RowValues {
    /// No column of a row of this table.
    pub(crate) fn of(table: &'static str) -> RowValues {
        RowValues { table, columns: Vec::new(), values: Ok(AnyArguments::default()) }
    }

    /// Adds a column.
    pub(crate) fn set<'v>(mut self, column: &'static str, value: impl Encode<'v, Any> + Type<Any>) -> RowValues {
        self.columns.push(column);
        self.values = self.values.and_then(|mut values| values.add(value).map(|()| values));
        self
    }

    /// Inserts the row. Returns its id.
    pub(crate) async fn insert(self, write: &mut Write<'_>) -> Result<i64, ControlError> {
        let statement = self.insertion();
        let values = self.values.map_err(sqlx::Error::Encode)?;
        Ok(sqlx::query_scalar_with(AssertSqlSafe(statement), values).fetch_one(write.on()).await?)
    }

    /// Changes the columns of the rows that have these `keys`. Returns the number of these rows.
    pub(crate) async fn update(self, write: &mut Write<'_>, keys: &[(&'static str, i64)]) -> Result<u64, ControlError> {
        let count = self.columns.len();
        let all = keys.iter().fold(self, |all, (column, value)| all.set(column, *value));
        let statement = all.change(count);
        let values = all.values.map_err(sqlx::Error::Encode)?;
        Ok(sqlx::query_with(AssertSqlSafe(statement), values).execute(write.on()).await?.rows_affected())
    }

    fn insertion(&self) -> String {
        let marks: Vec<String> = (1..=self.columns.len()).map(|number| format!("${number}")).collect();
        let (columns, marks) = (self.columns.join(", "), marks.join(", "));
        format!("INSERT INTO {} ({columns}) VALUES ({marks}) RETURNING id", self.table)
    }

    /// The statement that sets the first `count` columns of the rows with the values of the others.
    fn change(&self, count: usize) -> String {
        let equal = |(number, column): (usize, &&str)| format!("{column} = ${number}");
        let all: Vec<String> = (1..).zip(&self.columns).map(equal).collect();
        let (set, keys) = all.split_at(count);
        format!("UPDATE {} SET {} WHERE {}", self.table, set.join(", "), keys.join(" AND "))
    }
}

/// Whether a policy of the organization reaches a target.
pub(crate) async fn is_targeted(
    write: &mut Write<'_>,
    organization: i64,
    kind: &str,
    id: i64,
) -> Result<bool, ControlError> {
    let policies: Vec<String> = sqlx::query_scalar("SELECT definition FROM oncall_policies WHERE organization_id = $1")
        .bind(organization)
        .fetch_all(write.on())
        .await?;
    Ok(policies.iter().any(|policy| targets(policy, kind).contains(&id)))
}

/// The ids of the targets of a kind in a policy.
pub(crate) fn targets(policy: &str, kind: &str) -> Vec<i64> {
    let policy: serde_json::Value = serde_json::from_str(policy).unwrap_or_default();
    let steps = policy["steps"].as_array().into_iter().flatten();
    let all = steps.flat_map(|step| step["targets"].as_array().into_iter().flatten());
    all.filter(|target| target["type"] == kind).filter_map(|target| target["id"].as_i64()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_list_gives_both_statements() {
        let row = RowValues::of("windows").set("title", "a").set("starts_ns", 1i64).set("page", 2i64);
        assert_eq!(row.insertion(), "INSERT INTO windows (title, starts_ns, page) VALUES ($1, $2, $3) RETURNING id");
        assert_eq!(row.change(2), "UPDATE windows SET title = $1, starts_ns = $2 WHERE page = $3");
        assert_eq!(row.change(1), "UPDATE windows SET title = $1 WHERE starts_ns = $2 AND page = $3");
    }
}
