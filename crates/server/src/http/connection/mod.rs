//! Client connections: from accepting a socket to the last byte of a response.
//!
//! | module | content |
//! |---|---|
//! | [`socket`] | bound sockets (TCP, TLS, Unix), and the peer of an accepted connection |
//! | [`listen`] | the accept loop, the HTTP server on each connection, graceful shutdown |
//! | [`connections`] | the limit of open connections, and which one is closed for another |
//! | `timeouts` | the state of a connection, and its timeouts |
//! | `framing` | the position in an HTTP/1 request stream, for `timeouts` |
//! | `unparsed_request` | responses to requests that hyper cannot parse |
//! | `request_body` | whether a request body was read to its end |
//! | `in_flight_body` | responses that keep their request in flight until the last byte |
//! | `streamed_body` | response bodies that are produced while they are sent |

pub mod connections;
mod framing;
mod in_flight_body;
pub mod listen;
mod request_body;
pub mod socket;
pub(super) mod streamed_body;
mod timeouts;
mod unparsed_request;
