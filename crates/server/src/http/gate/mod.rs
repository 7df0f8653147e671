//! What stands before a handler: who is asking, how large and how slow a body may be. Holds no numbers.

pub mod auth;
pub mod body;
pub mod link_token;
pub mod multipart;
pub mod origin;
pub mod per_ip;
pub mod resource;
pub mod session_cookie;
pub mod upload;
