//! Delivery of one mail to the mail server, or into a folder.

use std::path::PathBuf;

use anyhow::Context;
use lettre::message::header::{ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Attachment, Mailbox, MultiPart, SinglePart};
use lettre::transport::smtp::PoolConfig;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{Address, Message, SmtpTransport, Transport as _};

use super::ImmediateMail;
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

/// Failures of the delivery of a mail.
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

    /// Delivers a mail. Blocks. `id` names the file in a folder. `unsubscribe`: the address that ends the recipient's
    /// subscription; empty for other mails.
    pub fn send(&self, id: i64, mail: &Mail, unsubscribe: &str) -> Result<(), SendError> {
        let message = message(&self.from, mail, unsubscribe).map_err(|error| SendError::Unusable(error.to_string()))?;
        self.send_message(&format!("{id:08}"), &message)
    }

    /// Delivers a mail that is not in the outbox. Blocks.
    pub fn send_now(&self, mail: &ImmediateMail) -> Result<(), SendError> {
        let message = immediate_message(&self.from, mail).map_err(|error| SendError::Unusable(error.to_string()))?;
        self.send_message(&mail.message_id, &message)
    }

    /// `name` is that of the file in a folder.
    fn send_message(&self, name: &str, message: &Message) -> Result<(), SendError> {
        match &self.destination {
            Destination::Smtp(server) => server.send(message).map(drop).map_err(|error| {
                let text = with_sources(&error);
                if error.is_permanent() { SendError::Refused(text) } else { SendError::Later(text) }
            }),
            Destination::Folder(folder) => {
                let path = folder.join(format!("{name}.eml"));
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

fn message(from: &Mailbox, mail: &Mail, unsubscribe: &str) -> anyhow::Result<Message> {
    let recipient: Address = mail.recipient.parse().context("the recipient is not an email address")?;
    let mut builder =
        Message::builder().from(from.clone()).to(Mailbox::new(None, recipient)).subject(mail.subject.clone());
    if !unsubscribe.is_empty() {
        builder = builder
            .header(ListUnsubscribe(format!("<{unsubscribe}>")))
            .header(ListUnsubscribePost("List-Unsubscribe=One-Click".to_owned()));
    }
    Ok(builder.multipart(MultiPart::alternative_plain_html(mail.text.clone(), mail.html.clone()))?)
}

/// Defines a header whose value is a plain string.
macro_rules! plain_header {
    ($(#[$doc:meta])* $name:ident: $header:literal) => {
        $(#[$doc])*
        #[derive(Clone)]
        struct $name(String);

        impl Header for $name {
            fn name() -> HeaderName {
                HeaderName::new_from_ascii_str($header)
            }

            fn parse(value: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
                Ok($name(value.to_owned()))
            }

            fn display(&self) -> HeaderValue {
                HeaderValue::new($name::name(), self.0.clone())
            }
        }
    };
}

plain_header!(
    /// RFC 2369, 3.2.
    ListUnsubscribe: "List-Unsubscribe"
);
plain_header!(
    /// RFC 8058, 3.1.
    ListUnsubscribePost: "List-Unsubscribe-Post"
);

/// The picture is part of the HTML, which refers to it as `cid:chart`. Mails about one subject have a common reference,
/// by which clients group them.
fn immediate_message(from: &Mailbox, immediate: &ImmediateMail) -> anyhow::Result<Message> {
    let ImmediateMail { mail, message_id, thread_id, picture } = immediate;
    let recipient: Address = mail.recipient.parse().context("the recipient is not an email address")?;
    let domain = from.email.domain();
    let html = SinglePart::html(mail.html.clone());
    let related = match picture {
        Some(png) => {
            let content_type = ContentType::parse("image/png").context("a content type")?;
            let picture = Attachment::new_inline_with_name("chart".to_owned(), "chart.png".to_owned());
            MultiPart::related().singlepart(html).singlepart(picture.body(png.clone(), content_type))
        }
        None => MultiPart::related().singlepart(html),
    };
    let content = MultiPart::alternative().singlepart(SinglePart::plain(mail.text.clone())).multipart(related);
    Ok(Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, recipient))
        .subject(mail.subject.clone())
        .message_id(Some(format!("<{message_id}@{domain}>")))
        .references(format!("<{thread_id}@{domain}>"))
        .multipart(content)?)
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
        let written = message(&from, &mail("a@example.com", "one\r\nBcc: all@example.com"), "").unwrap().formatted();
        let written = String::from_utf8(written).unwrap();
        let head = written.split("\r\n\r\n").next().unwrap();
        assert!(!head.lines().any(|line| line.to_lowercase().starts_with("bcc")), "{head}");
        for recipient in ["a@example.com\r\nBcc: b@example.com", "a@example.com, b@example.com", "a", ""] {
            assert!(message(&from, &mail(recipient, "s"), "").is_err(), "{recipient:?}");
        }
    }

    #[test]
    fn mails_to_a_list_name_the_address_that_unsubscribes() {
        let from: Mailbox = "T <t@example.com>".parse().unwrap();
        let head = |unsubscribe: &str| {
            let written = message(&from, &mail("a@example.com", "s"), unsubscribe).unwrap().formatted();
            String::from_utf8(written).unwrap().split("\r\n\r\n").next().unwrap().to_owned()
        };
        assert!(!head("").contains("List-"));
        let head = head("https://tide.example.com/status/a/unsubscribe");
        assert!(head.contains("List-Unsubscribe: <https://tide.example.com/status/a/unsubscribe>"), "{head}");
        assert!(head.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"), "{head}");
    }
}
