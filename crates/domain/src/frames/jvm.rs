//! Stack traces of the JVM: `printStackTrace`, Logback and Log4j. Printed by Java 17, Kotlin 1.9, Scala 2.13. The SDK
//! for PHP prints the same form.

use super::model::{Builder, Frame, Lines, Relation, Role};
use super::text::{indentation, number, place};

/// Levels of indentation of suppressed exceptions that are followed.
const LEVELS_MAX: usize = 16;

pub(super) fn parse<'a>(lines: Lines<'a>, builder: &mut Builder<'a>) {
    // The latest exception of each indentation.
    let mut levels = [0usize; LEVELS_MAX];
    let mut header = "";
    for line in lines {
        let indent = indentation(line);
        let trimmed = line[indent..].trim_end();
        if let Some(frame) = trimmed.strip_prefix("at ") {
            if let Some(frame) = parse_frame(frame) {
                if builder.stack.exceptions.is_empty() {
                    builder.exception(type_of(header), Relation::Outermost, 0);
                }
                builder.frame(frame);
            }
        } else if let Some(more) = trimmed.strip_prefix("... ") {
            if let (Some(latest), true) = (builder.stack.exceptions.last_mut(), more.ends_with(" more")) {
                latest.shared = number(more) as usize;
            }
        } else if let Some(cause) = trimmed.strip_prefix("Caused by: ") {
            // A circular reference repeats an exception above.
            if !cause.starts_with('[') && !builder.stack.exceptions.is_empty() {
                let level = indent.min(LEVELS_MAX - 1);
                levels[level] = builder.exception(type_of(cause), Relation::Cause, levels[level]);
            }
        } else if let Some(wrapper) = trimmed.strip_prefix("Wrapped by: ") {
            // Root causes first: the wrapper becomes the parent.
            let cause = builder.stack.exceptions.len().saturating_sub(1);
            let index = builder.exception(type_of(wrapper), Relation::Outermost, 0);
            if index != cause {
                builder.stack.exceptions[cause].relation = Relation::Cause;
                builder.stack.exceptions[cause].parent = index;
                builder.stack.exceptions[index].parent = index;
                builder.stack.outermost = index;
            }
        } else if let Some(suppressed) = trimmed.strip_prefix("Suppressed: ") {
            if !builder.stack.exceptions.is_empty() {
                let level = indent.min(LEVELS_MAX - 1);
                let parent = levels[level.saturating_sub(1)];
                levels[level..].fill(builder.exception(type_of(suppressed), Relation::Suppressed, parent));
            }
        } else if builder.stack.exceptions.is_empty() && header.is_empty() {
            header = trimmed;
        }
    }
}

/// The type of a header: `[Exception in thread "NAME" ]TYPE[: message]`.
fn type_of(header: &str) -> &str {
    let header = match header.strip_prefix("Exception in thread \"") {
        Some(rest) => rest.split_once("\" ").map_or("", |(_, rest)| rest),
        None => header,
    };
    let end = header.find([':', ' ']).unwrap_or(header.len());
    &header[..end]
}

/// `[LOADER/][MODULE[@VERSION]/]CLASS.METHOD(SOURCE)`. Classes of lambdas are hidden by default, so they are left out.
fn parse_frame(text: &str) -> Option<Frame<'_>> {
    let (name, rest) = text.split_once('(')?;
    if name.contains("$$Lambda") || name.contains(' ') {
        return None;
    }
    let source = rest.split_once(')').map_or("", |(source, _)| source);
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    let (module, function) = name.rsplit_once('.')?;
    let (file, line, _) = place(source);
    let file = if matches!(source, "Native Method" | "Unknown Source" | "<generated>") { "" } else { file };
    Some(Frame { module, function, file, line, column: 0, role: role(module, function, source) })
}

fn role(class: &str, method: &str, source: &str) -> Role {
    let is_accessor = class.contains("Accessor")
        && [
            "GeneratedMethodAccessor",
            "GeneratedConstructorAccessor",
            "GeneratedSerializationConstructorAccessor",
            "MethodAccessorImpl",
            "ConstructorAccessorImpl",
            "DirectMethodHandleAccessor",
            "DirectConstructorHandleAccessor",
        ]
        .iter()
        .any(|name| class.contains(name));
    let is_generated = is_accessor
        || source == "<generated>"
        || class.starts_with("$Proxy")
        || class.contains(".$Proxy")
        || method.starts_with("access$")
        || method.starts_with("-$$Nest$")
        || method.starts_with("$r8$lambda$")
        || class == "java.lang.reflect.Method"
        || class == "java.lang.reflect.Constructor"
        || class == "java.lang.Thread"
        || class.starts_with("_COROUTINE.");
    if is_generated {
        return Role::Plumbing;
    }
    let is_library = match class.as_bytes().first() {
        Some(b'c') => [
            "com.sun.",
            "com.android.",
            "com.fasterxml.",
            "com.mysql.",
            "com.zaxxer.",
            "clojure.",
            "com.google.common.",
            "com.google.inject.",
            "com.google.gson.",
            "com.google.protobuf.",
        ]
        .iter()
        .any(|prefix| class.starts_with(prefix)),
        Some(b'o') => [
            "org.springframework.",
            "org.hibernate.",
            "org.apache.",
            "org.eclipse.",
            "org.jboss.",
            "org.postgresql.",
            "org.junit.",
            "org.codehaus.groovy.",
            "org.gradle.",
            "org.jetbrains.",
            "okhttp3.",
            "okio.",
            "org.reactivestreams.",
            "org.slf4j.",
        ]
        .iter()
        .any(|prefix| class.starts_with(prefix)),
        Some(b'i') => [
            "io.netty.",
            "io.undertow.",
            "io.quarkus.",
            "io.micronaut.",
            "io.reactivex.",
            "io.ktor.",
            "io.grpc.",
            "io.opentelemetry.",
            "io.vertx.",
            "io.smallrye.",
        ]
        .iter()
        .any(|prefix| class.starts_with(prefix)),
        Some(b'j' | b's' | b'k' | b'a' | b'g' | b'd' | b'r' | b'f' | b'z' | b'p') => [
            "java.",
            "javax.",
            "jakarta.",
            "jdk.",
            "sun.",
            "scala.",
            "kotlin.",
            "kotlinx.",
            "android.",
            "androidx.",
            "akka.",
            "groovy.",
            "dalvik.",
            "reactor.",
            "rx.",
            "retrofit2.",
            "feign.",
            "zio.",
            "play.core.",
            "play.api.",
        ]
        .iter()
        .any(|prefix| class.starts_with(prefix)),
        _ => false,
    };
    if is_library { Role::Library } else { Role::Application }
}
