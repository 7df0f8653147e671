//! A page as HTML without JavaScript. Its styles are in [`STYLE`], a file of its own, because the content security policy
//! permits no inline styles.

use std::fmt::Write;

use super::times::{date, duration, minute, rfc3339};
use super::{Check, CheckState, MonitorDay, PublicPage, uptime_percent};
use crate::escape::{escaped, push};
use crate::markdown;
use crate::status_pages::{MaintenanceWindow, PublicIncident, Subscription};

/// The style sheet of status pages.
pub const STYLE: &str = include_str!("style.css");
/// The path of [`STYLE`].
pub const STYLE_PATH: &str = "/status-page.css";

/// Form of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shown {
    /// Within another page: without logo, subscription and footer.
    pub is_embedded: bool,
}

/// Seconds until a browser loads the page again.
const REFRESH_SECONDS: u32 = 60;

/// The page.
pub fn page(page: &PublicPage, shown: Shown) -> String {
    let mut out = String::with_capacity(16 << 10);
    let refresh = format!("<meta http-equiv=\"refresh\" content=\"{REFRESH_SECONDS}\">");
    head(&mut out, &page.name, Some(&page.slug), &refresh, shown.is_embedded);
    if !shown.is_embedded {
        out.push_str("<header>");
        if let Some(version) = page.logo_ns {
            let slug = &page.slug;
            let _ = write!(out, "<img class=\"logo\" src=\"/api/status/{slug}/logo?v={version}\" alt=\"\">");
        }
        let _ = write!(out, "<h1>{}</h1>", escaped(&page.name));
        if !page.description.is_empty() {
            let _ = write!(out, "<p class=\"about\">{}</p>", escaped(&page.description));
        }
        out.push_str("</header>");
    }
    let overall = page.overall();
    let _ = write!(out, "<p class=\"overall {}\" role=\"status\">{}</p>", overall.tone(), overall.sentence());
    let is_open = |one: &&PublicIncident| one.incident.resolved_ns.is_none();
    let open: Vec<&PublicIncident> = page.incidents.iter().filter(is_open).collect();
    incidents(&mut out, "Open incidents", &open, page.generated_ns);
    let coming = |window: &&MaintenanceWindow| window.ends_ns > page.generated_ns;
    let mut planned: Vec<&MaintenanceWindow> = page.maintenance.iter().filter(coming).collect();
    planned.reverse();
    maintenance(&mut out, &planned, page.generated_ns);
    components(&mut out, page);
    if !shown.is_embedded {
        let past: Vec<&PublicIncident> = page.incidents.iter().filter(|one| !is_open(one)).collect();
        if past.is_empty() {
            out.push_str("<section><h2>Past incidents</h2><p class=\"quiet\">None in the last 90 days.</p></section>");
        } else {
            incidents(&mut out, "Past incidents", &past, page.generated_ns);
        }
        subscribe(&mut out, page);
    }
    let (at, time) = (rfc3339(page.generated_ns), minute(page.generated_ns));
    let _ = write!(out, "<footer><p>As of <time datetime=\"{at}\">{time}</time></p></footer></main></body></html>");
    out
}

/// `slug`: the page whose feed is named.
fn head(out: &mut String, title: &str, slug: Option<&str>, extra: &str, is_embedded: bool) {
    let title = escaped(title);
    let class = if is_embedded { " class=\"embedded\"" } else { "" };
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"{class}><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">{extra}\
         <link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\">\
         <link rel=\"stylesheet\" href=\"{STYLE_PATH}\">"
    );
    if let Some(slug) = slug {
        let (kind, href) = ("application/atom+xml", format!("/status/{slug}/feed.atom"));
        let _ = write!(out, "<link rel=\"alternate\" type=\"{kind}\" title=\"{title}\" href=\"{href}\">");
    }
    out.push_str("</head><body><main>");
}

fn components(out: &mut String, page: &PublicPage) {
    out.push_str("<section><h2>Components</h2>");
    if page.groups.is_empty() {
        out.push_str("<p class=\"quiet\">This page has no components yet.</p>");
    }
    for group in &page.groups {
        if !group.name.is_empty() {
            let _ = write!(out, "<h3>{}</h3>", escaped(&group.name));
        }
        out.push_str("<ul class=\"checks\">");
        for one in &group.checks {
            check(out, one);
        }
        out.push_str("</ul>");
    }
    out.push_str("</section>");
}

