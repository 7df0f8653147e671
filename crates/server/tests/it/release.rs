//! `scripts/sign-release.sh` and `scripts/verify-release.sh`: signed releases verify, and nothing else does.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn script(name: &str, arguments: &[&Path]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(name);
    Command::new("bash").arg(script).args(arguments).output().expect("bash runs")
}

fn output_of(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Creates a key, and the file that lists it as the key of releases.
fn key(folder: &Path, name: &str) -> (PathBuf, PathBuf) {
    let (key, signers) = (folder.join(name), folder.join(format!("{name}.signers")));
    let made =
        Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", "release", "-f"]).arg(&key).output();
    let made = made.expect("ssh-keygen runs");
    assert!(made.status.success(), "{}", output_of(&made));
    let public = std::fs::read_to_string(folder.join(format!("{name}.pub"))).expect("a public key");
    std::fs::write(&signers, format!("release {public}")).expect("a file");
    (key, signers)
}

#[test]
fn a_release_is_verified_as_it_was_signed_and_not_otherwise() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let release = folder.path().join("release");
    std::fs::create_dir(&release).expect("a folder");
    std::fs::write(release.join("tidewatch-x86_64-linux"), [0x7f; 4096]).expect("a file");
    std::fs::write(release.join("web.cdx.json"), "{}").expect("a file");
    let (own, signers) = key(folder.path(), "own");
    let (_, other) = key(folder.path(), "other");
    let signed = script("sign-release.sh", &[&release, &own]);
    assert!(signed.status.success(), "{}", output_of(&signed));
    let verify = |signers: &Path| script("verify-release.sh", &[&release, signers]);
    let verified = verify(&signers);
    assert!(verified.status.success(), "{}", output_of(&verified));
    assert!(!verify(&other).status.success(), "another's key");

    let text = std::fs::read(release.join("provenance.json")).expect("a statement");
    let provenance: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let names: Vec<_> = provenance["subject"].as_array().expect("a list").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["tidewatch-x86_64-linux", "web.cdx.json"]);
    let commit = provenance["predicate"]["buildDefinition"]["externalParameters"]["commit"].as_str();
    assert!(commit.is_some_and(|commit| commit.len() == 40), "{provenance}");

    for (name, change) in [
        ("tidewatch-x86_64-linux", Some("another program")),
        ("provenance.json", Some("{}")),
        ("SHA256SUMS", Some("")),
        ("unlisted", Some("a file more")),
        ("web.cdx.json", None),
        ("SHA256SUMS.sig", None),
    ] {
        let (path, before) = (release.join(name), std::fs::read(release.join(name)).ok());
        match change {
            Some(text) => std::fs::write(&path, text).expect("a file"),
            None => std::fs::remove_file(&path).expect("a file"),
        }
        let verified = verify(&signers);
        assert!(!verified.status.success(), "{name}: {}", output_of(&verified));
        match before {
            Some(bytes) => std::fs::write(&path, bytes).expect("a file"),
            None => std::fs::remove_file(&path).expect("a file"),
        }
    }
    assert!(verify(&signers).status.success(), "as it was");
}
