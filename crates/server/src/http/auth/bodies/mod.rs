//! Bodies of requests and responses: plain structs, without computation.

pub mod credentials;
pub mod passkeys;
pub mod setup;
pub mod sign_in;
pub mod step_up;