fn check(out: &mut String, check: &Check) {
    let (tone, word, mark) = match check.monitor.state {
        CheckState::Up => ("ok", "Operational", "\u{2713}"),
        CheckState::Down => ("bad", "Down", "\u{2717}"),
        CheckState::Unknown => ("none", "Not checked yet", "\u{2013}"),
    };
    let _ = write!(
        out,
        "<li><div class=\"row\"><span class=\"name\">{}</span><span class=\"state {tone}\">\
         <span aria-hidden=\"true\">{mark}</span> {word}</span></div>",
        escaped(&check.monitor.name)
    );
    bars(out, &check.days);
    let uptime = check.uptime_percent().map_or("No checks in 90 days".to_owned(), |percent| {
        format!("{} % available in 90 days", shown_percent(percent))
    });
    let _ = write!(
        out,
        "<div class=\"row scale\"><span>90 days ago</span><span>{uptime}</span><span>Today</span></div></li>"
    );
}

/// Never 100 % when something failed.
fn shown_percent(percent: f64) -> String {
    if percent >= 100.0 { "100".to_owned() } else { format!("{:.2}", (percent * 100.0).floor() / 100.0) }
}

/// One bar per day.
fn bars(out: &mut String, days: &[MonitorDay]) {
    let failed = days.iter().filter(|day| day.up < day.total - day.missed).count();
    let label = match failed {
        0 => "No day with failed checks".to_owned(),
        1 => "1 day with failed checks".to_owned(),
        days => format!("{days} days with failed checks"),
    };
    let width = days.len() * 10;
    let _ = write!(
        out,
        "<svg class=\"bars\" viewBox=\"0 0 {width} 40\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{label}\">"
    );
    for (index, day) in days.iter().enumerate() {
        let percent = uptime_percent(day.total, day.up, day.missed);
        let tone = match percent {
            None => "none",
            Some(percent) if percent >= 100.0 => "ok",
            Some(percent) if percent >= 95.0 => "warn",
            Some(_) => "bad",
        };
        let said = percent.map_or("no checks".to_owned(), |percent| format!("{} %", shown_percent(percent)));
        // A day that failed is shorter too: its colour is not the only sign.
        let (y, height) = if tone == "bad" {
            (14, 26)
        } else if tone == "warn" {
            (7, 33)
        } else {
            (0, 40)
        };
        let _ = write!(
            out,
            "<rect class=\"{tone}\" x=\"{}\" y=\"{y}\" width=\"8\" height=\"{height}\"><title>{}: {said}</title></rect>",
            index * 10 + 1,
            date(day.day_ns)
        );
    }
    out.push_str("</svg>");
}

fn incidents(out: &mut String, title: &str, incidents: &[&PublicIncident], now_ns: i64) {
    if incidents.is_empty() {
        return;
    }
    let _ = write!(out, "<section><h2>{title}</h2>");
    for one in incidents {
        let incident = &one.incident;
        let lasted = duration(incident.resolved_ns.unwrap_or(now_ns) - incident.started_ns);
        let since = match incident.resolved_ns {
            Some(_) => format!("{}, lasted {lasted}", minute(incident.started_ns)),
            None => format!("since {}, for {lasted}", minute(incident.started_ns)),
        };
        let _ = write!(
            out,
            "<article id=\"incident-{}\"><h3>{}</h3><p class=\"quiet\">{since}</p><ol class=\"updates\">",
            incident.id,
            escaped(&incident.title)
        );
        for update in one.updates.iter().rev() {
            let _ = write!(
                out,
                "<li><strong>{}</strong> <time datetime=\"{}\">{}</time>",
                capitalized(update.status.name()),
                rfc3339(update.at_ns),
                minute(update.at_ns)
            );
            paragraphs(out, &update.message);
            out.push_str("</li>");
        }
        out.push_str("</ol>");
        if let Some(post_mortem) = &one.post_mortem {
            out.push_str("<details><summary>Post-mortem</summary><div class=\"post-mortem\">");
            markdown::html(&markdown::parse(post_mortem), out);
            out.push_str("</div></details>");
        }
        out.push_str("</article>");
    }
    out.push_str("</section>");
}

