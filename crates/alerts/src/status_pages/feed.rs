//! The incidents of a page as an Atom feed. RFC 4287.

use maud::{Markup, PreEscaped, html};

use super::document::document;
use super::times::rfc3339;
use super::{PublicIncident, PublicPage};

const DECLARATION: PreEscaped<&str> = PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");

/// The feed. `base_url`: the address of the server, without a slash at its end.
pub fn atom(page: &PublicPage, base_url: &str) -> String {
    let address = format!("{base_url}/status/{}", page.slug);
    let newest_ns = page.incidents.iter().map(|one| one.incident.updated_ns).max().unwrap_or(page.generated_ns);
    document(html! {
        (DECLARATION)
        feed xmlns="http://www.w3.org/2005/Atom" {
            id { (address) }
            title { (page.name) }
            updated { (rfc3339(newest_ns)) }
            link href=(address) {}
            link rel="self" href={ (address) "/feed.atom" } {}
            author { name { (page.name) } }
            @for one in &page.incidents { "\n" (entry(one, &address)) }
            "\n"
        }
        "\n"
    })
}

fn entry(one: &PublicIncident, page_address: &str) -> Markup {
    let incident = &one.incident;
    let address = format!("{page_address}#incident-{}", incident.id);
    html! {
        entry {
            id { (address) }
            title { (incident.title) " (" (incident.status.name()) ")" }
            published { (rfc3339(incident.started_ns)) }
            updated { (rfc3339(incident.updated_ns)) }
            link href=(address) {}
            content type="text" {
                @for update in one.updates.iter().rev() {
                    (rfc3339(update.at_ns)) " " (update.status.name()) ": " (update.message) "\n"
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOSTILE, NOW, incident, page};
    use super::super::{CheckState, PublicPage};
    use super::*;

    #[test]
    fn entries_are_the_incidents_and_everything_is_escaped() {
        let page = PublicPage {
            incidents: vec![incident(HOSTILE, Some(NOW)), incident("Slow", None)],
            ..page(HOSTILE, &[(1, "")], &[(1, CheckState::Up)])
        };
        let feed = atom(&page, "https://tide.example.com");
        assert_eq!(feed.matches("<entry>").count(), 2);
        assert!(feed.contains("<id>https://tide.example.com/status/acme#incident-7</id>"), "{feed}");
        assert!(feed.contains("<title>Slow (investigating)</title>"), "{feed}");
        assert!(!feed.contains("<script") && !feed.contains("<img") && !feed.contains("]]>"), "{feed}");
        assert!(!feed.contains("ada@example.com"), "authors are not public: {feed}");
    }
}
