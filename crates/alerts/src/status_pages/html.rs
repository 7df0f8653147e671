//! A page as HTML without JavaScript. Its styles are in [`STYLE`], a file of its own, because the content security policy
//! permits no inline styles.

use maud::{DOCTYPE, Markup, html};

use super::document::document;
use super::times::{date, duration, minute, rfc3339};
use super::{Check, CheckState, MonitorDay, PublicPage, uptime_percent};
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
    let (open, past): (Vec<&PublicIncident>, Vec<&PublicIncident>) =
        page.incidents.iter().partition(|one| one.incident.resolved_ns.is_none());
    let coming = |window: &&MaintenanceWindow| window.ends_ns > page.generated_ns;
    let mut planned: Vec<&MaintenanceWindow> = page.maintenance.iter().filter(coming).collect();
    planned.reverse();
    let overall = page.overall();
    let head = Head {
        title: &page.name,
        slug: Some(&page.slug),
        meta: html! { meta http-equiv="refresh" content=(REFRESH_SECONDS); },
        is_embedded: shown.is_embedded,
    };
    head.with(html! {
        @if !shown.is_embedded {
            header {
                @if let Some(version) = page.logo_ns {
                    img class="logo" src={ "/api/status/" (page.slug) "/logo?v=" (version) } alt="";
                }
                h1 { (page.name) }
                @if !page.description.is_empty() { p class="about" { (page.description) } }
            }
        }
        p class={ "overall " (overall.tone()) } role="status" { (overall.sentence()) }
        (incidents("Open incidents", &open, page.generated_ns))
        (maintenance(&planned, page.generated_ns))
        (components(page))
        @if !shown.is_embedded {
            @if past.is_empty() {
                section { h2 { "Past incidents" } p class="quiet" { "None in the last 90 days." } }
            } @else {
                (incidents("Past incidents", &past, page.generated_ns))
            }
            (subscribe(page))
        }
        footer { p { "As of " (time(page.generated_ns)) } }
    })
}

/// The part of a page before its content.
struct Head<'a> {
    title: &'a str,
    /// The page whose feed is named.
    slug: Option<&'a str>,
    /// Further elements.
    meta: Markup,
    is_embedded: bool,
}

impl Head<'_> {
    /// The page with this content.
    fn with(self, content: Markup) -> String {
        let Head { title, slug, meta, is_embedded } = self;
        document(html! {
            (DOCTYPE) "\n"
            html lang="en" class=[is_embedded.then_some("embedded")] {
                head {
                    meta charset="utf-8";
                    title { (title) }
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    (meta)
                    link rel="icon" href="/favicon.svg" type="image/svg+xml";
                    link rel="stylesheet" href=(STYLE_PATH);
                    @if let Some(slug) = slug {
                        link rel="alternate" type="application/atom+xml" title=(title)
                            href={ "/status/" (slug) "/feed.atom" };
                    }
                }
                body { main { (content) } }
            }
        })
    }
}

fn time(at_ns: i64) -> Markup {
    html! { time datetime=(rfc3339(at_ns)) { (minute(at_ns)) } }
}

fn components(page: &PublicPage) -> Markup {
    html! {
        section {
            h2 { "Components" }
            @if page.groups.is_empty() { p class="quiet" { "This page has no components yet." } }
            @for group in &page.groups {
                @if !group.name.is_empty() { h3 { (group.name) } }
                ul class="checks" {
                    @for one in &group.checks { (check(one)) }
                }
            }
        }
    }
}

fn check(check: &Check) -> Markup {
    let (tone, word, mark) = match check.monitor.state {
        CheckState::Up => ("ok", "Operational", "\u{2713}"),
        CheckState::Down => ("bad", "Down", "\u{2717}"),
        CheckState::Unknown => ("none", "Not checked yet", "\u{2013}"),
    };
    let uptime = check.uptime_percent().map_or("No checks in 90 days".to_owned(), |percent| {
        format!("{} % available in 90 days", shown_percent(percent))
    });
    html! {
        li {
            div class="row" {
                span class="name" { (check.monitor.name) }
                span class={ "state " (tone) } { span aria-hidden="true" { (mark) } " " (word) }
            }
            (bars(&check.days))
            div class="row scale" { span { "90 days ago" } span { (uptime) } span { "Today" } }
        }
    }
}

/// Never 100 % when something failed.
fn shown_percent(percent: f64) -> String {
    if percent >= 100.0 { "100".to_owned() } else { format!("{:.2}", (percent * 100.0).floor() / 100.0) }
}

/// One bar per day.
fn bars(days: &[MonitorDay]) -> Markup {
    let failed = days.iter().filter(|day| day.up < day.total - day.missed).count();
    let label = match failed {
        0 => "No day with failed checks".to_owned(),
        1 => "1 day with failed checks".to_owned(),
        days => format!("{days} days with failed checks"),
    };
    html! {
        svg class="bars" viewBox={ "0 0 " (days.len() * 10) " 40" } preserveAspectRatio="none" role="img"
            aria-label=(label) {
            @for (index, day) in days.iter().enumerate() { (bar(index, day)) }
        }
    }
}

fn bar(index: usize, day: &MonitorDay) -> Markup {
    let percent = uptime_percent(day.total, day.up, day.missed);
    // A day that failed is shorter too: its colour is not the only sign.
    let (tone, y, height) = match percent {
        None => ("none", 0, 40),
        Some(percent) if percent >= 100.0 => ("ok", 0, 40),
        Some(percent) if percent >= 95.0 => ("warn", 7, 33),
        Some(_) => ("bad", 14, 26),
    };
    let said = percent.map_or("no checks".to_owned(), |percent| format!("{} %", shown_percent(percent)));
    html! {
        rect class=(tone) x=(index * 10 + 1) y=(y) width="8" height=(height) {
            title { (date(day.day_ns)) ": " (said) }
        }
    }
}

