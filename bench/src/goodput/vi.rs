//! Bulk data as messages of a virtual interface over UDP, with the provider and the options that
//! `ncacn_vi_udp` uses for calls.

use super::line::{ADDRESSES, Line};
use super::state::{LOOK, PATIENCE, State};
use crate::Error;
use crate::vi::{failed, post};
use obvia_via::provider::udp;
use obvia_via::{
    Access, Deadline, Descriptor, MemoryRegion, Nic, Reliability, Status, Vi, ViAttributes, Waiting, WorkQueue,
};
use std::sync::mpsc;

/// The length of a message in bytes: short enough that slow flows are measured in small steps.
const MESSAGE: u32 = 8 << 10;
/// The number of messages that are posted and not yet acknowledged: 8 MiB, more than the protocol
/// has in flight.
const OUTSTANDING: u32 = 1024;
/// The number of posted receives: twice the number of outstanding messages, so that a late server
/// does not stop the flow.
const RECEIVES: u32 = 2 * OUTSTANDING;

/// One end of a flow: a connected VI, and the memory of its messages.
#[derive(Debug)]
pub(super) struct End {
    vi: Vi,
    // The memory of all messages, one after the other.
    region: MemoryRegion,
}

impl End {
    /// Creates an idle VI with memory for `messages` messages.
    fn open(nic: &Nic, messages: u32) -> Result<Self, obvia_via::Error> {
        let tag = nic.protection_tag();
        let attributes =
            ViAttributes { reliability: Reliability::ReliableDelivery, max_transfer: 0, waiting: Waiting::Block };
        let vi = nic.vi(attributes, &tag, None, None)?;
        let region = nic.register(nic.memory((messages * MESSAGE) as usize)?, &tag, Access::LOCAL)?;
        Ok(Self { vi, region })
    }

    fn write_number(&self, number: u32) {
        let written = self.region.memory().write(offset(number, OUTSTANDING), &number.to_le_bytes());
        debug_assert!(written.is_some(), "the region has all messages");
    }

    fn read_number(&self, place: u64) -> u32 {
        let mut number = [0; 4];
        self.region.memory().read(place, &mut number).map_or(0, |()| u32::from_le_bytes(number))
    }

    /// Sends numbered messages until the flow ends.
    pub(super) fn send(mut self, state: &State) -> Result<(), Error> {
        for number in 0..OUTSTANDING {
            self.write_number(number);
            let message = Descriptor::send().with_segment(&self.region, offset(number, OUTSTANDING), MESSAGE);
            post(&mut self.vi.send, message)?;
        }
        let mut number = OUTSTANDING;
        while let Some(message) = completed(&mut self.vi.send, state)? {
            // Messages complete in the order in which they were posted.
            self.write_number(number);
            number = number.wrapping_add(1);
            post(&mut self.vi.send, message)?;
        }
        Ok(())
    }

    fn post_receives(&mut self) -> Result<(), Error> {
        (0..RECEIVES).try_for_each(|number| {
            let place = Descriptor::receive().with_segment(&self.region, offset(number, RECEIVES), MESSAGE);
            post(&mut self.vi.receive, place)
        })
    }

    /// Receives until the flow ends, and checks the order of the messages.
    pub(super) fn receive(mut self, state: &State) -> Result<(), Error> {
        let mut number = 0_u32;
        while let Some(message) = completed(&mut self.vi.receive, state)? {
            let found = self.read_number(offset(number, RECEIVES));
            if found != number {
                let [expected, found] = [number, found].map(u64::from);
                return Err(Error::Corrupt { what: "the number of a message", expected, found });
            }
            state.received(u64::from(message.length()));
            number = number.wrapping_add(1);
            post(&mut self.vi.receive, message)?;
        }
        Ok(())
    }
}

/// Returns the place of the message `number` in a region of `count` messages.
fn offset(number: u32, count: u32) -> u64 {
    u64::from(number % count * MESSAGE)
}

/// Connects the line's hosts. Returns the client's end and the server's end. The server's end has
/// posted its receives.
pub(super) fn connect(line: &Line) -> Result<(End, End), Error> {
    let entering = "entering a network namespace";
    std::thread::scope(|scope| {
        let (listens, listening) = mpsc::channel();
        let server = scope.spawn(move || line.server.run(|| accept(&listens)).map_err(Error::system(entering))?);
        let client = match listening.recv_timeout(PATIENCE) {
            Ok(address) => line.client.run(|| request(&address)).map_err(Error::system(entering))?,
            // The server has failed. Its error is returned below.
            Err(_) => Err(Error::Stalled { after: PATIENCE }),
        };
        let server =
            server.join().map_err(|_| Error::Failed { message: "the server's thread panicked".to_owned() })??;
        Ok((client?, server))
    })
}

fn accept(listens: &mpsc::Sender<String>) -> Result<End, Error> {
    let nic = udp::open(&udp::Options::default()).map_err(failed)?;
    let mut end = End::open(&nic, RECEIVES).map_err(failed)?;
    end.post_receives()?;
    let [_, server] = ADDRESSES;
    let mut listener = nic.listen(&format!("{server}:0")).map_err(failed)?;
    // The send fails only if the client has given up.
    let _ = listens.send(listener.address());
    let request = listener.wait(Deadline::Within(PATIENCE)).map_err(failed)?;
    request.accept(&mut end.vi, &[], Deadline::Within(PATIENCE)).map_err(failed)?;
    Ok(end)
}

fn request(address: &str) -> Result<End, Error> {
    let nic = udp::open(&udp::Options::default()).map_err(failed)?;
    let mut end = End::open(&nic, OUTSTANDING).map_err(failed)?;
    end.vi.request(address, &[], Deadline::Within(PATIENCE)).map_err(failed)?;
    Ok(end)
}

/// Waits for the next completion. Returns `None` at the end of the flow.
fn completed(queue: &mut WorkQueue, state: &State) -> Result<Option<Box<Descriptor>>, Error> {
    while !state.has_ended() {
        match queue.wait(Deadline::Within(LOOK)) {
            Ok(descriptor) if descriptor.status() == Status::Done => return Ok(Some(descriptor)),
            Ok(descriptor) => {
                let message = format!("a descriptor completed in error: {}", descriptor.status());
                return Err(Error::Failed { message });
            }
            Err(obvia_via::Error::TimedOut) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(None)
}
