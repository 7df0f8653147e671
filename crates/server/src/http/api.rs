//! Routes with what the OpenAPI document says about them. The handlers are known at once; the descriptions, megabytes of
//! them, are made when the document is asked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Router;
use axum::routing::MethodRouter;
use utoipa::openapi::OpenApi as Document;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::app::App;

/// Handlers by path, and what describes them.
#[derive(Default)]
pub struct Api {
    router: Router<Arc<App>>,
    paths: BTreeSet<String>,
    described: Vec<fn() -> UtoipaMethodRouter<Arc<App>>>,
}

/// What `routes!` makes of handlers.
pub struct Routes {
    pub handlers: Vec<(String, MethodRouter<Arc<App>>)>,
    pub describe: fn() -> UtoipaMethodRouter<Arc<App>>,
}

impl Api {
    pub fn new() -> Api {
        Api::default()
    }

    /// Serves and describes them.
    pub fn routes(mut self, routes: Routes) -> Api {
        for (path, handler) in &routes.handlers {
            self.router = self.router.route(path, handler.clone());
        }
        self.described(routes)
    }

    /// Changes how all of them are served.
    pub fn served(mut self, change: impl FnOnce(Router<Arc<App>>) -> Router<Arc<App>>) -> Api {
        self.router = change(self.router);
        self
    }

    /// Describes them; others serve them.
    pub fn described(mut self, routes: Routes) -> Api {
        self.paths.extend(routes.handlers.into_iter().map(|(path, _)| path));
        self.described.push(routes.describe);
        self
    }

    /// Serves, but does not describe.
    pub fn undescribed(mut self, router: Router<Arc<App>>) -> Api {
        self.router = self.router.merge(router);
        self
    }

    pub fn merge(mut self, other: Api) -> Api {
        self.router = self.router.merge(other.router);
        self.paths.extend(other.paths);
        self.described.extend(other.described);
        self
    }

    pub fn into_router(self) -> Router<Arc<App>> {
        self.router
    }

    /// The paths that the document names, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// All descriptions, in the order of the routes.
    pub fn document(&self) -> Document {
        let all = OpenApiRouter::new();
        self.described.iter().fold(all, |all, describe| all.routes(describe())).into_openapi()
    }
}

/// Handlers under `#[utoipa::path]`, with the methods and paths that stand there.
///
/// As the macro of `utoipa_axum`, whose inner rules say the name of what that attribute makes beside a handler.
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
