//! Hosts' reports that a port is closed, shared by the connections to the port.
//!
//! A host sends only about one report a second to another host. So of many connections to a process
//! that has died, only a few get a report.

use crate::sync::lock;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// The counts of reports, by port.
#[derive(Debug, Default)]
pub(super) struct Reports(Mutex<HashMap<SocketAddr, Weak<AtomicU32>>>);

impl Reports {
    /// Returns a connection's view of the reports on the port of `peer`.
    pub(super) fn of(&self, peer: SocketAddr) -> PortReports {
        let mut counts = lock(&self.0);
        let known = counts.get(&peer).and_then(Weak::upgrade);
        let count = known.unwrap_or_else(|| {
            counts.retain(|_, count| count.strong_count() > 0);
            let count = Arc::default();
            counts.insert(peer, Arc::downgrade(&count));
            count
        });
        PortReports { count, seen: None, has_own: false }
    }
}

/// The reports on a port, as one connection to it sees them.
#[derive(Debug, Default)]
pub(super) struct PortReports {
    count: Arc<AtomicU32>,
    // The last count that the connection has seen. `None` before the peer has sent anything: the
    // report on another connection may be forged, and must not end a handshake.
    seen: Option<u32>,
    // Whether the connection itself has got a report since the last call of `take_own`.
    has_own: bool,
}

impl PortReports {
    /// Notes that the peer has sent a datagram.
    #[inline]
    pub(super) fn received(&mut self) {
        if self.seen.is_none() {
            self.seen = Some(self.count.load(Ordering::Relaxed));
        }
    }

    /// Notes a report to this connection.
    pub(super) fn reported(&mut self) {
        let count = self.count.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        self.seen = self.seen.map(|_| count);
        self.has_own = true;
    }

    /// Whether this connection has got a report since the last call.
    pub(super) fn take_own(&mut self) -> bool {
        std::mem::take(&mut self.has_own)
    }

    /// Whether other connections have got reports since the last call.
    #[inline]
    pub(super) fn has_new(&mut self) -> bool {
        let Some(seen) = self.seen else { return false };
        let count = self.count.load(Ordering::Relaxed);
        self.seen = Some(count);
        count != seen
    }
}

#[cfg(test)]
mod tests {
    use super::Reports;
    use crate::Error;
    use crate::provider::udp::link::UdpLink;
    use crate::reliable::Link;
    use std::net::{SocketAddr, UdpSocket};
    use std::time::Instant;

    /// Receives until the link returns a datagram or an error.
    fn next(link: &mut UdpLink) -> Result<usize, Error> {
        let began = Instant::now();
        loop {
            if let Some(length) = link.receive(&mut [0; 100])? {
                return Ok(length);
            }
            assert!(began.elapsed() < ground::LATEST, "nothing arrives");
            std::thread::yield_now();
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "makes sockets")]
    fn the_report_on_one_connection_is_a_hint_for_the_others_to_the_port() {
        let reports = Reports::default();
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let other_server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let connect = |server: &UdpSocket, has_received: bool| {
            let peer = server.local_addr().unwrap();
            let mut link = UdpLink::to_server(peer, 1 << 16, reports.of(peer)).unwrap();
            if has_received {
                let address: SocketAddr = link.local().unwrap().parse().unwrap();
                server.send_to(b"hello", address).unwrap();
                assert_eq!(next(&mut link).unwrap(), 5);
            }
            link
        };
        let (mut one, mut same, mut asking) = (connect(&server, true), connect(&server, true), connect(&server, false));
        let mut other = connect(&other_server, true);
        drop(server);
        one.send(b"anybody there?").unwrap();
        assert!(matches!(next(&mut one), Err(Error::NotFound { .. })));
        assert!(matches!(same.receive(&mut [0; 100]), Err(Error::NotFound { .. })));
        // Only the link with a report of its own can pass a report on.
        assert!(one.take_report() && !one.take_report() && !same.take_report());
        for link in [&mut one, &mut same, &mut asking, &mut other] {
            assert!(matches!(link.receive(&mut [0; 100]), Ok(None)));
        }
        drop((one, same, asking));
        let peer = other_server.local_addr().unwrap();
        drop(reports.of("127.0.0.1:1".parse().unwrap()));
        reports.of("127.0.0.1:2".parse().unwrap());
        let known: Vec<_> = reports.0.lock().unwrap().keys().copied().collect();
        assert!(known.contains(&peer) && known.len() == 2, "{known:?}");
    }
}
