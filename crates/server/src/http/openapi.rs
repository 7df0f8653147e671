//! The OpenAPI document: what every operation shares, and the whole.
//!
//! Served at `/api/openapi.json`; `docs/openapi.json` is its snapshot, kept true by a test.

use serde::Deserialize;
use serde_json::Value;
use utoipa::openapi::schema::{ArrayItems, OneOfBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Object, OpenApi as Document, Ref, RefOr, Schema};
use utoipa::{IntoParams, IntoResponses, Modify, OpenApi};

pub use crate::error::ErrorBody;

/// Which project a request is about.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct ProjectQuery {
    /// Missing or malformed: 400; of a project one may not open: 403.
    #[param(format = "uuid")]
    pub project_id: String,
}

/// How every question can fail.
#[derive(IntoResponses)]
pub enum Failures {
    /// The request cannot be read.
    #[response(status = 400)]
    Malformed(ErrorBody),
    /// No token, or a bad one.
    #[response(status = 401)]
    Unauthorized(ErrorBody),
    /// Not a project one may open.
    #[response(status = 403)]
    Forbidden(ErrorBody),
    /// Readable, but against a rule of the operation.
    #[response(status = 422)]
    Unprocessable(ErrorBody),
    /// Too many questions at once; `Retry-After` says when to come back.
    #[response(status = 503)]
    Overloaded(ErrorBody),
    /// The deadline of the question passed.
    #[response(status = 504)]
    Deadline(ErrorBody),
}

/// How a look-up of one thing can fail besides.
#[derive(IntoResponses)]
pub enum NotFound {
    /// No such thing in this project.
    #[response(status = 404)]
    NotFound(ErrorBody),
}

/// How a route with a per-IP limit can fail besides.
#[derive(IntoResponses)]
pub enum TooMany {
    /// Too many requests of this address in this minute; `Retry-After` says when to come back.
    #[response(status = 429)]
    TooMany(ErrorBody),
}

#[derive(OpenApi)]
#[openapi(
    info(title = "Tidewatch", description = "Questions about the telemetry of a project, and the accounts that may ask.", license(name = "Apache-2.0", identifier = "Apache-2.0")),
    modifiers(&Bearer),
    security(("bearer" = []), ("session" = [])),
    tags(
        (name = "account", description = "Registration and login"),
        (name = "organizations", description = "Organisations: members, invitations, settings, audit log"),
        (name = "credentials", description = "Sign-in elsewhere, second factors, tokens of people, programs and clients"),
        (name = "projects", description = "Projects and their settings"),
        (name = "overview", description = "The home page of a project"),
        (name = "endpoints", description = "Requests that were served, by method and route"),
        (name = "tasks", description = "Jobs, queue consumers and console commands"),
        (name = "ai-traces", description = "Calls of generative models"),
        (name = "issues", description = "Exceptions by normalised stack trace"),
        (name = "logs", description = "Log records"),
        (name = "traces", description = "Spans and distributed traces"),
        (name = "metrics", description = "Metric series and their names"),
        (name = "symbols", description = "Debug files and source maps; with a project's upload token"),
        (name = "drops", description = "What was received and what became of it"),
        (name = "export", description = "Tables as files"),
        (name = "health", description = "Readiness"),
    ),
)]
struct Frame;

/// The whole document; `of_routes`: the part that the routes describe.
pub fn complete(of_routes: Document) -> Document {
    let mut document = Frame::openapi();
    document.merge(of_routes);
    parameters_by_reference(&mut document);
    document
}

/// The derive of a generic schema copies in the schema it is made for: the row of a page, the orders of a list. A `$ref`
/// stands there instead, as everywhere else.
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

const ORDER_BY: &str = "One of the orders the operation names; anything else is 400.";

/// A JWT from login or another token of a person, as `Authorization: Bearer`; or a page's session cookie.
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
