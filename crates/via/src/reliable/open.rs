//! The handshake over a link, with its waits.

use super::handshake::{Answer, Answering, Requesting};
use super::repeat::REPEAT_MAX;
use super::{Link, LinkPort, Settings};
use crate::descriptor::{Descriptor, Operation, RemoteAddress, Status};
use crate::error::Ended;
use crate::memory::Region;
use crate::notice::poll_fds;
use crate::spi::{Intent, Offer, Port, Refusal, Sink};
use crate::{Deadline, Error};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The interval at which a link without a file is polled.
pub(super) const POLL_INTERVAL: Duration = Duration::from_micros(50);
/// The maximum time between two checks whether a connection that is being accepted is still wanted.
const LOOK: Duration = Duration::from_nanos(REPEAT_MAX);
/// The time for which hints must go on before they count. A hint says that nothing listens at the
/// other end.
const HINTS: Duration = Duration::from_millis(50);

/// Asks the other end of a link for a connection, and waits for the answer. `id` is a random
/// number.
///
/// # Errors
///
/// [`Error::Refused`] with the peer's reason, [`Error::NotFound`] where nothing listens,
/// [`Error::TimedOut`] at the deadline, [`Error::TooLong`] for a discriminator or private data that
/// do not fit.
pub fn connect<L: Link>(
    mut link: L,
    settings: &Settings,
    id: u64,
    discriminator: &str,
    offer: &Offer,
    deadline: Deadline,
) -> Result<(LinkPort<L>, Offer), Error> {
    let deadline = deadline.start();
    let start = Instant::now();
    let mut requesting = Requesting::new(settings, id, discriminator, offer)?;
    let mut incoming = vec![0; link.mtu()];
    let mut hinted = None::<Instant>;
    loop {
        let now = start.elapsed().as_nanos() as u64;
        let sent = requesting.transmit(now).map(|request| link.send(request));
        let mut hint = sent.and_then(Result::err).filter(|error| matches!(error, Error::NotFound { .. }));
        loop {
            match link.receive(&mut incoming) {
                Ok(Some(length)) => match requesting.handle(now, &incoming[..length], link.mtu()) {
                    Some(Answer::Accepted(engine, peers)) => {
                        let mut port = LinkPort::new(engine, link, start);
                        // The first packet of the engine is the confirmation.
                        port.submit(Instant::now(), &mut EmptySink);
                        return Ok((port, peers));
                    }
                    Some(Answer::Rejected(why)) => return Err(Error::Refused { why }),
                    None => {}
                },
                Ok(None) => break,
                Err(error) => {
                    hint = Some(error).filter(|error| matches!(error, Error::NotFound { .. }));
                    break;
                }
            }
        }
        if let Some(hint) = hint
            && hinted.get_or_insert_with(Instant::now).elapsed() >= HINTS
        {
            return Err(hint);
        }
        if deadline.is_over() {
            return Err(Error::TimedOut);
        }
        wait(&mut link, start.checked_add(Duration::from_nanos(requesting.due())), deadline)?;
    }
}

/// Accepts a request over a link to the requesting peer, and waits for the peer's confirmation.
/// Gives up once `is_wanted` returns false. `is_wanted` is called at least every 320 ms, even if
/// the acceptance is repeated less often. The interval of the repetitions depends on the peer. `id`
/// is a random number.
///
/// # Errors
///
/// [`Error::TimedOut`] without a confirmation by the deadline, or if the connection is not wanted
/// any more; otherwise as [`Answering::accept`].
pub fn accept<L: Link>(
    link: L,
    settings: &Settings,
    id: u64,
    answering: &Answering,
    own: &Offer,
    deadline: Deadline,
    is_wanted: &dyn Fn() -> bool,
) -> Result<LinkPort<L>, Error> {
    let deadline = deadline.start();
    let start = Instant::now();
    let engine = answering.accept(settings, 0, id, own, link.mtu())?;
    let mut port = LinkPort::new(Box::new(engine), link, start);
    while !port.open(Instant::now(), &mut EmptySink) {
        if deadline.is_over() || port.engine().is_over() || !is_wanted() {
            port.disconnect();
            return Err(Error::TimedOut);
        }
        let now = Instant::now();
        let due = port.due(now).into_iter().chain(now.checked_add(LOOK)).min();
        wait(port.link_mut(), due, deadline)?;
    }
    Ok(port)
}

