//! Name and version of the process that sent a record, edge platforms included. SPEC edge-platform exports.

use crate::model::{AnyValue, Attributes};

/// The process that a resource describes. Absent attributes are empty strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Process<'a> {
    /// `service.name`, which may be absent. SPEC edge-platform exports, rule 5.
    pub server_name: &'a str,
    /// `service.version`.
    pub service_version: &'a str,
    /// `edge.script_version.id`.
    pub script_version: &'a str,
    /// `session.id`, the fallback for a conversation id. WIRE 8.3.
    pub session_id: &'a str,
}

impl<'a> Process<'a> {
    /// Reads the attributes of a resource.
    pub fn read(resource: Attributes<'_, 'a>) -> Self {
        let mut process = Process::default();
        for attribute in resource.0 {
            let AnyValue::Str(text) = attribute.value else { continue };
            match attribute.key {
                "service.name" => process.server_name = text,
                "service.version" => process.service_version = text,
                "edge.script_version.id" => process.script_version = text,
                "session.id" => process.session_id = text,
                _ => {}
            }
        }
        process
    }

    /// The App Version of a span: the script version of the span, else of the resource, else `service.version`.
    /// DECISIONS 15. `span_script_version` is the span's `edge.script_version.id`, empty when absent.
    pub fn app_version(&self, span_script_version: &'a str) -> &'a str {
        let ids = [span_script_version, self.script_version].into_iter().filter(|id| !id.is_empty());
        ids.map(str::trim).find(|id| !id.is_empty()).map_or(self.service_version, after_last_dash)
    }
}

/// The part after the last `-`; the complete value when that is empty.
fn after_last_dash(id: &str) -> &str {
    match id.rsplit_once('-') {
        Some((_, tail)) if !tail.is_empty() => tail,
        _ => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::KeyValue;

    // Spec: edge-platform exports, App Version; DECISIONS 15.
    #[test]
    fn app_version_table() {
        for (span, resource, service_version, expected) in [
            ("7f3b9c1e-2d4a-4c6b-9e8f-0a1b2c3d4e5f", "", "", "0a1b2c3d4e5f"),
            ("", "7f3b9c1e-0a1b2c3d4e5f", "", "0a1b2c3d4e5f"),
            ("a-span", "b-resource", "1.2.3", "span"),
            ("nodash", "", "", "nodash"),
            ("ends-with-", "", "", "ends-with-"),
            ("", "", "1.2.3", "1.2.3"),
            ("", "", "1.2.3-rc-1", "1.2.3-rc-1"),
            ("", "", "", ""),
        ] {
            let process = Process { script_version: resource, service_version, ..Process::default() };
            assert_eq!(process.app_version(span), expected);
        }
    }

    // Spec: edge-platform exports, rule 5: no service.name, no Server Name.
    #[test]
    fn a_resource_without_service_name_has_no_server_name() {
        let attributes = [KeyValue { key: "cloud.platform", value: AnyValue::Str("edge.workers") }];
        assert_eq!(Process::read(Attributes(&attributes)), Process::default());
    }
}
