//! Node, Playwright and Chromium of this machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// The programs that the operator has named.
#[derive(Debug, Clone, Default)]
pub struct NamedPrograms {
    /// Node; `node` of the PATH by default.
    pub node: Option<PathBuf>,
    /// A folder with `node_modules/playwright-core`, or that `node_modules` itself.
    pub playwright: Option<PathBuf>,
    /// Chromium; one of the PATH by default.
    pub chromium: Option<PathBuf>,
}

/// The programs of checks by a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installation {
    /// Node.
    pub node: PathBuf,
    /// The flag that takes files and children from its scripts.
    pub permission_flag: String,
    /// The folder of `playwright-core`.
    pub playwright: PathBuf,
    /// Chromium.
    pub chromium: PathBuf,
}

const CHROMIUM_NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

impl Installation {
    /// Finds the programs. The error is one sentence that names the setting. Runs Node, and blocks.
    pub fn find(named: &NamedPrograms) -> Result<Installation, String> {
        let node = match &named.node {
            Some(node) => node.clone(),
            None => in_path("node").ok_or("there is no node in the PATH; SYNTHETICS_BROWSER_NODE can name it")?,
        };
        let version = version_of(&node)
            .ok_or_else(|| format!("SYNTHETICS_BROWSER_NODE: {} does not run as Node", node.display()))?;
        let permission_flag = permission_flag(&version)
            .ok_or_else(|| format!("SYNTHETICS_BROWSER_NODE: {} is Node {version}, older than 20", node.display()))?;
        let folder = named
            .playwright
            .as_ref()
            .ok_or("SYNTHETICS_BROWSER_PLAYWRIGHT is not set: it names a folder with playwright-core")?;
        let playwright = playwright_in(folder).ok_or_else(|| {
            format!("SYNTHETICS_BROWSER_PLAYWRIGHT: there is no playwright-core in {}", folder.display())
        })?;
        let chromium = match &named.chromium {
            Some(chromium) if chromium.is_file() => chromium.clone(),
            Some(chromium) => {
                return Err(format!("SYNTHETICS_BROWSER_CHROMIUM: there is no file {}", chromium.display()));
            }
            None => CHROMIUM_NAMES
                .into_iter()
                .find_map(in_path)
                .ok_or("there is no chromium in the PATH; SYNTHETICS_BROWSER_CHROMIUM can name it")?,
        };
        Ok(Installation { node, permission_flag: permission_flag.to_owned(), playwright, chromium })
    }
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// `20.19.2`.
fn version_of(node: &Path) -> Option<String> {
    let output = Command::new(node).arg("--version").env_clear().stdin(Stdio::null()).output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    version.trim().strip_prefix('v').map(str::to_owned)
}

/// The name of the flag in this version of Node; `None` if it has none.
fn permission_flag(version: &str) -> Option<&'static str> {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
    let (major, minor) = (parts.next()??, parts.next()??);
    match (major, minor) {
        (..20, _) => None,
        (20 | 21, _) | (22, ..13) | (23, ..5) => Some("--experimental-permission"),
        _ => Some("--permission"),
    }
}

/// The folder of `playwright-core` without symbolic links: permissions are of real paths.
fn playwright_in(folder: &Path) -> Option<PathBuf> {
    let found = [folder.join("node_modules/playwright-core"), folder.join("playwright-core"), folder.to_owned()];
    let is_package = |folder: &PathBuf| folder.ends_with("playwright-core") && folder.join("package.json").is_file();
    found.into_iter().find(is_package)?.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_depends_on_the_version() {
        for (version, flag) in [
            ("18.20.4", None),
            ("20.0.0", Some("--experimental-permission")),
            ("22.12.0", Some("--experimental-permission")),
            ("22.13.0", Some("--permission")),
            ("23.4.9", Some("--experimental-permission")),
            ("23.5.0", Some("--permission")),
            ("24.1.0", Some("--permission")),
            ("nightly", None),
        ] {
            assert_eq!(permission_flag(version), flag, "{version}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::TempDir::new().expect("a temporary directory");
        let file = |name: &str, content: &str| {
            use std::os::unix::fs::PermissionsExt;
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(&path, content).expect("a file");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("a program");
            path
        };
        let old = Some(file("old", "#!/bin/sh\necho v18.1.0\n"));
        let mut named = NamedPrograms { node: old, ..NamedPrograms::default() };
        let error = |named: &NamedPrograms| Installation::find(named).err().unwrap_or_default();
        assert!(error(&named).ends_with("is Node 18.1.0, older than 20"), "{}", error(&named));
        named.node = Some(folder.path().join("none"));
        assert!(error(&named).ends_with("does not run as Node"), "{}", error(&named));
        named.node = Some(file("node", "#!/bin/sh\necho v24.1.0\n"));
        assert!(error(&named).starts_with("SYNTHETICS_BROWSER_PLAYWRIGHT is not set"), "{}", error(&named));
        named.playwright = Some(folder.path().to_owned());
        assert!(error(&named).contains("there is no playwright-core in"), "{}", error(&named));
        file("node_modules/playwright-core/package.json", "{}");
        named.chromium = Some(folder.path().join("none"));
        assert!(error(&named).starts_with("SYNTHETICS_BROWSER_CHROMIUM: there is no file"), "{}", error(&named));
        named.chromium = named.node.clone();
        let found = Installation::find(&named).expect("all of it");
        assert!(found.playwright.ends_with("node_modules/playwright-core"), "{found:?}");
        assert_eq!(found.permission_flag, "--permission");
    }
}
