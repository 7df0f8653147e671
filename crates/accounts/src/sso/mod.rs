//! Sign-in with Google, GitHub or any OpenID Connect provider. WIRE 5.5.
//!
//! - [`provider`]: which there are. [`oidc`]: discovery, codes, claims. [`id_token`]: signatures. [`github`]: GitHub's way.
//! - [`round_trip`]: the cookie between start and callback. [`factors`]: whether the provider asked for several factors.

mod endpoints;
mod factors;
mod github;
mod id_token;
mod oidc;
mod provider;
pub mod round_trip;
pub mod settings;

pub use provider::{Provider, Sso};
