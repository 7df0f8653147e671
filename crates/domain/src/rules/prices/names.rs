//! The spellings of a model's name: prefixes of gateways, vendors and regions, versions and dates, dots and dashes.

use std::borrow::Cow;

/// Vendors before a dot, as in `anthropic.claude-3-haiku`.
const VENDORS: [&str; 12] = [
    "anthropic",
    "mistral",
    "openai",
    "amazon",
    "meta",
    "cohere",
    "deepseek",
    "qwen",
    "ai21",
    "google",
    "moonshot",
    "nvidia",
];

/// Regions of Bedrock's inference profiles, before a vendor.
const REGIONS: [&str; 9] = ["us", "eu", "apac", "jp", "au", "ca", "sa", "global", "us-gov"];

/// Names before a colon, as in `openai:gpt-4o`.
const PROVIDERS: [&str; 19] = [
    "openai",
    "openai-chat",
    "openai-responses",
    "azure",
    "anthropic",
    "google",
    "google-gla",
    "google-vertex",
    "gemini",
    "vertexai",
    "mistral",
    "cohere",
    "groq",
    "bedrock",
    "deepseek",
    "xai",
    "grok",
    "openrouter",
    "together",
];

/// The name without prefixes of gateways, vendors and regions, in lower case.
pub(super) fn normal(model: &str) -> Cow<'_, str> {
    let model = model.trim();
    if model.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(without_prefixes(&model.to_ascii_lowercase()).into_owned());
    }
    without_prefixes(model)
}

fn without_prefixes(model: &str) -> Cow<'_, str> {
    let mut name = model.rsplit('/').next().unwrap_or("");
    if let Some((provider, rest)) = name.split_once(':')
        && PROVIDERS.contains(&provider)
    {
        name = rest;
    }
    // A fine-tuned model is another model, at another price: `ft:gpt-4o-mini-2024-07-18:acme::id`.
    if let Some(tuned) = name.strip_prefix("ft:") {
        let end = tuned.find(':').map_or(name.len(), |end| end + "ft:".len());
        return Cow::Borrowed(&name[..end]);
    }
    while let Some((first, rest)) = name.split_once('.')
        && (VENDORS.contains(&first) || REGIONS.contains(&first))
    {
        name = rest;
    }
    match name.strip_prefix("claude-").filter(|rest| rest.starts_with(['4', '5'])) {
        Some(rest) => family_first(name, rest),
        None => Cow::Borrowed(name),
    }
}

/// `claude-4-5-sonnet` is `claude-sonnet-4-5`; the names of versions before 4 have the number first.
fn family_first<'n>(name: &'n str, rest: &'n str) -> Cow<'n, str> {
    let (number, rest) = rest.split_at(1);
    let Some(rest) = rest.strip_prefix(['-', '.']) else { return Cow::Borrowed(name) };
    let (minor, rest) = match rest.split_once('-') {
        Some((minor, rest)) if minor.len() == 1 && minor.bytes().all(|byte| byte.is_ascii_digit()) => {
            (["-", minor].concat(), rest)
        }
        _ => (String::new(), rest),
    };
    let (family, rest) = rest.split_at(rest.find(['-', '@', ':']).unwrap_or(rest.len()));
    match family {
        "sonnet" | "opus" | "haiku" => Cow::Owned(["claude-", family, "-", number, &minor, rest].concat()),
        _ => Cow::Borrowed(name),
    }
}

/// Whether `name`, which is [`normal`], is the known model or a dated or numbered version of it (`-2024-08-06`,
/// `@20241022`, `-001`, `-v2:0`, `-latest`, `-preview-09-2025`). Another word or a single digit after it (`-5`) is another
/// model.
pub(super) fn is_version_of(name: &str, known: &str) -> bool {
    let Some(rest) = without(name, known) else { return false };
    // `-1:0` and `:0` are revisions of Bedrock.
    if rest.is_empty() || rest == "-1:0" || rest == ":0" {
        return true;
    }
    let Some(version) = rest.strip_prefix(['-', '@', ':']) else { return false };
    let mut parts = version.split(['-', '@', ':', '.']);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = |part: &str| {
        matches!(part, "latest" | "preview" | "exp" | "default") || part.strip_prefix('v').is_some_and(is_number)
    };
    // `-08-2024` is a date too.
    let is_date = |first: &str, all: &str| first.len() == 2 && all.len() == 7 && is_number(&all[3..]);
    parts
        .next()
        .is_some_and(|first| is_word(first) || (is_number(first) && (first.len() >= 3 || is_date(first, version))))
        && parts.all(|part| is_word(part) || is_number(part))
}

/// `name` after `known`; a dot equals a dash.
fn without<'n>(name: &'n str, known: &str) -> Option<&'n str> {
    let (start, rest) = name.split_at_checked(known.len())?;
    let is_dot = |byte| matches!(byte, b'-' | b'.');
    let is_equal =
        start.bytes().zip(known.bytes()).all(|(byte, known)| byte == known || (is_dot(byte) && is_dot(known)));
    is_equal.then_some(rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn normal_names_table() {
        for (model, expected) in [
            ("Claude-4.5-Sonnet", "claude-sonnet-4-5"),
            ("claude-4-opus-20250514", "claude-opus-4-20250514"),
            ("claude-4-20250514", "claude-4-20250514"),
            ("claude-3.7-sonnet", "claude-3.7-sonnet"),
            ("us-gov.anthropic.claude-3-haiku", "claude-3-haiku"),
            ("gpt-4.1", "gpt-4.1"),
            ("ft:GPT-4o:acme::id", "ft:gpt-4o"),
            ("ft:gpt-4o", "ft:gpt-4o"),
            ("us.own-model", "own-model"),
            ("anthropic.", ""),
        ] {
            assert_eq!(normal(model), expected, "{model}");
        }
    }

    proptest! {
        #[test]
        fn any_name_is_read(model in any::<String>(), like in "(us|claude|4|5|sonnet|ft|[a-z0-9é])([-.:@/](claude|4|5|sonnet|v1|[a-z0-9é]*)){0,6}") {
            for name in [&model, &like] {
                let normal = normal(name);
                prop_assert!(is_version_of(&normal, &normal) || normal.is_empty());
                let _ = is_version_of(&normal, "claude-sonnet-4.5");
            }
        }
    }
}
