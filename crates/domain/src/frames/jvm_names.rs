//! Names of the JVM without generated parts: proxies, lambdas, anonymous classes, coroutines, specializations.

use super::model::Frame;

/// Parts at which the generated end of a class begins.
const GENERATED: &[&str] = &[
    "$$EnhancerBy",
    "$$FastClassBy",
    "$$SpringCGLIB$$",
    "$$KeyFactoryBy",
    "$EnhancerByGuice$",
    "$FastClassByGuice$",
    "_$$_javassist",
    "_$$_jvst",
    "_$$_Weld",
    "$HibernateProxy$",
    "$ByteBuddy$",
    "$MockitoMock$",
    "_ClientProxy",
    "$Proxy$_$$_Weld",
];

/// Appends class and method.
pub(super) fn write(frame: &Frame<'_>, divider: char, out: &mut String) -> bool {
    let class = frame.module;
    let class = match class.contains('$') || class.contains("_ClientProxy") {
        true => GENERATED.iter().filter_map(|part| class.find(part)).min().map_or(class, |at| &class[..at]),
        false => class,
    };
    if !class.contains('$') && !frame.function.contains('$') && !frame.function.contains("__") {
        out.push_str(class);
        out.push(divider);
        out.push_str(frame.function);
        return true;
    }
    let mut function = method(frame.function);
    let mut segments = class.split('$');
    out.push_str(segments.next().unwrap_or(""));
    let is_resumed = matches!(frame.function, "invokeSuspend" | "invoke" | "applyOrElse" | "apply" | "emit");
    let mut is_lambda = function.1;
    let mut is_anonymous = false;
    for segment in segments {
        let is_number = !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit());
        if segment.is_empty() || segment == "DefaultImpls" {
            continue;
        }
        if segment == "anonfun" {
            is_lambda = true;
            continue;
        }
        if is_number {
            is_anonymous = true;
        } else if segment.starts_with(|letter: char| letter.is_lowercase()) && (is_resumed || is_anonymous || is_lambda)
        {
            // The function that a closure or coroutine belongs to.
            if is_resumed {
                function = (segment, false);
                is_anonymous = false;
                break;
            }
        } else {
            out.push('$');
            out.push_str(segment);
        }
    }
    if is_anonymous {
        out.push_str("$#");
    }
    out.push(divider);
    if is_lambda {
        out.push_str("lambda$");
    }
    out.push_str(function.0);
    true
}

/// The name of a method, and whether it is a lambda.
fn method(name: &str) -> (&str, bool) {
    let (name, is_lambda) = match name.strip_prefix("lambda$").or_else(|| name.strip_prefix("$anonfun$")) {
        Some(rest) => (rest, true),
        None => (name, false),
    };
    let mut name = name;
    if let Some((before, digits)) = name.rsplit_once("__")
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        name = before;
    }
    name = name.split_once("$mc").filter(|(_, rest)| rest.ends_with("$sp")).map_or(name, |(before, _)| before);
    loop {
        let shorter = name
            .strip_suffix('$')
            .or_else(|| name.strip_suffix("$default"))
            .or_else(|| name.strip_suffix("$suspendImpl"))
            .or_else(|| name.strip_suffix("$lzycompute"))
            .or_else(|| name.strip_suffix("$adapted"))
            .or_else(|| {
                let (before, last) = name.rsplit_once('$')?;
                (!last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit())).then_some(before)
            });
        match shorter {
            Some(shorter) if !shorter.is_empty() => name = shorter,
            _ => break,
        }
    }
    (name, is_lambda)
}