fn maintenance(out: &mut String, windows: &[&MaintenanceWindow], now_ns: i64) {
    if windows.is_empty() {
        return;
    }
    out.push_str("<section><h2>Maintenance</h2>");
    for window in windows {
        let when = if window.starts_ns <= now_ns { "In progress" } else { "Planned" };
        let _ = write!(
            out,
            "<article><h3>{}</h3><p class=\"quiet\">{when}: {} to {}</p>",
            escaped(&window.title),
            minute(window.starts_ns),
            minute(window.ends_ns)
        );
        paragraphs(out, &window.description);
        out.push_str("</article>");
    }
    out.push_str("</section>");
}

fn subscribe(out: &mut String, page: &PublicPage) {
    let slug = &page.slug;
    out.push_str("<section class=\"subscribe\"><h2>Be notified</h2>");
    if page.has_mail {
        let _ = write!(
            out,
            "<form method=\"post\" action=\"/status/{slug}/subscribe\"><label for=\"email\">Email address</label>\
             <div class=\"row\"><input id=\"email\" name=\"email\" type=\"email\" required maxlength=\"320\" \
             autocomplete=\"email\"><button>Subscribe</button></div></form>"
        );
    }
    let _ = write!(
        out,
        "<details><summary>By webhook, or as a feed</summary>\
         <form method=\"post\" action=\"/status/{slug}/subscribe\"><label for=\"webhook\">Address of the webhook</label>\
         <div class=\"row\"><input id=\"webhook\" name=\"webhook\" type=\"url\" required maxlength=\"2000\" \
         placeholder=\"https://\"><button>Subscribe the webhook</button></div></form>\
         <p><a href=\"/status/{slug}/feed.atom\">Atom feed</a> · <a href=\"/api/status/{slug}\">JSON</a> · \
         <a href=\"/status/{slug}/badge.svg\">Badge</a></p></details></section>"
    );
}

/// Lines of what a user has written.
fn paragraphs(out: &mut String, message: &str) {
    if message.is_empty() {
        return;
    }
    out.push_str("<p>");
    for (index, line) in message.lines().enumerate() {
        if index > 0 {
            out.push_str("<br>");
        }
        push(out, line);
    }
    out.push_str("</p>");
}

fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// A page with a sentence, after a form was sent.
pub fn notice(page_name: &str, slug: &str, sentence: &str) -> String {
    let mut out = String::new();
    head(&mut out, page_name, Some(slug), "", false);
    let _ = write!(
        out,
        "<header><h1>{}</h1></header><p class=\"overall none\" role=\"status\">{}</p>\
         <p><a href=\"/status/{slug}\">Back to the status page</a></p></main></body></html>",
        escaped(page_name),
        escaped(sentence)
    );
    out
}

/// The page of an error; `sentence` has no capital and no full stop. `page_path`: the status page to go back to.
pub fn problem(sentence: &str, page_path: Option<&str>) -> String {
    let mut out = String::new();
    let sentence = capitalized(sentence);
    head(&mut out, &sentence, None, "", false);
    let _ = write!(
        out,
        "<header><h1>Status page</h1></header><p class=\"overall none\" role=\"alert\">{}.</p>",
        escaped(&sentence)
    );
    if let Some(path) = page_path {
        let _ = write!(out, "<p><a href=\"{}\">Back to the status page</a></p>", escaped(path));
    }
    out.push_str("</main></body></html>");
    out
}

