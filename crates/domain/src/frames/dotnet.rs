//! `Exception.ToString` of .NET. Types stand from the outer exception to the inner one, frames the other way round.
//! Printed by CoreCLR 3.1 and Mono.

use super::model::{Builder, Frame, Lines, Relation, Role};
use super::text::{number, trailing_number};

pub(super) fn parse<'a>(lines: Lines<'a>, builder: &mut Builder<'a>) {
    // Types from the outermost, each with the index of its exception once that has frames.
    let mut types: Vec<(&'a str, Option<usize>)> = vec![("", None)];
    let mut current = 0;
    let mut is_header = true;
    let mut is_member = false;
    for line in lines {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        if is_header {
            is_header = false;
            types[0].0 = type_of(trimmed);
        }
        if let Some(member) = trimmed.strip_prefix("---> (Inner Exception #") {
            // The first one was printed as the inner exception.
            let index = number(member);
            is_member = true;
            if index > 0 {
                let header = member.split_once(") ").map_or("", |(_, header)| header);
                let parent = types[0].1.unwrap_or(0);
                if !builder.stack.exceptions.is_empty() {
                    builder.exception(type_of(header), Relation::Member, parent);
                }
            } else {
                current = usize::MAX;
            }
            continue;
        }
        if trimmed.starts_with("--- ") || trimmed.starts_with("---\u{a0}") {
            // `--- End of inner exception stack trace ---`, also translated; that of a previous location has no inner one.
            let is_rethrown = trimmed.contains("previous location");
            if !is_rethrown && !is_member {
                current = current.saturating_sub(1);
                start(builder, &mut types, current);
            }
            continue;
        }
        if let Some(at) = inner(trimmed) {
            if !is_member && !is_frame_line(trimmed) {
                for header in trimmed[at..].split("---> ").skip(1) {
                    types.push((type_of(header), None));
                    current = types.len() - 1;
                }
            }
            continue;
        }
        let Some(frame) = parse_frame(line, trimmed) else { continue };
        if is_member {
            if current != usize::MAX {
                builder.frame(frame);
            }
            if trimmed.ends_with("<---") {
                current = 0;
            }
            continue;
        }
        if builder.stack.exceptions.is_empty() {
            start(builder, &mut types, current);
        }
        builder.frame(frame);
    }
    // Types without frames still belong to the chain.
    for position in 0..types.len() {
        start(builder, &mut types, position);
    }
    let index = |position: usize| types.get(position).and_then(|one: &(&str, Option<usize>)| one.1);
    for position in 1..types.len() {
        if let (Some(inner), Some(outer)) = (index(position), index(position - 1))
            && inner != outer
        {
            builder.stack.exceptions[inner].parent = outer;
            builder.stack.exceptions[inner].relation = Relation::Cause;
        }
    }
    let outermost = index(0).unwrap_or(0);
    builder.stack.outermost = outermost;
    for thrown in builder.stack.exceptions.iter_mut().filter(|thrown| thrown.relation == Relation::Member) {
        thrown.parent = outermost;
    }
}

