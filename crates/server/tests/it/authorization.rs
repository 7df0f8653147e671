//! Authorization: every route of the OpenAPI document is called as every kind of caller, with the expected status.
//!
//! The rows are in [`table`]; a route without a row fails. A row states the required permission and the status for
//! callers that have it; [`expected`] derives the status for all others from the required permission.

mod callers;
mod table;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tidewatch_accounts::ScopeLevel;
use tidewatch_server::http::routes;

use crate::client;
use crate::engines::On;
use crate::harness::Harness;
use callers::{Caller, Callers, Projects, TokenScope};
use table::{Kinds, Needs, Row, TABLE};

/// The status with which a row's route responds to this caller.
fn expected(row: &Row, caller: Caller) -> u16 {
    let open = row.status;
    match (row.needs, caller) {
        (Needs::Nothing, _) => open,
        // A runtime token authorizes ingest only, an upload token uploads only.
        (Needs::RuntimeToken, Caller::RuntimeToken) | (Needs::UploadToken, Caller::UploadToken) => open,
        (Needs::RuntimeToken | Needs::UploadToken, _) => 401,
        (_, Caller::Nobody | Caller::RuntimeToken | Caller::UploadToken | Caller::Expired | Caller::Revoked) => 401,
        (_, Caller::ExpiredToken | Caller::EndedClient | Caller::ClientOfMcp) => 401,
        // The cookie in a request of another host's page changes nothing; its reads count as unauthenticated.
        (_, Caller::ForeignPage) => {
            if row.method == "GET" {
                401
            } else {
                403
            }
        }
        (_, Caller::StaleAdmin) if row.kinds == Kinds::FreshLogin => 403,
        // The scope is checked before the role: it limits the token of any person.
        (_, _) if caller.scope().is_some_and(|scope| !reaches(row, scope)) => 403,
        (Needs::Person, _) => open,
        (Needs::OwnerOfAny, Caller::Owner | Caller::Stranger) => open,
        (Needs::OwnerOfAny, _) => 403,
        (_, Caller::Stranger) => 403,
        (Needs::Read, _) => open,
        (Needs::Write, Caller::Readonly) => 403,
        (Needs::Write, _) => open,
        (Needs::Admin, Caller::Readonly | Caller::User)
        | (Needs::Owner, Caller::Readonly | Caller::User | Caller::Admin) => 403,
        (Needs::Admin | Needs::Owner, _) => open,
    }
}

/// Whether an owner's token with this scope may call the row's route.
fn reaches(row: &Row, scope: TokenScope) -> bool {
    let Kinds::Token(needed) = row.kinds else { return false };
    let is_about_an_organization = row.path.starts_with("/api/organizations/");
    scope.level >= needed
        && match (row.needs, scope.projects) {
            (_, Projects::All) => true,
            // The answer omits projects that are outside the token's scope.
            (Needs::Person, _) => needed == ScopeLevel::Read,
            (_, Projects::This) => !is_about_an_organization,
            (_, Projects::Other) => false,
        }
}

#[test]
fn every_route_has_one_row() {
    let document = serde_json::to_value(routes::generate_document()).expect("a document is JSON");
    let mut routes = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for method in item.as_object().expect("operations").keys() {
            routes.insert((method.to_uppercase(), path.clone()));
        }
    }
    let rows: BTreeSet<(String, String)> =
        TABLE.iter().map(|row| (row.method.to_owned(), row.path.to_owned())).collect();
    let missing: Vec<_> = routes.difference(&rows).collect();
    let unknown: Vec<_> = rows.difference(&routes).collect();
    assert!(missing.is_empty(), "say in authorization/table.rs who may call: {missing:#?}");
    assert!(unknown.is_empty(), "rows without a route: {unknown:#?}");
    assert_eq!(rows.len(), TABLE.len(), "a route has two rows");
    for row in TABLE {
        let needs_no_person = matches!(row.needs, Needs::Nothing | Needs::RuntimeToken | Needs::UploadToken);
        assert_eq!(needs_no_person, row.kinds == Kinds::NoPerson, "{} {}", row.method, row.path);
    }
}

