//! What stands before a handler: who is asking, how large and how slow a body may be. Holds no numbers.

pub mod admission;
pub mod auth;
pub mod body;
pub mod budget;
pub mod client_ip;
pub mod guesses;
pub mod link_token;
pub mod login;
pub mod multipart;
pub mod origin;
pub mod pace;
pub mod per_ip;
pub mod resource;
pub mod session_cookie;
pub mod turn;
pub mod upload;
