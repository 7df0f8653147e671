//! The response.

use tidewatch_domain::explain::{Condition, Predicate, Row, RowKind};
use tidewatch_domain::query_language::{Comparison, Expr, Field, Literal, Scope};
use tidewatch_domain::units;

use super::columns::{Compared, reason};
use super::evidence::{Evidence, Found};
use super::spans::Failure;
use crate::language::fields::RowKind as RowOf;
use crate::views::explain::{
    ExplainCondition, ExplainFailure, ExplainKind, ExplainLeftOut, ExplainMode, ExplainOwnTime, ExplainRates,
    ExplainRelation, ExplainRow, ExplainScope, Explanation,
};

/// Nanoseconds of a millisecond.
pub const MILLISECOND: f64 = units::MILLISECOND_NS as f64;

/// The response for what the engine found.
pub fn answer(evidence: &Evidence, found: Found, mode: ExplainMode) -> Explanation {
    let Found { compared, explanation, own_time, failures } = found;
    let sample = &evidence.sample;
    let rates = sample.rates;
    let of_engine = explanation.left_out.iter().map(|(place, why)| (&compared.attributes[*place], reason(*why)));
    let left_out = compared.left_out.iter().map(|(attribute, why)| (attribute, *why)).chain(of_engine);
    let mut left_out: Vec<_> = left_out
        .filter(|(attribute, _)| attribute.scope != ExplainScope::Child)
        .map(|(attribute, reason)| ExplainLeftOut { scope: attribute.scope, attribute: attribute.key.clone(), reason })
        .collect();
    left_out.sort_by(|a, b| (a.scope, &a.attribute).cmp(&(b.scope, &b.attribute)));
    Explanation {
        data: explanation.rows.iter().map(|found| row(&compared, found)).collect(),
        own_time: own_time
            .into_iter()
            .map(|(operation, time)| ExplainOwnTime {
                operation: operation.name,
                service: operation.service,
                selection_ms: time.selected / MILLISECOND,
                baseline_ms: time.baseline / MILLISECOND,
                delta_ms: time.delta / MILLISECOND,
                share: time.share,
            })
            .collect(),
        sampled: rates.selected < 1.0 || rates.rest < 1.0 || rates.before < 1.0,
        selected: sample.counts[0],
        baseline: sample.counts[1],
        before: sample.counts[2],
        sample_rates: ExplainRates { selected: rates.selected, rest: rates.rest, before: rates.before },
        mode,
        partial: evidence.below.is_partial,
        what_failed: failures
            .into_iter()
            .map(|Failure { call, key, value, count }| {
                let (operation, service) = call.map(|call| (call.name, call.service)).unzip();
                ExplainFailure { attribute: key, value, count, operation, service }
            })
            .collect(),
        left_out,
    }
}

fn row(compared: &Compared, found: &Row) -> ExplainRow {
    let mut conditions = found.conditions.iter().map(|one| condition(compared, *one));
    ExplainRow {
        condition: conditions.next().expect("a row has a condition"),
        and: conditions.next(),
        kind: match found.kind {
            RowKind::Condition => ExplainKind::Condition,
            RowKind::Pair => ExplainKind::Pair,
            RowKind::Began => ExplainKind::Began,
        },
        selection_share: found.selected_share,
        baseline_share: found.compared_share,
        explained: found.explained,
        score: found.score,
        count: found.count,
        synonyms: found.synonyms.iter().map(|one| condition(compared, *one)).collect(),
    }
}

fn condition(compared: &Compared, one: Condition) -> ExplainCondition {
    let attribute = &compared.attributes[one.column];
    let value = compared.table.value(one);
    let relation = match one.predicate {
        Predicate::Is(_) => ExplainRelation::Equals,
        Predicate::AtLeast(_) => ExplainRelation::AtLeast,
        Predicate::LessThan(_) => ExplainRelation::LessThan,
        Predicate::Absent => ExplainRelation::Absent,
    };
    ExplainCondition {
        scope: attribute.scope,
        attribute: attribute.key.clone(),
        service: (attribute.scope == ExplainScope::Child).then(|| attribute.service.clone()),
        query: query(attribute.scope, &attribute.key, relation, value.as_deref()),
        relation,
        value,
    }
}

/// The condition in the query language.
fn query(scope: ExplainScope, key: &str, relation: ExplainRelation, value: Option<&str>) -> Option<String> {
    let scope = match scope {
        // Resource attributes are on the spans of requests, not on the rows of their lists.
        ExplainScope::Resource | ExplainScope::Record if matches!(key, "service.name" | "service.version") => None,
        ExplainScope::Record if key == "name" => None,
        ExplainScope::Record => Some(Scope::Record),
        // A field of spans with this name is not the attribute.
        ExplainScope::Child if key == "name" || RowOf::Span.field(key).is_none() => Some(Scope::Child),
        _ => return None,
    };
    let field = Field { scope, ..Field::named(key) };
    let compared = |comparison, literal| Expr::Compare { field: field.clone(), comparison, literal };
    let unquoted = |text: &str| Literal { quoted: false, ..Literal::quoted(text) };
    let expr = match (relation, value) {
        (ExplainRelation::Equals, Some(value)) => compared(Comparison::Equals, Literal::quoted(value)),
        (ExplainRelation::AtLeast, Some(value)) => compared(Comparison::GreaterOrEqual, unquoted(value)),
        (ExplainRelation::LessThan, Some(value)) => compared(Comparison::Less, unquoted(value)),
        (ExplainRelation::Absent, _) => Expr::Has(field).negated(),
        (_, None) => return None,
    };
    Some(expr.to_string())
}
