//! Ports that nothing listens on.

use std::net::TcpListener;

/// This many free ports of the loopback interface, all different. Another process may take one
/// before it is used, so the caller that starts a daemon must be ready to try again.
pub(crate) fn free_ports(count: usize) -> std::io::Result<Vec<u16>> {
    // Held together, so that no port comes twice.
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind(("127.0.0.1", 0))).collect::<std::io::Result<_>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}
