//! The profiles of a request: validation, filters and the facts of their type.

use tidewatch_accounts::Project;
use tidewatch_domain::project::ENDPOINT_LABEL;
use tidewatch_domain::rules::profile_temporality::{Temporality, temporality};
use tidewatch_store::plan::{AttributeScope, Filter, Function, Op};
use tidewatch_store::tables::Table;

use crate::error::QueryError;
use crate::executor::Executor;
use crate::time::Range;
use crate::views::profile::ProfileSelection;
use crate::{filters, ids, plans};

/// A validated selection.
#[derive(Debug, Clone)]
pub struct Selection {
    pub project: u32,
    pub range: Range,
    /// Type of the profiles.
    pub profile_type: String,
    /// Conditions on columns that both tables have.
    pub profiles: Filter,
    /// The same without that on the version.
    pub any_version: Filter,
    /// Profiles of this version only; `None`: of all.
    pub app_version: Option<String>,
    /// Further conditions on samples; [`Filter::True`]: all samples of the profiles.
    pub samples: Filter,
}

/// The type of the selected profiles, and their number.
#[derive(Debug, Clone)]
pub struct Facts {
    pub unit: String,
    pub sample_type: String,
    pub is_gauge: bool,
    /// The temporality that the name of the type says.
    pub temporality: Temporality,
    /// Shortest profiled time, nanoseconds.
    pub duration_min_ns: i64,
    pub has_timestamps: bool,
    pub profiles: u64,
    pub samples: u64,
    /// Sum of the profiled times, nanoseconds.
    pub duration_ns: i64,
    /// Start of the first profile, nanoseconds since the epoch.
    pub first_ns: i64,
}

impl Default for Facts {
    fn default() -> Facts {
        Facts {
            unit: String::new(),
            sample_type: String::new(),
            is_gauge: false,
            temporality: Temporality::Delta,
            duration_min_ns: i64::MAX,
            has_timestamps: false,
            profiles: 0,
            samples: 0,
            duration_ns: 0,
            first_ns: 0,
        }
    }
}

impl Selection {
    /// Validates a request. Missing names and labels that are not stored are [`QueryError::Malformed`]. WIRE 2.2.
    pub fn read(request: &ProfileSelection, project: &Project, now_ns: i64) -> Result<Selection, QueryError> {
        for (value, name) in [(&request.service_name, "serviceName"), (&request.profile_type, "type")] {
            if value.is_empty() {
                return Err(QueryError::malformed(format!("{name} is missing")));
            }
        }
        let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now_ns)?;
        let mut profiles = vec![
            filters::text("server_name", &request.service_name),
            filters::text("profile_type", &request.profile_type),
        ];
        let non_empty = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if let Some(server) = non_empty(&request.server_name) {
            profiles.push(filters::text("instance", &server));
        }
        let any_version = filters::all(profiles.clone());
        let app_version = non_empty(&request.app_version);
        profiles.extend(app_version.as_ref().map(|version| filters::text("app_version", version)));
        let mut samples = Vec::new();
        for (key, value) in &request.labels {
            check_label(key, project)?;
            let (key, value) = (key.clone(), value.clone());
            samples.push(Filter::Attribute { scope: AttributeScope::Record, key, op: Op::Eq, value });
        }
        if let Some(id) = non_empty(&request.trace_id) {
            samples.push(filters::trace(ids::parse_trace(&id)?));
        }
        if let Some(id) = non_empty(&request.span_id) {
            samples.push(filters::span(ids::parse_span(&id)?));
        }
        Ok(Selection {
            project: project.number,
            range,
            profiles: filters::all(profiles),
            any_version,
            app_version,
            profile_type: request.profile_type.clone(),
            samples: filters::all(samples),
        })
    }

    /// The filter of samples.
    pub fn samples(&self) -> Filter {
        self.profiles.clone().and(self.samples.clone())
    }

    /// Whether samples are selected by labels or spans.
    pub fn is_filtered(&self) -> bool {
        self.samples != Filter::True
    }

    /// Reads the facts of the selected profiles. Labels and spans are not conditions on these.
    pub async fn facts(&self, executor: &Executor) -> Result<Facts, QueryError> {
        let aggregates = vec![
            Function::Count.named("profiles"),
            Function::Sum("samples").named("samples"),
            Function::Sum("duration").named("duration"),
            Function::Min("time").named("first"),
            Function::Min("duration").named("duration_min"),
            Function::Latest { column: "unit" }.named("unit"),
            Function::Latest { column: "sample_type" }.named("sample_type"),
            Function::Latest { column: "is_gauge" }.named("is_gauge"),
            Function::Max("has_timestamps").named("has_timestamps"),
        ];
        let (project, filter) = ([self.project], self.profiles.clone());
        let plan = plans::groups(Table::Profiles, &project, self.range, filter, vec![], aggregates);
        let answer = executor.run(plan).await?;
        let Some(row) = answer.first() else { return Ok(Facts::default()) };
        Ok(Facts {
            unit: row.text("unit").to_owned(),
            sample_type: row.text("sample_type").to_owned(),
            is_gauge: row.flag("is_gauge"),
            temporality: temporality(&self.profile_type, row.flag("is_gauge")),
            duration_min_ns: row.opt_int("duration_min").unwrap_or(i64::MAX),
            has_timestamps: row.flag("has_timestamps"),
            profiles: row.count("profiles"),
            samples: row.count("samples"),
            duration_ns: row.int("duration"),
            first_ns: row.int("first"),
        })
    }
}

/// Fails for the key of a label that is not stored.
pub fn check_label(key: &str, project: &Project) -> Result<(), QueryError> {
    let is_stored = key == ENDPOINT_LABEL || project.settings.profile_label_allowlist.iter().any(|label| label == key);
    match is_stored {
        true => Ok(()),
        false => {
            Err(QueryError::malformed(format!("the label {key:?} is not on the project's list of profile labels")))
        }
    }
}
