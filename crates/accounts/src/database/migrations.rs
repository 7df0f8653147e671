//! The versions of the schema, in order. Missing ones are run on start in one transaction under the writer's lock, so
//! that nodes that start together run them once.
//!
//! Each is an SQL file in SQLite's dialect; [`for_postgres`] translates it. To change the schema, add
//! `migrations/000N_what.sql` and a line to [`LATER`]. Tables of other crates' rooms have their versions here too, because
//! these are one ordered history: rooms refer to projects, users and organizations, which delete their rows by cascade.

use sqlx::{AnyConnection, AssertSqlSafe, Executor, Row};

use super::connections::{Connections, Engine};
use crate::ControlError;
use crate::secrets::seal::Sealer;
use crate::secrets::tokens;

/// The first version of both engines; version 1 existed for SQLite only.
const FIRST_SHARED: i64 = 2;
const SHARED: &str = include_str!("migrations/0002_accounts.sql");
/// Later versions.
const LATER: &[&str] = &[
    include_str!("migrations/0003_people.sql"),
    include_str!("migrations/0004_user_agent.sql"),
    include_str!("migrations/0005_setup.sql"),
    include_str!("migrations/0006_deleted_projects.sql"),
    include_str!("migrations/0007_approval_epoch.sql"),
    include_str!("migrations/0008_scopes.sql"),
    include_str!("migrations/0009_ai_conventions.sql"),
    include_str!("migrations/0010_quotas.sql"),
    include_str!("migrations/0011_sign_ins.sql"),
    include_str!("migrations/0012_sessions.sql"),
    include_str!("migrations/0013_devices.sql"),
    include_str!("migrations/0014_demo_projects.sql"),
    include_str!("migrations/0015_metric_kinds.sql"),
    include_str!("migrations/0016_session_recordings.sql"),
    include_str!("migrations/0017_deploys.sql"),
    include_str!("migrations/0018_issues.sql"),
    include_str!("migrations/0019_saved_views.sql"),
    include_str!("migrations/0020_notifications.sql"),
    include_str!("migrations/0021_rules.sql"),
    include_str!("migrations/0022_monitors.sql"),
    include_str!("migrations/0023_status_pages.sql"),
    include_str!("migrations/0024_oncall.sql"),
    include_str!("migrations/0025_browser_checks.sql"),
    include_str!("migrations/0026_issue_hashes.sql"),
    include_str!("migrations/0027_invitation_links.sql"),
];

/// Runs the missing migrations. [`ControlError::TooNew`] if the database is of a newer version than the program.
pub async fn run(database: &Connections, sealer: &Sealer) -> Result<(), ControlError> {
    let mut transaction = database.begin().await?;
    let engine = database.engine;
    let done = version(&mut transaction, engine).await?;
    let newest = FIRST_SHARED + LATER.len() as i64;
    if done > newest {
        return Err(ControlError::TooNew(done, newest));
    }
    if done < FIRST_SHARED {
        if done == 1 {
            batch(&mut transaction, engine, include_str!("migrations/0002_set_aside.sql")).await?;
        }
        batch(&mut transaction, engine, SHARED).await?;
        if done == 1 {
            carry_projects_over(&mut transaction, sealer).await?;
            batch(&mut transaction, engine, include_str!("migrations/0002_carry_over.sql")).await?;
        }
        batch(&mut transaction, engine, "CREATE TABLE schema_version (version INTEGER NOT NULL) STRICT;").await?;
        sqlx::query("INSERT INTO schema_version (version) VALUES ($1)")
            .bind(FIRST_SHARED)
            .execute(&mut *transaction)
            .await?;
    }
    for (version, text) in (FIRST_SHARED + 1..).zip(LATER) {
        if version > done {
            batch(&mut transaction, engine, text).await?;
        }
    }
    if done != newest {
        sqlx::query("UPDATE schema_version SET version = $1").bind(newest).execute(&mut *transaction).await?;
        tracing::info!(from = done, to = newest, "the control database was brought to version {newest}");
    }
    transaction.commit().await?;
    Ok(())
}

/// The version of the schema; 0 for an empty database.
async fn version(on: &mut AnyConnection, engine: Engine) -> Result<i64, ControlError> {
    let known = match engine {
        Engine::Sqlite => "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'",
        Engine::Postgres => {
            "SELECT COUNT(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.relname = 'schema_version' AND n.nspname = current_schema()"
        }
    };
    let known: i64 = sqlx::query_scalar(known).fetch_one(&mut *on).await?;
    let statement = match (known, engine) {
        (0, Engine::Postgres) => return Ok(0),
        (0, Engine::Sqlite) => "PRAGMA user_version",
        _ => "SELECT version FROM schema_version",
    };
    Ok(sqlx::query(statement).fetch_one(on).await?.try_get::<i64, _>(0)?)
}

/// Version 1 stored tokens in plain text. They are now hashed for lookup and sealed for display.
async fn carry_projects_over(on: &mut AnyConnection, sealer: &Sealer) -> Result<(), ControlError> {
    // Projects reference organizations.
    on.execute(
        "INSERT INTO organizations (id, name, timezone, created_ns) \
         SELECT id, name, timezone, created_ns FROM first_organizations",
    )
    .await?;
    on.execute(
        "INSERT INTO projects (number, id, organization_id, name, framework, token_hash, token_sealed, \
         upload_token_hash, upload_token_sealed, keep_unmatched_roots, issues_from_logs, sample_rate, \
         error_sample_rate, created_ns) \
         SELECT number, id, organization, name, framework, token, '', upload_token, '', keep_unmatched_roots, \
         issues_from_logs, sample_rate, error_sample_rate, created_ns FROM first_projects",
    )
    .await?;
    let rows = sqlx::query("SELECT number, token, upload_token FROM first_projects").fetch_all(&mut *on).await?;
    for row in rows {
        let (token, upload): (String, String) = (row.try_get(1)?, row.try_get(2)?);
        sqlx::query(
            "UPDATE projects SET token_hash = $2, token_sealed = $3, upload_token_hash = $4, \
             upload_token_sealed = $5 WHERE number = $1",
        )
        .bind(row.try_get::<i64, _>(0)?)
        .bind(tokens::hash(&token))
        .bind(sealer.seal(tokens::SEALED_AS, &token)?)
        .bind(tokens::hash(&upload))
        .bind(sealer.seal(tokens::SEALED_AS, &upload)?)
        .execute(&mut *on)
        .await?;
    }
    Ok(())
}

async fn batch(on: &mut AnyConnection, engine: Engine, text: &str) -> Result<(), ControlError> {
    let text = match engine {
        Engine::Sqlite => text.to_owned(),
        Engine::Postgres => for_postgres(text),
    };
    sqlx::raw_sql(AssertSqlSafe(text)).execute(on).await?;
    Ok(())
}

/// Translates SQLite's dialect to PostgreSQL's.
fn for_postgres(text: &str) -> String {
    text.replace("INTEGER PRIMARY KEY AUTOINCREMENT", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY")
        .replace("INTEGER", "BIGINT")
        .replace("REAL", "DOUBLE PRECISION")
        .replace(") STRICT;", ");")
}
