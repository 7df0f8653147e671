//! Signing in with a passkey: instead of a password, or after it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{descriptor, party, proof, request};
use crate::app::App;
use crate::error::ApiError;
use crate::http::account::session;
use crate::http::gate::auth::Origin;
use crate::http::gate::body::AnonymousBody;
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{Failures, NotFound, TooMany};
use tidewatch_accounts::Ceremony;
use tidewatch_limits::per_ip::{Passkey, PasskeyLogin};
use tidewatch_query::views::account::LoginAnswer;
use tidewatch_query::views::passkeys::{
    PasskeyDescriptor, PasskeyLoginFinish, PasskeyLoginStart, PasskeyRequest, PasskeySecondStepStart,
};

const REFUSED: ApiError = ApiError::Unauthorized("the passkey was not accepted");

/// A challenge for a login by passkey alone.
#[utoipa::path(
    post,
    path = "/api/login/passkey/start",
    operation_id = "beginPasskeyLogin",
    tag = "credentials",
    request_body = PasskeyLoginStart,
    responses((status = 200, description = "The answer", body = PasskeyRequest), NotFound, Failures, TooMany),
    security(())
)]
pub async fn start(
    _: PerIp<Passkey>,
    State(app): State<Arc<App>>,
    AnonymousBody(asked): AnonymousBody<PasskeyLoginStart>,
) -> Result<Json<PasskeyRequest>, ApiError> {
    let party = party(&app)?;
    let email = asked.email.as_deref().map(str::trim).filter(|email| !email.is_empty());
    let (user, allowed) = match email {
        Some(email) => of_address(&app, email).await?,
        None => (None, Vec::new()),
    };
    let challenge = app.control.challenge_passkey(Ceremony::SignIn(user), app.clock.now_ns()).await?;
    Ok(Json(request(party, challenge, allowed, "required")))
}

/// The login. The passkey's authenticator must have asked for a PIN, finger or face.
#[utoipa::path(
    post,
    path = "/api/login/passkey/finish",
    operation_id = "loginPasskey",
    tag = "credentials",
    request_body = PasskeyLoginFinish,
    responses((status = 200, description = "The answer", body = LoginAnswer), NotFound, Failures, TooMany),
    security(())
)]
pub async fn finish(
    _: PerIp<PasskeyLogin>,
    from: Origin,
    State(app): State<Arc<App>>,
    AnonymousBody(answer): AnonymousBody<PasskeyLoginFinish>,
) -> Result<Json<LoginAnswer>, ApiError> {
    let party = party(&app)?;
    let proof = proof(party, &answer.challenge_id, &answer.credential);
    let by = from.by(&app, "login");
    let user = app.control.enter_with_passkey(&by, &proof).await?.ok_or(REFUSED)?;
    from.record_sign_in(&app, &user, "passkey").await?;
    let (token, bundle) = session(&app, &from, &user).await?;
    let (user, projects, organizations) = (bundle.user, bundle.projects, bundle.organizations);
    Ok(Json(LoginAnswer { token, user, projects, organizations }))
}

/// A challenge for the second step of a login; `POST /api/login/mfa` takes the answer.
#[utoipa::path(
    post,
    path = "/api/login/mfa/passkey/start",
    operation_id = "beginPasskeySecondStep",
    tag = "credentials",
    request_body = PasskeySecondStepStart,
    responses((status = 200, description = "The answer", body = PasskeyRequest), NotFound, Failures, TooMany),
    security(())
)]
pub async fn second_step(
    _: PerIp<Passkey>,
    State(app): State<Arc<App>>,
    AnonymousBody(asked): AnonymousBody<PasskeySecondStepStart>,
) -> Result<Json<PasskeyRequest>, ApiError> {
    let party = party(&app)?;
    let now_ns = app.clock.now_ns();
    let user = app.control.waiting_for_second_factor(&asked.mfa_token, now_ns).await?;
    let user = user.ok_or(ApiError::Unauthorized("the sign-in took too long; begin again"))?;
    let known = app.control.passkeys(user).await?;
    let allowed = known.iter().map(|one| descriptor(&one.credential_id, &one.transports)).collect();
    let challenge = app.control.challenge_passkey(Ceremony::SecondFactor(user, &asked.mfa_token), now_ns).await?;
    Ok(Json(request(party, challenge, allowed, "preferred")))
}

/// Whose address it is and the passkeys they have. Who has none, or is nobody, has some that do not exist, always the same
/// and as real ones are in number and length: the answer does not say whether there is an account.
async fn of_address(app: &App, email: &str) -> Result<(Option<i64>, Vec<PasskeyDescriptor>), ApiError> {
    if let Some(user) = app.control.stored_user(email).await? {
        let known = app.control.passkeys(user.id).await?;
        if !known.is_empty() {
            return Ok((Some(user.id), known.iter().map(|one| descriptor(&one.credential_id, &[])).collect()));
        }
    }
    let email = email.to_lowercase();
    Ok((None, decoys(|part| app.control.sealer().mark("passkey of nobody", &format!("{part} {email}")))))
}

/// One passkey mostly, at times two or three; lengths as platforms and security keys have them. `mark`: 32 bytes that
/// nobody can tell, always the same for a number.
fn decoys(mark: impl Fn(usize) -> Vec<u8>) -> Vec<PasskeyDescriptor> {
    const LENGTHS: [usize; 8] = [16, 16, 20, 20, 32, 32, 48, 64];
    let choices = mark(0);
    let count = match choices[0] % 10 {
        0 => 3,
        1 | 2 => 2,
        _ => 1,
    };
    let decoy = |at: usize| {
        let length = LENGTHS[usize::from(choices[at]) % LENGTHS.len()];
        let bytes = [mark(2 * at), mark(2 * at + 1)].concat();
        descriptor(&URL_SAFE_NO_PAD.encode(&bytes[..length]), &[])
    };
    (1..=count).map(decoy).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use tidewatch_accounts::secrets::seal::Sealer;

    #[test]
    fn decoys_are_as_many_and_as_long_as_real_passkeys() {
        let sealer = Sealer::new(&[7; 32]);
        let of = |email: &str| {
            let all = decoys(|part| sealer.mark("passkey of nobody", &format!("{part} {email}")));
            all.into_iter().map(|one| one.id).collect::<Vec<_>>()
        };
        let all: Vec<Vec<String>> = (0..200).map(|number| of(&format!("{number}@example.com"))).collect();
        assert_eq!(of("7@example.com"), all[7], "always the same");
        let counts: BTreeSet<usize> = all.iter().map(Vec::len).collect();
        assert_eq!(counts, BTreeSet::from([1, 2, 3]));
        let lengths: BTreeSet<usize> = all.iter().flatten().map(String::len).collect();
        // 16, 20, 32, 48 and 64 bytes in base64url.
        assert_eq!(lengths, BTreeSet::from([22, 27, 43, 64, 86]));
        let ids: BTreeSet<&String> = all.iter().flatten().collect();
        assert_eq!(ids.len(), all.iter().map(Vec::len).sum::<usize>(), "each is its own");
    }
}
