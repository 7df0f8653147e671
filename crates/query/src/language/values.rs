//! The values and keys of rows with their counts: completion of queries, and facets of lists.

use std::collections::{BTreeMap, HashMap};

use tidewatch_accounts::Project;
use tidewatch_domain::query_language::{Field as NamedField, Pattern, Position, Scope};
use tidewatch_domain::rules::body_field::body_paths;
use tidewatch_domain::rules::content_terms::split;
use tidewatch_limits as limits;
use tidewatch_store::plan::{AttributeScope, Filter, Function, KeySource, Op};
use tidewatch_store::tables::{Kind, Table};

use super::fields::{Name, RowKind, Source};
use super::sample::Sample;
use crate::answer::Row;
use crate::attributes;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::plans::{self, Window};
use crate::time::Range;
use crate::views::query::*;

/// Attributes that are shown by the field of the HTTP status.
const STATUS_KEYS: [&str; 2] = ["http.response.status_code", "http.status_code"];
/// Output columns of the plans.
const VALUE: &str = "value";
const ROWS: &str = "rows";

/// `POST /api/query/complete`.
pub async fn complete(
    executor: &Executor,
    project: &Project,
    request: CompleteRequest,
) -> Result<Completions, QueryError> {
    if let Some(of_spans) = of_children(&request) {
        let mut found = Box::pin(complete(executor, project, of_spans)).await?;
        if request.field.as_deref().unwrap_or_default().is_empty() {
            found.data.iter_mut().for_each(|one| one.text.insert_str(0, CHILD));
        }
        return Ok(found);
    }
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let filter = super::filter(request.rows, request.query.as_deref())?;
    let rows = Rows { executor, kind: request.rows, project: project.number, range };
    let sample = rows.sample(&filter).await?;
    let typed = request.prefix.to_lowercase();
    let mut data = match request.field.as_deref().filter(|field| !field.is_empty()) {
        Some(field) => {
            let counted = rows.values(&sample, field, limits::COUNTED_VALUES_MAX).await?;
            counted.into_iter().map(|one| Completion { text: one.value, count: Some(one.count), doc: None }).collect()
        }
        None => {
            // Of the names of a field, the first one that fits.
            let own = request.rows.fields().iter().filter_map(|field| {
                let name = field.names.iter().find(|name| name.contains(&typed))?;
                Some(Completion { text: (*name).to_owned(), count: None, doc: Some(field.doc.to_owned()) })
            });
            let known: Vec<Completion> = own.collect();
            let keys = rows.keys(&sample).await?.into_iter().filter(|key| request.rows.field(&key.value).is_none());
            let keys = keys.map(|key| Completion { text: key.value, count: Some(key.count), doc: None });
            known.into_iter().chain(keys).collect::<Vec<_>>()
        }
    };
    // Strings that begin with what was typed precede the others; in each group, the order is kept.
    data.retain(|one| one.text.to_lowercase().contains(&typed));
    data.sort_by_key(|one| !one.text.to_lowercase().starts_with(&typed));
    data.truncate(limits::COMPLETIONS_MAX);
    Ok(Completions { data, estimated: sample.is_estimated() })
}

/// Prefix of the fields of spans below rows.
const CHILD: &str = "child.";

/// The request about all spans, of one about a field of the spans below rows, or about the names of such fields.
fn of_children(request: &CompleteRequest) -> Option<CompleteRequest> {
    let of_spans = CompleteRequest { rows: RowKind::Span, query: None, ..request.clone() };
    if !request.rows.has_descendants() {
        return None;
    }
    match request.field.as_deref().filter(|field| !field.is_empty()) {
        Some(field) => Some(CompleteRequest { field: Some(field.strip_prefix(CHILD)?.to_owned()), ..of_spans }),
        None => Some(CompleteRequest { prefix: request.prefix.strip_prefix(CHILD)?.to_owned(), ..of_spans }),
    }
}

/// `POST /api/query/facets`.
pub async fn facets(executor: &Executor, project: &Project, request: FacetsRequest) -> Result<Facets, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let filter = super::filter(request.rows, request.query.as_deref())?;
    if request.fields.len() > limits::FACETS_MAX {
        return Err(QueryError::unprocessable(format!("at most {} fields", limits::FACETS_MAX)));
    }
    let rows = Rows { executor, kind: request.rows, project: project.number, range };
    let sample = rows.sample(&filter).await?;
    let mut data = Vec::new();
    for field in &request.fields {
        data.push(rows.facet(&sample, field).await?);
    }
    if request.fields.is_empty() {
        data = rows.usual_facets(&sample).await?;
    }
    Ok(Facets { data, rows: sample.scaled(sample.rows), estimated: sample.is_estimated() })
}

