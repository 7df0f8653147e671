//! Every dependency's licence is on the permissive list in deny.toml; checked without cargo-deny.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

#[test]
fn every_dependency_is_under_a_permissive_licence() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let allowed = allowed(&std::fs::read_to_string(format!("{root}/deny.toml")).expect("deny.toml"));
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root)
        .output()
        .expect("cargo metadata");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 100, "the whole graph is looked at");
    let refused: Vec<String> = packages
        .iter()
        .map(|package| (&package["name"], package["license"].as_str().unwrap_or("none named")))
        .filter(|(_, licence)| !permissive(licence, &allowed))
        .map(|(name, licence)| format!("{name}: {licence}"))
        .collect();
    assert!(refused.is_empty(), "not permissive: {refused:#?}");
}

/// The strings of `allow = [...]`.
fn allowed(deny: &str) -> BTreeSet<String> {
    let list = deny.split("allow = [").nth(1).and_then(|rest| rest.split(']').next()).expect("an allow list");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether an SPDX expression can be met with allowed licences only. `/` is the old syntax of OR.
fn permissive(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "~WITH~");
    let tokens: Vec<String> = spaced.split_whitespace().map(|token| token.replace('~', " ")).collect();
    let mut reader = Reader { tokens: &tokens, allowed };
    reader.either()
}

/// A parser of SPDX expressions: OR binds weakest, then AND, then parentheses.
struct Reader<'a> {
    tokens: &'a [String],
    allowed: &'a BTreeSet<String>,
}

impl Reader<'_> {
    fn either(&mut self) -> bool {
        let mut met = self.both();
        while self.next_is("OR") {
            met |= self.both();
        }
        met
    }

    fn both(&mut self) -> bool {
        let mut met = self.one();
        while self.next_is("AND") {
            met &= self.one();
        }
        met
    }

    fn one(&mut self) -> bool {
        if self.next_is("(") {
            let met = self.either();
            return self.next_is(")") && met;
        }
        let Some((name, rest)) = self.tokens.split_first() else { return false };
        self.tokens = rest;
        self.allowed.contains(name)
    }

    fn next_is(&mut self, token: &str) -> bool {
        let found = self.tokens.first().is_some_and(|first| first == token);
        self.tokens = &self.tokens[usize::from(found)..];
        found
    }
}

#[test]
fn licence_expressions() {
    let allowed: BTreeSet<String> = ["MIT", "Apache-2.0", "Unicode-3.0"].map(str::to_owned).into();
    for (licence, expected) in [
        ("MIT", true),
        ("MIT OR Apache-2.0", true),
        ("GPL-3.0 OR MIT", true),
        ("MIT/Apache-2.0", true),
        ("GPL-3.0", false),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND MPL-2.0", false),
        ("", false),
    ] {
        assert_eq!(permissive(licence, &allowed), expected, "{licence}");
    }
}
