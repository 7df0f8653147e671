//! The OpenAPI document, and the parts that all operations share.
//!
//! `docs/openapi.json` is generated from the routes, which a test verifies. The binary embeds it, serves it at
//! `/api/openapi.json`, and prints it with `tidewatch openapi`.

use std::io::Read;

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::Value;
use tidewatch_query::views::rows;
use utoipa::openapi::schema::{ArrayBuilder, ArrayItems, OneOfBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Object, OpenApi as Document, Ref, RefOr, Schema};
use utoipa::{IntoParams, IntoResponses, Modify, OpenApi};

pub use crate::error::ErrorBody;

/// `docs/openapi.json`, compressed with gzip.
const DOCUMENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.gz"));

/// The OpenAPI document, JSON.
pub fn document() -> String {
    let mut text = String::new();
    GzDecoder::new(DOCUMENT).read_to_string(&mut text).expect("the embedded document is valid gzip of UTF-8");
    text
}

/// The project of a request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct ProjectQuery {
    /// The id of the project. Missing or malformed: 400. Not a project of the user: 403.
    #[param(format = "uuid")]
    pub project_id: String,
}

/// The errors of every operation.
#[derive(IntoResponses)]
pub enum Failures {
    /// The request is malformed.
    #[response(status = 400)]
    Malformed(ErrorBody),
    /// No credential, or an invalid one.
    #[response(status = 401)]
    Unauthorized(ErrorBody),
    /// The credential does not permit this.
    #[response(status = 403)]
    Forbidden(ErrorBody),
    /// The request violates a rule of the operation.
    #[response(status = 422)]
    Unprocessable(ErrorBody),
    /// Too many concurrent requests. Retry after `Retry-After`.
    #[response(status = 503)]
    Overloaded(ErrorBody),
    /// The query exceeded its deadline.
    #[response(status = 504)]
    Deadline(ErrorBody),
}

/// The additional error of a look-up.
#[derive(IntoResponses)]
pub enum NotFound {
    /// The object does not exist.
    #[response(status = 404)]
    NotFound(ErrorBody),
}

/// The additional error of a route with a rate limit per address.
#[derive(IntoResponses)]
pub enum TooMany {
    /// Too many requests from this address in this minute. Retry after `Retry-After`.
    #[response(status = 429)]
    TooMany(ErrorBody),
}

#[derive(OpenApi)]
#[openapi(
    info(title = "Tidewatch", description = "Queries of a project's telemetry, and management of accounts and projects.", license(name = "Apache-2.0", identifier = "Apache-2.0")),
    modifiers(&Bearer),
    security(("bearer" = []), ("session" = [])),
    tags(
        (name = "account", description = "Registration and login"),
        (name = "organizations", description = "Organizations: members, invitations, settings, audit log"),
        (name = "credentials", description = "Sign-in with other providers, second factors, tokens of users, programs and clients"),
        (name = "projects", description = "Projects and their settings"),
        (name = "incidents", description = "Incidents, their updates and post-mortems"),
        (name = "status pages", description = "Public status pages"),
        (name = "on-call", description = "Teams, schedules, escalation policies, pages, contact methods"),
        (name = "overview", description = "The home page of a project"),
        (name = "endpoints", description = "Inbound HTTP requests, by method and route"),
        (name = "tasks", description = "Jobs, queue consumers and console commands"),
        (name = "ai-traces", description = "Calls of generative models"),
        (name = "issues", description = "Exceptions by normalized stack trace"),
        (name = "sessions", description = "Sessions of browsers and apps, and their recordings"),
        (name = "logs", description = "Log records"),
        (name = "traces", description = "Spans and distributed traces"),
        (name = "metrics", description = "Metric series and their names"),
        (name = "monitors", description = "Checks of addresses and jobs at intervals"),
        (name = "symbols", description = "Debug files and source maps; uploads need a project's upload token"),
        (name = "services", description = "Services, and the calls between them"),
        (name = "query", description = "Completion of queries, and counts of values"),
        (name = "drops", description = "Counts of received records: stored or dropped, by reason"),
        (name = "export", description = "Tables as files"),
        (name = "health", description = "Readiness"),
    ),
)]
struct Frame;

/// The whole document. `of_routes`: the descriptions of the routes.
pub fn complete(of_routes: Document) -> Document {
    let mut document = Frame::openapi();
    document.merge(of_routes);
    parameters_by_reference(&mut document);
    cut_fields_of_rows(&mut document);
    document
}

/// Rows of lists that are not a `Page`.
const OTHER_ROWS: &[&str] = &["LogPattern", "Occurrence", "SimilarIssue", "SpanView", "TagDistribution", "TraceRow"];

/// Adds `truncatedFields` to the schemas of rows (`tidewatch_query::views::rows`).
fn cut_fields_of_rows(document: &mut Document) {
    let Some(components) = &mut document.components else { return };
    let names = components.schemas.keys().filter_map(|name| name.strip_prefix("Page_"));
    let names: Vec<String> = names.chain(OTHER_ROWS.iter().copied()).map(str::to_owned).collect();
    let field = || {
        let names = ArrayBuilder::new().items(Object::with_type(Type::String)).description(Some(TRUNCATED_FIELDS));
        [(rows::TRUNCATED_FIELDS.to_owned(), RefOr::<Schema>::from(names))]
    };
    for name in names {
        match components.schemas.get_mut(&name) {
            Some(RefOr::T(Schema::Object(object))) => object.properties.extend(field()),
            Some(RefOr::T(Schema::AllOf(parts))) => {
                let mut object = Object::with_type(Type::Object);
                object.properties.extend(field());
                parts.items.push(object.into());
            }
            _ => {}
        }
    }
}

const TRUNCATED_FIELDS: &str = "Names of the fields whose strings are cut (docs/operate/limits.md); absent when none is. The row's details have them whole.";

/// Replaces schemas that the derive of a generic schema inlines (the row of a page, the orders of a list) by a `$ref`.
fn parameters_by_reference(document: &mut Document) {
    let Some(components) = &mut document.components else { return };
    for (name, schema) in &mut components.schemas {
        let RefOr::T(Schema::Object(object)) = schema else { continue };
        if let Some(row) = name.strip_prefix("Page_")
            && let Some(RefOr::T(Schema::Array(data))) = object.properties.get_mut("data")
        {
            data.items = ArrayItems::RefOrSchema(Box::new(Ref::from_schema_name(row).into()));
        }
        if let Some(orders) = name.strip_prefix("ListRequest_") {
            let named = Ref::builder().ref_location_from_schema_name(orders).description(Some(ORDER_BY));
            let nullable =
                OneOfBuilder::new().item(named).item(Object::with_type(Type::Null)).default(Some(Value::Null));
            object.properties.insert("orderBy".to_owned(), nullable.into());
        }
    }
}

const ORDER_BY: &str = "One of the orders of the operation; any other value is a 400.";

/// The security schemes: a JWT or another token of a user as `Authorization: Bearer`, or the session cookie of a page.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut Document) {
        let scheme = SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build());
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("bearer", scheme);
        let cookie = ApiKeyValue::with_description("tidewatch_session", "Pages; `__Host-tidewatch_session` behind TLS");
        components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    }
}
