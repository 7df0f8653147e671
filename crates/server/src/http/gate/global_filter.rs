//! The services and environments of `?service=` and `?environment=`.

use axum::extract::{FromRequestParts, Query};
use axum::http::Uri;
use axum::http::request::Parts;
use tidewatch_query::global_filter::GlobalFilter;
use utoipa::IntoParams;

use crate::app::AppState;
use crate::error::ApiError;

/// The services and environments that a request selects.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "the fields describe the parameters, which `SelectedRecords` reads")]
pub struct GlobalFilterQuery {
    /// Only records of these services, at most 50; repeated for several values. An empty value: records without a
    /// service.
    #[param(style = Form, explode = true)]
    service: Option<Vec<String>>,
    /// Only records of these environments (`deployment.environment.name` of the resource, else
    /// `deployment.environment`), at most 50; repeated for several values. An empty value: records without an
    /// environment. Profiles have no environment, and are not selected by it.
    #[param(style = Form, explode = true)]
    environment: Option<Vec<String>>,
}

/// Reads [`GlobalFilterQuery`]. More than 50 values are 422.
#[derive(Debug, Clone)]
pub struct SelectedRecords(pub GlobalFilter);

impl FromRequestParts<AppState> for SelectedRecords {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<SelectedRecords, ApiError> {
        let filter = GlobalFilter::new(values(&parts.uri, "service"), values(&parts.uri, "environment"))?;
        Ok(SelectedRecords(filter))
    }
}

/// All values of a parameter. Bounded by the size of a request line.
fn values(uri: &Uri, name: &str) -> Vec<String> {
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri).map_or_else(|_| Vec::new(), |Query(pairs)| pairs);
    pairs.into_iter().filter(|(key, _)| key == name).map(|(_, value)| value).collect()
}
