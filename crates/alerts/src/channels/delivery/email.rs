//! Mail: plain and HTML, with the picture in it. Each recipient gets a mail of their own.

use maud::{DOCTYPE, html};
use tidewatch_accounts::Mail;
use tidewatch_accounts::mail::templates::{BODY_STYLE, BUTTON_STYLE};
use tidewatch_accounts::mail::{ImmediateMail, SendError};

use super::config::Email;
use super::message::Message;
use super::{Courier, Failed, chart, escape, github};

/// Characters of a subject.
const SUBJECT_CHARS: usize = 200;

const CONTENT_STYLE: &str = "max-width:600px;margin:0 auto;padding:24px;background:#fff;border-radius:8px";
const PARAGRAPH_STYLE: &str = "margin:0 0 12px";

/// Sends to the recipients that are not in `delivered`. Recipients that the mail server refuses are left out if another
/// one has it; returns what they were refused with.
pub fn send(
    config: &Email,
    message: &Message,
    delivered: &[String],
    courier: &mut dyn Courier,
) -> Result<String, Failed> {
    let picture = message.picture();
    let mut delivered = delivered.to_vec();
    let mut refused = Vec::new();
    for recipient in &config.recipients {
        if delivered.contains(recipient) {
            continue;
        }
        match courier.mail(&mail(message, recipient, picture.clone())) {
            Ok(()) => delivered.push(recipient.clone()),
            Err(error @ (SendError::Refused(_) | SendError::Unusable(_))) => {
                refused.push(format!("{recipient}: {error}"))
            }
            // The others would fail too.
            Err(SendError::Later(error)) => return Err(Failed { error, delivered, ..Failed::default() }),
        }
    }
    let warning = refused.join("; ");
    if delivered.is_empty() { Err(Failed { error: warning, ..Failed::default() }) } else { Ok(warning) }
}

fn mail(message: &Message, recipient: &str, picture: Option<Vec<u8>>) -> ImmediateMail {
    let Message { body, url, .. } = message;
    let title = escape::one_line(&message.title());
    let caption = chart::caption(&message.series).filter(|_| picture.is_some());
    let link = url.as_deref().map_or_else(String::new, |url| format!("\n\n{url}"));
    let rule_name = escape::one_line(&message.rule_name);
    let plain = format!("{title}\n\n{body}{link}\n\nRule: {rule_name}\n");
    let html = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head { meta charset="utf-8"; title { (title) } } "\n"
            body style=(BODY_STYLE) {
                "\n"
                div style=(format!("{CONTENT_STYLE};border-top:4px solid #{:06x}", message.color())) {
                    "\n"
                    h1 style="margin:0 0 12px;font-size:20px" { (title) } "\n"
                    @for line in body.lines() { p style=(PARAGRAPH_STYLE) { (line) } "\n" }
                    @if let Some(caption) = &caption {
                        p style=(PARAGRAPH_STYLE) {
                            img src="cid:chart" alt={ "Chart: " (caption) } width="560" style="max-width:100%;height:auto";
                            br;
                            span style="color:#57606a;font-size:13px" { (caption) }
                        }
                        "\n"
                    }
                    @if let Some(url) = url {
                        p style=(PARAGRAPH_STYLE) { a href=(url) style=(BUTTON_STYLE) { "Open in Tidewatch" } } "\n"
                    }
                    p style="margin:0;color:#57606a" { "Rule: " (rule_name) } "\n"
                }
            }
        }
        "\n"
    }
    .into_string();
    let subject = super::message::truncated(&title, SUBJECT_CHARS);
    ImmediateMail {
        mail: Mail { recipient: recipient.to_owned(), subject, text: plain, html },
        message_id: message.id.clone(),
        thread_id: format!("alert-{}", github::digest_of(&message.alert_key)),
        picture,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use crate::channels::{AlertStatus, Severity};

    use super::super::recorder::{Recorder, message};
    use super::*;

    fn to(recipients: &[&str]) -> Email {
        Email { recipients: recipients.iter().map(|one| (*one).to_owned()).collect() }
    }

    #[test]
    fn mails_have_both_bodies_a_link_and_the_picture() {
        let mut recorder = Recorder::default();
        let hostile = Message {
            subject: "<script>\r\nBcc: x@y.z".to_owned(),
            rule_name: "<b>".to_owned(),
            ..message(AlertStatus::Firing, Severity::Critical)
        };
        assert_eq!(send(&to(&["a@b.c", "d@e.f"]), &hostile, &[], &mut recorder), Ok(String::new()));
        assert_eq!(recorder.mails.len(), 2);
        let ImmediateMail { mail, message_id, thread_id, picture } = &recorder.mails[1];
        assert_eq!((mail.recipient.as_str(), message_id.as_str()), ("d@e.f", "ntf_1_a"));
        assert_eq!(mail.subject, "Critical: <script> Bcc: x@y.z");
        assert!(mail.html.contains("&lt;script&gt;") && !mail.html.contains("<script>") && !mail.html.contains("<b>"));
        assert!(mail.html.contains("cid:chart") && picture.as_ref().is_some_and(|png| png.starts_with(b"\x89PNG")));
        assert!(mail.text.contains("\nhttps://tide.example.com/p/7f/endpoints/GET%20%2Fcart?from=now-1h\n"));
        assert!(thread_id.starts_with("alert-") && thread_id.len() < 40);
    }

    /// Refused recipients keep nobody else from a mail, and a retry goes to those who do not have it.
    #[test]
    fn recipients_are_independent() {
        let sent = message(AlertStatus::Firing, Severity::Info);
        let refuse = || Err(SendError::Refused("550 unknown".to_owned()));
        let later = || Err(SendError::Later("421 busy".to_owned()));
        let recorder = |answers: Vec<Result<(), SendError>>| Recorder {
            mail_answers: VecDeque::from(answers),
            ..Recorder::default()
        };
        let all = to(&["a@b.c", "d@e.f", "g@h.i"]);
        let mut some = recorder(vec![Ok(()), refuse(), Ok(())]);
        let warning = send(&all, &sent, &[], &mut some).expect("sent to two");
        assert_eq!(warning, "d@e.f: the mail server refuses it: 550 unknown");
        let mut none = recorder(vec![refuse(), refuse(), refuse()]);
        assert!(send(&all, &sent, &[], &mut none).is_err());
        let mut first = recorder(vec![Ok(()), later()]);
        let failed = send(&all, &sent, &[], &mut first).expect_err("busy");
        assert_eq!((failed.error.as_str(), &failed.delivered), ("421 busy", &vec!["a@b.c".to_owned()]));
        let mut second = recorder(Vec::new());
        assert_eq!(send(&all, &sent, &failed.delivered, &mut second), Ok(String::new()));
        let recipients: Vec<&str> = second.mails.iter().map(|one| one.mail.recipient.as_str()).collect();
        assert_eq!(recipients, ["d@e.f", "g@h.i"]);
    }
}
