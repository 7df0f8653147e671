//! Invitations, from the mail to the membership. WIRE 5.2. Each test runs on both control databases, with a real mail
//! server.

use serde_json::{Value, json};
use tidewatch_accounts::{NewUser, Role};

use crate::harness::{Harness, text};
use crate::mailbox::{Mailbox, invite, member, organization};

on_both! {
    async fn a_new_person_accepts(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, project) = mailbox.harness(&database).await;
        let token = invite(&harness, &mut mailbox, "Ada@Example.com", "user").await;
        let look = format!("/api/invitations/{token}");
        let seen = harness.api_as("", "GET", &look, &Value::Null).await.expect(200).json();
        let expected = json!({"email": "ada@example.com", "organizationName": "Example", "inviterName": "Owner",
            "existsAsUser": false, "role": "user"});
        assert_eq!(seen, expected);

        let accept = format!("{look}/accept");
        for (body, status) in [
            (json!({"name": "Ada"}), 400),
            (json!({"name": "Ada", "password": "short"}), 400),
            (json!({"name": " ", "password": "long enough"}), 400),
            (json!({"name": "A\r\nB", "password": "long enough"}), 400),
        ] {
            assert_eq!(harness.api_as("", "POST", &accept, &body).await.status, status, "{body}");
        }
        // Mass assignment: undocumented fields are ignored.
        let body = json!({"name": "Ada", "password": "long enough", "role": "owner", "organizationId": 99,
            "email": "owner@example.com", "emailVerified": false, "id": 1});
        let joined = harness.api_as("", "POST", &accept, &body).await.expect(201).json();
        assert_eq!(joined["user"]["email"], "ada@example.com");
        assert_eq!(joined["user"]["emailVerified"], true);
        assert_eq!(joined["organizations"].as_array().map(Vec::len), Some(1));
        assert_eq!(joined["organizations"][0]["role"], "user");
        assert_eq!(joined["projects"][0]["id"], project.id.as_str());
        let bundle = harness.api_as(&text(&joined["token"]), "GET", "/api/me/login-bundle", &Value::Null).await;
        assert_eq!(bundle.expect(200).json()["projects"], joined["projects"]);
        // A used invitation is 410 for every caller.
        harness.api_as("", "GET", &look, &Value::Null).await.expect(410);
        harness.api_as("", "POST", &accept, &body).await.expect(410);
        harness.api_as(&text(&joined["token"]), "POST", &format!("{look}/accept-existing"), &Value::Null).await.expect(410);
        harness.api_as("", "GET", "/api/invitations/no-such-token", &Value::Null).await.expect(404);
    }
}

on_both! {
    // WIRE 5.2: 409 already member or pending; 403 other e-mail address; 410 revoked or expired.
    async fn invalid_invitations_are_refused(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, _) = mailbox.harness(&database).await;
        let organization = organization(&harness).await;
        let path = format!("/api/organizations/{organization}/invitations");
        let token = invite(&harness, &mut mailbox, "ada@example.com", "user").await;
        for (body, status) in [
            (json!({"email": "ADA@example.com", "role": "readonly"}), 409),
            (json!({"email": "owner@example.com", "role": "user"}), 409),
            (json!({"email": "nobody", "role": "user"}), 400),
            (json!({"email": "a@b.de\r\nBcc: c@d.de", "role": "user"}), 400),
            (json!({"email": "b@example.com", "role": "owner"}), 400),
            (json!({"email": "b@example.com", "role": "root"}), 400),
            (json!({"email": "b@example.com"}), 400),
        ] {
            assert_eq!(harness.api("POST", &path, &body).await.status, status, "{body}");
        }
        let list = harness.api("GET", &path, &Value::Null).await.expect(200).json();
        assert_eq!((&list[0]["email"], &list[0]["inviterName"]), (&json!("ada@example.com"), &json!("Owner")));
        assert!(!list.to_string().contains(&token), "nobody reads the token again");
        harness.api("DELETE", &format!("{path}/{}", list[0]["id"]), &Value::Null).await.expect(200);
        harness.api("DELETE", &format!("{path}/{}", list[0]["id"]), &Value::Null).await.expect(404);
        harness.api_as("", "GET", &format!("/api/invitations/{token}"), &Value::Null).await.expect(410);

        // A second attempt, for an account that exists.
        let token = invite(&harness, &mut mailbox, "ada@example.com", "readonly").await;
        let app = harness.app().clone();
        let by = app.accounts.by_server();
        let account = async |email: &str| {
            let new = NewUser { email: email.into(), name: "A".into(), password_hash: None, is_email_verified: false };
            let user = app.accounts.control.people.create_user(&by, &new).await.expect("a user");
            harness.login_of(&user).await
        };
        let (ada, eve) = (account("ada@example.com").await, account("eve@example.com").await);
        let look = format!("/api/invitations/{token}");
        let seen = harness.api_as("", "GET", &look, &Value::Null).await.expect(200).json();
        assert_eq!(seen["existsAsUser"], true);
        let body = json!({"name": "Ada", "password": "long enough"});
        harness.api_as("", "POST", &format!("{look}/accept"), &body).await.expect(409);
        let existing = format!("{look}/accept-existing");
        harness.api_as("", "POST", &existing, &Value::Null).await.expect(401);
        harness.api_as(&eve, "POST", &existing, &Value::Null).await.expect(403);
        harness.api_as(&ada, "POST", &existing, &json!({"role": "owner"})).await.expect(200);
        let bundle = harness.api_as(&ada, "GET", "/api/me/login-bundle", &Value::Null).await.expect(200).json();
        assert_eq!(bundle["organizations"][0]["role"], "readonly");
        harness.api_as(&ada, "POST", &existing, &Value::Null).await.expect(410);
    }
}

