use proptest::prelude::*;

use super::{Basis, Occurrence, components, group, is_one_failure, v1};

fn of<'a>(exception_type: &'a str, message: &'a str, stack_trace: &'a str) -> Occurrence<'a> {
    Occurrence { exception_type, message, stack_trace, ..Occurrence::default() }
}

fn hash(exception_type: &str, message: &str, stack_trace: &str) -> u64 {
    group(&of(exception_type, message, stack_trace)).hash
}

#[track_caller]
fn check(same: bool, left: (&str, &str), right: (&str, &str)) {
    let hashes = [left, right]
        .map(|(exception_type, message)| hash(exception_type, message, &format!("{exception_type}: {message}")));
    assert_eq!(hashes[0] == hashes[1], same, "{left:?} {right:?}");
}

// DECISIONS 30: without frames the type and the parameterised message.
#[test]
fn messages_table() {
    let same = |left, right| check(true, ("E", left), ("E", right));
    let two = |left, right| check(false, ("E", left), ("E", right));
    same("no order 550e8400-e29b-41d4-a716-446655440000", "no order 650e8400-e29b-41d4-a716-446655440001");
    same("dial tcp 10.0.0.7:5432: connect: refused", "dial tcp 10.0.0.9:5433: connect: refused");
    same("dial tcp [2001:db8::1]:5432: refused", "dial tcp [2001:db8::2]:5432: refused");
    same("order 1234567 gone", "order 7654321 gone");
    same("order code 1234567 gone", "order code 7654321 gone");
    same("user 17 not found", "user 18 not found");
    same("blob 9f8e7d6c5b4a missing", "blob 0a1b2c3d4e5f missing");
    same("timeout after 1.52s", "timeout after 3.07s");
    same("token expired at 2026-11-28T06:00:01Z", "token expired at 2026-11-28T07:00:09Z");
    same("GET https://a.example/orders/17?x=1 failed", "GET https://a.example/orders/18?y=2 failed");
    same("id 01ARZ3NDEKTSV4RRFFQ69G5FAV", "id 01BX5ZZKBKACTAV9WEVGEMMVRZ");
    same("a  b\n c", "a b c");
    two("GET https://a.example/orders/17 failed", "GET https://a.example/carts/17 failed");
    two("status 404", "status 503");
    two("HTTP/1.1 404", "HTTP/1.1 503");
    two("failed with status code 404", "failed with status code 500");
    two("utf8 is bad", "utf16 is bad");
    two("connection refused", "no such file");
    two("flag is true", "flag is false");
    check(false, ("E", "x"), ("F", "x"));
}

// A message that has only values says nothing: the name of the span or the scope is added.
#[test]
fn a_message_of_values_needs_its_context() {
    let one = Occurrence { exception_type: "E", message: "17", context: "GET /a", ..Occurrence::default() };
    assert_ne!(group(&one).hash, group(&Occurrence { context: "GET /b", ..one }).hash);
    assert_eq!(group(&one).hash, group(&Occurrence { message: "18", ..one }).hash);
    let words = Occurrence { message: "no user", ..one };
    assert_eq!(group(&words).hash, group(&Occurrence { context: "GET /b", ..words }).hash);
}

// Issue 35: an explicit fingerprint wins.
#[test]
fn fingerprints() {
    let one = Occurrence { fingerprint: " db ", ..of("E", "m", "E: m\n    at f (/a.js:1:2)") };
    let other = Occurrence { fingerprint: "db", ..of("F", "n", "") };
    assert_eq!(group(&one).hash, group(&other).hash);
    assert_eq!(group(&one).basis, Basis::Fingerprint);
    let with_default = |exception_type| Occurrence { fingerprint: "{{default}} eu", ..of(exception_type, "m", "") };
    assert_ne!(group(&with_default("E")).hash, group(&with_default("F")).hash);
    assert_eq!(group(&with_default("E")).hash, group(&with_default("E")).hash);
    assert_eq!(group(&Occurrence { fingerprint: "  ", ..of("E", "m", "") }), group(&of("E", "m", "")));
    // Never cut.
    let long = ["a".repeat(500), ["a".repeat(500), "b".to_owned()].concat()];
    let hashes = long.each_ref().map(|fingerprint| group(&Occurrence { fingerprint, ..of("E", "m", "") }).hash);
    assert_ne!(hashes[0], hashes[1]);
}

// Content hashes go, words stay.
#[test]
fn files_table() {
    let hash = |file: &str| hash("E", "m", &format!("E: m\n    at f (https://a.example/assets/{file}:2:5)"));
    for (same, one, other) in [
        (true, "orders-D4f9Kq2x.js", "orders-Zk81mmQw.js"),
        (true, "index-B_x9aBcd.js", "index-DiwrgTda.js"),
        (true, "main.4f8a9c1b2d3e.js", "main.0a1b2c3d4e5f.js"),
        (true, "4f8a9c1b2d3e4f5a.js", "0a1b2c3d4e5f6a7b.js"),
        (true, "app.js?v=17", "app.js?v=18"),
        (false, "orders-D4f9Kq2x.js", "carts-D4f9Kq2x.js"),
        (false, "cart-component.js", "cart-container.js"),
        (false, "customer-customers1.js", "customer-customers2.js"),
        (false, "orders-list-view.js", "orders-edit-view.js"),
    ] {
        assert_eq!(hash(one) == hash(other), same, "{one} {other}");
    }
}

