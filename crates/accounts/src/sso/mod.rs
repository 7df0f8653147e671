//! Sign-in with Google, GitHub or any OpenID Connect provider. WIRE 5.5.
//!
//! - [`provider`]: the configured providers. [`oidc`]: discovery, codes, claims. [`id_token`]: validation of ID tokens.
//! - [`github`]: GitHub, which has no OpenID Connect. [`pending_sign_in`]: the cookie between start and callback.
//! - [`factors`]: whether the provider verified several factors. [`settings`]: the configuration.
//!
//! Nothing here depends on routes. Invariant: every claim of a provider is verified before it is used.

mod endpoints;
mod factors;
mod github;
mod id_token;
mod oidc;
pub mod pending_sign_in;
mod provider;
pub mod settings;

pub use provider::{Provider, Sso};