on_both! {
    // Issue 5: 20 concurrent acceptances make one member.
    async fn twenty_concurrent_acceptances_make_one_member(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, _) = mailbox.harness(&database).await;
        let organization = organization(&harness).await;
        let token = invite(&harness, &mut mailbox, "ada@example.com", "user").await;
        let app = harness.app().clone();
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                let (app, token) = (app.clone(), token.clone());
                tokio::spawn(async move {
                    app.accounts.control.people.accept_as_new(&app.accounts.by_server(), &token, "Ada", "a hash").await.is_ok()
                })
            })
            .collect();
        let mut accepted = 0;
        for task in tasks {
            accepted += usize::from(task.await.expect("no panic"));
        }
        assert_eq!(accepted, 1);
        assert_eq!(app.accounts.control.people.members(organization).await.expect("members").len(), 2);
    }
}

on_both! {
    // Admins have no access to another organization's invitations; an admin's invitations end with their membership.
    async fn invitations_stay_within_their_organization(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, project) = mailbox.harness(&database).await;
        let first = organization(&harness).await;
        let (admin, admin_id) = member(&harness, &mut mailbox, "admin", "admin").await;
        let token = invite(&harness, &mut mailbox, "ada@example.com", "user").await;
        let list = harness.api("GET", &format!("/api/organizations/{first}/invitations"), &Value::Null).await;
        let invitation = list.expect(200).json()[0]["id"].clone();

        // A stranger who owns another organization.
        let app = harness.app().clone();
        let by = app.accounts.by_server();
        let new = NewUser { email: "eve@example.com".into(), name: "E".into(), password_hash: None, is_email_verified: true };
        let eve = app.accounts.control.people.create_user(&by, &new).await.expect("a user");
        let login = harness.login_of(&eve).await;
        let made = json!({"name": "Evil", "role": "owner", "id": first, "organizationId": first});
        let own = harness.api_as(&login, "POST", "/api/organizations", &made).await.expect(201).json()["id"].clone();
        assert_ne!(own, json!(first));
        let body = json!({"email": "eve@example.com", "role": "user", "organizationId": first});
        harness.api_as(&login, "POST", &format!("/api/organizations/{first}/invitations"), &body).await.expect(403);
        for place in [format!("/api/organizations/{own}/invitations/{invitation}"), format!("/api/organizations/{first}/invitations/{invitation}")] {
            assert!([403, 404].contains(&harness.api_as(&login, "DELETE", &place, &Value::Null).await.status), "{place}");
        }
        // An owner cannot assign a role in another organization's project to a member of their own.
        let bob = NewUser { email: "bob@example.com".into(), name: "B".into(), password_hash: None, is_email_verified: true };
        let bob = app.accounts.control.people.create_user(&by, &bob).await.expect("a user");
        app.accounts.control.people.add_member(&by, own.as_i64().expect("an id"), bob.id, Role::User).await.expect("a member");
        let roles = json!({"projectRoles": [{"projectId": project.id, "role": "user"}]});
        let place = format!("/api/organizations/{own}/members/{}/project-roles", bob.id);
        harness.api_as(&login, "PUT", &place, &roles).await.expect(404);
        let bob = harness.login_of(&bob).await;
        assert_eq!(harness.api_as(&bob, "GET", "/api/projects", &Value::Null).await.expect(200).json(), json!([]));

        // Removing an admin revokes their invitations; admins do not invite admins.
        let by_admin = json!({"email": "carl@example.com", "role": "admin"});
        harness.api_as(&admin, "POST", &format!("/api/organizations/{first}/invitations"), &by_admin).await.expect(403);
        let by_admin = json!({"email": "carl@example.com", "role": "user"});
        harness.api_as(&admin, "POST", &format!("/api/organizations/{first}/invitations"), &by_admin).await.expect(201);
        let carl = mailbox.next().await.token("accept-invitation");
        harness.api("DELETE", &format!("/api/organizations/{first}/members/{admin_id}"), &Value::Null).await.expect(200);
        harness.api_as("", "GET", &format!("/api/invitations/{carl}"), &Value::Null).await.expect(410);
        harness.api_as("", "GET", &format!("/api/invitations/{token}"), &Value::Null).await.expect(200);
    }
}

