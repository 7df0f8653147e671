//! The tables of `docs/use/query-language.md`, and properties over random queries and rows.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

const LIMITS: ParseLimits = ParseLimits { bytes: 4096, terms: 64, depth: 16 };

fn parsed(text: &str) -> Expr {
    parse(text, LIMITS).unwrap_or_else(|error| panic!("{text}: {error} at {}", error.position))
}

/// A row as a list of typed fields, and its strings.
struct Fields(Vec<(&'static str, Cell<'static>)>);

impl Row for Fields {
    fn cell(&self, field: &Field) -> Option<Cell<'_>> {
        let name = match field.scope {
            Some(scope) => format!("{}.{}", scope.name(), field.key),
            None => field.key.clone(),
        };
        self.0.iter().find(|(key, _)| *key == name).map(|(_, cell)| cell.clone())
    }

    fn strings(&self) -> Vec<Cow<'_, str>> {
        self.0
            .iter()
            .filter_map(|(_, cell)| match cell {
                Cell::Text(text) => Some(text.clone()),
                _ => None,
            })
            .collect()
    }
}

const LEVELS: &[(&str, f64, f64)] = &[("info", 9.0, 12.0), ("warn", 13.0, 16.0), ("error", 17.0, 20.0)];

fn row() -> Fields {
    let text = |text: &'static str| Cell::Text(Cow::Borrowed(text));
    Fields(vec![
        ("service", text("checkout")),
        ("body", text("Payment: card declined for order 17")),
        ("level", Cell::Named { number: 17.0, names: LEVELS }),
        ("duration", Cell::Duration(250.0e6)),
        ("size", Cell::Size(2048.0)),
        ("time", Cell::Time(1_763_888_640_000_000_000)),
        ("tokens", Cell::Number(600.0)),
        ("http.route", text("/users/{id}")),
        ("retries", text("3")),
        ("resource.host.name", text("web-1")),
        ("star", text("a*b")),
    ])
}

#[test]
fn every_form_has_its_meaning() {
    let table = [
        ("", true),
        ("service:checkout", true),
        ("service:Checkout", false),
        ("service:check*", true),
        ("service:*out", true),
        ("service:c*k*t", true),
        ("service:k*", false),
        ("service=checkout", true),
        ("service=check*", false),
        ("star=a*b service:checkout", true),
        (r"star:a\*b", true),
        (r"service:check\*", false),
        ("service!=payments", true),
        ("service!=checkout", false),
        ("missing!=x", true),
        ("missing:*", false),
        ("service:*", true),
        ("-path:/health", true),
        ("NOT service:checkout", false),
        ("has:retries", true),
        ("has:missing", false),
        ("-has:missing", true),
        ("\"card declined\"", true),
        ("CARD", true),
        ("declined card", true),
        ("\"declined card\"", false),
        ("card*order", true),
        ("order*card", false),
        ("refused OR declined", true),
        ("card refused OR declined", true),
        ("card (refused OR missing)", false),
        ("card AND declined", true),
        ("level>=error", true),
        ("level>=warn", true),
        ("level>error", false),
        ("level:ERROR", true),
        ("level:warn", false),
        ("level<error", false),
        ("level>=17", true),
        ("level>18", false),
        ("level:nonsense", false),
        ("duration>200ms", true),
        ("duration>200", true),
        ("duration>0.2s", true),
        ("duration>300ms", false),
        ("duration<=250000us", true),
        ("duration:250ms", true),
        ("duration>1kB", false),
        ("size>=2KiB", true),
        ("size>2kB", true),
        ("size>2048", false),
        ("size>1ms", false),
        ("tokens>599", true),
        ("tokens:>599", true),
        ("tokens:600", true),
        ("tokens>600ms", false),
        ("retries>2", true),
        ("retries>=10", false),
        ("retries>\"2\"", false),
        ("service>2", false),
        ("time>2025-11-23T09:00:00Z", true),
        ("time<2025-11-23T09:04:00+00:00", false),
        ("time:2025-11-23T09:04:00Z", true),
        ("http.route:/users/{id}", true),
        ("http.route:\"/users/{id}\"", true),
        ("http.route:/users/*", true),
        ("service:(payments OR checkout)", true),
        ("service:(payments OR -checkout)", false),
        ("service:(c* -checkout)", false),
        ("resource.host.name:web-1", true),
        ("host.name:web-1", false),
        (r"\resource.host.name:web-1", true),
        ("\"http.route\":*id*", true),
        ("--service:payments service:checkout", false),
    ];
    for (text, wanted) in table {
        assert_eq!(evaluate(&parsed(text), &row()), wanted, "{text}: {:?}", parsed(text));
    }
}

