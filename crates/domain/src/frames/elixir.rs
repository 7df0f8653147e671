//! Exceptions of Elixir and Erlang. Printed by Elixir 1.14 on OTP 25.

use super::model::{Builder, Frame, Lines, Relation, Role};
use super::text::{indentation, trailing_number, write_file};

pub(super) fn parse<'a>(lines: Lines<'a>, builder: &mut Builder<'a>) {
    for line in lines {
        let trimmed = line.trim();
        if let Some(header) = trimmed.strip_prefix("** (") {
            let exception_type = header.split_once(')').map_or("", |(kind, _)| kind);
            let is_exit = exception_type.starts_with("EXIT");
            let exception_type = if is_exit { "EXIT" } else { exception_type };
            let parent = builder.stack.exceptions.len().saturating_sub(1);
            let relation = if builder.stack.exceptions.is_empty() { Relation::Outermost } else { Relation::Cause };
            builder.exception(exception_type, relation, parent);
            continue;
        }
        if indentation(line) >= 2
            && let Some(frame) = parse_frame(trimmed)
        {
            builder.frame(frame);
        }
    }
}

/// `[(APP VERSION) ][FILE:N: ]FUNCTION`.
fn parse_frame(text: &str) -> Option<Frame<'_>> {
    let (application, rest) = match text.strip_prefix('(') {
        Some(rest) if !text.starts_with("(file)") => {
            let (application, rest) = rest.split_once(") ")?;
            (application.split(' ').next().unwrap_or(""), rest)
        }
        _ => ("", text),
    };
    let (place, function) = match rest.split_once(": ") {
        Some((place, function)) if trailing_number(place).is_some() => (place, function),
        _ => ("", rest),
    };
    let (file, line) = trailing_number(place).unwrap_or(("", 0));
    if file.contains(' ') || file.is_empty() && application.is_empty() && !is_function(function) {
        return None;
    }
    let (module, name) = split(function);
    let role = role(application, module, file);
    Some(Frame { module, function: name, file, line, column: 0, role })
}

/// `Mod.fun/N`, `Mod.fun(ARGS)`, `:erlang.fun(ARGS)`.
fn is_function(text: &str) -> bool {
    let is_name = text.starts_with(':') || text.starts_with(|first: char| first.is_ascii_uppercase());
    let head = text.split(['(', '/']).next().unwrap_or("");
    is_name && head.contains('.') && !head.contains(' ') && head.len() < text.len()
}

/// Module and function without arguments and arity.
fn split(function: &str) -> (&str, &str) {
    // The arity of `anonymous fn/1 in Mod.fun/0`.
    let function =
        function.strip_prefix("anonymous fn").and_then(|rest| rest.split_once(" in ")).map_or(function, |(_, of)| of);
    // A quoted name may have any letters: `Enum."-map/2-lists^map/1-0-"/2`.
    if let Some(quote) = function.find(".\"") {
        let name = &function[quote + 2..];
        return (&function[..quote], &name[..name.find('"').unwrap_or(name.len())]);
    }
    let open = function.find('(').unwrap_or(function.len());
    let head = &function[..open];
    let Some(dot) = head.rfind('.') else { return ("", function) };
    // The operator `/` is a name too: `:erlang./(1, 0)`.
    let name = &head[dot + 1..];
    let name = name.rsplit_once('/').filter(|(name, _)| !name.is_empty()).map_or(name, |(name, _)| name);
    (&head[..dot], name)
}

const LIBRARIES: &[&str] = &[
    "elixir",
    "stdlib",
    "kernel",
    "erts",
    "ssl",
    "inets",
    "mix",
    "ex_unit",
    "logger",
    "iex",
    "eex",
    "compiler",
    "crypto",
    "db_connection",
    "postgrex",
    "oban",
    "cowboy",
    "cowlib",
    "ranch",
    "bandit",
    "thousand_island",
    "broadway",
    "telemetry",
    "tesla",
    "finch",
    "mint",
    "hackney",
    "jason",
    "absinthe",
    "gen_stage",
    "swoosh",
    "nimble_pool",
    "myxql",
];

fn role(application: &str, module: &str, file: &str) -> Role {
    let is_library = LIBRARIES.contains(&application)
        || ["phoenix", "plug", "ecto", "opentelemetry"].iter().any(|prefix| application.starts_with(prefix))
        || file.starts_with("deps/")
        || file.contains("/deps/")
        || application.is_empty()
            && matches!(
                module,
                ":erlang"
                    | ":lists"
                    | ":maps"
                    | ":ets"
                    | ":gen_server"
                    | ":proc_lib"
                    | "Enum"
                    | "Map"
                    | "String"
                    | "Keyword"
            );
    if is_library { Role::Library } else { Role::Application }
}

pub(super) fn write(frame: &Frame<'_>, divider: char, out: &mut String) -> bool {
    if frame.module.is_empty() {
        write_file(frame.file, out);
    } else {
        out.push_str(frame.module);
    }
    out.push(divider);
    // Generated names: `-run/0-fun-0-`.
    match frame.function.strip_prefix('-') {
        Some(rest) if rest.len() > 1 => out.push_str(rest.split(['/', '-']).next().unwrap_or("")),
        _ => out.push_str(frame.function),
    }
    true
}
