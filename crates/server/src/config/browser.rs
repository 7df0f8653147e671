//! Settings of checks by a browser.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::ValueEnum;
use tidewatch_accounts::secrets::secret_settings::key_setting;
use tidewatch_accounts::sso::settings::is_plain_http;
use tidewatch_alerts::monitors::manage::NO_BROWSER;
use tidewatch_probes::browser::checks::BrowserPlace;
use tidewatch_probes::browser::installation::NamedPrograms;
use tidewatch_probes::browser::remote::RunnerAddress;
use url::Url;

/// Where checks by a browser are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum BrowserMode {
    /// Nowhere.
    #[default]
    Off,
    /// On this machine, in processes that the server starts.
    Embedded,
    /// By a browser runner, which is elsewhere.
    Remote,
}

/// Settings of checks by a browser.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct BrowserSettings {
    /// Checks of monitors by a browser: `off`; `embedded`, in sandboxed processes on this machine, which needs Node,
    /// Playwright and Chromium; or `remote`, by `tidewatch browser-runner` on another machine.
    #[arg(long, env = "SYNTHETICS_BROWSER_MODE", value_enum, default_value = "off", hide_possible_values = true)]
    pub synthetics_browser_mode: BrowserMode,
    /// Address of the browser runner of the mode `remote`, such as `https://browsers.example.com`.
    #[arg(long, env = "SYNTHETICS_BROWSER_URL")]
    pub synthetics_browser_url: Option<String>,
    /// The token of the browser runner.
    #[command(flatten)]
    pub token: TokenSettings,
    /// The programs of the mode `embedded`.
    #[command(flatten)]
    pub programs: ProgramSettings,
}

/// The token of a browser runner: the same at both ends.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct TokenSettings {
    /// Token of the browser runner, at least 32 bytes: the runner and its servers have the same.
    #[arg(long, env = "SYNTHETICS_BROWSER_TOKEN", hide_env_values = true, hide = true)]
    pub synthetics_browser_token: Option<String>,
    /// A file with the token of the browser runner, at least 32 bytes: the runner and its servers have the same.
    #[arg(long, env = "SYNTHETICS_BROWSER_TOKEN_FILE", conflicts_with = "synthetics_browser_token")]
    pub synthetics_browser_token_file: Option<PathBuf>,
}

impl TokenSettings {
    /// The token. Fails if there is none, if it is short, or if its file cannot be read.
    pub fn token(&self) -> anyhow::Result<String> {
        let (set, file) = (&self.synthetics_browser_token, &self.synthetics_browser_token_file);
        let token = key_setting(set, file, "token of the browser runner")?;
        let token =
            token.context("SYNTHETICS_BROWSER_TOKEN is not set: the browser runner and its servers share it")?;
        let token = String::from_utf8(token).ok().filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()));
        token.context("the token of the browser runner has characters that a header cannot have")
    }
}

/// The programs of checks on this machine.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ProgramSettings {
    /// Node for checks by a browser, 20 or newer; `node` of the PATH by default.
    #[arg(long, env = "SYNTHETICS_BROWSER_NODE")]
    pub synthetics_browser_node: Option<PathBuf>,
    /// A folder with `node_modules/playwright-core` for checks by a browser, or that `node_modules` itself.
    #[arg(long, env = "SYNTHETICS_BROWSER_PLAYWRIGHT")]
    pub synthetics_browser_playwright: Option<PathBuf>,
    /// Chromium for checks by a browser; `chromium`, `chromium-browser` or `google-chrome` of the PATH by default.
    #[arg(long, env = "SYNTHETICS_BROWSER_CHROMIUM")]
    pub synthetics_browser_chromium: Option<PathBuf>,
}

impl ProgramSettings {
    /// The programs that the operator has named.
    pub fn named(&self) -> NamedPrograms {
        NamedPrograms {
            node: self.synthetics_browser_node.clone(),
            playwright: self.synthetics_browser_playwright.clone(),
            chromium: self.synthetics_browser_chromium.clone(),
        }
    }
}

impl BrowserSettings {
    /// Where checks are made. Fails if the settings of the runner cannot be used.
    pub fn place(&self) -> anyhow::Result<BrowserPlace> {
        Ok(match self.synthetics_browser_mode {
            BrowserMode::Off => BrowserPlace::Nowhere(NO_BROWSER.to_owned()),
            BrowserMode::Embedded => BrowserPlace::Here(self.programs.named()),
            BrowserMode::Remote => BrowserPlace::Elsewhere(self.runner()?),
        })
    }