fn wait(link: &mut impl Link, due: Option<Instant>, deadline: Deadline) -> Result<(), Error> {
    let waited = match link.prepare_sleep() {
        Some(file) => poll_fds(&[&file], deadline, due),
        None => {
            std::thread::sleep(POLL_INTERVAL);
            Ok(())
        }
    };
    link.end_sleep();
    waited
}

/// A sink without a VI: has nothing posted, and takes nothing.
struct EmptySink;

impl Sink for EmptySink {
    fn sending(&self, _: u64) -> Option<&Descriptor> {
        None
    }

    fn posted(&self) -> u64 {
        0
    }

    fn completed(&self) -> u64 {
        0
    }

    fn complete(&mut self, _: Status, _: u32) {}

    fn receives(&self) -> usize {
        0
    }

    fn receiving(&self, _: usize) -> Option<&Descriptor> {
        None
    }

    fn begin_message(&mut self, _: u32) -> Result<(), Refusal> {
        Err(Refusal::ReceiverNotReady)
    }

    fn fill_message(&mut self, _: u32, _: &[u8]) {}

    fn end_message(&mut self, _: Option<u32>) {}

    fn abandon_message(&mut self) {}

    fn complete_receive(&mut self, _: Operation, _: u32, _: Option<u32>) -> Result<(), Refusal> {
        Err(Refusal::ReceiverNotReady)
    }

    fn remote(&self, _: RemoteAddress, _: u64, _: Intent) -> Result<Arc<Region>, Refusal> {
        Err(Refusal::Protection)
    }

    fn broken(&mut self, _: Status, _: Ended) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reliability::ReliableDelivery;
    use crate::reliable::packet::{Body, Header, TOKEN};
    use rustix::fd::OwnedFd;
    use std::cell::Cell;
    use std::os::unix::net::UnixDatagram;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A link over which nothing arrives, and the number of datagrams sent.
    #[derive(Debug)]
    struct Silence(Arc<OwnedFd>, Arc<AtomicUsize>);

    impl Link for Silence {
        fn mtu(&self) -> usize {
            1200
        }

        fn send(&mut self, _: &[u8]) -> Result<bool, Error> {
            self.1.fetch_add(1, Ordering::Relaxed);
            Ok(true)
        }

        fn receive(&mut self, _: &mut [u8]) -> Result<Option<usize>, Error> {
            Ok(None)
        }

        fn file(&self) -> Option<Arc<OwnedFd>> {
            Some(Arc::clone(&self.0))
        }

        fn peer(&self) -> String {
            String::new()
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "makes sockets")]
    fn an_unwanted_connection_is_given_up_before_a_late_repetition() {
        let offer = Offer { reliability: ReliableDelivery, max_transfer: 1 << 20, private: Vec::new() };
        let request = Body::Request { from: 5, token: [1; TOKEN], discriminator: "", offer: offer.clone() };
        let header = Header { to: 0, number: 0, ack: 0, sack: 0, window: 1 << 16 };
        // The acceptance is repeated after a second.
        let answering = Answering::from_packet(&header, request, u64::MAX).unwrap();
        let (socket, _other) = UnixDatagram::pair().unwrap();
        let file = Arc::new(OwnedFd::from(socket));
        ground::poll("an attempt that the machine does not delay by most of a second", || {
            let (sent, looks) = (Arc::new(AtomicUsize::new(0)), Cell::new(0));
            let link = Silence(Arc::clone(&file), Arc::clone(&sent));
            let repeated = Cell::new(None);
            let is_wanted = || {
                looks.set(looks.get() + 1);
                repeated.set(Some(sent.load(Ordering::Relaxed) > 1));
                looks.get() < 2
            };
            let accepted =
                accept(link, &Settings::default(), 9, &answering, &offer, Deadline::Within(ground::LATEST), &is_wanted)
                    .map(drop);
            assert!(matches!(accepted, Err(Error::TimedOut)), "{accepted:?}");
            (repeated.get() == Some(false)).then_some(())
        });
    }
}
