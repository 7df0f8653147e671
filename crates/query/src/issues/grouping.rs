//! The explanation of a group: the parts of an occurrence that count, those that do not, and the hashes of the Issue.

use tidewatch_accounts::HashCause;
use tidewatch_domain::grouping;
use tidewatch_domain::rules::group_versions::{GroupBasis, GroupVersions};
use tidewatch_domain::rules::grouping_rules::{FINGERPRINT_VERSION, GroupingRule};

use super::family::Families;
use crate::ids;
use crate::occurrences::OccurrenceRecord;
use crate::views::issue::{IssueGrouping, IssueHash, IssueHashCause, Occurrence};

/// Maximum parts in a list.
const PARTS_MAX: usize = 100;
/// Maximum characters of a part.
const PART_CHARS_MAX: usize = 500;
/// Maximum hashes in the list.
const HASHES_MAX: usize = 100;

/// The grouping of an Issue, explained by one of its occurrences.
pub(super) fn of(
    versions: GroupVersions,
    families: &Families,
    primary: u64,
    occurrence: &OccurrenceRecord,
) -> IssueGrouping {
    let view = &occurrence.view;
    let version = versions.at(occurrence.group_version);
    let is_fingerprint = occurrence.group_version == FINGERPRINT_VERSION;
    let fingerprint = occurrence.fingerprint.as_str();
    let GroupBasis { basis, components, left_out } = match view.is_message {
        true => of_message(view),
        false if is_fingerprint && fingerprint.is_empty() => of_rule(occurrence.grouping_rule.as_ref()),
        false => (version.explain)(&grouping::Occurrence {
            fingerprint,
            ..grouping::Occurrence::new(&view.exception_type, &view.message, &view.stack_trace)
        }),
    };
    let pointed = families.members(primary).iter().take(HASHES_MAX).filter_map(|hash| {
        let pointer = families.pointer(*hash)?;
        let cause = match pointer.cause {
            HashCause::Merge => IssueHashCause::Merge,
            HashCause::Rule => IssueHashCause::Rule,
            HashCause::Own => return None,
        };
        let rule_version = (cause == IssueHashCause::Rule).then_some(pointer.rule_version);
        Some(IssueHash { exception_hash: ids::format_hash(*hash), cause, rule_version })
    });
    IssueGrouping {
        basis,
        version: version.version,
        components: cut(components),
        left_out: cut(left_out),
        hashes: pointed.collect(),
    }
}

fn of_rule(rule: Option<&GroupingRule>) -> GroupBasis {
    let components = rule.map(|rule| vec![rule.query.clone(), rule.template.clone()]).unwrap_or_default();
    let basis = match rule {
        Some(rule) => format!("grouping rule {} of the project", rule.id),
        None => "a grouping rule of the project that was changed since".to_owned(),
    };
    GroupBasis { basis, components, left_out: Vec::new() }
}

fn of_message(view: &Occurrence) -> GroupBasis {
    let components = vec![view.stack_trace.clone()];
    GroupBasis { basis: "the text of the message".to_owned(), components, left_out: Vec::new() }
}

fn cut(parts: Vec<String>) -> Vec<String> {
    let shorten = |part: String| match part.char_indices().nth(PART_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &part[..end]),
        None => part,
    };
    parts.into_iter().take(PARTS_MAX).map(shorten).collect()
}
