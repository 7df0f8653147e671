//! Routes with their OpenAPI descriptions. Handlers are registered at the start; the descriptions take megabytes and
//! are built when the document is requested.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Router;
use axum::routing::MethodRouter;
use utoipa::openapi::OpenApi as Document;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::app::App;

/// Handlers by path, and their descriptions.
#[derive(Default)]
pub struct Api {
    router: Router<Arc<App>>,
    paths: BTreeSet<String>,
    described: Vec<fn() -> UtoipaMethodRouter<Arc<App>>>,
}

/// The result of `routes!`.
pub struct Routes {
    /// The handlers by path.
    pub handlers: Vec<(String, MethodRouter<Arc<App>>)>,
    /// Builds the description of the handlers.
    pub describe: fn() -> UtoipaMethodRouter<Arc<App>>,
}

impl Api {
    /// An API without routes.
    pub fn new() -> Api {
        Api::default()
    }

    /// Adds handlers with their descriptions.
    pub fn routes(mut self, routes: Routes) -> Api {
        for (path, handler) in &routes.handlers {
            self.router = self.router.route(path, handler.clone());
        }
        self.described(routes)
    }

    /// Applies `change` to the router of all handlers added so far.
    pub fn served(mut self, change: impl FnOnce(Router<Arc<App>>) -> Router<Arc<App>>) -> Api {
        self.router = change(self.router);
        self
    }

    /// Adds only the descriptions of handlers that another router serves.
    pub fn described(mut self, routes: Routes) -> Api {
        self.paths.extend(routes.handlers.into_iter().map(|(path, _)| path));
        self.described.push(routes.describe);
        self
    }

    /// Adds handlers without descriptions.
    pub fn undescribed(mut self, router: Router<Arc<App>>) -> Api {
        self.router = self.router.merge(router);
        self
    }

    /// Adds the handlers and descriptions of `other`.
    pub fn merge(mut self, other: Api) -> Api {
        self.router = self.router.merge(other.router);
        self.paths.extend(other.paths);
        self.described.extend(other.described);
        self
    }

    /// The router of all handlers.
    pub fn into_router(self) -> Router<Arc<App>> {
        self.router
    }

    /// The described paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Builds the document from all descriptions, in the order of the routes.
    pub fn document(&self) -> Document {
        let all = OpenApiRouter::new();
        self.described.iter().fold(all, |all, describe| all.routes(describe())).into_openapi()
    }
}

/// Handlers with the methods and paths of their `#[utoipa::path]`.
///
/// Like the macro of `utoipa_axum`, whose internal rules produce the names of the items that the attribute generates.
macro_rules! routes {
    ($($($part:ident)::+),+ $(,)?) => {
        $crate::http::api::Routes {
            handlers: vec![$({
                let methods = utoipa_axum::routes!(@path [methods()] of $($part)::+);
                let handler = methods.iter().fold(axum::routing::MethodRouter::new(), |router, method| {
                    router.on(utoipa_axum::PathItemExt::to_method_filter(method), $($part)::+)
                });
                (utoipa_axum::routes!(@path [path()] of $($part)::+), handler)
            }),+],
            describe: || utoipa_axum::routes!($($($part)::+),+),
        }
    };
}
pub(crate) use routes;
