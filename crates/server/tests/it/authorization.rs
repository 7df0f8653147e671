//! Who may call what: every route of the OpenAPI document, called as everybody there is, with the status each must hear.
//!
//! The rows are in [`table`]; a route without a row fails. A row says what is needed and what those hear who have it;
//! what the others hear follows from the need, by [`expected`].

mod cast;
mod table;

use std::collections::BTreeSet;

use tidewatch_accounts::ScopeLevel;
use tidewatch_server::http::routes;

use crate::client;
use cast::{Cast, Projects, TokenScope, Who};
use table::{Kinds, Needs, Row, TABLE};

/// What a row's route answers this caller.
fn expected(row: &Row, who: Who) -> u16 {
    let open = row.status;
    match (row.needs, who) {
        (Needs::Nothing, _) => open,
        // A runtime token opens nothing but ingest, an upload token nothing but uploads.
        (Needs::RuntimeToken, Who::RuntimeToken) | (Needs::UploadToken, Who::UploadToken) => open,
        (Needs::RuntimeToken | Needs::UploadToken, _) => 401,
        (_, Who::Nobody | Who::RuntimeToken | Who::UploadToken | Who::Expired | Who::Revoked) => 401,
        (_, Who::ExpiredToken | Who::EndedClient | Who::ClientOfMcp) => 401,
        // A page of another host does nothing with the cookie; what it reads it reads as nobody.
        (_, Who::ForeignPage) => {
            if row.method == "GET" {
                401
            } else {
                403
            }
        }
        (_, Who::StaleAdmin) if row.kinds == Kinds::FreshLogin => 403,
        // Before the role: what a token may not do, it may not do whosever it is.
        (_, _) if who.scope().is_some_and(|scope| !reaches(row, scope)) => 403,
        (Needs::Person, _) => open,
        (Needs::OwnerOfAny, Who::Owner | Who::Stranger) => open,
        (Needs::OwnerOfAny, _) => 403,
        (_, Who::Stranger) => 403,
        (Needs::Read, _) => open,
        (Needs::Write, Who::Readonly) => 403,
        (Needs::Write, _) => open,
        (Needs::Admin, Who::Readonly | Who::User) | (Needs::Owner, Who::Readonly | Who::User | Who::Admin) => 403,
        (Needs::Admin | Needs::Owner, _) => open,
    }
}

/// Whether a token of the owner's with this scope may do it.
fn reaches(row: &Row, scope: TokenScope) -> bool {
    let Kinds::Token(needed) = row.kinds else { return false };
    let is_about_an_organization = row.path.starts_with("/api/organizations/");
    scope.level >= needed
        && match (row.needs, scope.projects) {
            (_, Projects::All) => true,
            // What the person may open is left out of the answer as far as the token does not open it.
            (Needs::Person, _) => needed == ScopeLevel::Read,
            (_, Projects::This) => !is_about_an_organization,
            (_, Projects::Other) => false,
        }
}

#[test]
fn every_route_has_one_row() {
    let document = serde_json::to_value(routes::document()).expect("a document is JSON");
    let mut routes = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for method in item.as_object().expect("operations").keys() {
            routes.insert((method.to_uppercase(), path.clone()));
        }
    }
    let rows: BTreeSet<(String, String)> =
        TABLE.iter().map(|row| (row.method.to_owned(), row.path.to_owned())).collect();
    let missing: Vec<_> = routes.difference(&rows).collect();
    let gone: Vec<_> = rows.difference(&routes).collect();
    assert!(missing.is_empty(), "say in authorization/table.rs who may call: {missing:#?}");
    assert!(gone.is_empty(), "no such routes any more: {gone:#?}");
    assert_eq!(rows.len(), TABLE.len(), "a route has two rows");
    for row in TABLE {
        let asks_no_person = matches!(row.needs, Needs::Nothing | Needs::RuntimeToken | Needs::UploadToken);
        assert_eq!(asks_no_person, row.kinds == Kinds::NoPerson, "{} {}", row.method, row.path);
    }
}

on_both! {
    async fn every_route_as_everybody(database) {
        let mut cast = Cast::new(&database).await;
        let mut wrong = Vec::new();
        // So that no per-IP window is filled: every call comes from another address.
        let mut caller = 0u32;
        for row in TABLE {
            if row.path == "/api/me/sessions/revoke" {
                cast.sign_in().await;
            }
            for who in Who::ALL {
                caller += 1;
                let from = std::net::Ipv4Addr::from(0x0a00_0000 + caller).to_string();
                let carried = cast.headers(who);
                let mut headers = vec![("X-Forwarded-For", from.as_str()), ("Content-Type", "application/json")];
                headers.extend(carried.iter().map(|(name, value)| (*name, value.as_str())));
                let path = cast.fill(row.path, row.is_about_a_project);
                let address = cast.harness.address();
                let answer = client::send(address, row.method, &path, &headers, row.body.as_bytes()).await;
                let right = expected(row, who);
                if answer.status != right {
                    let body = String::from_utf8_lossy(&answer.body[..answer.body.len().min(120)]).into_owned();
                    wrong.push(format!("{} {path} as {who:?}: {} and not {right}: {body}", row.method, answer.status));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
