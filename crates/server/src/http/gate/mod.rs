//! Extractors in front of the handlers: authentication, rate limits per address, limits of request bodies. All numbers
//! are in `limits`.
//!
//! Invariant: memory is bounded, whatever length a client declares.

pub mod auth;
pub mod body;
pub mod client_info;
pub mod global_filter;
pub mod known_fields;
pub mod link_token;
pub mod multipart;
pub mod per_ip;
pub mod resource;
pub mod session_cookie;
pub mod upload;
