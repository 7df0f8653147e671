//! Loopback ports for servers that get their address before they start, or start again at the same address.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// The ports below Linux's default range of ephemeral ports. A port of that range can become the source port of any
/// outgoing connection between the moment it is chosen and the moment the server listens.
const FIRST: u16 = 10_000;
const LAST: u16 = 32_767;

/// A loopback address whose port is free, and is returned to no other caller of this process.
pub fn free_address() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let count = LAST - FIRST + 1;
    // Processes that run at the same time begin at distant ports.
    let start = (std::process::id() % u32::from(count)) as u16;
    loop {
        let offset = start.wrapping_mul(97).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % count;
        let address = format!("127.0.0.1:{}", FIRST + offset);
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}