#[test]
fn basis_table() {
    let java = "\n\tat com.shop.A.b(A.java:3)\n\tat java.util.List.map(List.java:4)";
    for (exception_type, message, stack, expected) in [
        ("E", "m", format!("E: m{java}"), Basis::ApplicationFrames),
        ("E", "m", "E: m\n\tat java.util.List.map(List.java:4)".to_owned(), Basis::AllFrames),
        ("E", "m", "E: m".to_owned(), Basis::Message),
        ("E", "", "E".to_owned(), Basis::Type),
        ("TypeError", "m", "TypeError: m\n    at a (https://x.example/app.js:1:4821)".to_owned(), Basis::Message),
    ] {
        assert_eq!(group(&of(exception_type, message, &stack)).basis, expected, "{stack}");
        assert_eq!(components(&of(exception_type, message, &stack)).basis, expected, "{stack}");
    }
}

// Forms that no runtime of the corpus printed: from documentation of the runtimes.
#[test]
fn other_forms() {
    let stack = |frames: &str| format!("E: m\n{frames}");
    for (what, one, other) in [
        (
            "Hermes",
            "    at onPress (address at index.android.bundle:1:3366)\n    at b (native)",
            "    at onPress (address at /data/user/0/x/index.android.bundle:1:3390)\n    at b (native)",
        ),
        (
            "two lines",
            "f()\n    https://a.example/assets/app-D4f9Kq2x.js:2:5\ng()\n    https://a.example/x.js:9:5",
            "f()\n    https://b.example/assets/app-Zk81mmQw.js:3:15\ng()\n    https://a.example/x.js:19:5",
        ),
        (
            "Dart",
            "#0      Cart.add.<anonymous closure> (package:shop/cart.dart:12:5)\n#1      main (package:shop/main.dart:3:1)",
            "#0      Cart.add.<anonymous closure> (package:shop/cart.dart:15:9)\n#1      main (package:shop/main.dart:4:1)",
        ),
        (
            "gdb",
            "#0  0x000055 in shop::load (key=17) at shop.cpp:12\n#1  0x000066 in main () at shop.cpp:30",
            "#0  0x000077 in shop::load (key=18) at shop.cpp:14\n#1  0x000088 in main () at shop.cpp:33",
        ),
        (
            "Android",
            "    #00 pc 0000000000001234  /data/app/x/lib/arm64/libshop.so (shop::load(int)+12) (BuildId: 0a1b)",
            "    #00 pc 0000000000005678  /data/app/y/lib/arm64/libshop.so (shop::load(int)+20) (BuildId: 9f8e)",
        ),
        (
            "Apple",
            "0   Shop   0x0000000102 Cart.add(item:) + 12\n1   UIKitCore   0x0000000103 run + 4",
            "0   Shop   0x0000000902 Cart.add(item:) + 44\n1   UIKitCore   0x0000000903 run + 8",
        ),
        (
            ".NET 6",
            "   at Shop.Orders.<GetAsync>d__12.MoveNext() in /src/Orders.cs:line 12",
            "   at Shop.Orders.<GetAsync>d__14.MoveNext() in C:\\b\\Orders.cs:line 40",
        ),
        (
            ".NET in German",
            "   bei Shop.Orders.Get(Int32 key) in C:\\a\\Orders.cs:Zeile 12.\n   at Shop.P.Main()",
            "   bei Shop.Orders.Get(Int32 key) in C:\\b\\Orders.cs:Zeile 19.\n   at Shop.P.Main()",
        ),
        (
            "PHP 8.4",
            "#0 /srv/a/x.php(12): A->{closure:A::run():9}(1)\n#1 {main}",
            "#0 /srv/b/x.php(14): A->{closure:A::run():11}(2)\n#1 {main}",
        ),
        (
            "JDK 21",
            "\tat app//com.shop.A.b(A.java:3) ~[shop-1.2.jar:1.2]\n\tat java.base@21/java.lang.Thread.run(Thread.java:4)",
            "\tat app//com.shop.A.b(A.java:5) ~[shop-1.3.jar:1.3]\n\tat java.base@21/java.lang.Thread.run(Thread.java:9)",
        ),
        (
            "JSON",
            "    at f (/a.js:1:2)\n    at g (/b.js:1:2)",
            "\u{1b}[90m    at f (/c/a.js:4:2)\u{1b}[39m\n    at g (/b.js:3:2)",
        ),
        (
            "Ruby from the bottom",
            "Traceback (most recent call last):\n\t1: from /app/main.rb:7:in `<main>'\n/a/o.rb:12:in `load': m (E)",
            "Traceback (most recent call last):\n\t1: from /src/main.rb:9:in `<main>'\n/b/o.rb:14:in `load': m (E)",
        ),
    ] {
        let (one, other) = (stack(one), stack(other));
        assert_ne!(components(&of("E", "m", &one)).basis, Basis::Message, "{what} {one}");
        assert_eq!(
            hash("E", "m", &one),
            hash("E", "m", &other),
            "{what}\n{:?}\n{:?}",
            components(&of("E", "m", &one)),
            components(&of("E", "m", &other))
        );
    }
    let escaped = stack("    at f (/a.js:1:2)\n    at g (/b.js:1:2)");
    assert_eq!(hash("E", "m", &escaped), hash("E", "m", &escaped.replace('\n', "\\n")), "escaped line breaks");
}

