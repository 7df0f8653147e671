//! Errors of settings, and settings that are probably not as intended.

use anyhow::ensure;

use super::Config;
use crate::listen::ListenAddress;
use tidewatch_limits as limits;

impl Config {
    /// Warnings about settings that are accepted, but probably not as intended; one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let least = limits::INGEST_CONCURRENT_MIN;
        if (1..least).contains(&self.ingest_concurrent_max) {
            let set = self.ingest_concurrent_max;
            warnings.push(format!(
                "INGEST_MAX_CONCURRENT is {set}, below the floor of {least}: {least} are worked on at once"
            ));
        }
        let set = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
        if set(&self.trusted_proxy_header) && !set(&self.trusted_proxies) {
            warnings.push(
                "TRUSTED_PROXY_HEADER is believed from every peer: a client that reaches this server without the proxy chooses \
                 the address that limits and the audit log see; name the proxy in TRUSTED_PROXIES"
                    .to_owned(),
            );
        }
        if self.trusted_proxies.as_deref().is_some_and(|list| list.split(',').any(|word| word.trim() == "*")) {
            warnings.push(
                "TRUSTED_PROXIES is *: a client that reaches this server without a proxy chooses the address that limits and \
                 the audit log see; name the proxies"
                    .to_owned(),
            );
        }
        warnings.extend(self.browser.warning());
        warnings
    }

    /// Validates everything that can be validated before the server starts.
    pub fn check(&self) -> anyhow::Result<()> {
        self.trust()?;
        self.login_key()?;
        self.sealing_key()?;
        self.control_database()?;
        self.mail.check()?;
        self.twilio.account()?;
        self.browser.check()?;
        self.sso.check()?;
        self.own_traces()?;
        let wants_tls =
            self.listen.iter().chain(&self.metrics_listen).any(|address| matches!(address, ListenAddress::Tls(_)));
        ensure!(self.tls()?.is_some() || !wants_tls, "TLS needs a certificate and its key: tls_certificate, tls_key");
        ensure!(self.upload_concurrent_max > 0, "upload_concurrent_max is 0: no upload would ever be taken");
        let poll_min = limits::NOTIFICATION_POLL_SECONDS_MIN;
        ensure!(self.notification_poll_seconds >= poll_min, "notification_poll_seconds is at least {poll_min}");
        ensure!(self.otlp_body_bytes_max > 0, "otlp_body_bytes_max is 0: no export would ever be taken");
        ensure!(self.report_body_mb_max > 0, "report_body_mb_max is 0: no report would ever be taken");
        ensure!(self.outbox_poll_seconds > 0, "outbox_poll_seconds is 0");
        ensure!(self.flush_rows > 0, "flush_rows is 0");
        ensure!(self.connections_max > 0, "connections_max is 0: nobody could connect");
        Ok(())
    }
}
