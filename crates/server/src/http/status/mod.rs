//! Incidents, post-mortems and status pages. WIRE 6.
//!
//! - `incidents`, `post_mortems`, `pages`, `maintenance`: for members of an organization.
//! - [`public`]: for visitors of a page. `subscriptions`: their subscriptions. `error_page`: their errors.

mod error_page;
mod incidents;
mod maintenance;
mod pages;
mod post_mortems;
pub mod public;
mod subscriptions;
mod timeline;
mod view;
mod visible;

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::{get, post};

use crate::app::AppState;
use crate::http::api::{Api, Descriptions, routes};

/// The routes of incidents and status pages.
pub fn routes<D: Descriptions>() -> Api<D> {
    let pages: Router<AppState> = Router::new()
        .route("/", get(public::root))
        .route(tidewatch_alerts::status_pages::html::STYLE_PATH, get(public::style))
        .route("/status/{slug}", get(public::page))
        .route("/status/{slug}/feed.atom", get(public::feed))
        .route("/status/{slug}/badge.svg", get(public::badge))
        .route("/status/{slug}/subscribe", post(subscriptions::subscribe))
        .route("/status/{slug}/subscriptions/{token}", get(subscriptions::look_up))
        .route("/status/{slug}/subscriptions/{token}/confirm", post(subscriptions::confirm))
        .route("/status/{slug}/subscriptions/{token}/unsubscribe", post(subscriptions::unsubscribe))
        .route_layer(from_fn(error_page::for_browsers));
    Api::new()
        .routes(routes!(incidents::list, incidents::open))
        .routes(routes!(incidents::detail, incidents::change))
        .routes(routes!(incidents::update))
        .routes(routes!(post_mortems::list))
        .routes(routes!(post_mortems::preview))
        .routes(routes!(post_mortems::write, post_mortems::delete))
        .routes(routes!(pages::list, pages::create))
        .routes(routes!(pages::change, pages::delete))
        .routes(routes!(pages::logo, pages::remove_logo))
        .routes(routes!(pages::preview))
        .routes(routes!(maintenance::plan))
        .routes(routes!(maintenance::change, maintenance::delete))
        .routes(routes!(public::status))
        .routes(routes!(public::logo))
        .routes(routes!(public::resolve))
        .undescribed(pages)
}
