//! The control database: several nodes on one database, concurrent changes, and data directories of older versions.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};
use sqlx::{Connection, Row, SqliteConnection};
use tidewatch_accounts::secrets::seal::Sealer;
use tidewatch_accounts::{
    Actor, Control, ControlError, IssueDecision, Location, NewAccount, NewProject, NewUser, Role, TokenKind,
};
use tidewatch_domain::rules::issue_state::Decision;

use crate::harness::{Harness, text};

const GRACE: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
const NOW: i64 = 1_800_000_000_000_000_000;

fn actor() -> Actor {
    Actor { user_id: None, name: "a test".into(), address: "192.0.2.1".into(), user_agent: String::new(), at_ns: NOW }
}

fn account(name: &str) -> NewAccount {
    NewAccount {
        email: format!("{name}@example.com"),
        name: name.into(),
        password_hash: "none".into(),
        organization_name: name.into(),
        timezone: "UTC".into(),
        project_name: name.into(),
        framework: "opentelemetry".into(),
    }
}

fn person(name: &str) -> NewUser {
    NewUser { email: format!("{name}@example.com"), name: name.into(), password_hash: None, is_email_verified: false }
}

async fn open(location: &Location) -> Result<Control, ControlError> {
    Control::open(location, Sealer::new(&[1; 32])).await
}

/// Runs the futures concurrently, one task each.
async fn concurrently<T: Send + 'static>(futures: Vec<impl Future<Output = T> + Send + 'static>) -> Vec<T> {
    let tasks: Vec<_> = futures.into_iter().map(tokio::spawn).collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.expect("no panic"));
    }
    results
}

on_both! {
    // Issue 5: migrations run under a lock, so that several nodes may start at once.
    async fn nodes_that_start_together_create_one_schema(database) {
        let location = database.location();
        let opened = concurrently((0..8).map(|_| { let at = location.clone(); async move { open(&at).await.is_ok() } }).collect()).await;
        assert_eq!(opened, [true; 8]);
        let other = Control::open(&location, Sealer::new(&[2; 32])).await;
        assert!(matches!(other, Err(ControlError::OtherKey)), "a node with another key is refused");
    }

    // Issue 5: 20 concurrent registrations create no duplicate.
    async fn one_of_twenty_concurrent_registrations_succeeds(database) {
        let control = std::sync::Arc::new(open(&database.location()).await.unwrap());
        let tries = (0..20).map(|number| {
            let control = control.clone();
            async move { control.people.register(&actor(), &account(&format!("u{number}"))).await.is_ok() }
        });
        let won = concurrently(tries.collect()).await.into_iter().filter(|won| *won).count();
        assert_eq!(won, 1);
        assert!(matches!(control.people.register(&actor(), &account("late")).await, Err(ControlError::OrganizationExists)));
    }

    // No lost update: all twenty changes are stored and in the audit log.
    async fn twenty_concurrent_changes_are_all_stored_and_audited(database) {
        let control = std::sync::Arc::new(open(&database.location()).await.unwrap());
        let (user, project) = control.people.register(&actor(), &account("owner")).await.unwrap();
        let changes = (0..20).map(|number| {
            let (control, project) = (control.clone(), project.clone());
            async move {
                let user = control.people.create_user(&actor(), &person(&format!("u{}", number / 2))).await;
                let token = control.credentials.rotate_token(&actor(), project.number, TokenKind::Runtime, GRACE).await.unwrap();
                (user.is_ok(), token)
            }
        });
        let done = concurrently(changes.collect()).await;
        assert_eq!(done.iter().filter(|(made, _)| *made).count(), 10, "an address has one account");
        let current = control.projects.project_by_number(project.number).unwrap().token.clone();
        let later = NOW + 24 * 60 * 60 * 1_000_000_000;
        let tokens: Vec<&String> = done.iter().map(|(_, token)| token).chain([&project.token]).collect();
        let taken = |at| tokens.iter().filter(|token| control.credentials.project_by_token(token, at).is_some()).count();
        assert_eq!((taken(NOW), taken(later)), (2, 1), "the new token, and for its grace the one replaced last");
        assert!(control.credentials.project_by_token(&current, later).is_some());
        let lines = control.audit_log.of_organization(project.organization_id, i64::MAX, 100).await.unwrap();
        let rotations = lines.iter().filter(|line| line.action == "project.rotate_token").count();
        assert_eq!(rotations, 20);
        assert_eq!(lines.last().unwrap().user_id, Some(user.id), "the first line is the registration's own");
    }

    async fn role_changes_take_effect_at_once(database) {
        let control = open(&database.location()).await.unwrap();
        let (owner, project) = control.people.register(&actor(), &account("owner")).await.unwrap();
        let user = control.people.create_user(&actor(), &person("member")).await.unwrap();
        assert_eq!(control.people.role_in(user.id, &project), None);
        control.people.add_member(&actor(), project.organization_id, user.id, Role::User).await.unwrap();
        let again = control.people.add_member(&actor(), project.organization_id, user.id, Role::Admin).await;
        assert!(matches!(again, Err(ControlError::MemberAlready)));
        assert_eq!(control.people.role_in(user.id, &project), Some(Role::User));
        for (who, there, expected) in [
            (user.id, Some(Role::Readonly), Role::Readonly),
            (user.id, None, Role::User),
            (owner.id, Some(Role::Readonly), Role::Owner),
        ] {
            control.people.set_project_role(&actor(), &project, who, there).await.unwrap();
            assert_eq!(control.people.role_in(who, &project), Some(expected), "{there:?}");
        }
        control.projects.decide_issues(&actor(), &project, &[1, 2], Some(Decision::Archived), &HashMap::new()).await.unwrap();
        control.projects.delete_project(&actor(), &project).await.unwrap();
        assert!(control.credentials.project_by_token(&project.token, NOW).is_none());
        assert!(control.projects.projects_of(owner.id).is_empty());
        assert!(matches!(control.projects.delete_project(&actor(), &project).await, Err(ControlError::UnknownProject)));
        let line = control.audit_log.of_organization(project.organization_id, i64::MAX, 1).await.unwrap().remove(0);
        assert_eq!((line.action.as_str(), line.address.as_str()), ("project.delete", "192.0.2.1"));
        assert_eq!(line.details, json!({ "name": "owner" }));
    }
}

