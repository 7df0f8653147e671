//! On-call: teams, schedules, escalation policies, pages, contact methods. WIRE 5.7. Every member reads; admins change
//! teams, schedules and policies; who reads a project acknowledges and resolves its pages.

mod calendar;
mod contacts;
mod handover;
mod now;
mod pages;
mod people;
mod policies;
mod schedules;
mod teams;
mod views;

use crate::http::api::{Api, Descriptions, routes};

/// The routes of on-call.
pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(teams::list, teams::create))
        .routes(routes!(teams::get, teams::change, teams::delete))
        .routes(routes!(schedules::list, schedules::create))
        .routes(routes!(schedules::preview))
        .routes(routes!(schedules::get, schedules::change, schedules::delete))
        .routes(routes!(schedules::timeline))
        .routes(routes!(schedules::add_override))
        .routes(routes!(schedules::delete_override))
        .routes(routes!(policies::list, policies::create))
        .routes(routes!(policies::change, policies::delete))
        .routes(routes!(policies::of_project))
        .routes(routes!(now::now))
        .routes(routes!(handover::handover))
        .routes(routes!(pages::list))
        .routes(routes!(pages::open))
        .routes(routes!(pages::for_issues))
        .routes(routes!(pages::bulk_acknowledge))
        .routes(routes!(pages::bulk_resolve))
        .routes(routes!(pages::open_count))
        .routes(routes!(pages::get))
        .routes(routes!(pages::acknowledge))
        .routes(routes!(pages::resolve))
        .routes(routes!(contacts::list, contacts::create))
        .routes(routes!(contacts::change, contacts::delete))
        .routes(routes!(contacts::verify))
        .routes(routes!(contacts::resend))
        .routes(routes!(contacts::test))
        .routes(routes!(contacts::rules, contacts::set_rules))
        .routes(routes!(calendar::get, calendar::create, calendar::end))
        .routes(routes!(calendar::feed))
}