on_both! {
    /// Without a mail server the inviter gets the link. The user who accepts it has not proved to own the address.
    async fn a_link_that_was_shown_does_not_verify_the_address(database) {
        let (harness, _) = Harness::registered(&database).await;
        let path = format!("/api/organizations/{}/invitations", organization(&harness).await);
        let invited = harness.api("POST", &path, &json!({"email": "ada@example.com", "role": "user"})).await.expect(201);
        let token_in = |answer: &Value| text(&answer["link"]).rsplit_once("#token=").expect("a token").1.to_owned();
        let first = token_in(&invited.json());
        let id = harness.api("GET", &path, &Value::Null).await.expect(200).json()[0]["id"].clone();
        let renewed = harness.api("POST", &format!("{path}/{id}/link"), &Value::Null).await.expect(200).json();
        let second = token_in(&renewed);
        assert_eq!(harness.app().accounts.control.outbox.mail_waiting().await.expect("a database").0, 0);
        harness.api("POST", &format!("{path}/999/link"), &Value::Null).await.expect(404);

        let body = json!({"name": "Ada", "password": "long enough"});
        let accept = |token: &str| format!("/api/invitations/{token}/accept");
        harness.api_as("", "POST", &accept(&first), &body).await.expect(404);
        let joined = harness.api_as("", "POST", &accept(&second), &body).await.expect(201).json();
        assert_eq!(joined["user"]["emailVerified"], false);
        harness.api("POST", &format!("{path}/{id}/link"), &Value::Null).await.expect(404);
        let audit = format!("/api/organizations/{}/audit", organization(&harness).await);
        let audited = harness.api("GET", &audit, &Value::Null).await.expect(200).json();
        let actions: Vec<&Value> = audited["data"].as_array().expect("lines").iter().map(|line| &line["action"]).collect();
        assert!(actions.contains(&&json!("invitation.show_link")), "{actions:?}");
    }
}

on_both! {
    /// A person who waits for a mail is told that none can be sent.
    async fn without_a_mail_server_nobody_waits_for_a_mail(database) {
        let (harness, _) = Harness::registered(&database).await;
        for email in ["owner@example.com", "nobody@example.com"] {
            let answer = harness.api_as("", "POST", "/api/forgot-password", &json!({ "email": email })).await.expect(200).json();
            assert_eq!(answer["hasMailServer"], false);
            assert!(text(&answer["message"]).contains("no mail server"), "{answer}");
        }
        let email = json!({"methodType": "email", "config": {"address": "phone@example.com"}});
        let telegram = json!({"methodType": "telegram", "config": {"botToken": "1:secret", "chatId": "4242"}});
        let stored = harness.api("POST", "/api/contact-methods", &telegram).await.expect(201).json();
        let at = format!("/api/contact-methods/{}", stored["id"]);
        for (method, path) in [("POST", "/api/contact-methods"), ("PUT", &at)] {
            let refused = harness.api(method, path, &email).await.expect(409).json();
            assert!(text(&refused["error"]).contains("no mail server"), "{refused}");
        }
        let left = harness.api("GET", "/api/contact-methods", &Value::Null).await.expect(200).json();
        assert_eq!(left["methods"].as_array().map(Vec::len), Some(1), "{left}");
        assert_eq!(left["methods"][0]["methodType"], "telegram", "a refused change changes nothing");
        // A mail server that is set up later has nothing of this to send.
        assert_eq!(harness.app().accounts.control.outbox.mail_waiting().await.expect("a database").0, 0);
    }
}
