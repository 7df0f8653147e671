//! Samples of well-known log formats, written for this test, and properties of any lines.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;
use crate::query_language::{Cell, Expr, Field, ParseLimits, Row, evaluate, parse};

const LIMITS: Limits = Limits { patterns: 50, branches: 20 };
const QUERY: ParseLimits = ParseLimits { bytes: 4096, terms: 64, depth: 16 };

/// The patterns of the lines as strings, each with its number of lines, in order of first sight.
fn patterns(lines: &[&str]) -> Vec<(String, usize)> {
    let mut patterns = Patterns::new(LIMITS);
    let mut counts = vec![0; lines.len()];
    for line in lines {
        counts[patterns.add(line).expect("few patterns")] += 1;
    }
    patterns.templates().iter().zip(counts).map(|(template, count)| (template.to_string(), count)).collect()
}

#[track_caller]
fn check(lines: &[&str], expected: &[(&str, usize)]) {
    let found = patterns(lines);
    let found: Vec<(&str, usize)> = found.iter().map(|(template, count)| (template.as_str(), *count)).collect();
    assert_eq!(found, expected);
}

#[test]
fn variables_of_a_word() {
    for (word, expected) in [
        ("declined", "declined"),
        ("42", "<num>"),
        ("-1.5", "<num>"),
        ("250ms", "<num>ms"),
        ("user=42,", "user=<num>,"),
        ("blk_-1608999687919862906", "blk_<num>"),
        ("10.251.73.220:50010", "<ip>:<num>"),
        ("/10.0.0.1", "/<ip>"),
        ("1.2.3.4.5", "<num>.<num>.<num>"),
        ("fe80::1%eth0", "<ip>%eth<num>"),
        ("std::vec::Vec", "std::vec::Vec"),
        ("12:34:56", "<num>:<num>:<num>"),
        ("2026-11-23T09:04:00Z", "<num>-<num>-<num>T<num>:<num>:<num>Z"),
        ("5f4dcc3b-5aa7-45d6-8d83-27deb882cf99", "<id>"),
        ("0xdeadBEEF", "<hex>"),
        ("4bf92f3577b34da6", "<hex>"),
        ("deadbeef", "deadbeef"),
        ("req_A81Zk29Qm7xx", "req_<id>"),
        ("worker12", "worker<num>"),
        ("HTTP/1.1", "HTTP/<num>"),
        ("größe7", "größe7"),
        ("", ""),
    ] {
        assert_eq!(Token::of(word).to_string(), expected, "{word}");
    }
}

#[test]
fn lines_of_sshd() {
    check(
        &[
            "Failed password for root from 183.62.140.253 port 22 ssh2",
            "Failed password for invalid user admin from 103.99.0.122 port 50020 ssh2",
            "Failed password for alice from 10.0.0.7 port 4711 ssh2",
            "Accepted password for alice from 10.0.0.7 port 4712 ssh2",
            "pam_unix(sshd:session): session opened for user alice by (uid=0)",
            "pam_unix(sshd:session): session opened for user bob by (uid=0)",
            "Connection closed by 10.0.0.8 [preauth]",
        ],
        &[
            ("Failed password for <*> from <ip> port <num> ssh<num>", 2),
            ("Failed password for invalid user admin from <ip> port <num> ssh<num>", 1),
            ("Accepted password for alice from <ip> port <num> ssh<num>", 1),
            ("pam_unix(sshd:session): session opened for user <*> by (uid=<num>)", 2),
            ("Connection closed by <ip> [preauth]", 1),
        ],
    );
}

#[test]
fn lines_of_a_block_store() {
    check(
        &[
            "Receiving block blk_-1608999687919862906 src: /10.250.19.102:54106 dest: /10.250.19.102:50010",
            "Receiving block blk_7503483334202473044 src: /10.251.215.16:55695 dest: /10.251.215.16:50010",
            "PacketResponder 1 for block blk_38865049064139660 terminating",
            "PacketResponder 0 for block blk_-6952295868487656571 terminating",
            "BLOCK* NameSystem.addStoredBlock: blockMap updated: 10.251.73.220:50010 is added to blk_7128370237687728475 size 67108864",
        ],
        &[
            ("Receiving block blk_<num> src: /<ip>:<num> dest: /<ip>:<num>", 2),
            ("PacketResponder <num> for block blk_<num> terminating", 2),
            ("BLOCK* NameSystem.addStoredBlock: blockMap updated: <ip>:<num> is added to blk_<num> size <num>", 1),
        ],
    );
}

#[test]
fn lines_of_a_web_server() {
    check(
        &[
            "10.0.0.1 - alice [23/Nov/2026:09:04:00 +0000] \"GET /cart/17 HTTP/1.1\" 200 5316",
            "10.0.0.2 - bob [23/Nov/2026:09:04:01 +0000] \"GET /cart/18 HTTP/1.1\" 404 12",
            "10.0.0.2 - - [23/Nov/2026:09:04:02 +0000] \"POST /login HTTP/1.1\" 302 0",
            "[error] mod_jk child workerEnv in error state 6",
            "[error] mod_jk child workerEnv in error state 7",
            "[notice] jk2_init() Found child 6725 in scoreboard slot 10",
        ],
        &[
            ("<ip> - <*> [<num>/Nov/<num>:<num>:<num>:<num> +<num>] <*> <*> HTTP/<num>\" <num> <num>", 3),
            ("[error] mod_jk child workerEnv in error state <num>", 2),
            ("[notice] jk<num>_init() Found child <num> in scoreboard slot <num>", 1),
        ],
    );
}