#[test]
fn an_error_points_at_its_position() {
    let table = [
        ("service:", 8, "a value is missing here"),
        ("service: checkout", 8, "a value is missing here"),
        (":checkout", 0, "a field's name is missing"),
        ("a OR", 4, "a term is missing after `OR`"),
        ("OR a", 0, "a term is missing before `OR`"),
        ("a AND", 5, "a term is missing after `AND`"),
        ("AND a", 0, "a term is missing before `AND`"),
        ("a (b OR c", 2, "`)` is missing for this"),
        ("a b)", 3, "`)` closes nothing"),
        ("a }", 2, "`}` closes nothing"),
        ("()", 0, "the parentheses are empty"),
        ("k:()", 2, "the parentheses are empty"),
        ("x \"card declined", 2, "the closing quote is missing"),
        (r"x\", 1, "a character is missing after the backslash"),
        ("ser*:x", 0, "a field's name has no wildcards"),
        ("has:", 4, "a field's name is expected after `has:`"),
        ("has:a*", 4, "a field's name is expected after `has:`"),
        ("NOT", 3, "a term is missing after the negation"),
        ("é )", 3, "`)` closes nothing"),
        ("{a}", 0, "only a search of traces has conditions in braces"),
    ];
    for (text, position, message) in table {
        let error = parse(text, LIMITS).expect_err(text);
        assert_eq!((error.position, error.message.as_str()), (position, message), "{text}");
    }
}

#[test]
fn a_query_is_bounded() {
    let small = ParseLimits { bytes: 20, terms: 3, depth: 2 };
    let error = |text: &str| parse(text, small).expect_err(text);
    assert_eq!(error(&"a".repeat(21)).message, "a query has at most 20 bytes");
    assert_eq!(error("a b c d"), ParseError { message: "a query has at most 3 terms".into(), position: 6 });
    assert_eq!(error("((( a )))").message, "a query is at most 2 levels deep");
    assert_eq!(error("---a").message, "a query is at most 2 levels deep");
    assert!(parse("(-a)", small).is_ok());
    let deep = "(".repeat(4096);
    assert!(parse(&deep, LIMITS).is_err());
    assert!(parse_trace(&"!".repeat(4096), LIMITS).is_err());
    assert!(parse_trace(&format!("{}{{a}}", "!".repeat(4000)), LIMITS).is_err());
}

#[test]
fn the_printed_form_is_canonical() {
    let table = [
        ("  a   AND  b ", "a b"),
        ("a OR b c", "a OR (b c)"),
        ("(a) ((b))", "a b"),
        ("(a b) c", "a b c"),
        ("(a OR b) c", "(a OR b) c"),
        ("NOT a", "-a"),
        ("!a", "-a"),
        ("k!=v", "-k=v"),
        ("k:>=5", "k>=5"),
        ("k:(a OR b)", "k:a OR k:b"),
        ("-(a OR b)", "-(a OR b)"),
        (r#""a \"b\"""#, r#""a \"b\"""#),
        (r"\OR", r"\OR"),
        (r"N\OT(a)", r"\NOT(a)"),
        (r"ORDER(a)", "ORDER(a)"),
        ("- a", r"\- a"),
        ("render()", "render()"),
        (r"k:\(a\)", r"k:\(a\)"),
        ("k:-5", r"k:\-5"),
        ("\"has\":x", r"\has:x"),
    ];
    for (text, printed) in table {
        assert_eq!(parsed(text).to_string(), printed, "{text}");
        assert_eq!(parsed(printed), parsed(text), "{printed}");
    }
}

#[test]
fn traces_have_conditions_on_several_spans() {
    let table = [
        ("service:a", "{service:a}"),
        ("", "{}"),
        ("{service:a} > {service:b}", "{service:a} > {service:b}"),
        ("{service:a}>>{service:b}>{}", "{service:a} >> {service:b} > {}"),
        ("!{error:true} {a}", "!{error:true} {a}"),
        ("{a} AND ({b} OR {c} {d})", "{a} ({b} OR ({c} {d}))"),
        ("NOT ({a} {b})", "!({a} {b})"),
        ("{http.route:/users/{id}}", "{http.route:/users/{id}}"),
        (r"{\OR{a}}", r"{\OR{a}}"),
    ];
    for (text, printed) in table {
        let expr = parse_trace(text, LIMITS).unwrap_or_else(|error| panic!("{text}: {error} at {}", error.position));
        assert_eq!(expr.to_string(), printed, "{text}");
        assert_eq!(parse_trace(printed, LIMITS), Ok(expr), "{printed}");
    }
    for (text, position) in [("{a} >", 5), ("{a", 0), ("{a} b", 4), ("{a} OR", 6), ("!{", 1)] {
        assert_eq!(parse_trace(text, LIMITS).expect_err(text).position, position, "{text}");
    }
}

fn strings() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{1,3}",
        "[a-c:=<>!*\\\\\"(){} .é-]{1,6}",
        Just("OR".to_owned()),
        Just("AND".to_owned()),
        Just("NOT".to_owned()),
        Just("has".to_owned()),
        Just("resource.a".to_owned()),
        Just("child.".to_owned()),
        Just("12ms".to_owned()),
    ]
}

