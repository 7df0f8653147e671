//! Status pages for members of an organization: `/api/organizations/{id}/status-pages`. WIRE 6.

use serde_json::{Value, json};

use crate::client;
use crate::mailbox::{Mailbox, member};
use crate::status_pages::{Site, page, with};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01";

on_both! {
    // WIRE 6: body, limits, unique slug and domain, `{"statusPages":[...]}`.
    async fn an_owner_manages_status_pages(database) {
        let site = Site::open(&database).await;
        let mut body = page("acme");
        body["customDomain"] = json!("Status.Acme.example");
        body["groups"] = json!([{ "name": "Core", "checkIds": [1] }]);
        let created = site.create(body).await.expect(201).json();
        let id = created["id"].as_i64().expect("an id");
        let fields = ["name", "slug", "isPublic", "checkIds", "description", "customDomain", "groups", "hasLogo", "subscribers"];
        let expected = json!([
            "Acme", "acme", true, [2, 1], "All of Acme", "status.acme.example",
            [{ "name": "Core", "checkIds": [1] }], false, 0,
        ]);
        assert_eq!(json!(fields.map(|field| created[field].clone())), expected);
        let list = site.harness.api("GET", &site.admin, &Value::Null).await.expect(200).json();
        assert_eq!(list["statusPages"], json!([created]));
        assert_eq!(list["checks"][1], json!({ "id": 2, "name": "Search", "checkType": "http", "status": "down" }));
        for (what, body, status) in [
            ("slug taken", page("acme"), 422),
            ("domain taken", with("other", "customDomain", json!("STATUS.acme.example")), 422),
            ("own host", with("other", "customDomain", json!("tide.example.com")), 422),
            ("no bare host", with("other", "customDomain", json!("https://x.example")), 422),
            ("short slug", page("ab"), 422),
            ("upper case", page("Acme-2"), 422),
            ("dash at the end", page("acme-"), 422),
            ("long slug", page(&"a".repeat(61)), 422),
            ("no name", with("other", "name", json!(" ")), 422),
            ("long name", with("other", "name", json!("x".repeat(201))), 422),
            ("long description", with("other", "description", json!("x".repeat(501))), 422),
            ("no monitor", with("other", "checkIds", json!([])), 422),
            ("unknown monitor", with("other", "checkIds", json!([1, 3])), 422),
            ("monitor twice", with("other", "checkIds", json!([1, 1])), 422),
            ("too many", with("other", "checkIds", json!((1..52).collect::<Vec<i64>>())), 422),
            ("foreign group", with("other", "groups", json!([{ "name": "a", "checkIds": [9] }])), 422),
            ("no slug", json!({ "name": "x" }), 400),
            ("limits", with(&"a".repeat(60), "name", json!("\u{e9}".repeat(200))), 201),
        ] {
            assert_eq!(site.create(body).await.status, status, "{what}");
        }
        let path = format!("{}/{id}", site.admin);
        let changed = site.harness.api("PUT", &path, &page("acme")).await.expect(200).json();
        assert_eq!((&changed["customDomain"], &changed["groups"]), (&Value::Null, &json!([])));
        let stranger = site.harness.stranger().await;
        site.harness.api_as(&stranger, "PUT", &path, &page("acme")).await.expect(403);
        site.visit("/status/acme", 1).await.expect(200);
        site.harness.api("DELETE", &path, &Value::Null).await.expect(200);
        site.harness.api("DELETE", &path, &Value::Null).await.expect(404);
        site.harness.api("PUT", &path, &page("acme")).await.expect(404);
        site.visit("/status/acme", 1).await.expect(404);
    }

    // WIRE 6: raw body of at most 1 MB, PNG and JPEG sniffed, 422 else.
    async fn a_logo_is_a_picture(database) {
        let site = Site::open(&database).await;
        let created = site.create(page("acme")).await.expect(201).json();
        let path = format!("{}/{}/logo", site.admin, created["id"]);
        let authorization = format!("Bearer {}", site.harness.login);
        let large = [PNG, &vec![0; (1 << 20) - PNG.len()]].concat();
        for (what, file, status) in [
            ("png", PNG.to_vec(), 200),
            ("jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF".to_vec(), 200),
            ("svg", b"<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>".to_vec(), 422),
            ("html", b"<!doctype html><script>alert(1)</script>".to_vec(), 422),
            ("nothing", Vec::new(), 422),
            ("too large", [large.clone(), vec![0]].concat(), 413),
            ("largest", large, 200),
        ] {
            // A declared type means nothing.
            let headers = [("Authorization", authorization.as_str()), ("Content-Type", "image/png")];
            let answer = client::send(site.harness.address(), "POST", &path, &headers, &file).await;
            assert_eq!(answer.status, status, "{what}: {}", String::from_utf8_lossy(&answer.body));
            if status != 200 {
                continue;
            }
            let logo = site.visit("/api/status/acme/logo", 1).await.expect(200);
            let expected = if what == "jpeg" { "image/jpeg" } else { "image/png" };
            assert_eq!((logo.header("Content-Type"), logo.header("X-Content-Type-Options")), (Some(expected), Some("nosniff")), "{what}");
            assert_eq!(logo.body, file, "{what}");
        }
        assert!(site.html("/status/acme", 1).await.contains("<img class=\"logo\" src=\"/api/status/acme/logo?v="));
        assert_eq!(site.visit("/api/status/acme", 1).await.expect(200).json()["hasLogo"], true);
        site.harness.api("DELETE", &path, &Value::Null).await.expect(200);
        site.visit("/api/status/acme/logo", 1).await.expect(404);
    }

    // Roles: members read, admins change pages, members with Write plan maintenance.
    async fn readers_change_nothing(database) {
        let mut mailbox = Mailbox::open().await;
        let site = Site::with(&database, "", Some(&mailbox)).await;
        let created = site.create(page("acme")).await.expect(201).json();
        let (user, _) = member(&site.harness, &mut mailbox, "user", "user").await;
        let (reader, _) = member(&site.harness, &mut mailbox, "reader", "readonly").await;
        let window = json!({ "title": "x", "startsAt": "2026-11-24T09:00:00Z", "endsAt": "2026-11-24T10:00:00Z" });
        let (one, plan) = (format!("{}/{}", site.admin, created["id"]), format!("{}/{}/maintenance", site.admin, created["id"]));
        for (login, method, path, body, status) in [
            (&reader, "GET", &site.admin, Value::Null, 200),
            (&reader, "POST", &site.admin, page("other"), 403),
            (&user, "POST", &site.admin, page("other"), 403),
            (&user, "DELETE", &one, Value::Null, 403),
            (&reader, "POST", &plan, window.clone(), 403),
            (&user, "POST", &plan, window.clone(), 201),
        ] {
            let answer = site.harness.api_as(login, method, path, &body).await;
            assert_eq!(answer.status, status, "{method} {path}");
        }
    }
}
