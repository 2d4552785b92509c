//! Connections between connection-oriented endpoints (`FI_EP_MSG`): an event queue, and the data of
//! request and answer.

use super::NicState;
use super::endpoint::{Endpoint, Passive, Queues, RemoteRange};
use super::endpoint_pair::EndpointHandle;
use super::objects::{ConnectionEvent, EventQueue, Info, error};
use super::port::FabricPort;
use super::registration::PAGE_KEY;
use super::side_channel::SideChannel;
use crate::notice::poll_fds;
use crate::spi::{Incoming, Listening, Offer, Port, Revocation};
use crate::{Deadline, Error, Reliability};
use rustix::io::Errno;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The first bytes of the connection data: a letter and the version.
const MARK: [u8; 2] = [b'V', 1];
const FIXED: usize = 8;
/// The maximum length of one sleep for an event. The queue is then read again, even if its file has
/// not become readable.
const NAP: Duration = Duration::from_millis(20);

/// Encodes an offer as the data of a request or an answer. The data contain their length, because
/// adapters pad them with zeroes.
fn to_data(offer: &Offer) -> Result<Vec<u8>, Error> {
    let length = offer.private.len();
    let Ok(short) = u8::try_from(length) else {
        return Err(Error::TooLong { length: length as u64, limit: u64::from(u8::MAX) });
    };
    let mut data = MARK.to_vec();
    data.extend([offer.reliability as u8, short]);
    data.extend(offer.max_transfer.to_le_bytes());
    data.extend(&offer.private);
    Ok(data)
}

fn from_data(data: &[u8]) -> Option<Offer> {
    let (fixed, private) = data.split_at_checked(FIXED)?;
    let length = usize::from(fixed[3]);
    if fixed[..2] != MARK || length > Offer::PRIVATE_MAX {
        return None;
    }
    let max_transfer = u32::from_le_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]);
    let private = private.get(..length)?.to_vec();
    Some(Offer { reliability: Reliability::from_wire(fixed[2])?, max_transfer, private })
}

/// Refuses data that the provider has no room for.
fn check_room(data: &[u8], room: usize) -> Result<(), Error> {
    if room > 0 && data.len() > room {
        let limit = room.saturating_sub(FIXED) as u64;
        return Err(Error::TooLong { length: (data.len() - FIXED) as u64, limit });
    }
    Ok(())
}

/// Splits an address into host and port.
pub(super) fn split(address: &str) -> Result<(&str, &str), Error> {
    let bad = |why| Error::BadAddress { text: address.to_owned(), why };
    let (host, port) = address.rsplit_once(':').ok_or_else(|| bad("expected the form host:port"))?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if host.is_empty() || port.parse::<u16>().is_err() {
        return Err(bad("expected the form host:port"));
    }
    Ok((host, port))
}

/// Waits for the next event. Gives up at the deadline, or once `is_wanted` returns false.
fn wait(events: &EventQueue, deadline: Deadline, is_wanted: impl Fn() -> bool) -> Result<ConnectionEvent, Error> {
    let file = events.file()?;
    loop {
        if let Some(event) = events.next()? {
            return Ok(event);
        }
        if deadline.is_over() || !is_wanted() {
            return Err(Error::TimedOut);
        }
        if events.may_sleep() {
            let files: Vec<_> = file.iter().collect();
            poll_fds(&files, deadline, Some(Instant::now() + NAP))?;
        }
    }
}

/// Returns the side channel by which the two providers of a connection exchange messages.
fn side_channel(nic: &NicState) -> SideChannel {
    if nic.has_page() {
        SideChannel::Writes(RemoteRange { address: 0, length: 8, key: PAGE_KEY }, None)
    } else {
        SideChannel::None
    }
}

/// Connects to a listener.
pub(super) fn connect(
    nic: &Arc<NicState>,
    tag: u64,
    address: &str,
    own: &Offer,
    deadline: Deadline,
) -> Result<(Box<dyn Port>, Offer), Error> {
    let (host, port) = split(address)?;
    let not_found = || Error::NotFound { name: address.to_owned() };
    let info = nic.find(host, port, false)?.ok_or_else(not_found)?;
    let domain = nic.domain(tag)?;
    let endpoint = Endpoint::open(&domain.domain, &info, nic.completions())?;
    let data = to_data(own)?;
    check_room(&data, endpoint.room())?;
    endpoint.connect(&info, &data)?;
    let Some(events) = &endpoint.events else { return Err(not_found()) };
    let peers = loop {
        match wait(events, deadline, || true)? {
            ConnectionEvent::Connected(data) => {
                break from_data(&data).ok_or(Error::Violation(crate::Violation::BadGreeting))?;
            }
            ConnectionEvent::Failed(number, data) => return Err(failed(address, number, &data)),
            ConnectionEvent::Shutdown => return Err(not_found()),
            ConnectionEvent::Request(..) | ConnectionEvent::Other => {}
        }
    };
    let port = FabricPort::new(nic, EndpointHandle::new(endpoint), side_channel(nic), domain, address.to_owned())?;
    Ok((Box::new(port), peers))
}

/// Returns the reason why a connection was not made.
fn failed(address: &str, number: u32, data: &[u8]) -> Error {
    if let Some(why) = data.strip_prefix(&MARK) {
        let why = why.split(|byte| *byte == 0).next().unwrap_or_default();
        return Error::Refused { why: String::from_utf8_lossy(why).into_owned() };
    }
    match Errno::from_raw_os_error(i32::try_from(number).unwrap_or(0)) {
        Errno::CONNREFUSED | Errno::HOSTUNREACH | Errno::NETUNREACH => Error::NotFound { name: address.to_owned() },
        // The listener closed before the request was read.
        Errno::CONNRESET | Errno::CONNABORTED | Errno::PIPE => Error::NotFound { name: address.to_owned() },
        Errno::TIMEDOUT => Error::TimedOut,
        _ => error("requesting a connection", number),
    }
}

