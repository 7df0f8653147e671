//! Markdown as a tree without HTML, and its rendering. Raw HTML stays what was typed; images become links; links have
//! the schemes of [`safe_link`]. Both renderers, this one and the UI's, work from the tree.
//!
//! Invariants: no string of a user becomes HTML; no link runs a script.

use maud::{Markup, Render};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde::Serialize;
use tidewatch_limits as limits;

/// The kinds of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Characters, without children.
    Text,
    /// Characters of a program, within a line.
    Code,
    /// Lines of a program.
    CodeBlock,
    /// A paragraph.
    Paragraph,
    /// A heading; its level is `level`.
    Heading,
    /// A list of items.
    List,
    /// A numbered list of items.
    NumberedList,
    /// An item of a list.
    Item,
    /// A quotation.
    Quote,
    /// Emphasis.
    Emphasis,
    /// Strong emphasis.
    Strong,
    /// Struck through.
    Struck,
    /// A link to `href`.
    Link,
    /// The end of a line.
    Break,
    /// A rule across the page.
    Rule,
    /// A table.
    Table,
    /// A row of a table.
    Row,
    /// A cell of a row.
    Cell,
}

/// A node of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Its kind.
    pub kind: Kind,
    /// The characters of [`Kind::Text`], [`Kind::Code`] and [`Kind::CodeBlock`].
    pub text: String,
    /// Of [`Kind::Heading`]: 1 to 6; otherwise 0.
    pub level: u8,
    /// Of [`Kind::Link`]: a safe address; otherwise empty.
    pub href: String,
    /// Its children.
    pub children: Vec<Node>,
}

impl Node {
    fn of(kind: Kind) -> Node {
        Node { kind, text: String::new(), level: 0, href: String::new(), children: Vec::new() }
    }

    fn text(kind: Kind, text: &str) -> Node {
        Node { text: text.to_owned(), ..Node::of(kind) }
    }
}

