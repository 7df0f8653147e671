//! Settings of checks by a browser.

use std::path::PathBuf;

use anyhow::ensure;
use clap::ValueEnum;

/// Where checks by a browser run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum BrowserMode {
    /// Nowhere.
    #[default]
    Off,
    /// On this machine, in processes that the server starts.
    Embedded,
    /// In a browser elsewhere; not available.
    Remote,
}

/// Settings of checks by a browser.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct BrowserSettings {
    /// Checks of monitors by a browser: `off`, or `embedded`, in sandboxed processes on this machine, which needs Node,
    /// Playwright and Chromium.
    #[arg(long, env = "SYNTHETICS_BROWSER_MODE", value_enum, default_value = "off", hide_possible_values = true)]
    pub synthetics_browser_mode: BrowserMode,
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

impl BrowserSettings {
    /// Validates the mode.
    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.synthetics_browser_mode != BrowserMode::Remote,
            "SYNTHETICS_BROWSER_MODE remote is not available: it is off or embedded"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_that_is_not_available_is_refused_at_the_start() {
        for (mode, is_accepted) in
            [(BrowserMode::Off, true), (BrowserMode::Embedded, true), (BrowserMode::Remote, false)]
        {
            let settings = BrowserSettings { synthetics_browser_mode: mode, ..BrowserSettings::default() };
            assert_eq!(settings.check().is_ok(), is_accepted, "{mode:?}");
        }
    }
}
