//! The basis of a group in words.

use super::parts::{Basis, Components, LeftOut};
use crate::frames::Relation;

impl LeftOut {
    /// The reason in one word or two.
    pub fn reason(self) -> &'static str {
        match self {
            LeftOut::Library => "library",
            LeftOut::Plumbing => "plumbing",
            LeftOut::Repeated => "repeated",
            LeftOut::Shared => "shared",
            LeftOut::Limit => "not counted",
        }
    }
}

impl Components {
    /// One sentence without a verb: `2 application frames, types A caused by B`.
    pub fn sentence(&self) -> String {
        let frames = self.exceptions.iter().filter(|one| one.is_counted).flat_map(|one| &one.frames);
        let counted = frames.filter(|frame| frame.left_out.is_none()).count();
        let frames = |kind: &str| {
            let noun = if counted == 1 { "frame" } else { "frames" };
            format!("{counted} {kind}{noun}, {}", self.types())
        };
        match self.basis {
            Basis::Fingerprint => "the fingerprint of the sender".to_owned(),
            Basis::ApplicationFrames => frames("application "),
            Basis::AllFrames => frames(""),
            Basis::Message => "the type and the message without values".to_owned(),
            Basis::Type => "the type".to_owned(),
        }
    }

    /// `type A`, or `types A caused by B with C`.
    fn types(&self) -> String {
        let counted: Vec<_> = self.exceptions.iter().filter(|one| one.is_counted).collect();
        let mut out = if counted.len() == 1 { "type ".to_owned() } else { "types ".to_owned() };
        for (position, one) in counted.iter().enumerate() {
            let joint = match one.relation {
                Relation::Cause => " caused by ",
                Relation::Member => " with ",
                Relation::Suppressed => " suppressing ",
                Relation::Outermost => ", ",
            };
            out.push_str(if position == 0 { "" } else { joint });
            out.push_str(if one.exception_type.is_empty() { "unknown" } else { &one.exception_type });
        }
        out
    }

    /// The parts that count, in order: types, frames, the message.
    pub fn counted(&self) -> Vec<String> {
        let mut out = Vec::new();
        for one in self.exceptions.iter().filter(|one| one.is_counted) {
            out.push(one.exception_type.clone());
            out.extend(one.frames.iter().filter(|frame| frame.left_out.is_none()).map(|frame| frame.text.clone()));
        }
        out.extend(self.message.clone());
        out
    }

    /// The frames that do not count with the reason, in order: `library: enum.ex map`.
    pub fn left_out(&self) -> Vec<String> {
        let frames = self.exceptions.iter().flat_map(|one| &one.frames);
        let left = frames.filter_map(|frame| Some((frame.left_out?, &frame.text)));
        left.map(|(reason, name)| format!("{}: {name}", reason.reason())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Occurrence, components};

    #[test]
    fn sentences() {
        let stack = "E: m\n\tat com.shop.A.b(A.java:3)\n\tat java.util.List.map(List.java:4)\nCaused by: F: n\n\tat com.shop.C.d(C.java:1)\n\t... 2 more";
        for (exception_type, message, stack_trace, expected) in [
            ("E", "m", stack, "2 application frames, types E caused by F"),
            ("E", "m", "E: m", "the type and the message without values"),
            ("E", "", "E", "the type"),
        ] {
            let of = Occurrence { exception_type, message, stack_trace, ..Occurrence::default() };
            assert_eq!(components(&of).sentence(), expected);
        }
        let of = Occurrence { exception_type: "E", message: "m", stack_trace: stack, ..Occurrence::default() };
        assert_eq!(components(&of).counted(), ["E", "com.shop.A b", "F", "com.shop.C d"]);
        assert_eq!(components(&of).left_out(), ["library: java.util.List map"]);
    }
}
