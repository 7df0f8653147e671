//! Accounts, organizations and projects: registration, login, members, settings. WIRE 5.
//!
//! Invariant: every change is in the audit log, in the transaction of the change.

mod accept;
mod audit;
mod batch;
pub mod bodies;
mod demo;
mod fields;
mod invitations;
mod login;
mod me;
mod members;
mod organizations;
mod password;
mod profile;
mod project_tokens;
mod projects;
mod register;
mod reset;
mod sessions;
mod view;

pub use fields::email as check_email;
pub use fields::text as check_text;
pub use login::{available, second_step};
pub use password::check_of as check_password_of;
pub use projects::{check_framework, check_name as check_project_name, membership as writable_membership};
pub use view::{NEVER, begin_proved_session, bundle, project_view, renew_session, session};

use crate::http::api::{Api, Descriptions, routes};

/// The routes of accounts, organizations and projects.
pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(register::has_organizations))
        .routes(routes!(register::register))
        .routes(routes!(login::login))
        .routes(routes!(login::bundle))
        .routes(routes!(me::change_password))
        .routes(routes!(profile::change))
        .routes(routes!(profile::revoke_sessions))
        .routes(routes!(sessions::list))
        .routes(routes!(sessions::end))
        .routes(routes!(sessions::logout))
        .merge(organization_routes())
        .routes(routes!(projects::list, projects::create, projects::change, projects::delete))
        .routes(routes!(batch::create))
        .routes(routes!(project_tokens::rotate_token))
        .routes(routes!(project_tokens::rotate_upload_token))
        .routes(routes!(project_tokens::end_previous_token))
        .routes(routes!(project_tokens::end_previous_upload_token))
}

/// The routes of organizations, invitations, password reset and the audit log.
fn organization_routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(organizations::create))
        .routes(routes!(organizations::settings, organizations::change_settings))
        .routes(routes!(demo::get, demo::load))
        .routes(routes!(members::list))
        .routes(routes!(members::change_role, members::remove))
        .routes(routes!(members::project_roles, members::change_project_roles))
        .routes(routes!(invitations::create, invitations::list))
        .routes(routes!(invitations::revoke))
        .routes(routes!(invitations::show_link))
        .routes(routes!(accept::look_up))
        .routes(routes!(accept::accept))
        .routes(routes!(accept::accept_existing))
        .routes(routes!(accept::look_up_link))
        .routes(routes!(accept::accept_link))
        .routes(routes!(accept::accept_existing_link))
        .routes(routes!(reset::forgot))
        .routes(routes!(reset::look_up, reset::reset))
        .routes(routes!(reset::look_up_link, reset::reset_link))
        .routes(routes!(audit::page))
        .routes(routes!(audit::own))
        .routes(routes!(audit::export))
}
