//! `/api/me/passkeys`: the user's own passkeys.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use super::{PUBLIC_KEY, descriptor, party, timeout_ms, view};
use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::account::check_password_of;
use crate::http::auth::bodies::passkeys::{
    AuthenticatorSelection, CreationOptions, NewPasskey, NewPasskeyRequest, OwnPassword, PasskeyAlgorithm,
    PasskeyCreation, PasskeyName, PasskeyOwner, PasskeyParty,
};
use crate::http::auth::fields::check_name;
use crate::http::confirmation::StatusAnswer;
use crate::http::gate::auth::{LoginUser, SignedIn};
use crate::http::gate::body::{AnonymousBody, JsonBody};
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{ErrorBody, Failures, NotFound, TooMany};
use tidewatch_accounts::secrets::webauthn::{ALGORITHMS, Creation};
use tidewatch_accounts::{Ceremony, user_handle};
use tidewatch_limits::per_ip::PasskeyChange;

/// The name of this server that authenticators display.
const PARTY: &str = "Tidewatch";
/// The transports of WebAuthn, 5.8.4, and of its predecessors.
const TRANSPORTS: [&str; 7] = ["usb", "nfc", "ble", "smart-card", "hybrid", "internal", "cable"];

/// Begins the registration of a passkey. Returns the options for the browser.
#[utoipa::path(
    post,
    path = "/api/me/passkeys/start",
    operation_id = "beginPasskey",
    tag = "credentials",
    request_body = OwnPassword,
    responses((status = 200, description = "Success", body = PasskeyCreation), NotFound, Failures, TooMany)
)]
pub async fn start(
    _: PerIp<PasskeyChange>,
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    JsonBody(request): JsonBody<OwnPassword>,
) -> Result<Json<PasskeyCreation>, ApiError> {
    let party = party(&accounts)?;
    check_own_password(&accounts, &caller, request.password).await?;
    let known = accounts.control.sign_in.passkeys(caller.user.id).await?;
    let challenge =
        accounts.control.sign_in.challenge_passkey(Ceremony::Add(caller.user.id), accounts.clock.now_ns()).await?;
    let options = CreationOptions {
        rp: PasskeyParty { id: party.id.clone(), name: PARTY },
        user: PasskeyOwner {
            id: user_handle(&caller.user),
            name: caller.user.email.clone(),
            display_name: caller.user.name.clone(),
        },
        challenge: challenge.clone(),
        pub_key_cred_params: ALGORITHMS.map(|alg| PasskeyAlgorithm { r#type: PUBLIC_KEY, alg }).to_vec(),
        timeout: timeout_ms(),
        exclude_credentials: known.iter().map(|one| descriptor(&one.credential_id, &one.transports)).collect(),
        authenticator_selection: AuthenticatorSelection {
            resident_key: "preferred",
            require_resident_key: false,
            user_verification: "preferred",
        },
        attestation: "none",
    };
    Ok(Json(PasskeyCreation { challenge_id: challenge, options }))
}

/// Completes the registration of a passkey.
#[utoipa::path(
    post,
    path = "/api/me/passkeys/finish",
    operation_id = "addPasskey",
    tag = "credentials",
    request_body = NewPasskeyRequest,
    responses((status = 201, description = "Added", body = NewPasskey), (status = 409, description = "The passkey is registered already", body = ErrorBody), (status = 422, description = "The user has too many passkeys", body = ErrorBody), NotFound, Failures, TooMany)
)]
pub async fn finish(
    _: PerIp<PasskeyChange>,
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    AnonymousBody(request): AnonymousBody<NewPasskeyRequest>,
) -> Result<(StatusCode, Json<NewPasskey>), ApiError> {
    let party = party(&accounts)?;
    let name = check_name(&request.name)?;
    let response = &request.credential.response;
    let creation =
        Creation { id: &request.credential.id, client_data: &response.client_data, attestation: &response.attestation };
    let transports = TRANSPORTS.iter().filter(|known| response.transports.iter().any(|one| one == *known));
    let transports = transports.map(|one| (*one).to_owned()).collect();
    let (actor, response) = (caller.actor(&accounts.clock), (request.challenge_id.as_str(), creation));
    let added = accounts.control.sign_in.add_passkey(&actor, caller.user.id, name, party, response, transports).await?;
    let added = added.ok_or_else(|| ApiError::malformed("the passkey was not accepted"))?;
    let response = NewPasskey { passkey: view(&added.passkey), recovery_codes: added.recovery_codes };
    Ok((StatusCode::CREATED, Json(response)))
}

/// Renames a passkey.
#[utoipa::path(
    put,
    path = "/api/me/passkeys/{id}",
    operation_id = "renamePasskey",
    tag = "credentials",
    params(("id" = i64, Path, description = "The passkey's id")),
    request_body = PasskeyName,
    responses((status = 200, description = "Renamed", body = StatusAnswer), NotFound, Failures)
)]
pub async fn rename(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<PasskeyName>,
) -> Result<Json<StatusAnswer>, ApiError> {
    let name = check_name(&request.name)?;
    let id = id.parse().map_err(|_| unknown())?;
    let is_known =
        accounts.control.sign_in.rename_passkey(&caller.actor(&accounts.clock), caller.user.id, id, name).await?;
    if is_known { Ok(Json(StatusAnswer::of("renamed"))) } else { Err(unknown()) }
}

/// Removes a passkey.
#[utoipa::path(
    delete,
    path = "/api/me/passkeys/{id}",
    operation_id = "removePasskey",
    tag = "credentials",
    params(("id" = i64, Path, description = "The passkey's id")),
    request_body = OwnPassword,
    responses((status = 200, description = "Deleted", body = StatusAnswer), NotFound, Failures, TooMany)
)]
pub async fn remove(
    _: PerIp<PasskeyChange>,
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<OwnPassword>,
) -> Result<Json<StatusAnswer>, ApiError> {
    let id = id.parse().map_err(|_| unknown())?;
    check_own_password(&accounts, &caller, request.password).await?;
    let is_known = accounts.control.sign_in.remove_passkey(&caller.actor(&accounts.clock), caller.user.id, id).await?;
    if is_known { Ok(Json(StatusAnswer::of("deleted"))) } else { Err(unknown()) }
}

fn unknown() -> ApiError {
    ApiError::not_found("no such passkey")
}

/// Checks the user's password. Users without one, who sign in with a provider, need a recent authentication instead.
async fn check_own_password(accounts: &Accounts, caller: &SignedIn, password: Option<String>) -> Result<(), ApiError> {
    if caller.user.has_no_password {
        return caller.check_fresh(&accounts.clock);
    }
    let password = password.ok_or_else(|| ApiError::malformed("password is missing"))?;
    check_password_of(accounts, &caller.user, password).await
}