/// Parses Markdown. Elements deeper than [`limits::MARKDOWN_DEPTH_MAX`] are replaced by their children.
pub fn parse(source: &str) -> Vec<Node> {
    let mut options = Options::empty();
    options.insert(Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let mut open: Vec<Node> = vec![Node::of(Kind::Paragraph)];
    // Elements that have no node, by depth: their end closes none.
    let mut has_node: Vec<bool> = Vec::new();
    for event in Parser::new_ext(source, options) {
        match event {
            Event::Start(tag) => {
                let node = element(tag).filter(|_| open.len() <= limits::MARKDOWN_DEPTH_MAX);
                has_node.push(node.is_some());
                open.extend(node);
            }
            Event::End(end) => {
                if has_node.pop().unwrap_or_default() {
                    close(&mut open);
                } else if matches!(end, TagEnd::Paragraph | TagEnd::Item) {
                    append(&mut open, Node::of(Kind::Break));
                }
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                let in_code = open.last().is_some_and(|node| node.kind == Kind::CodeBlock);
                match open.last_mut() {
                    Some(block) if in_code => block.text.push_str(&text),
                    _ => append(&mut open, Node::text(Kind::Text, &text)),
                }
            }
            Event::Code(text) => append(&mut open, Node::text(Kind::Code, &text)),
            Event::SoftBreak => append(&mut open, Node::text(Kind::Text, " ")),
            Event::HardBreak => append(&mut open, Node::of(Kind::Break)),
            Event::Rule => append(&mut open, Node::of(Kind::Rule)),
            Event::InlineMath(text) | Event::DisplayMath(text) => append(&mut open, Node::text(Kind::Text, &text)),
            Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }
    while open.len() > 1 {
        close(&mut open);
    }
    open.pop().map(|root| root.children).unwrap_or_default()
}

/// The node of an element; `None`: its children take its place.
fn element(tag: Tag<'_>) -> Option<Node> {
    let kind = match tag {
        Tag::Paragraph => Kind::Paragraph,
        Tag::Heading { level, .. } => {
            let level = match level {
                HeadingLevel::H1 => 1,
                HeadingLevel::H2 => 2,
                HeadingLevel::H3 => 3,
                HeadingLevel::H4 => 4,
                HeadingLevel::H5 => 5,
                HeadingLevel::H6 => 6,
            };
            return Some(Node { level, ..Node::of(Kind::Heading) });
        }
        Tag::BlockQuote(_) => Kind::Quote,
        Tag::CodeBlock(CodeBlockKind::Indented | CodeBlockKind::Fenced(_)) => Kind::CodeBlock,
        Tag::List(None) => Kind::List,
        Tag::List(Some(_)) => Kind::NumberedList,
        Tag::Item => Kind::Item,
        Tag::Emphasis => Kind::Emphasis,
        Tag::Strong => Kind::Strong,
        Tag::Strikethrough => Kind::Struck,
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
            let href = safe_link(&dest_url)?.to_owned();
            return Some(Node { href, ..Node::of(Kind::Link) });
        }
        Tag::HtmlBlock => Kind::Paragraph,
        Tag::Table(_) => Kind::Table,
        Tag::TableHead | Tag::TableRow => Kind::Row,
        Tag::TableCell => Kind::Cell,
        _ => return None,
    };
    Some(Node::of(kind))
}

fn append(open: &mut [Node], node: Node) {
    if let Some(parent) = open.last_mut() {
        parent.children.push(node);
    }
}

fn close(open: &mut Vec<Node>) {
    if let Some(node) = open.pop() {
        append(open, node);
    }
}

/// The address of a link, if it cannot run a script: `http`, `https` or `mailto`, or a path of this server.
fn safe_link(address: &str) -> Option<&str> {
    if address.len() > limits::MARKDOWN_LINK_BYTES_MAX || address.chars().any(|c| c.is_control()) {
        return None;
    }
    let is_path = address.starts_with('/') && !address.starts_with("//") && !address.starts_with("/\\");
    let has_scheme = ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    (is_path || has_scheme).then_some(address)
}

/// Renders nodes as HTML. Every string is escaped; headings begin at level 4, below those of the page.
pub fn html(nodes: &[Node]) -> Markup {
    maud::html! { @for node in nodes { (node) } }
}

impl Render for Node {
    fn render(&self) -> Markup {
        let inside = html(&self.children);
        maud::html! {
            @match self.kind {
                Kind::Text => { (self.text) }
                Kind::Break => { br; }
                Kind::Rule => { hr; }
                Kind::CodeBlock => { pre { code { (self.text) } } }
                Kind::Code => { code { (self.text) } }
                Kind::Link => { a rel="nofollow noopener noreferrer" href=(self.href) { (inside) } }
                Kind::Heading => {
                    @match self.level {
                        1 => { h4 { (inside) } }
                        2 => { h5 { (inside) } }
                        _ => { h6 { (inside) } }
                    }
                }
                Kind::Paragraph => { p { (inside) } }
                Kind::List => { ul { (inside) } }
                Kind::NumberedList => { ol { (inside) } }
                Kind::Item => { li { (inside) } }
                Kind::Quote => { blockquote { (inside) } }
                Kind::Emphasis => { em { (inside) } }
                Kind::Strong => { strong { (inside) } }
                Kind::Struck => { s { (inside) } }
                Kind::Table => { table { (inside) } }
                Kind::Row => { tr { (inside) } }
                Kind::Cell => { td { (inside) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rendered(source: &str) -> String {
        html(&parse(source)).into_string()
    }

    #[test]
    fn common_elements() {
        for (source, expected) in [
            ("a *b* **c** `d` ~~e~~", "<p>a <em>b</em> <strong>c</strong> <code>d</code> <s>e</s></p>"),
            ("# a\n## b\n### c", "<h4>a</h4><h5>b</h5><h6>c</h6>"),
            ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
            ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
            ("> a", "<blockquote><p>a</p></blockquote>"),
            ("```sh\na <b>\n```", "<pre><code>a &lt;b&gt;\n</code></pre>"),
            ("a\\\nb\n\n---", "<p>a<br>b</p><hr>"),
            ("|a|b|\n|-|-|\n|c|d|", "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"),
            (
                "[a](https://example.com)",
                "<p><a rel=\"nofollow noopener noreferrer\" href=\"https://example.com\">a</a></p>",
            ),
        ] {
            assert_eq!(rendered(source), expected, "{source}");
        }
    }

    #[test]
    fn nothing_runs_and_nothing_loads() {
        for source in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<div>\n<iframe src=//evil></iframe>\n</div>",
            "[a](javascript:alert(1))",
            "[a](JAVASCRIPT:alert(1))",
            "[a](java&#115;cript:alert(1))",
            "[a](&#x6a;avascript:alert(1))",
            "[a](data:text/html;base64,PHNjcmlwdD4=)",
            "![a](javascript:alert(1))",
            "![a](https://evil.example/pixel.png)",
            "<javascript:alert(1)>",
            "[a](https://x.example/\"onmouseover=alert(1))",
            "[a]: javascript:alert(1)\n[a]",
            "`<script>`",
            "```\"><script>\n</code><script>\n```",
            "# <svg onload=alert(1)>",
            "|<b>|\n|-|\n|<i onclick=x>|",
        ] {
            assert_harmless(source);
        }
    }

    #[track_caller]
    fn assert_harmless(source: &str) {
        const TAGS: &[&str] = &[
            "a",
            "p",
            "h4",
            "h5",
            "h6",
            "ul",
            "ol",
            "li",
            "blockquote",
            "em",
            "strong",
            "s",
            "code",
            "pre",
            "br",
            "hr",
            "table",
            "tr",
            "td",
        ];
        let out = rendered(source);
        for part in out.split('<').skip(1) {
            let (inside, _) = part.split_once('>').expect("a tag ends");
            let name = inside.trim_start_matches('/').split(' ').next().unwrap_or_default();
            assert!(TAGS.contains(&name), "{source:?}: {out}");
            if let Some(attributes) = inside.split_once(' ').map(|(_, attributes)| attributes) {
                let href = attributes
                    .strip_prefix("rel=\"nofollow noopener noreferrer\" href=\"")
                    .and_then(|rest| rest.strip_suffix('"'))
                    .unwrap_or_else(|| panic!("{source:?}: {out}"));
                assert!(!href.contains(['"', '<', '>']), "{source:?}: {out}");
                assert!(safe_link(href).is_some(), "{source:?}: {out}");
            }
        }
    }

    #[test]
    fn only_links_that_run_nothing() {
        for (address, is_safe) in [
            ("https://example.com/a?b=c#d", true),
            ("HTTP://example.com", true),
            ("mailto:a@example.com", true),
            ("/issues/1", true),
            ("//example.com", false),
            ("/\\example.com", false),
            ("javascript:alert(1)", false),
            ("JaVaScRiPt:alert(1)", false),
            ("java\nscript:alert(1)", false),
            (" javascript:alert(1)", false),
            ("data:text/html,<script>", false),
            ("vbscript:x", false),
            ("file:///etc/passwd", false),
            ("https:example.com", false),
            ("a/b", false),
            ("#top", false),
            ("", false),
        ] {
            assert_eq!(safe_link(address).is_some(), is_safe, "{address:?}");
        }
    }

    #[test]
    fn deep_nesting_is_flat_beyond_the_limit() {
        fn depth(nodes: &[Node]) -> usize {
            nodes.iter().map(|node| 1 + depth(&node.children)).max().unwrap_or(0)
        }
        let nodes = parse(&format!("{}deep", "> ".repeat(5000)));
        assert!(depth(&nodes) <= limits::MARKDOWN_DEPTH_MAX + 1, "{}", depth(&nodes));
        assert!(rendered(&format!("{}deep", "> ".repeat(5000))).contains("deep"));
    }

    proptest! {
        #[test]
        fn any_source_is_harmless(source in "[<>\\[\\]()!`*_#|\\-:\"'a-z \n&;/]{0,200}") {
            assert_harmless(&source);
        }
    }
}
