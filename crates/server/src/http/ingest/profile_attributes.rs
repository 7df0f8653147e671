//! The inputs of profiles that are not in the body: query parameters and settings. WIRE 2.1.

use tidewatch_accounts::Project;
use tidewatch_ingest::outcome::Refused;
use tidewatch_ingest::request_attributes::RequestAttributes;

/// Maximum length of a query parameter in bytes.
const PARAMETER_BYTES_MAX: usize = 255;

/// Inputs of the decoder from the query parameters and the project's settings.
pub fn attributes(project: &Project, query: Option<&str>) -> Result<RequestAttributes, Refused> {
    let mut attributes = labels(project);
    for (key, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let field = match &*key {
            "service" => &mut attributes.service,
            "serverName" => &mut attributes.server_name,
            "appVersion" => &mut attributes.app_version,
            "processId" => &mut attributes.process,
            _ => continue,
        };
        if value.len() > PARAMETER_BYTES_MAX {
            return Err(Refused::malformed(format!("{key} is longer than {PARAMETER_BYTES_MAX} bytes")));
        }
        value.trim().clone_into(field);
    }
    Ok(attributes)
}

/// The inputs of the decoder from the project's settings.
pub fn labels(project: &Project) -> RequestAttributes {
    RequestAttributes {
        // WIRE 2.1: the service is the project's name by default.
        service: project.name.clone(),
        profile_labels: project.settings.profile_label_allowlist.clone(),
        ..RequestAttributes::default()
    }
}
