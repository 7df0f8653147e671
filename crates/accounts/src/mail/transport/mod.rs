//! Delivery of one mail to the mail server, or into a folder.

use std::path::PathBuf;

use anyhow::Context;
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::PoolConfig;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{Address, Message, SmtpTransport, Transport as _};

use super::settings::{MailSettings, SmtpTls};
use crate::Mail;
use tidewatch_limits as limits;

/// The destination of mails.
pub struct Transport {
    from: Mailbox,
    destination: Destination,
}

enum Destination {
    Smtp(Box<SmtpTransport>),
    Folder(PathBuf),
}

/// Why a mail was not delivered.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The mail is invalid: a retry cannot succeed.
    #[error("it cannot be written: {0}")]
    Unusable(String),
    /// The mail server refuses the mail permanently.
    #[error("the mail server refuses it: {0}")]
    Refused(String),
    /// The mail server is unreachable or busy, or the folder cannot be written. Retried later.
    #[error("{0}")]
    Later(String),
}

impl Transport {
    /// Creates the transport. `None` if neither a mail server nor a folder is configured.
    pub fn new(settings: &MailSettings) -> anyhow::Result<Option<Transport>> {
        let from = settings.from()?;
        if let Some(folder) = &settings.mail_dir {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder for mails {}", folder.display()))?;
            return Ok(Some(Transport { from, destination: Destination::Folder(folder.clone()) }));
        }
        let Some(host) = &settings.smtp_host else { return Ok(None) };
        let tls = match settings.smtp_tls {
            // Without STARTTLS the mail waits. Never `Opportunistic`, which a man in the middle can disable.
            SmtpTls::Starttls => Tls::Required(tls(settings, host)?),
            SmtpTls::Tls => Tls::Wrapper(tls(settings, host)?),
            SmtpTls::None => Tls::None,
        };
        // "Dangerous" because the builder has no TLS by default; it is set here.
        let mut builder = SmtpTransport::builder_dangerous(host)
            .tls(tls)
            .port(settings.smtp_port.unwrap_or(settings.smtp_tls.port()))
            .timeout(Some(limits::MAIL_TIMEOUT))
            .pool_config(PoolConfig::new().max_size(1));
        if let (Some(name), Some(password)) = (&settings.smtp_username, settings.password()?) {
            builder = builder.credentials(Credentials::new(name.clone(), password));
        }
        Ok(Some(Transport { from, destination: Destination::Smtp(Box::new(builder.build())) }))
    }

    /// Delivers a mail. Blocks. `id` names the file in a folder.
    pub fn send(&self, id: i64, mail: &Mail) -> Result<(), SendError> {
        let message = message(&self.from, mail).map_err(|error| SendError::Unusable(error.to_string()))?;
        match &self.destination {
            Destination::Smtp(server) => server.send(&message).map(drop).map_err(|error| {
                let text = with_sources(&error);
                if error.is_permanent() { SendError::Refused(text) } else { SendError::Later(text) }
            }),
            Destination::Folder(folder) => {
                let path = folder.join(format!("{id:08}.eml"));
                std::fs::write(&path, message.formatted())
                    .map_err(|error| SendError::Later(format!("cannot write {}: {error}", path.display())))
            }
        }
    }
}

/// TLS that requires a certificate for `host` by an authority of the machine or of `smtp_ca_file`.
fn tls(settings: &MailSettings, host: &str) -> anyhow::Result<TlsParameters> {
    let mut builder = TlsParameters::builder(host.to_owned());
    if let Some(authorities) = settings.authorities()? {
        builder = builder.add_root_certificate(authorities);
    }
    builder.build_rustls().context("cannot prepare TLS for the mail server")
}

fn message(from: &Mailbox, mail: &Mail) -> anyhow::Result<Message> {
    let recipient: Address = mail.recipient.parse().context("the recipient is not an email address")?;
    Ok(Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, recipient))
        .subject(mail.subject.clone())
        .multipart(MultiPart::alternative_plain_html(mail.text.clone(), mail.html.clone()))?)
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tls_tests;

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(recipient: &str, subject: &str) -> Mail {
        Mail { recipient: recipient.into(), subject: subject.into(), text: "text".into(), html: "<p>".into() }
    }

    #[test]
    fn subjects_and_recipients_cannot_inject_headers() {
        let from: Mailbox = "T <t@example.com>".parse().unwrap();
        let written = message(&from, &mail("a@example.com", "one\r\nBcc: all@example.com")).unwrap().formatted();
        let written = String::from_utf8(written).unwrap();
        let head = written.split("\r\n\r\n").next().unwrap();
        assert!(!head.lines().any(|line| line.to_lowercase().starts_with("bcc")), "{head}");
        for recipient in ["a@example.com\r\nBcc: b@example.com", "a@example.com, b@example.com", "a", ""] {
            assert!(message(&from, &mail(recipient, "s")).is_err(), "{recipient:?}");
        }
    }
}
