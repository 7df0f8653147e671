//! The incidents of a page as an Atom feed. RFC 4287.

use std::fmt::Write;

use super::PublicPage;
use super::times::rfc3339;
use crate::escape::{escaped, push};

/// The feed. `base_url`: the address of the server, without a slash at its end.
pub fn atom(page: &PublicPage, base_url: &str) -> String {
    let slug = &page.slug;
    let address = escaped(&format!("{base_url}/status/{slug}"));
    let newest_ns = page.incidents.iter().map(|one| one.incident.updated_ns).max().unwrap_or(page.generated_ns);
    let mut out =
        String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">");
    let (name, updated) = (escaped(&page.name), rfc3339(newest_ns));
    let _ = write!(
        out,
        "<id>{address}</id><title>{name}</title><updated>{updated}</updated><link href=\"{address}\"/>\
         <link rel=\"self\" href=\"{address}/feed.atom\"/><author><name>{name}</name></author>"
    );
    for one in &page.incidents {
        let incident = &one.incident;
        let (title, status) = (escaped(&incident.title), incident.status.name());
        let (published, updated) = (rfc3339(incident.started_ns), rfc3339(incident.updated_ns));
        let _ = write!(
            out,
            "\n<entry><id>{address}#incident-{id}</id><title>{title} ({status})</title><published>{published}</published>\
             <updated>{updated}</updated><link href=\"{address}#incident-{id}\"/><content type=\"text\">",
            id = incident.id
        );
        for update in one.updates.iter().rev() {
            let _ = write!(out, "{} {}: ", rfc3339(update.at_ns), update.status.name());
            push(&mut out, &update.message);
            out.push('\n');
        }
        out.push_str("</content></entry>");
    }
    out.push_str("\n</feed>\n");
    out
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