/// Two servers on one PostgreSQL: a change on one reaches the other within a moment.
#[tokio::test]
async fn a_change_on_one_node_reaches_the_other() {
    let database = crate::engines::On::postgres().await;
    let (first, project) = Harness::registered(&database).await;
    let mut second = Harness::on(&database).await;
    second.login.clone_from(&first.login);
    let made = first.project("made on the first").await;
    let seen = async || {
        let list = second.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
        list.as_array().is_some_and(|projects| projects.iter().any(|project| project["id"] == made.id.as_str()))
    };
    while !seen().await {
        tokio::task::yield_now().await;
    }
    assert_eq!(second.post_json("traces", &made.token, &json!({})).await.status, 200);
    let path = format!("/api/projects/token?projectId={}", project.id);
    let token = text(&second.api("POST", &path, &Value::Null).await.expect(200).json()["token"]);
    while first.post_json("traces", &token, &json!({})).await.status != 200 {
        tokio::task::yield_now().await;
    }
}

/// Writes a data directory of version 1, with tokens in that version's format.
async fn version_one(path: &Path) {
    let url = format!("sqlite://{}?mode=rwc", path.display());
    let mut old = SqliteConnection::connect(&url).await.expect("an old database");
    sqlx::raw_sql(include_str!("../../../accounts/src/database/migrations/0001_accounts.sql"))
        .execute(&mut old)
        .await
        .expect("an old database");
    sqlx::raw_sql(
        "PRAGMA user_version = 1;
         INSERT INTO organizations VALUES (3, 'Org', 'Europe/Berlin', 5);
         INSERT INTO users VALUES (4, 'a@b.c', 'A', 'hash', 6);
         INSERT INTO memberships VALUES (3, 4, 'owner');
         INSERT INTO projects VALUES (7, '5f4dcc3b-5aa7-45d6-8d83-27deb882cf99', 3, 'shop', 'gin', 'old-token',
                                      'old-upload', 1, 0, 0.5, 1.0, 8);
         INSERT INTO archived_exceptions VALUES (7, '00000000000000ff', 9);
         INSERT INTO slow_endpoints VALUES (7, 'GET /', 250, 'known');",
    )
    .execute(&mut old)
    .await
    .expect("an old database");
    old.close().await.expect("an old database");
}

#[tokio::test]
async fn a_data_directory_of_version_one_is_migrated_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.sqlite");
    version_one(&path).await;
    for time in ["first", "second"] {
        let control = open(&Location::file(&path)).await.unwrap();
        let project = control.credentials.project_by_token("old-token", NOW).expect(time);
        assert_eq!((project.number, project.name.as_str(), project.framework.as_str()), (7, "shop", "gin"));
        assert_eq!((project.token.as_str(), project.upload_token.as_str()), ("old-token", "old-upload"));
        assert!(project.settings.ingest.keep_unmatched_roots);
        assert_eq!(project.settings.ingest.sample_rate, 0.5);
        assert_eq!(
            control.credentials.project_by_upload_token("old-upload", NOW).map(|project| project.number),
            Some(7)
        );
        let membership = control.people.memberships(4).remove(0);
        assert_eq!((membership.role, membership.organization.timezone.as_str()), (Role::Owner, "Europe/Berlin"));
        assert_eq!(control.sign_in.stored_user("A@B.c").await.unwrap().unwrap().password_hash.as_deref(), Some("hash"));
        let archived = IssueDecision { decision: Decision::Archived, decided_ns: 9 };
        assert_eq!(control.projects.issue_decisions(7).await.unwrap(), [(255, archived)].into());
        assert_eq!(control.projects.slow_endpoint(7, "GET /").await.unwrap().unwrap().offset_ms, 250);
        control.database().close().await;
    }
    let control = open(&Location::file(&path)).await.unwrap();
    let project = control.credentials.project_by_token("old-token", NOW).unwrap();
    let next = NewProject { organization_id: 3, name: "next".into(), framework: "gin".into() };
    assert_eq!(control.projects.create_project(&actor(), &next).await.unwrap().number, 8, "numbers go on");
    control.projects.delete_project(&actor(), &project).await.unwrap();
    control.database().close().await;
    let url = format!("sqlite://{}", path.display());
    let mut raw = SqliteConnection::connect(&url).await.unwrap();
    let dump =
        sqlx::query("SELECT token_sealed || upload_token_sealed FROM projects").fetch_one(&mut raw).await.unwrap();
    assert!(!dump.get::<String, _>(0).contains("old"), "no token is stored as it is");
}