// Issue 35, part 1, 7: the traces that nested spans record of one failure.
#[test]
fn nested_records_of_one_failure() {
    let trace = |frames: &[&str]| {
        let frames: Vec<String> =
            frames.iter().map(|f| format!("  File \"/app/{f}.py\", line 3, in {f}\n    x()\n")).collect();
        format!("Traceback (most recent call last):\n{}ValueError: m\n", frames.concat())
    };
    let (outer, inner, other) =
        (trace(&["post", "order", "load"]), trace(&["order", "load"]), trace(&["order", "save"]));
    assert!(is_one_failure(&of("ValueError", "m", &outer), &of("ValueError", "m", &inner)));
    assert!(!is_one_failure(&of("ValueError", "m", &outer), &of("ValueError", "m", &other)));
    assert!(!is_one_failure(&of("ValueError", "m", &outer), &of("ValueError", "n", &inner)));
    assert!(!is_one_failure(&of("ValueError", "m", ""), &of("ValueError", "m", "")));
}

// Rows of earlier versions keep their addresses: the old rule gives the same hashes as before.
#[test]
fn version_one_is_stable() {
    assert_eq!(v1::issue_group("E", "m", "E: m\n  at f"), v1::issue_group("E", "n", "E: n\n  at f"));
}

proptest! {
    #[test]
    fn never_panics(exception_type in ".{0,20}", message in "(.|\n){0,60}", stack in "(.|\n){0,300}") {
        let of = of(&exception_type, &message, &stack);
        group(&of);
        components(&of);
    }

    // Pieces of real grammars in any order.
    #[test]
    fn never_panics_on_pieces(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40), cut in 0usize..2000) {
        let text = pieces.concat();
        let end = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let of = of("E", "a\n\tat x", &text[..end]);
        let one = group(&of);
        prop_assert_eq!(components(&of).basis, one.basis);
        prop_assert_eq!(group(&of), one);
    }
}

const PIECES: &[&str] = &[
    "\n",
    "\r\n",
    " ",
    "\t",
    "at ",
    "a.b.C.d(E.java:1)",
    "f (x.js:1:2)",
    "x@y.js:1:2",
    "Caused by: A: b",
    "... 3 more",
    "Suppressed: A",
    "Traceback (most recent call last):",
    "  File \"x.py\", line 1, in f",
    "E: x",
    "  + Exception Group Traceback (most recent",
    "  +-+---- 1 ----",
    "  | ",
    "    | ",
    "[Previous line repeated 9 more times]",
    "The above exception was the direct cause",
    "goroutine 1 [running]:",
    "main.f(...)",
    "\t/a.go:1 +0x1",
    "panic(",
    "   0: a::b",
    "             at x.rs:1:2",
    "stack backtrace:",
    " ---> X: y",
    "   at A.B.C(D e)",
    "--- End of inner",
    "(Inner Exception #1) X",
    "<---",
    "x.rb:1:in `f': m (T)",
    "#0 a.php(1): B->c(1)",
    "Stack trace:",
    "Next ",
    "#1 {main}",
    "** (E) m",
    "    (a 1.0) x.ex:1: A.b/1",
    "#0      f (package:a/b.dart:1:2)",
    "./a(_ZN1aI1bE3getEi+0x1)[0x1]",
    "#0 0x1 in f a.c:1",
    "0   A   0x1 f + 1",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "é",
    "\u{1b}[3",
    "\\n",
    "'",
    "\"",
    "$",
    "@",
    "::",
    "->",
    "=(",
    "==",
];

// Linear time: 100 KB of each piece take moments. A quadratic rule would take minutes.
#[test]
fn long_traces_take_linear_time() {
    for piece in PIECES {
        for ending in ["", "\n"] {
            let text = [piece, ending].concat().repeat(100_000 / (piece.len() + 1));
            group(&of("E", "m", &text));
            group(&of("E", &text, ""));
        }
    }
}
