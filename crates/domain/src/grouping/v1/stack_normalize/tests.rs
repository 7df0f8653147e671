use proptest::prelude::*;

use super::normalize_stack;

#[track_caller]
fn check(stack: &str, expected: &str) {
    assert_eq!(normalize_stack(stack), expected);
    assert_eq!(normalize_stack(expected), expected, "normalization is not idempotent");
}

// WIRE 4.6, step by step; each row is a line below a header.
#[test]
fn steps_table() {
    for (line, expected) in [
        // 1, 2: headers keep their type.
        ("Caused by: java.io.IOException: disk 7 full", "Caused by: java.io.IOException"),
        ("Caused by: java.io.IOException", "Caused by: java.io.IOException"),
        ("ValueError: invalid literal 'x'", "ValueError"),
        ("*errors.errorString: not found", "*errors.errorString"),
        (r"App\Exception\ImportFailed: row 7", r"App\Exception\ImportFailed"),
        ("ActiveRecord::RecordNotFound: no 7", "ActiveRecord::RecordNotFound"),
        ("some words here: text", "some words here: text"),
        // 4, 5: origins and folders are removed where a line number follows.
        ("at f (https://cdn.example.com:8443/js/app.js:1:4821)", "at f (app.js:1:4821)"),
        ("at f (https://cdn.example.com/js/app.js?v=77:20:5)", "at f (app.js:20)"),
        ("at f (file:///srv/app/main.mjs:14:2)", "at f (main.mjs:14)"),
        ("at /srv/app/main.js:14", "at main.js:14"),
        ("#0 /var/www/src/Kernel.php(33): handle()", "#0 Kernel.php(33): handle()"),
        (r"at A.B() in C:\build\src\A.cs:line 7", "at A.B() in A.cs:line 7"),
        (r#"File "/usr/lib/python3/json/decoder.py", line 7, in x"#, r#"File "decoder.py", line 7, in x"#),
        ("GET https://example.com/a/b failed", "GET /a/b failed"),
        ("open /etc/hosts failed", "open /etc/hosts failed"),
        // 6: columns are removed from line 2 on.
        ("at app.js:1:4821", "at app.js:1:4821"),
        ("at app.js:2:4821", "at app.js:2"),
        ("at app.js:11:4821", "at app.js:11"),
        // 7: versions are removed.
        ("at f (/x/pkg@v1.2.3/a.go:10)", "at f (a.go:10)"),
        ("github.com/x/y@v1.2.3-rc.1/z", "github.com/x/y/z"),
        ("lodash@4.17.21/index", "lodash/index"),
        // 8 to 13: ids and addresses.
        ("main.f(0xc000012345, 0x1)", "main.f(<hex>, <hex>)"),
        ("order 550e8400-e29b-41d4-a716-446655440000 gone", "order <uuid> gone"),
        ("order 123456 of 1234", "order <id> of 1234"),
        ("worker12345", "worker<id>"),
        ("a.rs:123456", "a.rs:123456"),
        ("mail to jane.doe+x@mail.example.com bounced", "mail to <email> bounced"),
        ("dial tcp 10.1.2.3:5432 refused", "dial tcp <ip> refused"),
        ("from 127.0.0.1", "from <ip>"),
        ("version 1.2.3.4.5", "version 1.2.3.4.5"),
        ("goroutine 42 [running]", "goroutine <n> [running]"),
        // 14, 15: JVM line numbers and omitted frames.
        ("\tat com.shop.Cart.add(Cart.java:52)", "at com.shop.Cart.add(Cart.java)"),
        ("\tat com.shop.CartKt.add(Cart.kt:52)", "at com.shop.CartKt.add(Cart.kt)"),
        ("\t... 17 more", "... more"),
        // 16: blanks collapse.
        ("  at   f \t (a)  ", "at f (a)"),
    ] {
        check(&format!("Head\n{line}"), &format!("Head\n{expected}"));
    }
}

#[test]
fn whole_traces() {
    check(
        "TypeError: x is undefined\nrender()\n    app.js:1:4821\n<anonymous>()\n    app.js:20:1\n",
        "TypeError\n<fn>\napp.js:1:4821\n<fn>\napp.js:20",
    );
    check(
        "java.lang.IllegalStateException: cart 12 is closed\n\tat com.shop.Cart.add(Cart.java:52)\n\tat com.shop.Api.post(Api.java:9)\nCaused by: java.io.IOException: gone\n\t... 2 more\n",
        "java.lang.IllegalStateException\nat com.shop.Cart.add(Cart.java)\nat com.shop.Api.post(Api.java)\nCaused by: java.io.IOException\n... more",
    );
    check(
        "Traceback (most recent call last):\r\n  File \"/app/a.py\", line 3, in f\r\n    return g(1)\r\nKeyError: 'k'\r\n",
        "Traceback (most recent call last):\nFile \"a.py\", line 3, in f\nreturn g(1)\nKeyError",
    );
    check(
        "panic: boom\n\ngoroutine 7 [running]:\nmain.f(0xc0001)\n\t/home/me/src/main.go:12 +0x1f\n",
        "panic\ngoroutine <n> [running]:\nmain.f(<hex>)\nmain.go:12 +<hex>",
    );
    // Flutter frames have the format of JavaScript's.
    check("StateError: gone\n_Cart.add\n    cart.dart:10:3", "StateError\n<fn>\ncart.dart:10");
}

// Nothing else distinguishes a trace of one line.
#[test]
fn a_single_line_keeps_its_message() {
    check("Error: no route to 10.0.0.1", "Error: no route to <ip>");
    check("\n  Error: boom\n\n", "Error: boom");
    check("", "");
    check(" \n\t\n", "");
}

#[test]
fn two_bundles_of_one_source_differ_only_in_folders() {
    let stack =
        |root: &str| format!("Error: x\n    at f ({root}/dist/server.js:120:15)\n    at node:internal/main:28:49");
    assert_eq!(normalize_stack(&stack("/app")), normalize_stack(&stack("file:///home/me/project")));
}

/// Text built from everything the rules match, in any order.
fn nasty_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z.:/@ \\\\()\"*0-9-]{0,6}",
        "\\PC{0,3}",
        prop::sample::select(vec![
            "://",
            "http://h",
            "/a/b.js",
            ":1:2",
            ":20:3",
            "@v1.2",
            "@1.2.3",
            "0x",
            "0xff",
            "12345",
            "a@b.cd",
            "1.2.3.4",
            ":80",
            "goroutine 7",
            "... 3 more",
            "Caused by: ",
            "Next ",
            "E: ",
            "Foo:",
            "\n",
            "\n    ",
            "\r\n",
            "\t",
            "(A.java:5)",
            ".kt",
            "C:\\x\\y",
            ":line 5",
            "?q=1",
            "()",
            "550e8400-e29b-41d4-a716-446655440000",
            "é",
            "\u{a0}",
            "::",
            "//",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn normalization_is_idempotent(text in nasty_text()) {
        let once = normalize_stack(&text);
        prop_assert_eq!(normalize_stack(&once), once);
    }

    #[test]
    fn never_panics(text in "\\PC*") {
        normalize_stack(&text);
    }
}

#[test]
fn long_repetitive_text_takes_linear_time() {
    for piece in ["/", "@", ":", "a@", "1.", "://", "0x", "http://", ":1", "C:\\", "550e8400-", "\n    a:1\n"] {
        normalize_stack(&piece.repeat(100_000));
    }
}