fn literals() -> impl Strategy<Value = Literal> {
    let quoted = prop_oneof![Just(String::new()), strings()].prop_map(Literal::quoted);
    let parts = prop::collection::vec(prop_oneof![Just(String::new()), strings()], 1..4);
    let words = parts.prop_map(|mut parts| {
        // A word without quotes is not empty, and wildcards alone are one wildcard.
        if parts.concat().is_empty() {
            parts = vec![String::new(); 2];
        }
        Literal { pattern: Pattern::with_wildcards(parts), quoted: false, position: Position::default() }
    });
    prop_oneof![quoted, words]
}

fn fields() -> impl Strategy<Value = Field> {
    let scopes = prop_oneof![Just(None), prop::sample::select(&Scope::ALL[..]).prop_map(Some)];
    (scopes, strings()).prop_map(|(scope, key)| Field { scope, key, position: Position::default() })
}

fn queries() -> impl Strategy<Value = Expr> {
    let comparisons = prop::sample::select(vec![
        Comparison::Matches,
        Comparison::Equals,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
    ]);
    let leaves = prop_oneof![
        literals().prop_map(Expr::Text),
        fields().prop_map(Expr::Has),
        (fields(), comparisons, literals()).prop_map(|(field, comparison, literal)| Expr::Compare {
            field,
            comparison,
            literal
        }),
    ];
    leaves.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Expr::all),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Expr::any),
            inner.prop_map(Expr::negated),
        ]
    })
}

fn trace_queries() -> impl Strategy<Value = TraceExpr> {
    let relations = prop_oneof![Just(Relation::Child), Just(Relation::Descendant)];
    let spans = || prop_oneof![Just(Expr::everything()), queries()];
    let chains = (spans(), prop::collection::vec((relations, spans()), 0..3))
        .prop_map(|(first, rest)| TraceExpr::Chain(SpanChain { first, rest }));
    chains.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(TraceExpr::all),
            prop::collection::vec(inner.clone(), 1..4).prop_map(TraceExpr::any),
            inner.prop_map(TraceExpr::negated),
        ]
    })
}

const WIDE: ParseLimits = ParseLimits { bytes: 1 << 20, terms: 1 << 16, depth: 64 };

proptest! {
    #[test]
    fn a_printed_query_parses_to_itself(expr in queries()) {
        prop_assert_eq!(parse(&expr.to_string(), WIDE), Ok(expr));
    }

    #[test]
    fn a_printed_trace_query_parses_to_itself(expr in trace_queries()) {
        prop_assert_eq!(parse_trace(&expr.to_string(), WIDE), Ok(expr));
    }

    #[test]
    fn any_text_is_a_query_or_an_error_inside_it(text in "[a-c:=<>!*\\\\\"(){} .é\n-]{0,24}|\\PC{0,40}") {
        for error in [parse(&text, LIMITS).err(), parse_trace(&text, LIMITS).err()].into_iter().flatten() {
            prop_assert!(error.position <= text.len() && text.is_char_boundary(error.position), "{error:?}");
        }
        if let Ok(expr) = parse(&text, LIMITS) {
            let printed = expr.to_string();
            prop_assert_eq!(parse(&printed, WIDE), Ok(expr.clone()), "{}", printed);
            prop_assert_eq!(evaluate(&expr, &row()), !evaluate(&expr.negated(), &row()));
        }
    }

    #[test]
    fn a_pattern_matches_as_its_naive_form_does(parts in prop::collection::vec("[ab]{0,2}", 1..4), text in "[ab]{0,6}") {
        fn naive(parts: &[String], text: &str) -> bool {
            match parts {
                [] => false,
                [last] => text == last,
                [first, rest @ ..] => text.strip_prefix(first.as_str()).is_some_and(|text| {
                    (0..=text.len()).any(|skipped| naive(rest, &text[skipped..]))
                }),
            }
        }
        prop_assert_eq!(Pattern::with_wildcards(parts.clone()).matches(&text), naive(&parts, &text));
    }
}
