//! Refusals of registrations and assertions.

/// Reasons for which a registration or an assertion is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The response cannot be decoded.
    #[error("it cannot be read")]
    Unreadable,
    /// The response is of another ceremony.
    #[error("it is of another ceremony")]
    Ceremony,
    /// The response is to another challenge.
    #[error("it answers another challenge")]
    Challenge,
    /// The response is from a page of another origin.
    #[error("it was made at another address")]
    Origin,
    /// The response is for another relying party.
    #[error("it is for another server")]
    RelyingParty,
    /// The user was not present.
    #[error("nobody was there")]
    NobodyPresent,
    /// The user was not verified, as required.
    #[error("the authenticator did not make sure who its user is")]
    Unverified,
    /// The algorithm of the key was not requested.
    #[error("its key is of a kind that was not asked for")]
    Algorithm,
    /// The signature is invalid.
    #[error("the signature is wrong")]
    Signature,
    /// The signature counter did not increase: the authenticator may have been cloned.
    #[error("the authenticator counts backwards")]
    Counter,
}
