//! Whether a provider has asked for several factors: what its ID token says in `amr` (RFC 8176) and `acr`.

use serde_json::{Map, Value};

/// Values of `acr` that stand for several factors: OpenID PAPE, OpenID EAP, REFEDS.
const ACR: [&str; 4] =
    ["http://schemas.openid.net/pape/policies/2007/06/multi-factor", "https://refeds.org/profile/mfa", "phr", "phrh"];
/// Methods by what they prove: something known, something had, something one is.
const KNOWN: [&str; 3] = ["kba", "pin", "pwd"];
const HAD: [&str; 7] = ["hwk", "otp", "pop", "sc", "sms", "swk", "tel"];
const BEING: [&str; 5] = ["face", "fpt", "iris", "retina", "vbm"];

/// `claims`: of a checked ID token. User info is not signed and says nothing here.
pub fn are_several(claims: &Map<String, Value>) -> bool {
    let methods: Vec<&str> = match claims.get("amr") {
        Some(Value::Array(methods)) => methods.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(method)) => vec![method],
        _ => Vec::new(),
    };
    let has = |kind: &[&str]| methods.iter().any(|method| kind.contains(method));
    let kinds = [has(&KNOWN), has(&HAD), has(&BEING)].into_iter().filter(|there| *there).count();
    let acr = claims.get("acr").and_then(Value::as_str);
    methods.contains(&"mfa") || kinds >= 2 || acr.is_some_and(|acr| ACR.contains(&acr))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn several_factors_are_of_several_kinds() {
        for (claims, expected) in [
            (json!({}), false),
            (json!({ "amr": ["pwd"] }), false),
            (json!({ "amr": ["pwd", "pin"] }), false),
            (json!({ "amr": ["sms", "otp"] }), false),
            (json!({ "amr": ["pwd", "otp"] }), true),
            (json!({ "amr": ["hwk", "fpt"] }), true),
            (json!({ "amr": ["mfa"] }), true),
            (json!({ "amr": "mfa" }), true),
            (json!({ "amr": ["user", "none"] }), false),
            (json!({ "amr": { "mfa": true } }), false),
            (json!({ "acr": "phr" }), true),
            (json!({ "acr": "https://refeds.org/profile/mfa" }), true),
            (json!({ "acr": "0" }), false),
            (json!({ "acr": ["phr"] }), false),
        ] {
            assert_eq!(are_several(claims.as_object().expect("claims")), expected, "{claims}");
        }
    }
}