    /// Validates the address and the token of a browser runner.
    pub fn check(&self) -> anyhow::Result<()> {
        match self.synthetics_browser_mode {
            BrowserMode::Remote => self.runner().map(drop),
            BrowserMode::Off | BrowserMode::Embedded => Ok(()),
        }
    }

    /// The browser runner. Fails if its address or its token cannot be used.
    pub fn runner(&self) -> anyhow::Result<RunnerAddress> {
        let url = self.synthetics_browser_url.as_deref();
        let url = url.context("SYNTHETICS_BROWSER_URL is not set: it is the address of a browser runner")?.trim();
        let mut parsed = Url::parse(url).with_context(|| format!("SYNTHETICS_BROWSER_URL {url} is no address"))?;
        let is_web = matches!(parsed.scheme(), "http" | "https");
        ensure!(is_web, "SYNTHETICS_BROWSER_URL {url} is neither http nor https");
        // It is logged.
        ensure!(parsed.username().is_empty() && parsed.password().is_none(), "SYNTHETICS_BROWSER_URL has a password");
        if !parsed.path().ends_with('/') {
            parsed.set_path(&format!("{}/", parsed.path()));
        }
        Ok(RunnerAddress { url: parsed, token: self.token.token()? })
    }

    /// A warning: scripts and their variables pass the network unencrypted.
    pub fn warning(&self) -> Option<String> {
        let url = self.synthetics_browser_url.as_ref().filter(|url| is_plain_http(url))?;
        (self.synthetics_browser_mode == BrowserMode::Remote).then(|| {
            format!(
                "SYNTHETICS_BROWSER_URL {url} is not https: scripts and their variables are sent without encryption"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn remote(url: Option<&str>, token: Option<&str>) -> BrowserSettings {
        BrowserSettings {
            synthetics_browser_mode: BrowserMode::Remote,
            synthetics_browser_url: url.map(str::to_owned),
            token: TokenSettings { synthetics_browser_token: token.map(str::to_owned), ..TokenSettings::default() },
            ..BrowserSettings::default()
        }
    }

    /// Item "browser": `SYNTHETICS_BROWSER_MODE` is off, embedded or remote (WIRE 6).
    #[test]
    fn a_runner_needs_an_address_and_a_token() {
        assert!(BrowserSettings::default().check().is_ok());
        for (url, token, expected) in [
            (Some("https://a.example"), Some(TOKEN), Ok("https://a.example/")),
            (Some("http://10.0.0.7:8090/browsers"), Some(TOKEN), Ok("http://10.0.0.7:8090/browsers/")),
            (None, Some(TOKEN), Err("SYNTHETICS_BROWSER_URL is not set")),
            (Some("a.example:8090"), Some(TOKEN), Err("SYNTHETICS_BROWSER_URL a.example:8090 is neither")),
            (Some("browsers"), Some(TOKEN), Err("SYNTHETICS_BROWSER_URL browsers is no address")),
            (Some("https://a:b@a.example"), Some(TOKEN), Err("SYNTHETICS_BROWSER_URL has a password")),
            (Some("https://a.example"), None, Err("SYNTHETICS_BROWSER_TOKEN is not set")),
            (Some("https://a.example"), Some("short"), Err("the token of the browser runner is shorter than 32 bytes")),
            (
                Some("https://a.example"),
                Some("0123456789abcdef\n0123456789abcdef"),
                Err("the token of the browser runner has characters"),
            ),
        ] {
            let settings = remote(url, token);
            match (settings.runner(), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found.url.as_str(), expected),
                (Err(error), Err(expected)) => assert!(error.to_string().starts_with(expected), "{error}"),
                (found, expected) => panic!("{found:?} is not {expected:?}"),
            }
            assert_eq!(settings.check().is_ok(), expected.is_ok());
        }
    }

    #[test]
    fn a_runner_without_encryption_on_another_machine_is_warned_of() {
        assert!(remote(Some("http://browsers.example"), None).warning().is_some());
        for settings in [remote(Some("https://browsers.example"), None), remote(Some("http://127.0.0.1:8090"), None)] {
            assert_eq!(settings.warning(), None);
        }
        let off =
            BrowserSettings { synthetics_browser_mode: BrowserMode::Off, ..remote(Some("http://a.example"), None) };
        assert_eq!(off.warning(), None);
    }
}
