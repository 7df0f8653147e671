//! Settings of mail.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::ValueEnum;
use lettre::message::Mailbox;
use lettre::transport::smtp::client::Certificate;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;

/// Encryption of the connection to the mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SmtpTls {
    /// STARTTLS; mail is not sent to a server that does not offer it.
    #[default]
    Starttls,
    /// TLS from the first byte.
    Tls,
    /// No encryption.
    None,
}

impl SmtpTls {
    /// The default port of this mode.
    pub fn port(self) -> u16 {
        match self {
            SmtpTls::Starttls => 587,
            SmtpTls::Tls => 465,
            SmtpTls::None => 25,
        }
    }
}

/// Settings of the mail server. Without a server and without a folder mails stay in the outbox.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct MailSettings {
    /// Mail server for invitations and password resets; without one mails are stored for seven days.
    #[arg(long, env = "SMTP_HOST")]
    pub smtp_host: Option<String>,
    /// Port of the mail server; by default 587, 465 with `tls`, 25 with `none`.
    #[arg(long, env = "SMTP_PORT")]
    pub smtp_port: Option<u16>,
    /// User name for the mail server; no login by default.
    #[arg(long, env = "SMTP_USERNAME")]
    pub smtp_username: Option<String>,
    /// Password for the mail server.
    #[arg(long, env = "SMTP_PASSWORD", hide_env_values = true, hide = true)]
    pub smtp_password: Option<String>,
    /// A file with that password.
    #[arg(long, env = "SMTP_PASSWORD_FILE", conflicts_with = "smtp_password")]
    pub smtp_password_file: Option<PathBuf>,
    /// Sender of the mails: `Tidewatch <tidewatch@example.com>`.
    #[arg(long, env = "SMTP_FROM")]
    pub smtp_from: Option<String>,
    /// `starttls`, `tls` or `none`.
    #[arg(long, env = "SMTP_TLS", value_enum, default_value = "starttls", hide_possible_values = true)]
    pub smtp_tls: SmtpTls,
    /// Certificates (PEM) of authorities trusted for the mail server, in addition to those of the machine.
    #[arg(long, env = "SMTP_CA_FILE")]
    pub smtp_ca_file: Option<PathBuf>,
    /// Folder to which mails are written as files instead, for development.
    #[arg(long, env = "MAIL_DIR")]
    pub mail_dir: Option<PathBuf>,
}

impl MailSettings {
    /// Validates the settings before the server starts, and reads the files that they name.
    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(self.smtp_host.is_none() || self.smtp_from.is_some(), "smtp_host needs smtp_from, the mails' sender");
        let has_password = self.password()?.is_some();
        ensure!(self.smtp_username.is_none() || has_password, "smtp_username needs smtp_password");
        self.authorities()?;
        self.from().map(drop)
    }

    /// The sender of the mails. Fails if it is not an e-mail address.
    pub fn from(&self) -> anyhow::Result<Mailbox> {
        let from = self.smtp_from.as_deref().unwrap_or("Tidewatch <tidewatch@localhost>");
        from.parse().with_context(|| format!("smtp_from {from:?} is not an email address"))
    }

    /// Certificates that are trusted in addition to the machine's. Fails if the file cannot be read or contains none.
    pub fn authorities(&self) -> anyhow::Result<Option<Certificate>> {
        let Some(path) = &self.smtp_ca_file else { return Ok(None) };
        let pem = std::fs::read(path).with_context(|| format!("cannot read smtp_ca_file {}", path.display()))?;
        let has_certificate = CertificateDer::pem_slice_iter(&pem).next().is_some();
        ensure!(has_certificate, "smtp_ca_file {} holds no certificate in PEM", path.display());
        let read = Certificate::from_pem(&pem);
        read.with_context(|| format!("cannot read the certificates of smtp_ca_file {}", path.display())).map(Some)
    }

    /// The password, from the setting or its file. Fails if the file cannot be read.
    pub fn password(&self) -> anyhow::Result<Option<String>> {
        match (&self.smtp_password, &self.smtp_password_file) {
            (Some(password), _) => Ok(Some(password.clone())),
            (None, Some(path)) => {
                let text = std::fs::read_to_string(path)
                    .with_context(|| format!("cannot read smtp_password_file {}", path.display()))?;
                Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
            }
            (None, None) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_settings_are_reported_before_the_start() {
        let set = |change: fn(&mut MailSettings)| {
            let mut settings = MailSettings::default();
            change(&mut settings);
            settings.check().map_err(|error| error.to_string())
        };
        assert_eq!(set(|_| {}), Ok(()));
        assert_eq!(
            set(|settings| {
                settings.smtp_host = Some("mail".into());
                settings.smtp_from = Some("T <t@example.com>".into());
            }),
            Ok(())
        );
        for (change, expected) in [
            (
                (|settings| settings.smtp_host = Some("mail".into())) as fn(&mut MailSettings),
                "smtp_host needs smtp_from",
            ),
            (|settings| settings.smtp_from = Some("nobody".into()), "smtp_from \"nobody\" is not"),
            (|settings| settings.smtp_from = Some("a@b.c\r\nBcc: x@y.z".into()), "smtp_from"),
            (|settings| settings.smtp_username = Some("u".into()), "smtp_username needs smtp_password"),
            (|settings| settings.smtp_password_file = Some("/no/such/file".into()), "cannot read smtp_password_file"),
            (|settings| settings.smtp_ca_file = Some("/no/such/file".into()), "cannot read smtp_ca_file"),
            (
                |settings| settings.smtp_ca_file = Some("Cargo.toml".into()),
                "smtp_ca_file Cargo.toml holds no certificate",
            ),
        ] {
            let error = set(change).expect_err(expected);
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