on_both! {
    async fn every_route_as_every_caller(database) {
        let mut callers = Callers::new(&database).await;
        let mut wrong = Vec::new();
        // Every call comes from another address, so that no per-IP window fills.
        let mut calls = 0u32;
        for row in TABLE {
            if row.path == "/api/me/sessions/revoke" {
                callers.sign_in().await;
            }
            for caller in Caller::ALL {
                calls += 1;
                let from = std::net::Ipv4Addr::from(0x0a00_0000 + calls).to_string();
                let carried = callers.headers(caller);
                let mut headers = vec![("X-Forwarded-For", from.as_str()), ("Content-Type", "application/json")];
                headers.extend(carried.iter().map(|(name, value)| (*name, value.as_str())));
                let path = callers.fill(row.path, row.is_about_a_project);
                let address = callers.harness.address();
                let answer = client::send(address, row.method, &path, &headers, row.body.as_bytes()).await;
                let right = expected(row, caller);
                if answer.status != right {
                    let body = String::from_utf8_lossy(&answer.body[..answer.body.len().min(120)]).into_owned();
                    wrong.push(format!("{} {path} as {caller:?}: {} and not {right}: {body}", row.method, answer.status));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

// A misspelt filter must not select everything: read routes refuse unknown fields of the query and of the body.
#[tokio::test]
async fn every_read_route_refuses_unknown_fields() {
    let document = serde_json::to_value(routes::generate_document()).expect("a document is JSON");
    let callers = Callers::new(&On::sqlite()).await;
    let mut wrong = Vec::new();
    let mut checked = 0;
    for row in TABLE {
        let needs_no_person = row.kinds == Kinds::NoPerson;
        let is_read = row.method == "GET" || row.kinds == Kinds::Token(ScopeLevel::Read);
        if !is_read || needs_no_person {
            continue;
        }
        let operation = &document["paths"][row.path][row.method.to_lowercase()];
        let parameters = || operation["parameters"].as_array().into_iter().flatten();
        let required = |one: &&Value| one["in"] == "query" && one["required"] == true && one["name"] != "projectId";
        let required: String = parameters()
            .filter(required)
            .map(|one| format!("&{}=x", one["name"].as_str().unwrap_or_default()))
            .collect();
        let path = callers.fill(row.path, row.is_about_a_project);
        let path = if path.contains('?') { format!("{path}{required}") } else { format!("{path}?{required}") };
        let mut requests = vec![("query", format!("{path}&misspelt=1"), "")];
        if row.method == "POST" && operation["requestBody"].is_object() {
            requests.push(("body", path, r#"{"misspelt": 1}"#));
        }
        for (part, path, body) in requests {
            let carried = callers.headers(Caller::Owner);
            let mut headers = vec![("Content-Type", "application/json")];
            headers.extend(carried.iter().map(|(name, value)| (*name, value.as_str())));
            checked += 1;
            let answer = client::send(callers.harness.address(), row.method, &path, &headers, body.as_bytes()).await;
            let message = String::from_utf8_lossy(&answer.body[..answer.body.len().min(200)]).into_owned();
            if answer.status != 400 || !message.contains("misspelt") {
                wrong.push(format!("{} {path}, {part}: {} {message}", row.method, answer.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checked > 150, "{checked} requests");
}

// The other routes ignore unknown fields, because earlier and later clients send them. WIRE 1.2.
#[tokio::test]
async fn ingest_and_changes_ignore_unknown_fields() {
    let (harness, project) = Harness::with_project().await;
    let body = json!({ "misspelt": 1, "collectionFrames": [{ "misspelt": 1, "stackTraces": [] }] });
    let headers = [("Authorization", &*format!("Bearer {}", project.token)), ("Content-Type", "application/json")];
    let sent = body.to_string();
    client::send(harness.address(), "POST", "/api/report?misspelt=1", &headers, sent.as_bytes()).await.expect(200);
    harness.post_json("traces", &project.token, &json!({ "resourceSpans": [], "misspelt": 1 })).await.expect(200);
    let view = json!({ "name": "a", "page": "logs", "search": "", "misspelt": 1 });
    harness.api("POST", &format!("/api/saved-views?projectId={}", project.id), &view).await.expect(200);
}
