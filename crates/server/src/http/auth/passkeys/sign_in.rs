//! Sign-in with a passkey, as replacement of the password or as second factor.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{descriptor, party, proof, request};
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::bodies::login::LoginAnswer;
use crate::http::account::session;
use crate::http::auth::bodies::passkeys::{
    PasskeyDescriptor, PasskeyLoginFinish, PasskeyLoginStart, PasskeyRequest, PasskeySecondStepStart,
};
use crate::http::gate::auth::ClientInfo;
use crate::http::gate::body::AnonymousBody;
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{Failures, NotFound, TooMany};
use tidewatch_accounts::Ceremony;
use tidewatch_limits::per_ip::{Passkey, PasskeyLogin};

const REFUSED: ApiError = ApiError::Unauthorized("the passkey was not accepted");

/// Begins a sign-in by passkey alone. Returns a challenge.
#[utoipa::path(
    post,
    path = "/api/login/passkey/start",
    operation_id = "beginPasskeyLogin",
    tag = "credentials",
    request_body = PasskeyLoginStart,
    responses((status = 200, description = "Success", body = PasskeyRequest), NotFound, Failures, TooMany),
    security(())
)]
pub async fn start(
    _: PerIp<Passkey>,
    State(accounts): State<Arc<Accounts>>,
    AnonymousBody(body): AnonymousBody<PasskeyLoginStart>,
) -> Result<Json<PasskeyRequest>, ApiError> {
    let party = party(&accounts)?;
    let email = body.email.as_deref().map(str::trim).filter(|email| !email.is_empty());
    let (user, allowed) = match email {
        Some(email) => of_address(&accounts, email).await?,
        None => (None, Vec::new()),
    };
    let challenge = accounts.control.sign_in.challenge_passkey(Ceremony::SignIn(user), accounts.clock.now_ns()).await?;
    Ok(Json(request(party, challenge, allowed, "required")))
}

/// Completes a sign-in by passkey alone. The authenticator must have verified the user, for instance by PIN or
/// fingerprint.
#[utoipa::path(
    post,
    path = "/api/login/passkey/finish",
    operation_id = "loginPasskey",
    tag = "credentials",
    request_body = PasskeyLoginFinish,
    responses((status = 200, description = "Success", body = LoginAnswer), NotFound, Failures, TooMany),
    security(())
)]
pub async fn finish(
    _: PerIp<PasskeyLogin>,
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    AnonymousBody(response): AnonymousBody<PasskeyLoginFinish>,
) -> Result<Json<LoginAnswer>, ApiError> {
    let party = party(&accounts)?;
    let proof = proof(party, &response.challenge_id, &response.credential);
    let actor = from.actor(&accounts.clock, "login");
    let user = accounts.control.sign_in.sign_in_with_passkey(&actor, &proof).await?.ok_or(REFUSED)?;
    from.record_sign_in(&accounts, &user, "passkey").await?;
    let (token, bundle) = session(&accounts, &process, &from, &user).await?;
    let (user, projects, organizations) = (bundle.user, bundle.projects, bundle.organizations);
    Ok(Json(LoginAnswer { token, user, projects, organizations }))
}

/// Begins the second step of a sign-in with a passkey. Returns a challenge; send the response to `POST /api/login/mfa`.
#[utoipa::path(
    post,
    path = "/api/login/mfa/passkey/start",
    operation_id = "beginPasskeySecondStep",
    tag = "credentials",
    request_body = PasskeySecondStepStart,
    responses((status = 200, description = "Success", body = PasskeyRequest), NotFound, Failures, TooMany),
    security(())
)]
pub async fn second_step(
    _: PerIp<Passkey>,
    State(accounts): State<Arc<Accounts>>,
    AnonymousBody(body): AnonymousBody<PasskeySecondStepStart>,
) -> Result<Json<PasskeyRequest>, ApiError> {
    let party = party(&accounts)?;
    let now_ns = accounts.clock.now_ns();
    let user = accounts.control.sign_in.waiting_for_second_factor(&body.mfa_token, now_ns).await?;
    let user = user.ok_or(ApiError::Unauthorized("the sign-in took too long; begin again"))?;
    let known = accounts.control.sign_in.passkeys(user).await?;
    let allowed = known.iter().map(|one| descriptor(&one.credential_id, &one.transports)).collect();
    let challenge =
        accounts.control.sign_in.challenge_passkey(Ceremony::SecondFactor(user, &body.mfa_token), now_ns).await?;
    Ok(Json(request(party, challenge, allowed, "preferred")))
}

/// The user with an address, and their passkeys. Without a user or without passkeys it returns decoys, which are always
/// the same for an address and have the number and lengths of real ones: the response does not reveal whether the
/// account exists.
async fn of_address(accounts: &Accounts, email: &str) -> Result<(Option<i64>, Vec<PasskeyDescriptor>), ApiError> {
    if let Some(user) = accounts.control.sign_in.stored_user(email).await? {
        let known = accounts.control.sign_in.passkeys(user.id).await?;
        if !known.is_empty() {
            return Ok((Some(user.id), known.iter().map(|one| descriptor(&one.credential_id, &[])).collect()));
        }
    }
    let email = email.to_lowercase();
    Ok((None, decoys(|part| accounts.control.database().sealer().mac("passkey of nobody", &format!("{part} {email}")))))
}

/// Decoy passkeys: mostly one, sometimes two or three, with the lengths of real platforms and security keys. `mark`
/// returns 32 unpredictable bytes, always the same for a number.
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
    fn decoys_have_the_number_and_lengths_of_real_passkeys() {
        let sealer = Sealer::new(&[7; 32]);
        let of = |email: &str| {
            let all = decoys(|part| sealer.mac("passkey of nobody", &format!("{part} {email}")));
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
