//! Random queries list the rows that a naive evaluation of the query finds.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tidewatch_domain::query_language::{Cell, Expr, Field, Row, Scope, evaluate, parse};
use tidewatch_query::language::LIMITS;
use tidewatch_query::language::fields::{RowKind, Source};

use crate::harness::{Harness, Project};
use crate::query_language::{SECOND, attributes};
use crate::requests::{NOON_NS, SERVER, column, export, made};

/// A row as the test knows it, evaluated without the engine.
#[derive(Debug, Default)]
struct Known {
    strings: BTreeMap<&'static str, String>,
    numbers: BTreeMap<&'static str, f64>,
    levels: BTreeMap<Level, BTreeMap<String, String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Record,
    Scope,
    Resource,
}

impl Known {
    fn at(&self, level: Level, key: &str) -> Option<Cell<'_>> {
        Some(Cell::Text(Cow::Borrowed(self.levels.get(&level)?.get(key)?)))
    }

    fn nearest(&self, key: &str) -> Option<Cell<'_>> {
        [Level::Record, Level::Scope, Level::Resource].into_iter().find_map(|level| self.at(level, key))
    }

    fn column(&self, source: Source) -> Option<Cell<'_>> {
        let number = |column: &str| self.numbers.get(column).copied();
        match source {
            Source::Text(column) | Source::Id(column) => {
                Some(Cell::Text(Cow::Borrowed(self.strings.get(column).filter(|text| !text.is_empty())?)))
            }
            Source::Number(column) => number(column).map(Cell::Number),
            Source::NonZero(column) | Source::Outcome { code: column, .. } => {
                number(column).filter(|number| *number != 0.0).map(Cell::Number)
            }
            Source::Duration(column) => number(column).map(Cell::Duration),
            Source::Size(column) => number(column).filter(|size| *size != 0.0).map(Cell::Size),
            Source::Time(column) => number(column).map(|time| Cell::Time(time as i64)),
            Source::Named(column, names) => {
                let number = number(column)?;
                let is_known = number != 0.0 || names.iter().any(|(_, least, _)| *least == 0.0);
                is_known.then_some(Cell::Named { number, names })
            }
            Source::Bool(column) => Some(Cell::Text(Cow::Borrowed(self.strings.get(column)?))),
            Source::SpanError => {
                let is_error = number("status") == Some(2.0) || number("http_status").is_some_and(|code| code >= 500.0);
                Some(Cell::Text(Cow::Borrowed(if is_error { "true" } else { "false" })))
            }
            Source::Attributes(keys) => keys.iter().find_map(|key| self.nearest(key)),
            // Of AI Traces, which this test does not make: `tests/it/content_flags.rs`.
            Source::Hash(_) | Source::Bits(..) | Source::AnyBit(..) | Source::Terms(_) | Source::Computed => None,
        }
    }
}

/// A row of a kind.
struct Of<'k>(RowKind, &'k Known);

impl Row for Of<'_> {
    fn cell(&self, field: &Field) -> Option<Cell<'_>> {
        let Of(kind, known) = self;
        match field.scope {
            None => match kind.field(&field.key) {
                Some(field) => known.column(field.source),
                None => known.nearest(&field.key),
            },
            Some(Scope::Record) => known.at(Level::Record, &field.key),
            Some(Scope::Resource) => known.at(Level::Resource, &field.key),
            Some(Scope::Scope) if field.key == "name" => known.column(Source::Text("scope")),
            Some(Scope::Scope) => known.at(Level::Scope, &field.key),
            Some(Scope::Child) => None,
        }
    }

    fn strings(&self) -> Vec<Cow<'_, str>> {
        self.0
            .searched()
            .iter()
            .filter_map(|column| Some(Cow::Borrowed(self.1.strings.get(column)?.as_str())))
            .collect()
    }
}

/// Fields of a kind of row for random queries, by the values that they take.
struct Vocabulary {
    kind: RowKind,
    strings: &'static [&'static str],
    numbers: &'static [&'static str],
    named: &'static [(&'static str, &'static [&'static str])],
}