/// A listener for connection requests.
#[derive(Debug)]
pub(super) struct Listener {
    nic: Arc<NicState>,
    passive: Arc<Passive>,
    address: String,
}

impl Listener {
    pub(super) fn open(nic: &Arc<NicState>, discriminator: &str) -> Result<Self, Error> {
        let (host, port) = split(discriminator)?;
        let bad = || Error::BadAddress {
            text: discriminator.to_owned(),
            why: "libfabric's provider has no such address on this host",
        };
        let info = nic.find(host, port, true)?.ok_or_else(bad)?;
        let passive = Passive::open(&nic.fabric, &info)?;
        let port = passive.port()?;
        let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        Ok(Self { nic: Arc::clone(nic), passive: Arc::new(passive), address })
    }
}

impl Listening for Listener {
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error> {
        let deadline = deadline.start();
        loop {
            let ConnectionEvent::Request(info, data) = wait(&self.passive.events, deadline, || true)? else { continue };
            if let Some(offer) = from_data(&data) {
                let (nic, passive) = (Arc::clone(&self.nic), Arc::clone(&self.passive));
                return Ok(Box::new(Request { nic, passive, info: Some(info), offer, revocation: Arc::default() }));
            }
            // The request is of another protocol. The deadline is checked here, because an endless
            // series of such requests must not prolong the wait.
            let _ = self.passive.reject(&info, &[]);
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
        }
    }

    fn address(&self) -> String {
        self.address.clone()
    }
}

/// A peer's connection request.
#[derive(Debug)]
struct Request {
    nic: Arc<NicState>,
    passive: Arc<Passive>,
    // `None` once the request is answered.
    info: Option<Info>,
    offer: Offer,
    revocation: Arc<Revocation>,
}

impl Request {
    fn refuse(&mut self, why: &str) {
        let Some(info) = self.info.take() else { return };
        let room = self.passive.room();
        let mut end = why.len().min(if room > 0 { room } else { 64 }.saturating_sub(MARK.len()));
        while !why.is_char_boundary(end) {
            end -= 1;
        }
        // An error means that the peer is gone.
        let _ = self.passive.reject(&info, &[&MARK, &why.as_bytes()[..end]].concat());
    }
}

impl Incoming for Request {
    fn offer(&self) -> &Offer {
        &self.offer
    }

    fn peer(&self) -> String {
        self.info.as_ref().map(Info::peer).unwrap_or_default()
    }

    fn accept(self: Box<Self>, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        self.accept_tagged(super::NO_TAG, own, deadline)
    }

    fn accept_tagged(mut self: Box<Self>, tag: u64, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        let deadline = deadline.start();
        let peer = self.peer();
        let data = to_data(own)?;
        let domain = self.nic.domain(tag)?;
        let gone = || Error::Disconnected { peer: peer.clone(), why: crate::Ended::Silent };
        check_room(&data, self.passive.room())?;
        // The queues are opened while the request can still be rejected. If file descriptors run
        // out here, the rejection closes the request's own file.
        let queues = Queues::open(&domain.domain, true, self.nic.completions())?;
        // From here on the request belongs to the endpoint, and cannot be rejected any more.
        let info = self.info.take().ok_or_else(gone)?;
        let endpoint = Endpoint::of(queues, &domain.domain, &info)?;
        endpoint.accept(&data)?;
        let events = endpoint.events.as_ref().ok_or_else(gone)?;
        loop {
            match wait(events, deadline, || self.revocation.reason().is_none())? {
                ConnectionEvent::Connected(_) => break,
                ConnectionEvent::Failed(..) | ConnectionEvent::Shutdown => return Err(gone()),
                ConnectionEvent::Request(..) | ConnectionEvent::Other => {}
            }
        }
        let side_channel = side_channel(&self.nic);
        Ok(Box::new(FabricPort::new(&self.nic, EndpointHandle::new(endpoint), side_channel, domain, peer.clone())?))
    }

    fn revocation(&self) -> Option<Arc<Revocation>> {
        Some(Arc::clone(&self.revocation))
    }

    fn reject(mut self: Box<Self>, why: &str) {
        self.refuse(why);
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.refuse("the listener did not respond");
    }
}

#[cfg(test)]
mod tests {
    use super::{Offer, from_data, split, to_data};
    use crate::Reliability;

    #[test]
    fn connection_offers_are_read_despite_padding() {
        let offer = Offer { reliability: Reliability::ReliableReception, max_transfer: 70_000, private: vec![7; 3] };
        let mut data = to_data(&offer).unwrap();
        data.resize(56, 0);
        assert_eq!(from_data(&data), Some(offer));
    }

    #[test]
    fn malformed_connection_offers_are_refused() {
        let offer = Offer { reliability: Reliability::ReliableDelivery, max_transfer: 1, private: vec![1; 240] };
        let data = to_data(&offer).unwrap();
        for length in 0..data.len() {
            assert_eq!(from_data(&data[..length]), None, "{length}");
        }
        for (at, wrong) in [(0, b'W'), (1, 2), (2, 9), (3, 241)] {
            let mut data = data.clone();
            data[at] = wrong;
            assert_eq!(from_data(&data), None, "byte {at}");
        }
    }

    #[test]
    fn addresses_have_host_and_port() {
        assert_eq!(split("127.0.0.1:7").unwrap(), ("127.0.0.1", "7"));
        assert_eq!(split("[::1]:70").unwrap(), ("::1", "70"));
        for bad in ["", "host", ":7", "host:", "host:70000", "host:x"] {
            assert!(split(bad).is_err(), "{bad}");
        }
    }
}
