//! Projects and their settings.

use std::sync::Arc;

use tidewatch_domain::model::RequestKind;
use tidewatch_domain::project::IngestSettings;
use tidewatch_domain::rules::content_terms::{ContentTerms, Language, Languages};
use tidewatch_domain::rules::framework::Framework;
use tidewatch_domain::rules::grouping_rules::GroupingRules;
use tidewatch_domain::rules::healthcheck::Healthchecks;
use tidewatch_limits as limits;
use uuid::Uuid;

use super::quota::Quota;

/// A project. All telemetry belongs to one.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// Id in the API.
    pub id: Uuid,
    /// Value of the column `project` of every telemetry table. Never 0, never reused.
    pub number: u32,
    /// Display name.
    pub name: String,
    /// Token of exporters: 32 hex digits.
    pub token: String,
    /// Token of symbol uploads: 32 hex digits.
    pub upload_token: String,
    /// Framework that the user chose for the project.
    pub framework: String,
    /// The organization that owns the project.
    pub organization_id: i64,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// State of the demo data; `None`: the project is no demo project.
    pub demo: Option<Demo>,
    /// Settings that users change.
    pub settings: ProjectSettings,
    /// Grouping rules of exceptions.
    pub grouping_rules: Arc<GroupingRules>,
}

/// State of the demo data of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demo {
    /// The data is being loaded, or its loading was interrupted.
    Loading,
    /// The data is complete.
    Loaded,
}

/// A deleted project whose telemetry and uploads are purged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletedProject {
    /// See [`Project::number`].
    pub number: u32,
    /// `None` for projects deleted before ids were recorded.
    pub id: Option<Uuid>,
    /// Nanoseconds since the epoch.
    pub deleted_ns: i64,
}

/// The settings of a project.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProjectSettings {
    /// Settings that apply to exports, health checks included.
    pub ingest: IngestSettings,
    /// Drops spans of successful health checks. WIRE 8.6.
    pub drop_healthy_healthchecks: bool,
    /// Paths that count as health checks.
    pub healthcheck_paths: Vec<String>,
    /// Labels of profiles that are stored.
    pub profile_label_allowlist: Vec<String>,
    /// Retention of telemetry, days; `None`: the default of the server.
    pub retention_days: Option<u32>,
    /// Quota of the project, in addition to the default quota of the server.
    pub quota: Quota,
    /// Canonical origins of pages that may send telemetry; empty: all origins.
    pub allowed_origins: Vec<String>,
    /// Template of links to the code host with `{path}`, and `{commit}` and `{line}`; empty: no links.
    pub source_url: String,
    /// Folder that is cut from the start of the paths of frames; may be empty.
    pub source_root: String,
}

impl Project {
    /// Returns the settings for a request of this kind. Only kinds with spans include the health check filter and
    /// the content flags. The caller sets the time before which records are too old.
    pub fn ingest_settings(&self, kind: RequestKind) -> IngestSettings {
        let settings = &self.settings.ingest;
        let healthchecks = settings.healthchecks.as_ref().filter(|_| kind.has_spans()).cloned();
        let content_terms = settings.content_terms.as_ref().filter(|_| kind.has_spans()).cloned();
        let framework = Framework::of_project(&self.framework);
        IngestSettings { content_terms, healthchecks, framework, ..*settings }
    }
}

impl ProjectSettings {
    /// Returns the filter for these two settings; `None` if it drops nothing. Paths beyond
    /// [`limits::HEALTHCHECK_PATHS_BYTES_MAX`], stored before that limit existed, are ignored.
    pub fn healthchecks(drop_healthy: bool, paths: &[String]) -> Option<Arc<Healthchecks>> {
        let mut left = limits::HEALTHCHECK_PATHS_BYTES_MAX;
        let fitting = paths.iter().take_while(|path| {
            let fits = path.len() < left;
            left = left.saturating_sub(path.len() + 1);
            fits
        });
        let lines: Vec<&str> = fitting.map(String::as_str).collect();
        drop_healthy.then(|| Arc::new(Healthchecks::new(&lines.join("\n"))))
    }
}

/// The content flags of these codes of languages and terms; `None` without any. Unknown codes are ignored.
pub fn content_terms(languages: &[String], terms: &[String]) -> Option<Arc<ContentTerms>> {
    let languages = Languages::of(languages.iter().filter_map(|code| Language::parse(code)));
    let is_off = languages == Languages::default() && terms.is_empty();
    (!is_off).then(|| Arc::new(ContentTerms::new(languages, &terms.join("\n"))))
}

/// The codes of languages and the terms of content flags: the inverse of [`content_terms`].
pub fn content_lists(terms: Option<&ContentTerms>) -> (Vec<String>, Vec<String>) {
    let Some(terms) = terms else { return Default::default() };
    let codes = terms.languages().iter().map(|language| language.code().to_owned()).collect();
    (codes, terms.terms().lines().map(str::to_owned).collect())
}
