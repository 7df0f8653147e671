//! Whether a provider verified several factors, by the claims `amr` (RFC 8176) and `acr` of its ID token.

use serde_json::{Map, Value};

/// Values of `acr` that mean several factors: OpenID PAPE, OpenID EAP, REFEDS.
const ACR: [&str; 4] =
    ["http://schemas.openid.net/pape/policies/2007/06/multi-factor", "https://refeds.org/profile/mfa", "phr", "phrh"];
/// Values of `amr` by the kind of factor: a known secret, a possession, a biometric.
const KNOWN_SECRETS: [&str; 3] = ["kba", "pin", "pwd"];
const POSSESSIONS: [&str; 7] = ["hwk", "otp", "pop", "sc", "sms", "swk", "tel"];
const BIOMETRICS: [&str; 5] = ["face", "fpt", "iris", "retina", "vbm"];

/// Returns whether the claims of a verified ID token mean several factors. User info must not be included: it is not
/// signed.
pub fn are_several(claims: &Map<String, Value>) -> bool {
    let methods: Vec<&str> = match claims.get("amr") {
        Some(Value::Array(methods)) => methods.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(method)) => vec![method],
        _ => Vec::new(),
    };
    let has = |kind: &[&str]| methods.iter().any(|method| kind.contains(method));
    let kinds =
        [has(&KNOWN_SECRETS), has(&POSSESSIONS), has(&BIOMETRICS)].into_iter().filter(|is_present| *is_present).count();
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
