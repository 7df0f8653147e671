//! The group of a stored exception.

use bumpalo::Bump;
use tidewatch_domain::grouping::Occurrence;
use tidewatch_domain::model::Attributes;
use tidewatch_domain::rules::exception::{Origin, fingerprint};
use tidewatch_domain::rules::group_versions::GroupVersions;
use tidewatch_domain::rules::grouping_rules::{GroupingRules, RuledException};
use tidewatch_domain::wire;

use crate::answer::Row;

/// The group of a stored exception by the rules of its project, else by the newest version: the group, and the number
/// of the rule. No rule changes an explicit fingerprint.
pub fn group_of_row(rules: &GroupingRules, versions: GroupVersions, row: Row<'_>) -> (u64, Option<i64>) {
    let arena = Bump::new();
    let decoded = |column| wire::decode_attributes(arena.alloc_slice_copy(row.bytes(column)), &arena);
    let (event, record) = (Attributes(decoded("event_attributes")), Attributes(decoded("attributes")));
    let resource = Attributes(decoded("resource"));
    let input = Occurrence {
        language: resource.text("telemetry.sdk.language").unwrap_or(""),
        fingerprint: fingerprint(event, record, &arena),
        ..Occurrence::new(row.text("exception_type"), row.text("message"), row.text("stack_trace"))
    };
    let default = || (versions.newest().hash)(&input);
    if rules.is_empty() || !input.fingerprint.is_empty() {
        return (default(), None);
    }
    let exception = RuledException {
        input,
        service: row.text("server_name"),
        version: row.text("app_version"),
        event,
        origin: Origin { resource, record, ..Origin::default() },
    };
    match rules.fingerprint(&exception, default) {
        Some(fingerprint) => (fingerprint.hash(), Some(fingerprint.rule)),
        None => (default(), None),
    }
}
