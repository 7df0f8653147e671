//! The versions of the rule that groups exceptions into Issues. Issues: a rule that changes makes no Issue new.
//!
//! Rows carry the version that grouped them. The newest version groups what arrives; older ones stay callable, so that
//! a hash that was never seen can be compared with the hash that the same exception had before.

use std::fmt;

use crate::grouping::v1::{issue_group, normalize_stack, without_message};
use crate::grouping::{self, Occurrence};

/// The version of rows without one.
pub const FIRST_VERSION: u8 = 1;

/// Explanation of a group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupBasis {
    /// One sentence without a verb: `2 application frames, types A caused by B`.
    pub basis: String,
    /// The parts that count, in order.
    pub components: Vec<String>,
    /// The parts that do not count, in order.
    pub left_out: Vec<String>,
}

/// One version of the rule. Its functions are pure.
#[derive(Clone, Copy)]
pub struct GroupVersion {
    /// The number of the version, from [`FIRST_VERSION`].
    pub version: u8,
    /// The group of an exception.
    pub hash: fn(&Occurrence<'_>) -> u64,
    /// The basis of the group.
    pub explain: fn(&Occurrence<'_>) -> GroupBasis,
}

impl fmt::Debug for GroupVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GroupVersion({})", self.version)
    }
}

/// The known versions of the rule, ascending.
#[derive(Debug, Clone, Copy)]
pub struct GroupVersions(&'static [GroupVersion]);

/// The normalized stack trace, without the message where frames follow it. SPEC classification, rule 3.
pub const NORMALIZED_STACK: GroupVersion = GroupVersion {
    version: FIRST_VERSION,
    hash: |input| issue_group(input.exception_type, input.message, input.stack_trace),
    explain: explain_normalized_stack,
};

/// The frames of the application. DECISIONS 30.
pub const PARSED_FRAMES: GroupVersion = GroupVersion {
    version: 2,
    hash: |input| grouping::group(input).hash,
    explain: |input| {
        let components = grouping::components(input);
        GroupBasis { basis: components.sentence(), components: components.counted(), left_out: components.left_out() }
    },
};

impl GroupVersions {
    /// The versions of this program.
    pub const BUILT_IN: GroupVersions = GroupVersions(&[NORMALIZED_STACK, PARSED_FRAMES]);

    /// Ascending versions; at least one.
    pub const fn new(versions: &'static [GroupVersion]) -> GroupVersions {
        assert!(!versions.is_empty(), "there is at least one version");
        GroupVersions(versions)
    }

    /// The group of an exception by the newest version, and that version.
    pub fn group(self, input: &Occurrence<'_>) -> (u64, u8) {
        let newest = self.newest();
        ((newest.hash)(input), newest.version)
    }

    /// The version that groups what arrives.
    pub fn newest(self) -> &'static GroupVersion {
        self.0.last().unwrap_or(&NORMALIZED_STACK)
    }

    /// The version with this number; the newest one if there is none.
    pub fn at(self, number: u8) -> &'static GroupVersion {
        self.0.iter().find(|one| one.version == number).unwrap_or(self.newest())
    }

    /// The other versions, the newest first.
    pub fn older(self) -> impl Iterator<Item = &'static GroupVersion> {
        self.0.iter().rev().skip(1)
    }
}

fn explain_normalized_stack(input: &Occurrence<'_>) -> GroupBasis {
    let Occurrence { exception_type, message, stack_trace, .. } = *input;
    let parts = without_message(exception_type, message, stack_trace);
    let counted = parts.map_or_else(|| stack_trace.to_owned(), |parts| parts.concat());
    let components: Vec<String> = normalize_stack(&counted).lines().map(str::to_owned).collect();
    let lines = components.len();
    let is_message = parts.is_none() && lines <= 1;
    let basis = match (is_message, lines) {
        (true, _) => "the type and the message without numbers".to_owned(),
        (false, 1) => "1 line of the normalized stack trace".to_owned(),
        (false, lines) => format!("{lines} lines of the normalized stack trace"),
    };
    let left_out = match parts {
        Some(_) => vec![message.lines().next().unwrap_or("").to_owned()],
        None => Vec::new(),
    };
    GroupBasis { basis, components, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: GroupVersion = GroupVersion { version: 2, hash: |_| 2, ..NORMALIZED_STACK };

    // Issues: the newest version groups, older ones follow, the newest first.
    #[test]
    fn versions_in_order() {
        let versions = GroupVersions::new(&[NORMALIZED_STACK, TWO]);
        assert_eq!(versions.newest().version, 2);
        assert_eq!(versions.older().map(|one| one.version).collect::<Vec<_>>(), [1]);
        assert_eq!(GroupVersions::BUILT_IN.newest().version, 2);
    }

    #[test]
    fn the_basis_of_the_first_version() {
        let of = |message, stack_trace| (NORMALIZED_STACK.explain)(&Occurrence::new("E", message, stack_trace));
        let with_frames = of("no user 1", "E: no user 1\n    at f (/app/a.js:10:5)\n    at g (/app/b.js:1:1)");
        assert_eq!(with_frames.components.len(), 3, "{with_frames:?}");
        assert_eq!(with_frames.basis, "3 lines of the normalized stack trace");
        assert_eq!(with_frames.left_out, ["no user 1"]);
        let alone = of("no user 1", "E: no user 1");
        assert_eq!((alone.basis.as_str(), alone.components.len()), ("the type and the message without numbers", 1));
        assert_eq!(alone.left_out, [""; 0]);
    }
}