#[test]
fn lines_of_java_and_of_json() {
    check(
        &[
            "java.lang.IllegalStateException: pool 3 is closed\n\tat shop.Pool.take(Pool.java:17)\n\tat shop.Main.main",
            "java.lang.IllegalStateException: pool 4 is closed\n\tat shop.Pool.take(Pool.java:19)",
            "java.lang.IllegalStateException: pool 4 is closed",
            r#"{"msg":"order placed","user":{"id":42},"total":12.5}"#,
            r#"{"msg":"order placed","user":{"id":43},"total":7}"#,
            r#"{"msg":"order shipped","order":"5f4dcc3b-5aa7-45d6-8d83-27deb882cf99"}"#,
            "",
        ],
        &[
            ("java.lang.IllegalStateException: pool <num> is closed …", 2),
            ("java.lang.IllegalStateException: pool <num> is closed", 1),
            (r#"{"msg":"order placed","user":{"id":<num>},"total":<num>}"#, 2),
            (r#"{"msg":"order shipped","order":"<id>"}"#, 1),
            ("", 1),
        ],
    );
}

#[test]
fn queries_of_patterns() {
    for (line, expected) in [
        ("pool 3 is closed", r"body:pool\ *\ is\ closed"),
        ("pool is closed", "body:\"pool is closed\""),
        ("", "-has:body"),
        ("7", "body:*"),
        ("a (b) \"c\" 1*2", r#"body:a\ (b)\ \"c\"\ *\**"#),
        ("a\nb", "body:a*"),
    ] {
        assert_eq!(Template::of(line).query().to_string(), expected, "{line}");
    }
}

/// Lines beyond the limit are others, but a known pattern still takes its lines.
#[test]
fn the_number_of_patterns_is_bounded() {
    let mut patterns = Patterns::new(Limits { patterns: 3, branches: 2 });
    let added: Vec<Option<usize>> =
        ["a b", "b c", "c d", "d e", "a b", "x"].iter().map(|line| patterns.add(line)).collect();
    assert_eq!(added, [Some(0), Some(1), Some(2), None, Some(0), None]);
}

/// A row of logs with this body.
struct Body<'b>(&'b str);

impl Row for Body<'_> {
    fn cell(&self, field: &Field) -> Option<Cell<'_>> {
        (field.key == "body" && !self.0.is_empty()).then_some(Cell::Text(Cow::Borrowed(self.0)))
    }

    fn strings(&self) -> Vec<Cow<'_, str>> {
        vec![Cow::Borrowed(self.0)]
    }
}

fn line() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => prop::sample::select(vec!["user", "GET", "failed", "of", "a*b", "(x)", "\"q\"", "\\", "ü", "-", ""]).prop_map(str::to_owned),
        2 => "[0-9]{1,5}",
        1 => "[0-9a-f]{16}",
        1 => "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}",
        1 => "\\PC{0,6}",
        1 => prop::sample::select(vec!["\n", "\r\n", "\t", "x\n"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(word, 0..7).prop_map(|words| words.join(" "))
}

proptest! {
    /// Each line belongs to at most one pattern, which matches it in the end, and whose query finds it. The same lines
    /// give the same patterns.
    #[test]
    fn a_pattern_matches_its_lines(lines in prop::collection::vec(line(), 1..60), limit in 1_usize..40) {
        let limits = Limits { patterns: limit, branches: 4 };
        let (mut patterns, mut again) = (Patterns::new(limits), Patterns::new(limits));
        let of: Vec<Option<usize>> = lines.iter().map(|line| patterns.add(line)).collect();
        prop_assert_eq!(&of, &lines.iter().map(|line| again.add(line)).collect::<Vec<_>>());
        prop_assert!(patterns.templates().len() <= limit);
        let queries: Vec<Expr> = patterns.templates().iter().map(Template::query).collect();
        for query in &queries {
            prop_assert_eq!(&parse(&query.to_string(), QUERY).expect("a query"), query);
        }
        for (line, of) in lines.iter().zip(of) {
            match of {
                Some(index) => {
                    prop_assert!(patterns.templates()[index].matches(line), "{line:?}");
                    prop_assert!(evaluate(&queries[index], &Body(line)), "{} and {line:?}", queries[index]);
                }
                None => prop_assert_eq!(patterns.templates().len(), limit),
            }
        }
    }

    /// Any bytes of a body, of any length, have a template that matches them.
    #[test]
    fn any_body_has_a_template(body in "\\PC{0,3000}|[a-z0-9 \n]{0,3000}") {
        let template = Template::of(&body);
        prop_assert!(template.matches(&body));
        let query = template.query();
        prop_assert!(evaluate(&query, &Body(&body)), "{query}");
        prop_assert_eq!(parse(&query.to_string(), QUERY).expect("a query"), query);
    }
}