/// The page of a subscription: it is confirmed and ended with a button, because mail scanners open links.
pub fn subscription(page_name: &str, slug: &str, token: &str, subscription: &Subscription) -> String {
    let mut out = String::new();
    head(&mut out, page_name, Some(slug), "<meta name=\"referrer\" content=\"no-referrer\">", false);
    let (address, token) = (escaped(&subscription.address), escaped(token));
    let _ = write!(out, "<header><h1>{}</h1></header>", escaped(page_name));
    let form = |out: &mut String, action: &str, label: &str| {
        let _ = write!(
            out,
            "<form method=\"post\" action=\"/status/{slug}/subscriptions/{token}/{action}\"><button>{label}</button></form>"
        );
    };
    if subscription.is_confirmed {
        let _ = write!(out, "<p>{address} is notified of incidents.</p>");
        form(&mut out, "unsubscribe", "Unsubscribe");
    } else {
        let _ = write!(out, "<p>Notify {address} of incidents?</p>");
        form(&mut out, "confirm", "Confirm the subscription");
        form(&mut out, "unsubscribe", "Do not notify");
    }
    let _ = write!(out, "<p><a href=\"/status/{slug}\">Back to the status page</a></p></main></body></html>");
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOSTILE, NOW, incident, page as model};
    use super::*;

    fn full(name: &str) -> PublicPage {
        let window = |from: i64| MaintenanceWindow {
            id: 1,
            title: name.to_owned(),
            description: name.to_owned(),
            starts_ns: NOW + from,
            ends_ns: NOW + from + 60_000_000_000,
        };
        PublicPage {
            incidents: vec![incident(name, None), incident(name, Some(NOW))],
            maintenance: vec![window(1), window(0), window(-120_000_000_000)],
            logo_ns: Some(5),
            ..model(name, &[(1, ""), (2, name)], &[(1, CheckState::Up), (2, CheckState::Down)])
        }
    }

    #[test]
    fn a_page_has_its_parts() {
        let html = page(&full("Acme"), Shown::default());
        for part in [
            "<title>Acme</title>",
            "Some systems are down",
            "Open incidents",
            "Past incidents",
            "In progress: ",
            "Planned: ",
            "<h3>Acme</h3>",
            "99.09 % available in 90 days",
            "No checks in 90 days",
            "src=\"/api/status/acme/logo?v=5\"",
            "action=\"/status/acme/subscribe\"",
            "href=\"/status/acme/feed.atom\"",
            "<h4>Why</h4>",
            "second line",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(html.matches("<rect ").count(), 180, "90 days of two components");
        assert_eq!(html.matches("<h3>Acme</h3>").count(), 5, "a group, two incidents, two windows that are not over");
        assert!(!html.contains("ada@example.com"), "authors are not public");
        let embedded = page(&full("Acme"), Shown { is_embedded: true });
        for part in ["<h1>", "<form", "Past incidents", "<img"] {
            assert!(html.contains(part) && !embedded.contains(part), "{part}");
        }
    }

    #[test]
    fn days_are_coloured_by_their_uptime() {
        for (total, up, missed, tone, said) in [
            (0, 0, 0, "none", "no checks"),
            (3, 0, 3, "none", "no checks"),
            (10, 10, 0, "ok", "100 %"),
            (100, 95, 0, "warn", "95.00 %"),
            (100_000, 99_999, 0, "warn", "99.99 %"),
            (100, 94, 0, "bad", "94.00 %"),
        ] {
            let mut out = String::new();
            bars(&mut out, &[MonitorDay { monitor: 1, day_ns: NOW, total, up, missed }]);
            assert!(out.contains(&format!("<rect class=\"{tone}\"")), "{total} {up}: {out}");
            assert!(out.contains(&format!(">23 November 2026: {said}<")), "{total} {up}: {out}");
        }
    }

    #[test]
    fn names_messages_and_post_mortems_run_nothing() {
        let subscribed = Subscription { page: 1, address: HOSTILE.to_owned(), is_confirmed: false };
        for html in [
            page(&full(HOSTILE), Shown::default()),
            page(&full(HOSTILE), Shown { is_embedded: true }),
            notice(HOSTILE, "acme", HOSTILE),
            subscription(HOSTILE, "acme", HOSTILE, &subscribed),
            problem(HOSTILE, Some(HOSTILE)),
        ] {
            let lower = html.to_lowercase();
            for banned in ["<script", "<img src=x", "\"javascript:", " style=", "onerror=alert(1)>"] {
                assert!(!lower.contains(banned), "{banned}: {html}");
            }
            assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;]]&gt;"), "{html}");
        }
    }
}