const VALUES: [&str; 16] = [
    "acme",
    "globex",
    "\"\"",
    "7",
    "12",
    "-1.5",
    "*",
    "a*",
    "*e",
    "g*x",
    "\"a*\"",
    "/cart/*",
    "shop",
    "prod",
    "**e*",
    "\"zürich ü\"",
];
const WORDS: [&str; 9] = ["card", "CARD", "\"card declined\"", "d*c", "c*d*e", "order", "\"\"", "ü", "select"];

fn pick<'p, T: ?Sized>(random: &mut fastrand::Rng, from: &[&'p T]) -> &'p T {
    from[random.usize(..from.len())]
}

impl Vocabulary {
    fn term(&self, random: &mut fastrand::Rng) -> String {
        match random.u8(..10) {
            0 | 1 => pick(random, &WORDS).to_owned(),
            2 => format!("has:{}", pick(random, self.strings)),
            3 | 4 => {
                let (field, values) = self.named[random.usize(..self.named.len())];
                let symbol =
                    if values.contains(&"true") { ":" } else { pick(random, &[":", "=", ">", ">=", "<", "<=", "!="]) };
                format!("{field}{symbol}{}", pick(random, values))
            }
            5 | 6 => {
                let symbol = pick(random, &[":>", ">=", "<", "<=", ">"]);
                format!(
                    "{}{symbol}{}",
                    pick(random, self.numbers),
                    pick(random, &["0", "7", "11.5", "-2", "250", "1e3"])
                )
            }
            7 => format!("{}:({} OR {})", pick(random, self.strings), pick(random, &VALUES), pick(random, &VALUES)),
            _ => format!("{}{}{}", pick(random, self.strings), pick(random, &[":", "=", "!="]), pick(random, &VALUES)),
        }
    }

    fn query(&self, depth: u8, random: &mut fastrand::Rng) -> String {
        if depth == 0 {
            return self.term(random);
        }
        let mut several = |joint: &str| {
            let count = random.usize(1..4);
            (0..count).map(|_| self.query(depth - 1, random)).collect::<Vec<_>>().join(joint)
        };
        match several("\u{1}") {
            all if all.len() % 3 == 0 => all.replace('\u{1}', " "),
            all if all.len() % 3 == 1 => format!("({})", all.replace('\u{1}', " OR ")),
            all => format!("-({})", all.replace('\u{1}', " ")),
        }
    }

    /// Random queries that list the same rows through `path` as a naive evaluation of `rows`, by the text of their `id`.
    async fn check(&self, (harness, project): (&Harness, &Project), path: &str, id: &str, rows: &[(String, Known)]) {
        let mut random = fastrand::Rng::with_seed(21);
        let (mut selective, mut found) = (0, 0);
        for _ in 0..300 {
            let depth = random.u8(..3);
            let query = self.query(depth, &mut random);
            let expr: Expr = parse(&query, LIMITS).unwrap_or_else(|fault| panic!("{query}: {fault}"));
            let expected: BTreeSet<&str> = rows
                .iter()
                .filter(|(_, known)| evaluate(&expr, &Of(self.kind, known)))
                .map(|(id, _)| id.as_str())
                .collect();
            let body = json!({ "query": query, "pagination": { "page": 1, "pageSize": 100 } });
            let list = harness.query_json(project, path, body).await;
            let listed: BTreeSet<&str> = column(&list, id).into_iter().filter_map(Value::as_str).collect();
            assert_eq!(listed, expected, "{query}");
            found += expected.len();
            selective += usize::from(!expected.is_empty() && expected.len() < rows.len());
        }
        assert!(selective > 100 && found > 1000, "{selective} queries find some of the rows, {found} in all");
    }
}