/// Starts the exception of a type unless it has begun.
fn start<'a>(builder: &mut Builder<'a>, types: &mut [(&'a str, Option<usize>)], position: usize) {
    if let Some((exception_type, index)) = types.get_mut(position)
        && index.is_none()
    {
        *index = Some(builder.exception(exception_type, Relation::Cause, 0));
    }
}

/// Position of `---> TYPE` in a line.
fn inner(trimmed: &str) -> Option<usize> {
    if trimmed.starts_with("---> ") { Some(0) } else { trimmed.find(" ---> ") }
}

fn is_frame_line(trimmed: &str) -> bool {
    trimmed.starts_with("at ") && trimmed.contains('(')
}

fn type_of(header: &str) -> &str {
    let end = header.find([':', ' ', '\n']).unwrap_or(header.len());
    &header[..end]
}

/// `at NAME(ARGUMENTS)[ in FILE:line N]`; `at` may be translated.
fn parse_frame<'a>(line: &'a str, trimmed: &'a str) -> Option<Frame<'a>> {
    if line.len() == trimmed.len() {
        return None;
    }
    let (word, rest) = trimmed.split_once(' ')?;
    if word.len() > 8 || word.contains(['.', '(', ':', '<']) {
        return None;
    }
    let open = rest.find('(')?;
    let name = rest[..open].trim_end();
    if !name.contains('.') || name.contains(' ') && !name.contains('<') {
        return None;
    }
    let after = rest[open..].find(')').map_or("", |close| &rest[open + close + 1..]);
    let place = after.split_once(" in ").map_or("", |(_, place)| place);
    let (file, line) = match place.rsplit_once(":line ") {
        Some((file, line)) => (file, number(line)),
        None => trailing_number(place.trim_end()).unwrap_or((place, 0)),
    };
    let file = if file.starts_with('<') { "" } else { file };
    Some(Frame { module: "", function: name, file, line, column: 0, role: role(name) })
}

const LIBRARIES: &[&str] = &[
    "System.",
    "Microsoft.",
    "MS.",
    "Mono.",
    "Newtonsoft.",
    "Npgsql.",
    "EntityFramework",
    "Grpc.",
    "NLog.",
    "Serilog.",
    "Polly.",
    "Castle.",
    "MediatR.",
    "Autofac.",
    "Dapper.",
    "StackExchange.",
    "OpenTelemetry.",
    "Swashbuckle.",
    "DynamicClass.",
    "Interop.",
    "Internal.",
    "(wrapper",
];

fn role(name: &str) -> Role {
    let is_plumbing = name.contains("ExceptionDispatchInfo")
        || name.contains("ThrowHelper")
        || name.starts_with("lambda_method")
        || name.contains("TaskAwaiter")
        || name.contains("RuntimeMethodHandle")
        || name.contains("AsyncMethodBuilder");
    match () {
        () if is_plumbing => Role::Plumbing,
        () if LIBRARIES.iter().any(|prefix| name.starts_with(prefix)) => Role::Library,
        () => Role::Application,
    }
}

/// Type and method without generic arguments, state machines and numbers of closures.
pub(super) fn write(frame: &Frame<'_>, divider: char, out: &mut String) -> bool {
    let name = frame.function;
    let end = name.find('[').unwrap_or(name.len());
    let name = &name[..end];
    // The method that a closure or a state machine belongs to: `<Load>b__1`, `<GetAsync>d__12`.
    let mut at = 0;
    let mut owner = None;
    while let Some(open) = name[at..].find('<') {
        let open = at + open;
        let Some(close) = name[open..].find('>') else { break };
        let inside = &name[open + 1..open + close];
        if !inside.is_empty() {
            owner = Some((open, inside, &name[open + close + 1..]));
            break;
        }
        at = open + close + 1;
    }
    let (module, function, local) = match owner {
        Some((open, inside, rest)) => {
            let local = rest.strip_prefix("g__").map_or("", |local| local.split('|').next().unwrap_or(""));
            (&name[..open], inside, local)
        }
        None => {
            let dot = name.rfind('.').unwrap_or(0);
            // `Type..ctor`.
            let module = name[..dot].trim_end_matches('.');
            (module, name.get(dot + 1..).unwrap_or(name), "")
        }
    };
    // `<>c`, `<>c__DisplayClass4_0`.
    let module = module.find("<>").map_or(module, |at| &module[..at]);
    let mut is_arity = false;
    for letter in module.trim_end_matches(['.', '+']).chars() {
        is_arity = letter == '`' || is_arity && letter.is_ascii_digit();
        if !is_arity {
            out.push(letter);
        }
    }
    out.push(divider);
    out.push_str(function.split('`').next().unwrap_or(function));
    if !local.is_empty() {
        out.push('.');
        out.push_str(local);
    }
    true
}
