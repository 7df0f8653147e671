//! The outbox: mails eventually reach a real SMTP server, with names escaped.

use std::sync::atomic::Ordering;

use serde_json::json;
use tempfile::TempDir;

use crate::harness::Harness;
use crate::mailbox::{Mailbox, organization, send_to};

on_both! {
    /// No mail is lost while the mail server is busy or down, and no request waits for it.
    async fn mails_are_sent_again_to_a_busy_server(database) {
        let mut mailbox = Mailbox::open().await;
        mailbox.be_busy(1);
        let (harness, _) = mailbox.harness(&database).await;
        let path = format!("/api/organizations/{}/invitations", organization(&harness).await);
        harness.api("POST", &path, &json!({"email": "ada@example.com", "role": "user"})).await.expect(201);
        // The mailer has received 451 and waits.
        let app = harness.app().clone();
        while app.accounts.control.outbox.mail_waiting().await.expect("a database").1.is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(mailbox.refused_busy.load(Ordering::SeqCst), 1);
        let (waiting, error) = app.accounts.control.outbox.mail_waiting().await.expect("a database");
        assert_eq!(waiting, 1);
        assert!(error.contains("451") || error.contains("come back later"), "{error}");
        assert!(mailbox.is_empty());
        // The test makes the next attempt due at once.
        let claimed = app.accounts.control.outbox.claim_mail(app.process.clock.now_ns() + 11_000_000_000, 0, 10).await.expect("a database");
        assert_eq!((claimed.len(), claimed[0].tries), (1, 1));
        app.accounts.control.outbox.defer_mail(claimed[0].id, "again", app.process.clock.now_ns()).await.expect("a database");
        app.accounts.mailer.wake();
        let mail = mailbox.next().await;
        assert_eq!((mail.from.as_str(), mail.to.as_slice()), ("tidewatch@example.com", &["ada@example.com".to_owned()][..]));
        while app.accounts.control.outbox.mail_waiting().await.expect("a database").0 > 0 {
            tokio::task::yield_now().await;
        }
        assert!(mailbox.is_empty(), "once");
    }
}

on_both! {
    /// Unsent mails are sent after a restart, also by another node.
    async fn unsent_mails_survive_a_restart(database) {
        let mut mailbox = Mailbox::open().await;
        let address = mailbox.address;
        let mut harness = Harness::on_with(&database, move |config| {
            // A port that nobody listens on: a mail server that is down.
            send_to(config, ([127, 0, 0, 1], 1).into());
        })
        .await;
        harness.register().await;
        let path = format!("/api/organizations/{}/invitations", organization(&harness).await);
        harness.api("POST", &path, &json!({"email": "ada@example.com", "role": "user"})).await.expect(201);
        while harness.app().accounts.control.outbox.mail_waiting().await.expect("a database").1.is_empty() {
            tokio::task::yield_now().await;
        }
        harness.change(move |config| send_to(config, address));
        harness.restart().await;
        // The next attempt is due in some seconds; the test makes it due at once.
        let app = harness.app().clone();
        for one in app.accounts.control.outbox.claim_mail(app.process.clock.now_ns() + 60_000_000_000, 0, 10).await.expect("a database") {
            app.accounts.control.outbox.defer_mail(one.id, "again", app.process.clock.now_ns()).await.expect("a database");
        }
        app.accounts.mailer.wake();
        assert_eq!(mailbox.next().await.to, ["ada@example.com"]);
    }
}

on_both! {
    /// Names are user input: they are escaped in headers, text and HTML.
    async fn names_of_people_are_escaped(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, _) = mailbox.harness(&database).await;
        let evil = "<img src=x onerror=alert(1)>";
        harness.api("PUT", "/api/me", &json!({"name": evil})).await.expect(200);
        let organization = organization(&harness).await;
        let settings = format!("/api/organizations/{organization}/settings");
        harness.api("PUT", &settings, &json!({"name": "Öl & \"Gas\" <b>"})).await.expect(200);
        // The API refuses names with line breaks.
        for name in ["a\r\nBcc: eve@example.com", "a\nb", "a\u{2028}b"] {
            harness.api("PUT", "/api/me", &json!({"name": name})).await.expect(400);
            harness.api("PUT", &settings, &json!({"name": name})).await.expect(400);
        }
        // A stored name with a line break adds no header.
        let app = harness.app().clone();
        let change = tidewatch_accounts::Profile { name: Some("a\r\nBcc: eve@example.com".into()), ..Default::default() };
        app.accounts.control.people.change_profile(&app.accounts.by_server(), 1, &change).await.expect("a database");
        let path = format!("/api/organizations/{organization}/invitations");
        harness.api("POST", &path, &json!({"email": "ada@example.com", "role": "user"})).await.expect(201);
        let mail = mailbox.next().await;
        assert_eq!(mail.to, ["ada@example.com"]);
        let names: Vec<String> = mail.head().iter().map(|line| line.split(':').next().unwrap_or_default().to_lowercase()).collect();
        assert!(!names.iter().any(|name| name == "bcc" || name == "cc"), "{names:?}");
        assert!(names.contains(&"subject".to_owned()) && names.contains(&"date".to_owned()), "{names:?}");
        let text = mail.text();
        assert!(text.contains("multipart/alternative") && text.contains("text/plain") && text.contains("text/html"));
        assert!(text.contains("Öl &amp; &quot;Gas&quot; &lt;b&gt;") && text.contains("Öl & \"Gas\" <b>"), "{text}");

        harness.api("PUT", "/api/me", &json!({"name": evil})).await.expect(200);
        harness.api("POST", &path, &json!({"email": "bob@example.com", "role": "user"})).await.expect(201);
        let text = mailbox.next().await.text();
        let html = text.split("text/html").nth(1).expect("HTML");
        assert!(!html.contains("<img") && html.contains("&lt;img src=x onerror=alert(1)&gt;"), "{html}");
    }
}

/// Without a mail server, mails are written to files, for development.
#[tokio::test]
async fn mails_are_written_to_a_folder() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("mails");
    let target = path.clone();
    let database = crate::engines::On::sqlite();
    let mut harness = Harness::on_with(&database, move |config| config.mail.mail_dir = Some(target.clone())).await;
    harness.register().await;
    harness.api_as("", "POST", "/api/forgot-password", &json!({"email": "owner@example.com"})).await.expect(200);
    let file = loop {
        let file = std::fs::read_dir(&path).expect("a folder").flatten().next();
        match file.map(|file| std::fs::read_to_string(file.path()).unwrap_or_default()) {
            Some(text) if text.contains("</html>") => break text,
            _ => tokio::task::yield_now().await,
        }
    };
    assert!(file.contains("To: owner@example.com") && file.contains("/reset-password#token=3Dtwr_"), "{file}");
}
