//! A small picture with the state of a page, for other sites.

use maud::html;

use super::document::document;
use super::{Overall, PublicPage};

/// Width of one character, tenths of a pixel.
const CHARACTER: usize = 68;
const PADDING: usize = 80;
/// Characters of the name that the picture shows.
const NAME_CHARS_MAX: usize = 40;

/// The picture as SVG.
pub fn svg(page: &PublicPage) -> String {
    let name: String = page.name.chars().take(NAME_CHARS_MAX).collect();
    let overall = page.overall();
    let word = overall.word();
    let width = |value: &str| (value.chars().count() * CHARACTER + 2 * PADDING) / 10;
    let (left, right) = (width(&name), width(word));
    let (total, middle, after) = (left + right, left / 2, left + right / 2);
    let colour = match overall {
        Overall::Up => "#1a7348",
        Overall::Maintenance | Overall::Incident | Overall::Partial => "#8a5a00",
        Overall::Down => "#c22f2f",
        Overall::Unknown => "#5b6470",
    };
    let label = format!("{name}: {word}");
    document(html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(total) height="20" role="img" aria-label=(label) {
            title { (label) }
            rect width=(total) height="20" rx="3" fill="#3a424d" {}
            rect x=(left) width=(right) height="20" rx="3" fill=(colour) {}
            g fill="#fff" text-anchor="middle" font-family="system-ui,sans-serif" font-size="11" {
                text x=(middle) y="14" { (name) }
                text x=(after) y="14" { (word) }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOSTILE, page};
    use super::super::{CheckState, PublicPage};
    use super::*;

    #[test]
    fn a_badge_names_the_state_and_runs_nothing() {
        for (state, word) in
            [(CheckState::Up, "operational"), (CheckState::Down, "outage"), (CheckState::Unknown, "unknown")]
        {
            let svg = svg(&page("Acme", &[(1, "")], &[(1, state)]));
            assert!(svg.contains(&format!("<title>Acme: {word}</title>")), "{svg}");
        }
        let hostile: PublicPage = page(HOSTILE, &[], &[]);
        let svg = svg(&hostile);
        assert!(!svg.contains("<script") && !svg.contains("<img"), "{svg}");
        assert!(svg.contains("aria-label=\"&lt;script&gt;alert(1)"), "{svg}");
    }
}
