//! Sign-in with Google, GitHub or any OpenID Connect provider. WIRE 5.5.
//!
//! - [`routes`]: providers, start, callback, finish-setup. [`round_trip`]: the cookie between start and callback.
//! - [`provider`]: which there are. [`oidc`]: discovery, codes, claims. [`id_token`]: signatures. [`github`]: GitHub's way.
//! - [`factors`]: whether the provider asked for several factors.

mod endpoints;
mod factors;
mod github;
mod id_token;
mod oidc;
mod provider;
mod round_trip;
pub mod routes;

pub use provider::Sso;
