//! A provider for processes of any two hosts, over UDP: VIs emulated in software, with
//! [`crate::reliable`] above the datagrams.
//!
//! Each connection has a connected socket of its own at either side. The sockets of the listener's
//! side share the listener's port, so a firewall has to know only one port. The kernel assigns a
//! datagram to a socket by its addresses; the connection ids show whether the peer really sent it.

mod connections;
mod link;
mod listener;
mod reports;
mod socket;

use crate::attributes::{Attributes, Reliability};
use crate::random::random;
use crate::reliable::{RefusalObserver, Settings, connect};
use crate::spi::{Listening, Offer, Port, Provider};
use crate::wrap::{Conditions, FaultLink};
use crate::{Deadline, Error, Nic};
use link::UdpLink;
use listener::UdpListener;
use reports::Reports;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// The options of connections over UDP.
#[derive(Clone, Debug)]
pub struct Options {
    /// The time without a packet from the peer after which the peer counts as gone, if an answer of
    /// the peer is outstanding.
    pub silence: Duration,
    /// Whether a silent peer is asked for a sign of life.
    pub keep_alive: bool,
    /// The requested size of a socket's buffer in bytes, which the system may limit.
    pub buffer: usize,
    /// The artificial faults of the network, at this end: see [`Conditions`].
    pub fault: Option<Conditions>,
    /// The observer of refused connection requests.
    pub refusal_observer: Option<RefusalObserver>,
}

impl Default for Options {
    fn default() -> Self {
        let Settings { silence, keep_alive, .. } = Settings::default();
        Self { silence, keep_alive, buffer: 4 << 20, fault: None, refusal_observer: None }
    }
}

impl Options {
    fn settings(&self, window: u32) -> Settings {
        Settings { silence: self.silence, keep_alive: self.keep_alive, window, ..Settings::default() }
    }
}

/// Opens the provider.
///
/// # Errors
///
/// [`Error::BadState`] for an invalid option: a silence of less than ten milliseconds.
pub fn open(options: &Options) -> Result<Nic, Error> {
    if options.silence < Duration::from_millis(10) {
        return Err(Error::BadState {
            what: "the silence must be at least ten milliseconds: networks do not respond \
            reliably in less",
        });
    }
    Ok(Nic::open(Box::new(Udp { options: options.clone(), reports: Reports::default() })))
}

static ATTRIBUTES: Attributes = Attributes {
    provider: "udp",
    max_transfer: 64 << 20,
    max_segments: 32,
    queue_depth: 4096,
    rdma_write: true,
    rdma_read: true,
    reliability: &[Reliability::Unreliable, Reliability::ReliableDelivery, Reliability::ReliableReception],
};

#[derive(Debug)]
struct Udp {
    options: Options,
    reports: Reports,
}

impl Provider for Udp {
    fn attributes(&self) -> &Attributes {
        &ATTRIBUTES
    }

    fn listen(&self, discriminator: &str) -> Result<Box<dyn Listening>, Error> {
        let address = resolve(discriminator)?[0];
        Ok(Box::new(UdpListener::bind(address, &self.options)?))
    }

    fn connect(&self, address: &str, own: &Offer, deadline: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        let deadline = deadline.start();
        let mut failed = None;
        for peer in resolve(address)? {
            let connected = UdpLink::to_server(peer, self.options.buffer, self.reports.of(peer)).and_then(|link| {
                let settings = self.options.settings(link.window());
                let (id, name) = (u64::from_le_bytes(random()?), peer.to_string());
                match &self.options.fault {
                    None => connect(link, &settings, id, &name, own, deadline).map(boxed),
                    Some(fault) => {
                        let link = FaultLink::new(link, fault, 0)?;
                        connect(link, &settings, id, &name, own, deadline).map(boxed)
                    }
                }
            });
            match connected {
                Ok(connected) => return Ok(connected),
                // Another address of the same name may work.
                Err(error @ (Error::NotFound { .. } | Error::System { .. })) => failed = Some(error),
                Err(error) => return Err(error),
            }
        }
        match failed {
            Some(Error::NotFound { .. }) | None => Err(Error::NotFound { name: address.to_owned() }),
            Some(error) => Err(error),
        }
    }
}

fn boxed<P: Port + 'static>((port, offer): (P, Offer)) -> (Box<dyn Port>, Offer) {
    (Box::new(port), offer)
}

/// Returns the addresses of `host:port`, at least one.
fn resolve(text: &str) -> Result<Vec<SocketAddr>, Error> {
    let bad = |why| Error::BadAddress { text: text.to_owned(), why };
    // Rust's standard library reads no zone name within brackets.
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.rsplit_once("]:"));
    let parts = bracketed.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    let found: Vec<_> = match parts.map_or_else(|| text.to_socket_addrs(), |parts| parts.to_socket_addrs()) {
        Ok(found) => found.collect(),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
            return Err(bad("expected a host and a port, such as 127.0.0.1:7000, [::1]:7000 or name:7000"));
        }
        Err(_) => return Err(bad("the host name is unknown")),
    };
    if found.is_empty() { Err(bad("the host name has no address")) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    #[cfg_attr(miri, ignore = "asks for the interfaces of this host")]
    fn ipv6_zones_are_parsed_by_name_and_number() {
        // Both zones name the loopback interface, which is the first interface of every network
        // namespace.
        let places = ["[fe80::1%lo]:7", "[fe80::1%1]:7"].map(|text| resolve(text).unwrap());
        assert_eq!(places[0], places[1]);
        assert_eq!(resolve("[::1]:7").unwrap(), ["[::1]:7".parse().unwrap()]);
        for wrong in ["[fe80::1%nowhere]:7", "[fe80::1%lo]:", "[fe80::1%lo]", "[fe80::1%lo]:70000"] {
            assert!(resolve(wrong).is_err(), "{wrong}");
        }
    }
}