/// Key to group by for the values of a field, the filter of the rows, and the names of its numbers.
type Counted = (KeySource, Filter, &'static [Name]);

/// The values that a stored value of a field stands for.
fn values_of(source: Source, stored: &str) -> Vec<String> {
    let bits = || stored.parse::<u64>().unwrap_or(0);
    match source {
        Source::Bits(_, names) => {
            let set = bits();
            names.iter().filter(|(_, bit)| set & bit != 0).map(|(name, _)| (*name).to_owned()).collect()
        }
        Source::AnyBit(_, names) => vec![names.iter().any(|(_, bit)| bits() & bit != 0).to_string()],
        Source::Terms(_) => split(stored).map(str::to_owned).collect(),
        _ => vec![stored.to_owned()],
    }
}

/// The rows of a request.
struct Rows<'e> {
    executor: &'e Executor,
    kind: RowKind,
    project: u32,
    range: Range,
}

impl Rows<'_> {
    fn table(&self) -> Table {
        self.kind.table()
    }

    async fn sample(&self, filter: &Filter) -> Result<Sample, QueryError> {
        Sample::draw(self.executor, self.table(), self.project, self.range, filter).await
    }

    /// The most frequent values of a field, most frequent first; equal counts by value.
    async fn values(&self, sample: &Sample, field: &str, count: usize) -> Result<Vec<CountedValue>, QueryError> {
        let mut counts: HashMap<String, u64> = HashMap::new();
        for (key, filter, names) in self.keys_of(field)? {
            let filter = sample.filter.clone().and(filter);
            // Numbers are named after counting, which adds some of them up.
            let source = self.kind.field(field).map(|known| known.source);
            let is_split = matches!(source, Some(Source::Bits(..) | Source::AnyBit(..) | Source::Terms(_)));
            let limit = if names.is_empty() && !is_split { count } else { limits::COUNTED_VALUES_MAX };
            for (value, rows) in self.counted(key, filter, limit).await? {
                let named = names.iter().find(|(_, least, greatest)| {
                    value.parse::<f64>().is_ok_and(|number| *least <= number && number <= *greatest)
                });
                let value = match named {
                    Some((name, ..)) => (*name).to_owned(),
                    // A row without a severity lacks the field.
                    None if value == "0" && !names.is_empty() => continue,
                    None => value,
                };
                match source {
                    Some(source) if is_split => {
                        for value in values_of(source, &value) {
                            *counts.entry(value).or_default() += rows;
                        }
                    }
                    _ => *counts.entry(value).or_default() += rows,
                }
            }
        }
        let values = counts.into_iter().map(|(value, rows)| CountedValue { value, count: sample.scaled(rows) });
        let mut values: Vec<CountedValue> = values.collect();
        values.sort_by(|left, right| right.count.cmp(&left.count).then_with(|| left.value.cmp(&right.value)));
        values.truncate(count);
        Ok(values)
    }

    /// The values of one key with the number of rows, most frequent first.
    async fn counted(&self, key: KeySource, filter: Filter, limit: usize) -> Result<Vec<(String, u64)>, QueryError> {
        let column = match key {
            KeySource::Column(name) => self.table().column(name).map(|(_, column)| column.kind),
            _ => Some(Kind::Text),
        };
        let plan = plans::ordered_groups(
            self.table(),
            &[self.project],
            self.range,
            filter,
            vec![key.named(VALUE)],
            vec![Function::Count.named(ROWS)],
            vec![plans::greatest(ROWS)],
            Window::first(limit),
        );
        let answer = self.executor.run(plan).await?;
        let value = |row: Row<'_>| match column {
            Some(Kind::Text) => row.opt_text(VALUE).map(str::to_owned),
            Some(Kind::Bool) => Some(row.flag(VALUE).to_string()),
            _ => row.opt_int(VALUE).map(|number| number.to_string()),
        };
        let pairs = answer.rows().filter_map(|row| Some((value(row)?, row.count(ROWS))));
        Ok(pairs.filter(|(value, _)| !value.is_empty()).collect())
    }

    /// The groups whose keys are the values of a field.
    fn keys_of(&self, field: &str) -> Result<Vec<Counted>, QueryError> {
        let scoped = Scope::ALL.into_iter().find_map(|scope| {
            let key = field.strip_prefix(scope.name())?.strip_prefix('.')?;
            (!key.is_empty()).then(|| (scope, key.to_owned()))
        });
        let attribute = |scope, key: &str| KeySource::Attribute { scope, key: key.to_owned() };
        let known = self.kind.field(field);
        if let (None, Some((scope, key))) = (known, scoped) {
            // The same errors and the same columns as in a query.
            let named = NamedField { scope: Some(scope), key: key.clone(), position: Position::default() };
            let sources = super::compile::sources(self.kind, &named)?;
            return Ok(sources.into_iter().map(|source| (source, Filter::True, &[][..])).collect());
        }
        if let (None, Some(path)) = (known, self.kind.body_path(field)) {
            let nearest = filters::not(Filter::has_attribute(AttributeScope::Body, path));
            return Ok(vec![
                (attribute(AttributeScope::Body, path), Filter::True, &[]),
                (attribute(AttributeScope::Nearest, field), nearest, &[]),
            ]);
        }
        let Some(known) = known else {
            return Ok(vec![(attribute(AttributeScope::Nearest, field), Filter::True, &[])]);
        };
        let one = |column, names: &'static [Name]| Ok(vec![(KeySource::Column(column), Filter::True, names)]);
        match known.source {
            Source::Text(column) | Source::Bool(column) | Source::Terms(column) => one(column, &[]),
            Source::Bits(column, _) | Source::AnyBit(column, _) => one(column, &[]),
            Source::NonZero(column) | Source::Outcome { code: column, .. } => {
                Ok(vec![(KeySource::Column(column), filters::compare(column, Op::Ne, 0), &[])])
            }
            Source::Named(column, names) => one(column, names),
            Source::Attributes(keys) => {
                let mut earlier = Filter::True;
                let mut all = Vec::new();
                for key in keys {
                    all.push((attribute(AttributeScope::Nearest, key), earlier.clone(), &[][..]));
                    earlier = earlier.and(filters::not(Filter::has_attribute(AttributeScope::Nearest, *key)));
                }
                Ok(all)
            }
            Source::Number(_)
            | Source::Duration(_)
            | Source::Size(_)
            | Source::Time(_)
            | Source::Id(_)
            | Source::Hash(_)
            | Source::Computed
            | Source::SpanError => Ok(Vec::new()),
        }
    }

    /// The keys of attributes with the number of rows that have them, most frequent first.
    async fn keys(&self, sample: &Sample) -> Result<Vec<CountedValue>, QueryError> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let group = |key: KeySource| {
            plans::ordered_groups(
                self.table(),
                &[self.project],
                self.range,
                sample.filter.clone(),
                vec![key.named(VALUE)],
                vec![Function::Count.named(ROWS)],
                vec![plans::greatest(ROWS)],
                Window::first(limits::COUNTED_VALUES_MAX),
            )
        };
        if self.table().column("attributes").is_some() {
            for row in self.executor.run(group(KeySource::AttributeKeys)).await?.rows() {
                for key in row.text(VALUE).split(',').filter(|key| !key.is_empty()) {
                    *counts.entry(key.to_owned()).or_default() += row.count(ROWS);
                }
            }
        }
        for column in ["resource", "scope_attributes"] {
            let Some((_, column)) = self.table().column(column) else { continue };
            for row in self.executor.run(group(KeySource::Column(column.name))).await?.rows() {
                for key in attributes::map(row.bytes(VALUE)).0.into_keys() {
                    *counts.entry(key).or_default() += row.count(ROWS);
                }
            }
        }
        for path in self.body_paths(sample).await? {
            *counts.entry(format!("body.{path}")).or_default() += 1;
        }
        let counted = counts.into_iter().map(|(value, rows)| CountedValue { value, count: sample.scaled(rows) });
        let mut keys: Vec<CountedValue> = counted.collect();
        keys.sort_by(|left, right| right.count.cmp(&left.count).then_with(|| left.value.cmp(&right.value)));
        Ok(keys)
    }

    /// The paths of the fields in bodies that are JSON objects, of some rows; a path as often as a body has it.
    async fn body_paths(&self, sample: &Sample) -> Result<Vec<String>, QueryError> {
        if self.kind != RowKind::Log {
            return Ok(Vec::new());
        }
        let pattern = Pattern::with_wildcards(vec!["{".to_owned(), "}".to_owned()]);
        let is_object = Filter::Matches { column: "body", pattern, ignore_case: false };
        let filter = sample.filter.clone().and(is_object);
        let window = Window::first(limits::BODIES_LISTED_MAX);
        let projects = [self.project];
        let plan = plans::rows(self.table(), &projects, self.range, filter, vec!["body"], vec![], window);
        let answer = self.executor.run(plan).await?;
        Ok(answer.rows().flat_map(|row| body_paths(row.text("body"), limits::BODY_PATHS_MAX)).collect())
    }

    /// The most frequent values of one field.
    async fn facet(&self, sample: &Sample, field: &str) -> Result<Facet, QueryError> {
        let mut values = self.values(sample, field, limits::FACET_VALUES_MAX + 1).await?;
        let more = values.len() > limits::FACET_VALUES_MAX;
        values.truncate(limits::FACET_VALUES_MAX);
        Ok(Facet { field: field.to_owned(), values, more })
    }

    /// The facets that a list shows without being asked: those of the kind, then the most frequent attributes of few
    /// values.
    async fn usual_facets(&self, sample: &Sample) -> Result<Vec<Facet>, QueryError> {
        let mut facets = Vec::new();
        for field in self.kind.facets() {
            facets.push(self.facet(sample, field).await?);
        }
        facets.retain(|facet| !facet.values.is_empty());
        let is_covered = |key: &str| {
            STATUS_KEYS.contains(&key)
                || filters::ENVIRONMENT_KEYS.contains(&key)
                || self.kind.fields().iter().any(|field| match field.source {
                    Source::Attributes(keys) => keys.contains(&key),
                    _ => field.names.contains(&key),
                })
        };
        let keys = self.keys(sample).await?.into_iter().map(|key| key.value).filter(|key| !is_covered(key));
        for key in keys.take(limits::FACETS_MAX) {
            let facet = self.facet(sample, &key).await?;
            // A single value selects nothing, and many are names of single things.
            if facet.values.len() > 1 && !facet.more && facets.len() < limits::FACETS_MAX {
                facets.push(facet);
            }
        }
        Ok(facets)
    }
}