fn random_pairs(random: &mut fastrand::Rng) -> Vec<(&'static str, &'static str)> {
    let keys = ["tenant", "n", "http.route", "url.path", "http.target", "user.id", "deployment.environment", "größe"];
    let values = ["acme", "globex", "7", "12", "-1.5", "/cart/7", "prod", "zürich ü", "a*", "shop"];
    let some = |key| (random.u8(..3) == 0).then(|| (key, values[random.usize(..values.len())]));
    keys.into_iter().filter_map(some).collect()
}

fn level(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn random_queries_of_logs_find_what_a_naive_evaluation_finds() {
    let (harness, project) = Harness::with_project().await;
    let mut random = fastrand::Rng::with_seed(1);
    let bodies = ["card declined", "Card ordered", "order placed", "zürich ü", "health"];
    let mut known = Vec::new();
    let mut blocks = Vec::new();
    for number in 0..60_u64 {
        let (own, scope, mut resource) =
            (random_pairs(&mut random), random_pairs(&mut random), random_pairs(&mut random));
        let service = if random.bool() { "shop" } else { "acme" };
        resource.push(("service.name", service));
        let severity = u64::from(random.u8(..25));
        let body = format!("{} {number}", bodies[random.usize(..bodies.len())]);
        let span = number % 3;
        let record = json!({ "timeUnixNano": (NOON_NS + number * SECOND).to_string(), "severityNumber": severity,
            "body": { "stringValue": body }, "attributes": attributes(&own), "spanId": format!("{span:016x}") });
        blocks.push(json!({ "resource": { "attributes": attributes(&resource) }, "scopeLogs": [{
            "scope": { "name": "acme", "attributes": attributes(&scope) }, "logRecords": [record] }] }));
        let span_id = if span == 0 { String::new() } else { format!("{span:016x}") };
        known.push((
            body.clone(),
            Known {
                strings: BTreeMap::from([
                    ("server_name", service.to_owned()),
                    ("body", body),
                    ("scope", "acme".to_owned()),
                    ("span_id", span_id),
                ]),
                numbers: BTreeMap::from([("severity", severity as f64)]),
                levels: BTreeMap::from([
                    (Level::Record, level(&own)),
                    (Level::Scope, level(&scope)),
                    (Level::Resource, level(&resource)),
                ]),
            },
        ));
    }
    harness.post_json("logs", &project.token, &json!({ "resourceLogs": blocks })).await.expect(200);
    let vocabulary = Vocabulary {
        kind: RowKind::Log,
        strings: &[
            "service",
            "service.name",
            "body",
            "tenant",
            "n",
            "route",
            "path",
            "user",
            "env",
            "größe",
            "record.tenant",
            "resource.n",
            "scope.n",
            "scope.name",
            "resource.service.name",
            "missing",
            "event",
        ],
        numbers: &["n", "tenant", "resource.n", "path", "level"],
        named: &[("level", &["error", "WARN", "info", "trace", "fatal", "12", "0"])],
    };
    vocabulary.check((&harness, &project), "/api/logs", "body", &known).await;
}

#[tokio::test]
async fn random_queries_of_spans_and_endpoints_find_what_a_naive_evaluation_finds() {
    let (harness, project) = Harness::with_project().await;
    let mut random = fastrand::Rng::with_seed(2);
    let (mut spans, mut endpoints) = (Vec::new(), Vec::new());
    for number in 1..=60_u64 {
        let pairs = random_pairs(&mut random);
        let service = if random.bool() { "shop" } else { "acme" };
        let status = [0, 200, 404, 500, 503][random.usize(..5)];
        let ms = [0.5, 7.0, 11.5, 250.0, 1500.0][random.usize(..5)];
        let mut own = level(&pairs);
        own.insert("http.request.method".to_owned(), "GET".to_owned());
        let mut span =
            made(number, number, SERVER, "card select", number as f64, ms).with("http.request.method", "GET");
        for (key, value) in &pairs {
            span = match value.parse::<i64>() {
                Ok(number) => span.with_int(key, number),
                Err(_) => span.with(key, value),
            };
        }
        if status != 0 {
            span = span.with_int("http.response.status_code", status);
            own.insert("http.response.status_code".to_owned(), status.to_string());
        }
        let is_failed = random.u8(..4) == 0;
        if is_failed {
            span = span.failed();
        }
        let environment = ["prod", "a*", "acme"][random.usize(..3)];
        let of_resource = [("service.name", service), ("tenant", "host"), ("deployment.environment", environment)];
        let resource = json!({ "attributes": attributes(&of_resource) });
        let mut export = export(service, &[span]);
        export["resourceSpans"][0]["resource"] = resource;
        harness.post_json("traces", &project.token, &export).await.expect(200);
        let is_error = is_failed || status >= 500;
        let of_resource = level(&of_resource);
        let id = format!("{number:016x}");
        let text = |text: &str| text.to_owned();
        spans.push((
            id.clone(),
            Known {
                strings: BTreeMap::from([
                    ("server_name", text(service)),
                    ("name", text("card select")),
                    ("span_id", id.clone()),
                    ("status_message", text(if is_failed { "failed" } else { "" })),
                    ("scope", text("lib")),
                ]),
                numbers: BTreeMap::from([
                    ("duration", ms * 1e6),
                    ("http_status", status as f64),
                    ("kind", 2.0),
                    ("status", if is_failed { 2.0 } else { 0.0 }),
                ]),
                levels: BTreeMap::from([(Level::Record, own.clone()), (Level::Resource, of_resource.clone())]),
            },
        ));
        endpoints.push((
            id.clone(),
            Known {
                strings: BTreeMap::from([
                    ("server_name", text(service)),
                    ("span_id", id),
                    ("is_error", is_error.to_string()),
                    ("is_root", text("true")),
                    ("is_stream", text("false")),
                    ("environment", text(environment)),
                ]),
                numbers: BTreeMap::from([("duration", ms * 1e6), ("status_code", status as f64)]),
                levels: BTreeMap::from([(Level::Record, own), (Level::Resource, of_resource)]),
            },
        ));
    }
    let listed =
        harness.query_json(&project, "/api/endpoints", json!({ "pagination": { "page": 1, "pageSize": 100 } })).await;
    // The names of Endpoints follow rules of their own, tested elsewhere.
    for row in listed["data"].as_array().expect("a list") {
        let name = row["endpoint"].as_str().expect("a name").to_owned();
        let known = endpoints.iter_mut().find(|(id, _)| row["spanId"] == id.as_str()).expect("the row was sent");
        known.1.strings.insert("name", name);
    }
    let of_spans = Vocabulary {
        kind: RowKind::Span,
        strings: &[
            "service",
            "name",
            "status_message",
            "tenant",
            "n",
            "route",
            "path",
            "user",
            "env",
            "größe",
            "record.tenant",
            "resource.tenant",
            "scope.name",
            "method",
            "missing",
        ],
        numbers: &["n", "tenant", "duration", "http.status", "kind"],
        named: &[
            ("status", &["ok", "ERROR", "unset", "1", "2"]),
            ("kind", &["server", "client", "2"]),
            ("error", &["true", "false"]),
            ("duration", &["7ms", "0.0115s", "1s", "250"]),
        ],
    };
    of_spans.check((&harness, &project), "/api/spans", "spanId", &spans).await;
    let of_endpoints = Vocabulary {
        kind: RowKind::Endpoint,
        strings: &[
            "service",
            "name",
            "tenant",
            "n",
            "route",
            "path",
            "user",
            "env",
            "größe",
            "environment",
            "record.tenant",
            "resource.tenant",
            "resource.n",
            "resource.service.name",
            "resource.deployment.environment",
            "method",
        ],
        numbers: &["n", "tenant", "duration", "status"],
        named: &[
            ("status", &["200", "404", "499.5"]),
            ("error", &["true", "false"]),
            ("root", &["true", "false"]),
            ("duration", &["7ms", "11500us", "1s", "250"]),
        ],
    };
    of_endpoints.check((&harness, &project), "/api/endpoints", "spanId", &endpoints).await;
}