fn incidents(title: &str, incidents: &[&PublicIncident], now_ns: i64) -> Markup {
    html! {
        @if !incidents.is_empty() {
            section {
                h2 { (title) }
                @for one in incidents { (incident(one, now_ns)) }
            }
        }
    }
}

fn incident(one: &PublicIncident, now_ns: i64) -> Markup {
    let incident = &one.incident;
    let lasted = duration(incident.resolved_ns.unwrap_or(now_ns) - incident.started_ns);
    let since = match incident.resolved_ns {
        Some(_) => format!("{}, lasted {lasted}", minute(incident.started_ns)),
        None => format!("since {}, for {lasted}", minute(incident.started_ns)),
    };
    html! {
        article id={ "incident-" (incident.id) } {
            h3 { (incident.title) }
            p class="quiet" { (since) }
            ol class="updates" {
                @for update in one.updates.iter().rev() {
                    li {
                        strong { (capitalized(update.status.name())) } " " (time(update.at_ns))
                        (paragraphs(&update.message))
                    }
                }
            }
            @if let Some(post_mortem) = &one.post_mortem {
                details {
                    summary { "Post-mortem" }
                    div class="post-mortem" { (markdown::html(&markdown::parse(post_mortem))) }
                }
            }
        }
    }
}

fn maintenance(windows: &[&MaintenanceWindow], now_ns: i64) -> Markup {
    html! {
        @if !windows.is_empty() {
            section {
                h2 { "Maintenance" }
                @for window in windows {
                    article {
                        h3 { (window.title) }
                        p class="quiet" {
                            @if window.starts_ns <= now_ns { "In progress" } @else { "Planned" }
                            ": " (minute(window.starts_ns)) " to " (minute(window.ends_ns))
                        }
                        (paragraphs(&window.description))
                    }
                }
            }
        }
    }
}

fn subscribe(page: &PublicPage) -> Markup {
    let slug = &page.slug;
    let action = format!("/status/{slug}/subscribe");
    html! {
        section class="subscribe" {
            h2 { "Be notified" }
            @if page.has_mail {
                form method="post" action=(action) {
                    label for="email" { "Email address" }
                    div class="row" {
                        input id="email" name="email" type="email" required maxlength="320" autocomplete="email";
                        button { "Subscribe" }
                    }
                }
            }
            details {
                summary { "By webhook, or as a feed" }
                form method="post" action=(action) {
                    label for="webhook" { "Address of the webhook" }
                    div class="row" {
                        input id="webhook" name="webhook" type="url" required maxlength="2000" placeholder="https://";
                        button { "Subscribe the webhook" }
                    }
                }
                p {
                    a href={ "/status/" (slug) "/feed.atom" } { "Atom feed" } " \u{b7} "
                    a href={ "/api/status/" (slug) } { "JSON" } " \u{b7} "
                    a href={ "/status/" (slug) "/badge.svg" } { "Badge" }
                }
            }
        }
    }
}

/// Lines of what a user has written.
fn paragraphs(message: &str) -> Markup {
    html! {
        @if !message.is_empty() {
            p {
                @for (index, line) in message.lines().enumerate() {
                    @if index > 0 { br; }
                    (line)
                }
            }
        }
    }
}

fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// A page with a sentence, after a form was sent.
pub fn notice(page_name: &str, slug: &str, sentence: &str) -> String {
    Head { title: page_name, slug: Some(slug), meta: html! {}, is_embedded: false }.with(html! {
        header { h1 { (page_name) } }
        p class="overall none" role="status" { (sentence) }
        (back(&format!("/status/{slug}")))
    })
}

fn back(path: &str) -> Markup {
    html! { p { a href=(path) { "Back to the status page" } } }
}

/// The page of an error; `sentence` has no capital and no full stop. `page_path`: the status page to go back to.
pub fn problem(sentence: &str, page_path: Option<&str>) -> String {
    let sentence = capitalized(sentence);
    Head { title: &sentence, slug: None, meta: html! {}, is_embedded: false }.with(html! {
        header { h1 { "Status page" } }
        p class="overall none" role="alert" { (sentence) "." }
        @if let Some(path) = page_path { (back(path)) }
    })
}

/// The page of a subscription: it is confirmed and ended with a button, because mail scanners open links.
pub fn subscription(page_name: &str, slug: &str, token: &str, subscription: &Subscription) -> String {
    let form = |action: &str, label: &str| {
        html! {
            form method="post" action={ "/status/" (slug) "/subscriptions/" (token) "/" (action) } {
                button { (label) }
            }
        }
    };
    let meta = html! { meta name="referrer" content="no-referrer"; };
    Head { title: page_name, slug: Some(slug), meta, is_embedded: false }.with(html! {
        header { h1 { (page_name) } }
        @if subscription.is_confirmed {
            p { (subscription.address) " is notified of incidents." }
            (form("unsubscribe", "Unsubscribe"))
        } @else {
            p { "Notify " (subscription.address) " of incidents?" }
            (form("confirm", "Confirm the subscription"))
            (form("unsubscribe", "Do not notify"))
        }
        (back(&format!("/status/{slug}")))
    })
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
            let out = bars(&[MonitorDay { monitor: 1, day_ns: NOW, total, up, missed }]).into_string();
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
            assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;'&amp;]]&gt;"), "{html}");
        }
    }
}
